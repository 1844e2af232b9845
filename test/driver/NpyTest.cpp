//===- NpyTest.cpp - NumPy's array files
//------------------------------------------------------------------===//
#include "Npy.h"
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

using namespace tokamak;
using tool::readNpy;
using tool::writeNpy;

namespace {

class Npy : public testing::Test {
protected:
  Npy() : path(std::filesystem::path(testing::TempDir()) / (std::to_string(getpid()) + ".npy")) {}
  ~Npy() override { std::filesystem::remove(path); }
  /// A file of version 1 with that dictionary and those data.
  void write(const std::string &dictionary, const std::string &data) {
    std::string text = dictionary + "\n";
    std::string bytes = std::string("\x93NUMPY\x01\x00", 8);
    bytes += static_cast<char>(text.size() & 255);
    bytes += static_cast<char>(text.size() >> 8);
    raw(bytes + text + data);
  }
  void raw(const std::string &bytes) { std::ofstream(path, std::ios::binary) << bytes; }
  std::string message() {
    auto tensor = readNpy(path);
    EXPECT_FALSE(tensor);
    EXPECT_EQ(tensor.status().message.find('\n'), std::string::npos);
    return tensor.status().message;
  }
  std::string path;
};

TEST_F(Npy, RoundTripsEveryType) {
  for (ElementType type :
       {ElementType::Float32, ElementType::UInt8, ElementType::Int8, ElementType::UInt16, ElementType::Int16,
        ElementType::Int32, ElementType::Int64, ElementType::Bool, ElementType::Float16, ElementType::Float64,
        ElementType::UInt32, ElementType::UInt64, ElementType::BFloat16}) {
    for (const Shape &shape : {Shape{}, Shape{3}, Shape{2, 3}, Shape{0, 4}, Shape{1, 1, 2, 1}}) {
      HostTensor tensor(type, shape);
      for (size_t i = 0; i < tensor.bytes.size(); ++i)
        tensor.bytes[i] = static_cast<std::byte>(i & 1);
      ASSERT_TRUE(writeNpy(path, tensor).ok());
      auto read = readNpy(path);
      ASSERT_TRUE(read) << read.status().message;
      EXPECT_EQ(read->type, type);
      EXPECT_EQ(read->shape, shape);
      EXPECT_EQ(read->bytes, tensor.bytes);
      // The data begin at a multiple of 64.
      EXPECT_EQ((std::filesystem::file_size(path) - tensor.bytes.size()) % 64, 0u);
    }
  }
}

TEST_F(Npy, TransposesFortranOrder) {
  write("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }", "adbecf");
  auto tensor = readNpy(path);
  ASSERT_TRUE(tensor) << tensor.status().message;
  EXPECT_EQ(std::memcmp(tensor->bytes.data(), "abcdef", 6), 0);
}

TEST_F(Npy, ReadsOtherSpellings) {
  write("{\"shape\": (2L,), \"fortran_order\": False, \"descr\": \"|u1\"}", "ab");
  auto tensor = readNpy(path);
  ASSERT_TRUE(tensor) << tensor.status().message;
  EXPECT_EQ(tensor->shape, Shape{2});
  write("{'descr': '<V2', 'fortran_order': False, 'shape': (), }", "ab");
  tensor = readNpy(path);
  ASSERT_TRUE(tensor) << tensor.status().message;
  EXPECT_EQ(tensor->type, ElementType::BFloat16);
}

TEST_F(Npy, RefusesDamage) {
  raw("");
  EXPECT_NE(message().find("no .npy file"), std::string::npos);
  raw("PK\x03\x04 something else altogether");
  EXPECT_NE(message().find("no .npy file"), std::string::npos);
  raw(std::string("\x93NUMPY\x01\x00\xff\x00{'descr'", 18));
  EXPECT_NE(message().find("ends inside its header"), std::string::npos);
  raw(std::string("\x93NUMPY\x09\x00\xff\x00", 10));
  EXPECT_NE(message().find("version 9"), std::string::npos);
  raw(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12));
  message();
  write("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", "12345678");
  EXPECT_NE(message().find("truncated"), std::string::npos);
  write("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 16), }", "");
  EXPECT_NE(message().find("too large"), std::string::npos);
  write("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", "");
  message();
  write("{'descr': '<f4', 'fortran_order': False, 'shape': (2000000000,), }", "12345678");
  EXPECT_NE(message().find("truncated"), std::string::npos); // and no 8 GB are taken
  write("{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", "1234");
  EXPECT_NE(message().find("big-endian"), std::string::npos);
  write("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "1234");
  message();
  write("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", "1234");
  message();
  write("{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,), }", "1234");
  message();
  write("{'descr': '<f4', 'shape': (1,), }", "1234");
  message();
  write("{", "");
  message();
}

TEST_F(Npy, NamesTheFile) {
  EXPECT_NE(readNpy("/no/such/file.npy").status().message.find("/no/such/file.npy"), std::string::npos);
  EXPECT_FALSE(readNpy("/"));
  EXPECT_FALSE(writeNpy("/no/such/file.npy", HostTensor(ElementType::Int8, {1})).ok());
}

} // namespace
