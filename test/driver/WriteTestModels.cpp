//===- WriteTestModels.cpp - writes the test models as files ---------------------------------------===//
// usage: write_test_models DIRECTORY
#include "TestModels.h"
#include <fstream>
#include <iostream>

int main(int argc, char **argv) {
  if (argc != 2) {
    std::cerr << "usage: write_test_models DIRECTORY\n";
    return 2;
  }
  for (const auto &[name, bytes] : tokamak::test::allTestModels()) {
    std::ofstream file(std::string(argv[1]) + "/" + name + ".onnx", std::ios::binary);
    if (!(file << bytes)) {
      std::cerr << "cannot write " << name << ".onnx\n";
      return 1;
    }
  }
  return 0;
}
