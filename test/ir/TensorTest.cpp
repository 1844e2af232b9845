//===- TensorTest.cpp - tensors, element types, 16-bit floats, attributes -----------------===//
#include "ir/Tk.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>
#include <limits>

using namespace tokamak;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const double notANumber = std::numeric_limits<double>::quiet_NaN();

constexpr DataType allTypes[] = {DataType::Float32, DataType::UInt8,   DataType::Int8,   DataType::UInt16,
                                 DataType::Int16,   DataType::Int32,   DataType::Int64,  DataType::Bool,
                                 DataType::Float16, DataType::Float64, DataType::UInt32, DataType::UInt64,
                                 DataType::BFloat16};

class TensorTest : public testing::Test {
protected:
  TensorTest() { context.loadDialect<tk::TkDialect>(); }
  mlir::MLIRContext context;

  /// Through an attribute and back.
  Tensor roundTrip(const Tensor &t) { return Tensor::fromAttr(t.toAttr(&context)); }
  void expectSame(const Tensor &a, const Tensor &b) {
    ASSERT_EQ(a.type(), b.type());
    ASSERT_EQ(a.shape(), b.shape());
    ASSERT_EQ(a.size(), b.size());
    EXPECT_TRUE(a.byteCount() == 0 || std::memcmp(a.bytes(), b.bytes(), a.byteCount()) == 0)
        << name(a.type()).str();
  }
};

} // namespace

TEST_F(TensorTest, TypesMapToMlirAndBack) {
  for (DataType type : allTypes) {
    EXPECT_EQ(fromMlir(toMlir(type, &context)), type) << name(type).str();
    EXPECT_EQ(isFloat(type) + isInteger(type) + (type == DataType::Bool), 1) << name(type).str();
    EXPECT_TRUE(!isUnsigned(type) || isInteger(type));
  }
  EXPECT_FALSE(fromMlir(mlir::IntegerType::get(&context, 4)));
  EXPECT_FALSE(fromMlir(mlir::IntegerType::get(&context, 32, mlir::IntegerType::Signed)));
  EXPECT_FALSE(fromMlir(mlir::IntegerType::get(&context, 1, mlir::IntegerType::Unsigned)));
  EXPECT_FALSE(fromMlir(mlir::IndexType::get(&context)));
  EXPECT_FALSE(fromMlir(mlir::FloatType::getF80(&context)));
}

TEST_F(TensorTest, EveryHalfConvertsBackToItself) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto h = static_cast<uint16_t>(bits);
    const float half = halfToFloat(h), bfloat = bfloatToFloat(h);
    if (std::isnan(half))
      EXPECT_EQ(floatToHalf(half), h | 0x200) << bits; // made quiet
    else
      EXPECT_EQ(floatToHalf(half), h) << bits;
    if (std::isnan(bfloat))
      EXPECT_EQ(floatToBfloat(bfloat), h | 0x40) << bits;
    else
      EXPECT_EQ(floatToBfloat(bfloat), h) << bits;
  }
}

TEST_F(TensorTest, HalfValues) {
  EXPECT_EQ(halfToFloat(0x3c00), 1.0f);
  EXPECT_EQ(halfToFloat(0xc000), -2.0f);
  EXPECT_EQ(halfToFloat(0x7bff), 65504.0f);
  EXPECT_EQ(halfToFloat(0x0001), 0x1p-24f);
  EXPECT_EQ(halfToFloat(0x03ff), 0x1.ff8p-15f);
  EXPECT_EQ(halfToFloat(0x7c00), infinity);
  EXPECT_TRUE(std::signbit(halfToFloat(0x8000)));
  EXPECT_EQ(bfloatToFloat(0x3f80), 1.0f);
  EXPECT_EQ(bfloatToFloat(0x0001), 0x1p-133f);
}

TEST_F(TensorTest, HalfRoundsToNearestEven) {
  EXPECT_EQ(floatToHalf(1 + 0x1p-11), 0x3c00); // ties: down to even, up to even
  EXPECT_EQ(floatToHalf(1 + 3 * 0x1p-11), 0x3c02);
  EXPECT_EQ(floatToHalf(1 + 0x1p-11 + 0x1p-52), 0x3c01); // by way of float this would be a tie
  EXPECT_EQ(floatToHalf(2049), 0x6800);
  EXPECT_EQ(floatToHalf(65519.999), 0x7bff); // overflow from halfway on
  EXPECT_EQ(floatToHalf(65520), 0x7c00);
  EXPECT_EQ(floatToHalf(-65520), 0xfc00);
  EXPECT_EQ(floatToHalf(1e300), 0x7c00);
  EXPECT_EQ(floatToHalf(infinity), 0x7c00);
  EXPECT_EQ(floatToHalf(-infinity), 0xfc00);
  EXPECT_EQ(floatToHalf(0x1p-14), 0x0400);           // smallest normal
  EXPECT_EQ(floatToHalf(0x1p-14 - 0x1p-26), 0x0400); // a subnormal that rounds into the normals
  EXPECT_EQ(floatToHalf(0x1p-24), 0x0001);
  EXPECT_EQ(floatToHalf(0x1p-25), 0x0000); // tie to even
  EXPECT_EQ(floatToHalf(0x1p-25 + 0x1p-70), 0x0001);
  EXPECT_EQ(floatToHalf(3 * 0x1p-25), 0x0002);
  EXPECT_EQ(floatToHalf(0x1p-26), 0x0000);
  EXPECT_EQ(floatToHalf(-0x1p-26), 0x8000);
  EXPECT_EQ(floatToHalf(5e-324), 0x0000);
  EXPECT_EQ(floatToHalf(-0.0), 0x8000);
  EXPECT_TRUE(std::isnan(halfToFloat(floatToHalf(notANumber))));
  EXPECT_TRUE(std::isnan(halfToFloat(floatToHalf(-notANumber))));
}

TEST_F(TensorTest, BfloatRoundsToNearestEven) {
  EXPECT_EQ(floatToBfloat(1 + 0x1p-8), 0x3f80);
  EXPECT_EQ(floatToBfloat(1 + 3 * 0x1p-8), 0x3f82);
  EXPECT_EQ(floatToBfloat(1 + 0x1p-8 + 0x1p-40), 0x3f81);
  EXPECT_EQ(floatToBfloat(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_EQ(floatToBfloat(1e300), 0x7f80);
  EXPECT_EQ(floatToBfloat(0x1p-133), 0x0001);
  EXPECT_EQ(floatToBfloat(0x1p-134), 0x0000);
  EXPECT_EQ(floatToBfloat(0x1.8p-134), 0x0001);
  EXPECT_EQ(floatToBfloat(-1e-300), 0x8000);
  EXPECT_TRUE(std::isnan(bfloatToFloat(floatToBfloat(notANumber))));
}

TEST_F(TensorTest, SettingConverts) {
  auto asInt = [](DataType type, double v) { return Tensor::scalar(type, v).intAt(0); };
  EXPECT_EQ(asInt(DataType::Int32, -3.9), -3);
  EXPECT_EQ(asInt(DataType::UInt8, 255.9), 255);
  EXPECT_EQ(asInt(DataType::UInt8, 256), 0);
  EXPECT_EQ(asInt(DataType::Int8, 200), -56);
  EXPECT_EQ(asInt(DataType::Int64, notANumber), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(asInt(DataType::Int64, 0x1p63), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(asInt(DataType::Int64, -infinity), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(asInt(DataType::Int32, notANumber), 0);
  EXPECT_EQ(asInt(DataType::Bool, notANumber), 1);
  EXPECT_EQ(asInt(DataType::Bool, 0.25), 1);
  EXPECT_EQ(asInt(DataType::Bool, -0.0), 0);
  EXPECT_EQ(Tensor::scalar(DataType::UInt64, 0x1.8p63).doubleAt(0), 0x1.8p63);
  EXPECT_EQ(Tensor::scalarInt(DataType::UInt64, -1).intAt(0), -1);
  EXPECT_EQ(Tensor::scalarInt(DataType::UInt64, -1).doubleAt(0), 0x1p64);
  EXPECT_EQ(Tensor::scalarInt(DataType::UInt32, -1).intAt(0), 0xffffffff);
  EXPECT_EQ(Tensor::scalarInt(DataType::Bool, 256).intAt(0), 1);
  EXPECT_EQ(Tensor::scalarInt(DataType::Int64, std::numeric_limits<int64_t>::max()).intAt(0),
            std::numeric_limits<int64_t>::max());
}

TEST_F(TensorTest, IntegersRoundOnceIntoFloats) {
  EXPECT_EQ(Tensor::scalarInt(DataType::Float32, (int64_t(1) << 24) + 1).doubleAt(0), 0x1p24);
  // Halfway between two floats plus one: a rounding to double in between would lose the one.
  const int64_t floatTie = (int64_t(1) << 60) + (int64_t(1) << 36) + 1;
  EXPECT_EQ(Tensor::scalarInt(DataType::Float32, floatTie).doubleAt(0), 0x1p60 + 0x1p37);
  const int64_t bfloatTie = (int64_t(1) << 60) + (int64_t(1) << 52) + 1;
  EXPECT_EQ(Tensor::scalarInt(DataType::BFloat16, bfloatTie).doubleAt(0), 0x1p60 + 0x1p53);
  EXPECT_EQ(Tensor::scalarInt(DataType::BFloat16, -bfloatTie).doubleAt(0), -0x1p60 - 0x1p53);
  EXPECT_EQ(Tensor::scalarInt(DataType::BFloat16, bfloatTie - 1).doubleAt(0), 0x1p60);
  EXPECT_EQ(Tensor::scalarInt(DataType::Float16, 65536).doubleAt(0), infinity);
}

TEST_F(TensorTest, SplatsAndReshapes) {
  Tensor t(DataType::Int16, {2, 3});
  EXPECT_TRUE(t.isSplat());
  t.setInt(5, 1);
  EXPECT_FALSE(t.isSplat());
  EXPECT_TRUE(Tensor::scalar(DataType::Float64, 1).isSplat());
  EXPECT_FALSE(Tensor(DataType::Float64, {0, 3}).isSplat());
  Tensor zeros(DataType::Float32, {2});
  zeros.setDouble(1, -0.0);
  EXPECT_FALSE(zeros.isSplat());
  Tensor reshaped = t.reshaped({3, 1, 2});
  EXPECT_EQ(reshaped.bytes(), t.bytes());
  EXPECT_EQ(reshaped.shape(), llvm::ArrayRef<int64_t>({3, 1, 2}));
  EXPECT_EQ(reshaped.intAt(5), 1);
  EXPECT_EQ(Tensor::fromInts({3, -1}).ints(), (llvm::SmallVector<int64_t>{3, -1}));
}

TEST_F(TensorTest, AttributesOfEveryTypeAndSize) {
  const llvm::SmallVector<int64_t> shapes[] = {{},  {1},    {0},    {2, 0, 3}, {7},
                                               {9}, {3, 5}, {1024}, {1025},    {33, 70}};
  for (DataType type : allTypes) {
    for (const llvm::SmallVector<int64_t> &shape : shapes) {
      Tensor zero(type, shape);
      expectSame(zero, roundTrip(zero));
      Tensor counted(type, shape);
      for (int64_t i = 0; i < counted.size(); ++i)
        counted.setInt(i, i % 3);
      expectSame(counted, roundTrip(counted));
      Tensor splat(type, shape);
      for (int64_t i = 0; i < splat.size(); ++i)
        splat.setInt(i, 1);
      expectSame(splat, roundTrip(splat));
    }
  }
}

TEST_F(TensorTest, AttributesKeepOddFloats) {
  for (DataType type : {DataType::Float16, DataType::BFloat16, DataType::Float32, DataType::Float64})
    for (int64_t n : {5, 4000}) {
      Tensor t(type, n);
      const double odd[] = {notANumber, infinity, -infinity, -0.0, 5e-324};
      for (int64_t i = 0; i < n; ++i)
        t.setDouble(i, odd[i % 5]);
      expectSame(t, roundTrip(t));
    }
}

TEST_F(TensorTest, LargeConstantsShareTheirBytes) {
  Tensor t(DataType::Float32, {1000});
  t.setDouble(7, 1);
  mlir::ElementsAttr attr = t.toAttr(&context);
  EXPECT_TRUE(llvm::isa<mlir::DenseResourceElementsAttr>(attr));
  EXPECT_EQ(Tensor::fromAttr(attr).bytes(), t.bytes());
  EXPECT_EQ(Tensor::fromAttr(t.reshaped({10, 100}).toAttr(&context)).bytes(), t.bytes());
}

TEST_F(TensorTest, BytesOutliveTheTensorAndTheContext) {
  Tensor kept;
  {
    mlir::MLIRContext other;
    mlir::ElementsAttr attr;
    {
      Tensor t(DataType::Int32, {500});
      t.setInt(499, 42);
      attr = t.toAttr(&other);
    }
    kept = Tensor::fromAttr(attr);
  }
  EXPECT_EQ(kept.intAt(499), 42);
}

TEST_F(TensorTest, LargeSplatsAreSmall) {
  Tensor t(DataType::Bool, {1 << 20});
  EXPECT_TRUE(llvm::isa<mlir::DenseElementsAttr>(t.toAttr(&context)));
}

TEST_F(TensorTest, NamesOfManyConstantsTakeNoSearch) {
  // A file of a megabyte can hold so many; looking at the names of all before each takes minutes.
  mlir::ElementsAttr last;
  for (int64_t i = 0; i < 50'000; ++i) {
    Tensor tensor(DataType::UInt8, {1100});
    tensor.setInt(0, 1);
    last = tensor.toAttr(&context);
  }
  EXPECT_EQ(llvm::cast<mlir::DenseResourceElementsAttr>(last).getRawHandle().getKey(), "uint8_1100_49999");
}

TEST_F(TensorTest, LargeConstantsPrintAndParse) {
  for (DataType type : allTypes) {
    Tensor t(type, {50, 30});
    for (int64_t i = 0; i < t.size(); ++i)
      t.setInt(i, i % 7);
    mlir::OpBuilder builder(&context);
    mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(builder.getUnknownLoc());
    builder.setInsertionPointToStart(module->getBody());
    builder.create<tk::ConstantOp>(builder.getUnknownLoc(), t.toAttr(&context));
    std::string text;
    llvm::raw_string_ostream os(text);
    module->print(os);

    mlir::MLIRContext other;
    other.loadDialect<tk::TkDialect>();
    mlir::OwningOpRef<mlir::ModuleOp> parsed = mlir::parseSourceString<mlir::ModuleOp>(text, &other);
    ASSERT_TRUE(parsed) << text.substr(0, 200);
    auto constant = llvm::cast<tk::ConstantOp>(parsed->getBody()->front());
    std::optional<Tensor> value = tk::constantValue(constant);
    ASSERT_TRUE(value);
    expectSame(t, *value);
  }
}
