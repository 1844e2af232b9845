"""libtokamak.so as a C program and a C++ program use it."""
import os
import subprocess
import unittest

from support import CC, Command

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
LIBRARY = os.environ["LIBTOKAMAK"]


class Library(Command):
    def build(self, compiler, flags, source, program):
        subprocess.run([compiler, *flags, "-Wall", "-Wextra", "-Werror", "-I", os.path.join(ROOT, "include"), source,
                        LIBRARY, "-Wl,-rpath," + os.path.dirname(LIBRARY), "-o", self.path(program)], check=True)

    def test_c(self):
        self.build(CC, ["-std=c11", "-pedantic"], os.path.join(ROOT, "examples", "run_model", "main.c"), "run_model")

        def run(model):
            return subprocess.run([self.path("run_model"), self.path(model)], capture_output=True, text=True, timeout=60)

        self.assertEqual(run("dense.onnx").stdout, "y: 1 3, begins with 0\n")
        self.assertEqual(run("scalar.onnx").stdout, "y:, begins with 0\n")
        missing = run("nosuch.onnx")
        self.assertEqual(missing.returncode, 1)
        self.assertRegex(missing.stderr, "^loading: .*nosuch.onnx.*\n$")

    def test_cpp(self):
        with open(self.path("use.cpp"), "w") as file:
            file.write("""
                #include <cstdio>
                #include <tokamak/Session.h>
                int main(int, char **argv) {
                  auto session = tokamak::Session::fromFile(argv[1]);
                  if (!session)
                    return 1;
                  tokamak::HostTensor x(tokamak::ElementType::Float32, {2, 4});
                  auto outputs = (*session)->run({{"x", x}});
                  if (!outputs)
                    return 1;
                  std::printf("%s %zu", (*outputs)[0].name.c_str(), (*outputs)[0].tensor.elements());
                }""")
        self.build(os.environ.get("CXX", "c++"), ["-std=c++20"], self.path("use.cpp"), "use")
        done = subprocess.run([self.path("use"), self.path("dense.onnx")], check=True, capture_output=True, text=True)
        self.assertEqual(done.stdout, "y 6")


if __name__ == "__main__":
    unittest.main()
