//===- WeightsTest.cpp - initializers in every form, and damaged ones ------------------------===//
#include "ModelBuilder.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace tokamak;
using namespace tokamak::test;
using testing::HasSubstr;

/// A model whose only output is its initializer, still to be filled.
struct OneWeight : ModelBuilder {
  OneWeight() {
    output("w");
    proto = graph.add_initializer();
    proto->set_name("w");
  }
  onnx::TensorProto *proto;
  void set(DataType type, const std::vector<int64_t> &shape) {
    proto->set_data_type(static_cast<int>(type));
    for (int64_t extent : shape)
      proto->add_dims(extent);
  }
};

static Tensor valueOf(const OneWeight &model) {
  std::vector<Tensor> results = evaluate(model, {});
  return results.empty() ? Tensor() : results.front();
}

TEST(Weights, TypedFields) {
  auto check = [](DataType type, auto add, const std::vector<double> &expected) {
    SCOPED_TRACE(name(type).str());
    OneWeight m;
    m.set(type, {2});
    add(*m.proto);
    Tensor value = valueOf(m);
    EXPECT_EQ(value.type(), type);
    expectTensor(value, {2}, expected);
  };
  auto int32 = [](int32_t a, int32_t b) {
    return [=](onnx::TensorProto &t) {
      t.add_int32_data(a);
      t.add_int32_data(b);
    };
  };
  check(DataType::Float32, [](auto &t) { t.add_float_data(1.5f), t.add_float_data(-2); }, {1.5, -2});
  check(DataType::Float64, [](auto &t) { t.add_double_data(1.5), t.add_double_data(-2); }, {1.5, -2});
  check(DataType::Int64, [](auto &t) { t.add_int64_data(-7), t.add_int64_data(1ll << 40); },
        {-7, 1099511627776.});
  check(DataType::UInt64, [](auto &t) { t.add_uint64_data(7), t.add_uint64_data(1ull << 40); },
        {7, 1099511627776.});
  check(DataType::UInt32, [](auto &t) { t.add_uint64_data(7), t.add_uint64_data(4294967295u); },
        {7, 4294967295.});
  check(DataType::Int32, int32(-5, 1 << 20), {-5, 1 << 20});
  check(DataType::Int16, int32(-5, 300), {-5, 300});
  check(DataType::UInt16, int32(5, 65535), {5, 65535});
  check(DataType::Int8, int32(-5, 127), {-5, 127});
  check(DataType::UInt8, int32(5, 255), {5, 255});
  check(DataType::Bool, int32(0, 2), {0, 1});
  check(DataType::Float16, int32(0x3c00, 0xc100), {1, -2.5});
  check(DataType::BFloat16, int32(0x3f80, 0xc020), {1, -2.5});
}

TEST(Weights, RawData) {
  for (DataType type : {DataType::Float32, DataType::Float64, DataType::Float16, DataType::BFloat16,
                        DataType::Int8, DataType::UInt8, DataType::Int16, DataType::UInt16, DataType::Int32,
                        DataType::UInt32, DataType::Int64, DataType::UInt64, DataType::Bool}) {
    SCOPED_TRACE(name(type).str());
    OneWeight m;
    m.proto->clear_name();
    fill(*m.proto, floats({3}, {1, 0, 1}, type));
    m.proto->set_name("w");
    Tensor value = valueOf(m);
    EXPECT_EQ(value.type(), type);
    expectTensor(value, {3}, {1, 0, 1});
  }
  OneWeight boolean;
  boolean.set(DataType::Bool, {2});
  boolean.proto->set_raw_data(std::string("\x00\x80", 2));
  expectTensor(valueOf(boolean), {2}, {0, 1});
}

TEST(Weights, ScalarsAndEmpty) {
  OneWeight scalar;
  scalar.set(DataType::Float32, {});
  scalar.proto->add_float_data(3);
  expectTensor(valueOf(scalar), {}, {3});
  OneWeight empty;
  empty.set(DataType::Int64, {0, 5});
  expectTensor(valueOf(empty), {0, 5}, {});
}

TEST(Weights, SizesThatDoNotFit) {
  auto error = [](const std::vector<int64_t> &shape) {
    OneWeight m;
    m.set(DataType::Float32, shape);
    m.proto->set_raw_data("12345678");
    return importError(m);
  };
  EXPECT_EQ(error({3}),
            "test.onnx: initializer 'w': claims shape [3] of float32 (12 bytes), but holds 8 bytes; the file "
            "is damaged");
  EXPECT_THAT(error({1}), HasSubstr("holds 8 bytes"));
  EXPECT_THAT(error({int64_t(1) << 29}), HasSubstr("holds 8 bytes"));
  EXPECT_THAT(error({int64_t(1) << 40, int64_t(1) << 40}), HasSubstr("too large"));
  EXPECT_THAT(error({int64_t(1) << 40, int64_t(1) << 40, 0}), HasSubstr("too large"));
  EXPECT_THAT(error({-2}), HasSubstr("negative extent -2"));
  OneWeight text;
  text.proto->set_data_type(onnx::TensorProto::STRING);
  text.proto->add_dims(1);
  text.proto->add_string_data("hello");
  EXPECT_THAT(importError(text), HasSubstr("elements of type string"));
  // Nobody minds a string that nothing uses.
  text.graph.clear_output();
  text.input("x").output("x");
  EXPECT_EQ(importError(text), "");
}

TEST(Weights, ConstantNodes) {
  auto value = [](auto set) {
    ModelBuilder m;
    m.output("c");
    set(m.node("Constant", {}, {"c"}));
    std::vector<Tensor> results = evaluate(m, {});
    return results.empty() ? Tensor() : results.front();
  };
  expectTensor(value([](auto &n) { addAttr(n, "value", floats({2}, {1, 2})); }), {2}, {1, 2});
  expectTensor(value([](auto &n) { addAttr(n, "value_float", 1.5); }), {}, {1.5});
  expectTensor(value([](auto &n) { addAttr(n, "value_int", int64_t(-3)); }), {}, {-3});
  expectTensor(value([](auto &n) { addAttr(n, "value_floats", std::vector<double>{1, 2}); }), {2}, {1, 2});
  expectTensor(value([](auto &n) { addAttr(n, "value_ints", std::vector<int64_t>{}); }), {0}, {});
  auto sparse = [](auto &n) {
    onnx::AttributeProto &attribute = *n.add_attribute();
    attribute.set_name("sparse_value");
    attribute.set_type(onnx::AttributeProto::SPARSE_TENSOR);
    onnx::SparseTensorProto &tensor = *attribute.mutable_sparse_tensor();
    fill(*tensor.mutable_values(), floats({2}, {5, 6}));
    fill(*tensor.mutable_indices(), ints({1, 3}));
    tensor.add_dims(2);
    tensor.add_dims(2);
  };
  expectTensor(value(sparse), {2, 2}, {0, 5, 0, 6});

  ModelBuilder text;
  text.output("c");
  addAttr(text.node("Constant", {}, {"c"}), "value_string", std::string("hello"));
  EXPECT_THAT(importError(text), HasSubstr("holds strings"));
  ModelBuilder damaged;
  damaged.output("c");
  addAttr(damaged.node("Constant", {}, {"c"}), "value", floats({2}, {1, 2})).mutable_t()->set_dims(0, 3);
  EXPECT_EQ(importError(damaged),
            "test.onnx: node 'Constant_0' (Constant): attribute 'value' claims shape [3] of float32 "
            "(12 bytes), but holds 8 bytes; the file is damaged");
}

TEST(Weights, SparseInitializers) {
  auto build = [](const std::vector<int64_t> &indices, const std::vector<int64_t> &indexShape,
                  const std::vector<int64_t> &dims) {
    auto m = std::make_unique<ModelBuilder>();
    m->output("w");
    onnx::SparseTensorProto &sparse = *m->graph.add_sparse_initializer();
    fill(*sparse.mutable_values(), floats({2}, {5, 6}));
    sparse.mutable_values()->set_name("w");
    fill(*sparse.mutable_indices(), ints(indices).reshaped(indexShape));
    for (int64_t extent : dims)
      sparse.add_dims(extent);
    return m;
  };
  auto coordinates = build({0, 1, 1, 2}, {2, 2}, {2, 3});
  expectTensor(evaluate(*coordinates, {}).at(0), {2, 3}, {0, 5, 0, 0, 0, 6});
  EXPECT_THAT(importError(*build({0, 1, 1, 3}, {2, 2}, {2, 3})), HasSubstr("index outside its shape"));
  EXPECT_THAT(importError(*build({0, -1}, {2}, {2, 3})), HasSubstr("index outside its shape"));
  EXPECT_THAT(importError(*build({0, 1, 2}, {3}, {2, 3})), HasSubstr("do not fit"));
  EXPECT_THAT(importError(*build({0, 1}, {2}, {1 << 20, 1 << 20})), HasSubstr("store it dense"));
}

//===----------------------------------------------------------------------------------------------------===//
// External data
//===----------------------------------------------------------------------------------------------------===//

class ExternalData : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("external", folder));
    ASSERT_FALSE(llvm::sys::fs::create_directory(folder + "/model"));
    write("model/data.bin", std::string("\0\0\0\0\0\0\x80\x3f\0\0\0\x40", 12)); // 0, 1, 2
    write("outside.bin", "12345678");
  }
  void TearDown() override { (void)llvm::sys::fs::remove_directories(folder); }

  void write(const std::string &name, const std::string &bytes) {
    std::ofstream(path(name), std::ios::binary) << bytes;
  }
  std::string path(const std::string &name) const { return (folder + "/" + name).str(); }

  /// What loading says of a float32 weight [2] with these entries; "" where it loads.
  std::string error(const std::vector<std::pair<std::string, std::string>> &entries,
                    bool fromMemory = false) {
    OneWeight m;
    m.set(DataType::Float32, {2});
    m.proto->set_data_location(onnx::TensorProto::EXTERNAL);
    for (const auto &[key, value] : entries) {
      onnx::StringStringEntryProto &entry = *m.proto->add_external_data();
      entry.set_key(key);
      entry.set_value(value);
    }
    if (fromMemory)
      return importError(m);
    write("model/m.onnx", m.bytes());
    auto model = import::Model::fromFile(path("model/m.onnx"));
    return model ? "" : llvm::toString(model.takeError());
  }

  llvm::SmallString<128> folder;
};

TEST_F(ExternalData, Loads) {
  EXPECT_EQ(error({{"location", "data.bin"}, {"offset", "4"}, {"length", "8"}}), "");
  EXPECT_EQ(error({{"location", "data.bin"}}), "");
  EXPECT_EQ(error({{"location", "./data.bin"}, {"checksum", "whatever"}}), "");
}

TEST_F(ExternalData, Refused) {
  EXPECT_THAT(error({{"location", "missing.bin"}}), HasSubstr("'missing.bin' cannot be read (No such file"));
  EXPECT_THAT(error({{"location", "data.bin"}, {"offset", "8"}}), HasSubstr("the file is cut off"));
  EXPECT_THAT(error({{"location", "data.bin"}, {"offset", "9223372036854775807"}}),
              HasSubstr("the file is cut off"));
  EXPECT_THAT(error({{"location", "data.bin"}, {"offset", "-4"}}), HasSubstr("which is no size"));
  EXPECT_THAT(error({{"location", "data.bin"}, {"offset", "x"}}), HasSubstr("which is no size"));
  EXPECT_THAT(error({{"location", "data.bin"}, {"length", "4"}}),
              HasSubstr("has 4 bytes, but its shape needs 8"));
  EXPECT_THAT(error({{"location", "../outside.bin"}}), HasSubstr("does not lie in the model's folder"));
  EXPECT_THAT(error({{"location", path("outside.bin")}}), HasSubstr("does not lie in the model's folder"));
  EXPECT_THAT(error({}), HasSubstr("does not lie in the model's folder"));
  EXPECT_THAT(error({{"location", "."}}), HasSubstr("does not lie in the model's folder"));
  EXPECT_THAT(error({{"location", "data.bin"}}, /*fromMemory=*/true),
              HasSubstr("a model in memory cannot refer to"));
  ASSERT_EQ(symlink(path("outside.bin").c_str(), path("model/link.bin").c_str()), 0);
  EXPECT_THAT(error({{"location", "link.bin"}}), HasSubstr("does not lie in the model's folder"));
  ASSERT_FALSE(llvm::sys::fs::create_directory(folder + "/model/sub"));
  EXPECT_THAT(error({{"location", "sub"}}), HasSubstr("not a regular file"));
}
