//===- TestModels.h - small ONNX models for the tests of sessions and of the command --------------===//
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace tokamak::test {

/// The model of that name, as the bytes of an ONNX file. See TestModels.cpp for what each computes.
std::string testModel(const std::string &name);
/// All of them, by name.
std::vector<std::pair<std::string, std::string>> allTestModels();

} // namespace tokamak::test
