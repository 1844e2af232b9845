//===- IdentifierTest.cpp - C identifiers from any names ------------------------------------------------===//
#include "driver/Identifier.h"
#include <gtest/gtest.h>

using tokamak::driver::identifierFor;
using tokamak::driver::Identifiers;

TEST(Identifier, KeepsWhatItCan) {
  EXPECT_EQ(identifierFor("input_1"), "input_1");
  EXPECT_EQ(identifierFor("a.b"), "a_b");
  EXPECT_EQ(identifierFor("1"), "_1");
  EXPECT_EQ(identifierFor("int"), "int_");
  EXPECT_EQ(identifierFor("class"), "class_");
  EXPECT_EQ(identifierFor(""), "value");
  EXPECT_EQ(identifierFor("_Reserved"), "x_Reserved");
  EXPECT_EQ(identifierFor("__x"), "x__x");
}

TEST(Identifier, AvoidsWhatHeadersDefine) {
  for (const char *name : {"size_t",
                           "int8_t",
                           "uint_least16_t",
                           "intptr_t",
                           "char8_t",
                           "INT8_MAX",
                           "UINT_FAST32_MAX",
                           "INT64_C",
                           "SIZE_MAX",
                           "PTRDIFF_MIN",
                           "CHAR_BIT",
                           "WCHAR_MAX",
                           "WINT_MIN",
                           "SIG_ATOMIC_MAX",
                           "ULLONG_MAX",
                           "FLT_EPSILON",
                           "errno",
                           "offsetof",
                           "assert",
                           "stdin",
                           "EOF",
                           "NULL",
                           "EINVAL",
                           "M_PI",
                           "M_PI_2",
                           "PRIuLEAST8",
                           "SEEK_SET",
                           "SIGINT",
                           "FE_INVALID",
                           "LC_ALL",
                           "I",
                           "complex",
                           "bool",
                           "true",
                           "NAN",
                           "INFINITY",
                           "RAND_MAX",
                           "FILE",
                           "va_list",
                           "jmp_buf",
                           "linux",
                           "noreturn",
                           "CLOCKS_PER_SEC"})
    EXPECT_EQ(identifierFor(name), std::string(name) + "_");
}

TEST(Identifier, KeepsOrdinaryNames) {
  for (const char *name : {"X",
                           "INPUT",
                           "Input_1",
                           "Y_MAX",
                           "x_t",
                           "h_t",
                           "data",
                           "scores",
                           "exp",
                           "index",
                           "INT8",
                           "EMBEDDING",
                           "SIGMA",
                           "SIGNAL",
                           "max",
                           "min_t",
                           "bool_mask",
                           "int8",
                           "M_1",
                           "PRIOR",
                           "size",
                           "FLT",
                           "Errno",
                           "i",
                           "int8_t_scale",
                           "MAX",
                           "past_key_values_0_key"})
    EXPECT_EQ(identifierFor(name), name);
}

TEST(Identifier, IsAlwaysValid) {
  for (const char *name : {"_", "__", "ä", "*/", " ", "a b", "9.9", "x=y", "\n"}) {
    std::string identifier = identifierFor(name);
    ASSERT_FALSE(identifier.empty());
    EXPECT_FALSE(isdigit(identifier[0])) << identifier;
    for (char c : identifier)
      EXPECT_TRUE(isalnum(static_cast<unsigned char>(c)) || c == '_') << identifier;
  }
}

TEST(Identifier, IsUnique) {
  Identifiers identifiers;
  EXPECT_EQ(identifiers.unique("a.b"), "a_b");
  EXPECT_EQ(identifiers.unique("a_b"), "a_b_2");
  EXPECT_EQ(identifiers.unique("a/b"), "a_b_3");
  EXPECT_EQ(identifiers.unique("a_b_2"), "a_b_2_2");
  EXPECT_EQ(identifiers.unique("M_SQRT1"), "M_SQRT1");
  EXPECT_EQ(identifiers.unique("M.SQRT1"), "M_SQRT1_2_");
  identifiers.reserve("model");
  EXPECT_EQ(identifiers.unique("model"), "model_2");
}
