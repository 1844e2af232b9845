//===- ArgumentsTest.cpp - NAME=VALUE arguments of the command
//----------------------------------------------===//
#include "Arguments.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace tokamak;
using namespace tokamak::tool;

namespace {

ValueInfo input(const std::string &name, ElementType type, Shape shape) {
  ValueInfo info;
  info.name = name;
  info.type = type;
  info.shape = std::move(shape);
  for (int64_t extent : info.shape)
    info.symbols.push_back(extent < 0 ? "N" : "");
  return info;
}

TEST(Arguments, SplitsAtTheRightEqualsSign) {
  std::vector<ValueInfo> inputs = {input("x", ElementType::Float32, {}),
                                   input("x=y", ElementType::Float32, {}),
                                   input("", ElementType::Float32, {})};
  auto split = [&](const char *text) { return *splitAssignment("--shape", text, inputs); };
  EXPECT_EQ(split("x=3"), std::pair(std::string("x"), std::string("3")));
  EXPECT_EQ(split("x=y=3"), std::pair(std::string("x=y"), std::string("3")));
  EXPECT_EQ(split("x=a=b"), std::pair(std::string("x"), std::string("a=b")));
  EXPECT_EQ(split("=3"), std::pair(std::string(""), std::string("3")));
  inputs.pop_back();
  EXPECT_EQ(splitAssignment("--shape", "x3", inputs).status().code, StatusCode::Misuse);
  EXPECT_EQ(splitAssignment("--shape", "z=3", inputs).status().code, StatusCode::InvalidInput);
  EXPECT_EQ(splitAssignment("--shape", "=3", inputs).status().code, StatusCode::InvalidInput);
}

TEST(Arguments, Shapes) {
  EXPECT_EQ(*parseShape("", "1x3x224x224"), (Shape{1, 3, 224, 224}));
  EXPECT_EQ(*parseShape("", "7"), (Shape{7}));
  EXPECT_EQ(*parseShape("", "0x2"), (Shape{0, 2}));
  EXPECT_EQ(*parseShape("", ""), Shape{});
  for (const char *wrong : {"x", "1x", "x1", "1xx2", "-1", "1,2", "1.5", "a", "99999999999999999999", " 1"})
    EXPECT_FALSE(parseShape("", wrong)) << wrong;
}

TEST(Arguments, Values) {
  auto value = parseValue("", "1, -2,3", input("s", ElementType::Int64, {3}));
  ASSERT_TRUE(value) << value.status().message;
  int64_t ints[3];
  std::memcpy(ints, value->bytes.data(), sizeof ints);
  EXPECT_EQ(ints[1], -2);
  EXPECT_EQ(value->shape, Shape{3});

  value = parseValue("", "2.5", input("s", ElementType::Float32, {}));
  ASSERT_TRUE(value);
  EXPECT_EQ(value->shape, Shape{});
  value = parseValue("", "16000", input("s", ElementType::Int64, {1}));
  ASSERT_TRUE(value);
  EXPECT_EQ(value->shape, Shape{1});
  value = parseValue("", "1,2,3,4", input("s", ElementType::UInt8, {-1, 2}));
  ASSERT_TRUE(value);
  EXPECT_EQ(value->shape, (Shape{2, 2}));
  value = parseValue("", "true", input("s", ElementType::Bool, {}));
  ASSERT_TRUE(value);
  EXPECT_EQ(value->bytes[0], std::byte{1});
  value = parseValue("", "-inf", input("s", ElementType::Float64, {}));
  ASSERT_TRUE(value);
  double number;
  std::memcpy(&number, value->bytes.data(), sizeof number);
  EXPECT_TRUE(std::isinf(number));
  value = parseValue("", "18446744073709551615", input("s", ElementType::UInt64, {}));
  ASSERT_TRUE(value);
  EXPECT_EQ(value->bytes[7], std::byte{255});

  EXPECT_FALSE(parseValue("", "1,2", input("s", ElementType::Int64, {3})));
  EXPECT_FALSE(parseValue("", "1", input("s", ElementType::Int64, {0})));
  EXPECT_FALSE(parseValue("", "1,2", input("s", ElementType::Int64, {-1, -1})));
  EXPECT_FALSE(parseValue("", "1.5", input("s", ElementType::Int64, {})));
  EXPECT_FALSE(parseValue("", "300", input("s", ElementType::UInt8, {})));
  EXPECT_FALSE(parseValue("", "-1", input("s", ElementType::UInt64, {})));
  EXPECT_FALSE(parseValue("", "2", input("s", ElementType::Bool, {})));
  EXPECT_FALSE(parseValue("", "", input("s", ElementType::Float32, {})));
  EXPECT_FALSE(parseValue("", "1,", input("s", ElementType::Float32, {2})));
  EXPECT_FALSE(parseValue("", "abc", input("s", ElementType::Float32, {})));
  EXPECT_FALSE(parseValue("", "/no/such/file.npy", input("s", ElementType::Float32, {})));
}

TEST(Arguments, RefusesTwice) {
  std::vector<ValueInfo> inputs = {input("x", ElementType::Float32, {-1})};
  EXPECT_TRUE(parseShapes({"x=1"}, inputs));
  EXPECT_FALSE(parseShapes({"x=1", "x=2"}, inputs));
}

} // namespace
