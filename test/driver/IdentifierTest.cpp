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
  identifiers.reserve("model");
  EXPECT_EQ(identifiers.unique("model"), "model_2");
}
