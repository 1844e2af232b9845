//===- CApiTest.cpp - the C interface ------------------------------------------------------------------===//
#include "TestModels.h"
#include "tokamak/tokamak.h"
#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace {

class CApi : public testing::Test {
protected:
  tokamak_session *load(const char *name, const tokamak_options *options = nullptr) {
    std::string bytes = tokamak::test::testModel(name);
    tokamak_session *session = nullptr;
    EXPECT_EQ(tokamak_load_memory(bytes.data(), bytes.size(), options, &session), TOKAMAK_OK)
        << tokamak_last_error();
    sessions.push_back(session);
    return session;
  }
  ~CApi() override {
    for (tokamak_session *session : sessions)
      tokamak_free(session);
  }
  std::vector<tokamak_session *> sessions;
};

TEST_F(CApi, Describes) {
  tokamak_session *session = load("dense");
  ASSERT_EQ(tokamak_input_count(session), 1u);
  ASSERT_EQ(tokamak_output_count(session), 1u);
  tokamak_value_info info;
  ASSERT_EQ(tokamak_input_info(session, 0, &info), TOKAMAK_OK);
  EXPECT_STREQ(info.name, "x");
  EXPECT_EQ(info.dtype, TOKAMAK_FLOAT32);
  EXPECT_EQ(info.rank, 2);
  EXPECT_EQ(info.dims[0], -1);
  EXPECT_STREQ(info.symbols[0], "N");
  EXPECT_EQ(info.dims[1], 4);
  EXPECT_EQ(tokamak_output_info(session, 1, &info), TOKAMAK_MISUSE);
  EXPECT_EQ(tokamak_input_count(nullptr), 0u);
}

TEST_F(CApi, Runs) {
  for (const char *fusion : {"none", "dominator", "full"}) {
    tokamak_options options = {1, fusion, nullptr};
    tokamak_session *session = load("dense", &options);
    float x[8] = {1, 0, 0, 0, 0, 0, 0, 1}, y[6];
    tokamak_tensor in = {TOKAMAK_FLOAT32, 2, {2, 4}, x}, out = {};
    ASSERT_EQ(tokamak_prepare(session, &in, 1, &out, 1), TOKAMAK_OK) << tokamak_last_error();
    EXPECT_EQ(out.dtype, TOKAMAK_FLOAT32);
    EXPECT_EQ(out.rank, 2);
    EXPECT_EQ(out.dims[0], 2);
    EXPECT_EQ(out.dims[1], 3);
    ASSERT_EQ(tokamak_tensor_bytes(&out), sizeof y);
    out.data = y;
    ASSERT_EQ(tokamak_run(session, &in, 1, &out, 1), TOKAMAK_OK) << tokamak_last_error();
    const float expected[6] = {0, 2, 13, 0, 11, 22};
    for (int i = 0; i < 6; ++i)
      EXPECT_EQ(y[i], expected[i]);
  }
}

TEST_F(CApi, Binds) {
  tokamak_session *session = load("reshape_by_input");
  int64_t shape[2] = {3, 2};
  tokamak_tensor value = {TOKAMAK_INT64, 1, {2}, shape};
  ASSERT_EQ(tokamak_bind(session, "shape", &value), TOKAMAK_OK) << tokamak_last_error();
  ASSERT_EQ(tokamak_input_count(session), 1u);
  tokamak_tensor in = {TOKAMAK_FLOAT32, 1, {6}, nullptr}, out = {};
  ASSERT_EQ(tokamak_prepare(session, &in, 1, &out, 1), TOKAMAK_OK) << tokamak_last_error();
  EXPECT_EQ(out.dims[0], 3);
  EXPECT_EQ(tokamak_bind(session, "nosuch", &value), TOKAMAK_INVALID_INPUT);
}

TEST_F(CApi, ReportsFaults) {
  tokamak_session *session = load("dense");
  tokamak_tensor in = {TOKAMAK_FLOAT32, 2, {1, 5}, nullptr}, out = {};
  EXPECT_EQ(tokamak_prepare(session, &in, 1, &out, 1), TOKAMAK_INVALID_INPUT);
  EXPECT_NE(std::string(tokamak_last_error()).find("'x'"), std::string::npos);
  in.dims[1] = 4;
  in.dtype = 77;
  EXPECT_EQ(tokamak_prepare(session, &in, 1, &out, 1), TOKAMAK_MISUSE);
  in.dtype = TOKAMAK_INT32;
  EXPECT_EQ(tokamak_prepare(session, &in, 1, &out, 1), TOKAMAK_INVALID_INPUT);
  float numbers[4] = {};
  tokamak_tensor typed = {TOKAMAK_INT32, 2, {1, 4}, numbers};
  EXPECT_EQ(tokamak_run(session, &typed, 1, &typed, 1), TOKAMAK_INVALID_INPUT);
  EXPECT_NE(std::string(tokamak_last_error()).find("int32"), std::string::npos);
  in.dtype = TOKAMAK_FLOAT32;
  in.rank = 17;
  EXPECT_EQ(tokamak_prepare(session, &in, 1, &out, 1), TOKAMAK_MISUSE);
  in.rank = 2;
  EXPECT_EQ(tokamak_prepare(session, &in, 0, &out, 1), TOKAMAK_INVALID_INPUT);
  EXPECT_EQ(tokamak_prepare(session, nullptr, 1, &out, 1), TOKAMAK_MISUSE);
  EXPECT_EQ(tokamak_prepare(nullptr, &in, 1, &out, 1), TOKAMAK_MISUSE);
  EXPECT_EQ(tokamak_prepare(session, &in, 1, nullptr, 0), TOKAMAK_OK);
  EXPECT_EQ(tokamak_prepare(session, &in, 1, nullptr, 1), TOKAMAK_MISUSE);
  EXPECT_STREQ(tokamak_last_error(), "the array of outputs is null");
  EXPECT_EQ(tokamak_prepare(session, &in, 1, &out, 2), TOKAMAK_INVALID_INPUT);
  EXPECT_STREQ(tokamak_last_error(), "the model has 1 outputs, 2 were given");
  EXPECT_EQ(tokamak_run(session, &in, 1, &out, 1), TOKAMAK_MISUSE); // no data, no type of the output
  EXPECT_EQ(tokamak_load_file(nullptr, nullptr, &session), TOKAMAK_MISUSE);
  EXPECT_EQ(session, nullptr);
  EXPECT_EQ(tokamak_load_file("/no/such/file", nullptr, &session), TOKAMAK_INVALID_INPUT);
  tokamak_options options = {0, "some", nullptr};
  EXPECT_EQ(tokamak_load_file("/no/such/file", &options, &session), TOKAMAK_MISUSE);
  EXPECT_EQ(tokamak_load_file("/no/such/file", nullptr, nullptr), TOKAMAK_MISUSE);
  options = {-3, nullptr, nullptr};
  EXPECT_EQ(tokamak_load_file("/no/such/file", &options, &session), TOKAMAK_MISUSE);
  EXPECT_NE(std::string(tokamak_last_error()).find("-3"), std::string::npos);
  options = {0, nullptr, "wild"};
  EXPECT_EQ(tokamak_load_file("/no/such/file", &options, &session), TOKAMAK_MISUSE);
  EXPECT_NE(std::string(tokamak_last_error()).find("wild"), std::string::npos);
}

TEST(CTensor, Bytes) {
  tokamak_tensor tensor = {TOKAMAK_INT64, 2, {3, 5}, nullptr};
  EXPECT_EQ(tokamak_tensor_bytes(&tensor), 120u);
  tensor.rank = 0;
  EXPECT_EQ(tokamak_tensor_bytes(&tensor), 8u);
  tensor = {TOKAMAK_FLOAT32, 2, {int64_t(1) << 40, int64_t(1) << 40}, nullptr};
  EXPECT_EQ(tokamak_tensor_bytes(&tensor), 0u);
  tensor = {99, 1, {1}, nullptr};
  EXPECT_EQ(tokamak_tensor_bytes(&tensor), 0u);
  EXPECT_EQ(tokamak_tensor_bytes(nullptr), 0u);
}

} // namespace
