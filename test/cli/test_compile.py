"""tokamak compile: shared libraries that a C program links, and the text of stages."""
import os
import re
import subprocess
import unittest

from support import CC, Command, TOKAMAK_OPT

EXAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "ultra_small", "main.c")
STRICT = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic"]


class Compile(Command):
    def needed(self, library):
        text = subprocess.run(["readelf", "-d", self.path(library)], check=True, capture_output=True, text=True).stdout
        return set(re.findall(r"NEEDED.*\[(.*)\]", text))

    def build(self, source, library, program, *, compiler=CC, flags=STRICT):
        subprocess.run([compiler, *flags, "-I", self.folder.name, source, self.path(library), "-Wl,-rpath,$ORIGIN", "-lm",
                        "-o", self.path(program)], check=True)
        return subprocess.run([self.path(program)], check=True, capture_output=True, text=True, timeout=60).stdout

    def test_example(self):
        for fusion in ("none", "full"):
            text = self.good("compile", "dense.onnx", "--shape", "x=2x4", "-o", "dense.so", "--fusion", fusion)
            self.assertIn("dense.so", text)
            self.assertLessEqual(self.needed("dense.so"), {"libc.so.6", "libm.so.6", "libpthread.so.0"})
            self.assertEqual(self.build(EXAMPLE, "dense.so", "example"), "y is 2 x 3: 0 2 13 0 11 22\n")

    def test_a_folder_is_no_library(self):
        os.mkdir(self.path("out"))
        for output in ("out/", ".", "..", "out/.", "out/.so", "nowhere/"):
            self.fails(2, "compile", "dense.onnx", "-o", output, parts=["-o " + output + " names no file", "OUT.so"])
        self.assertEqual(os.listdir(self.path("out")), [])

    def test_only_the_interface_is_exported(self):
        self.good("compile", "dense.onnx", "-o", "dense")  # .so is added
        text = subprocess.run(["nm", "-D", "--defined-only", self.path("dense.so")], check=True, capture_output=True,
                              text=True).stdout
        names = {line.split()[-1] for line in text.splitlines()}
        self.assertEqual(names, {"dense_" + name for name in (
            "init", "free", "run", "run_arrays", "input", "output", "input_count", "output_count", "error")})

    def test_header_is_c_and_cpp(self):
        self.good("compile", "odd_names.onnx", "-o", "1.class-so.so")
        with open(self.path("use.c"), "w") as file:
            file.write("""
                #include "1.class-so.h"
                #include <stdio.h>
                #include <string.h>
                int main(void) {
                  float in[8][2], out[8][2];
                  memset(in, 0, sizeof in);
                  _1_class_so_model *model = _1_class_so_init(0);
                  int code = _1_class_so_run(model, in[0], in[1], in[2], in[3], in[4], in[5], in[6], in[7], out[0],
                                             out[1], out[2], out[3], out[4], out[5], out[6], out[7]);
                  for (int i = 0; i < 8; ++i)
                    printf("%s=%g ", _1_class_so_output(i)->name, out[i][1]);
                  const void *inputs[8];
                  void *outputs[8];
                  for (int i = 0; i < 8; ++i) {
                    in[i][1] = 100;
                    inputs[i] = in[i];
                    outputs[i] = out[i];
                  }
                  code += _1_class_so_run_arrays(model, inputs, outputs);
                  _1_class_so_free(model);
                  _1_class_so_free(NULL);
                  int bad = _1_class_so_input(-1) || _1_class_so_input(8) || _1_class_so_input_count() != 8;
                  printf("%d %d %g", code, bad, out[7][1]);
                  return 0;
                }
""")
        expected = "a.b'=0 a_b'=1 a/b'=2 int'=3 1'=4 x=y'=5 model'=6 */ weird /*'=7 0 0 107"
        self.assertEqual(self.build(self.path("use.c"), "1.class-so.so", "use"), expected)
        cpp = os.environ.get("CXX", "c++")
        flags = ["-x", "c++", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", self.folder.name]
        subprocess.run([cpp, *flags, self.path("1.class-so.h")], check=True)

    def test_header_compiles_where_names_are_those_of_headers(self):
        self.good("compile", "header_names.onnx", "-o", "names.so")
        headers = ("assert", "complex", "errno", "fenv", "float", "inttypes", "limits", "locale", "math", "setjmp",
                   "signal", "stdarg", "stdbool", "stdio", "stdlib", "string", "time", "wchar")
        with open(self.path("use.c"), "w") as file:
            file.writelines("#include <" + name + ".h>\n" for name in headers)
            file.write('#include "names.h"\n')
        for compiler, language, standard in (("CC", "c", "c11"), ("CC", "c", "gnu17"), ("CXX", "c++", "gnu++20")):
            flags = ["-x", language, "-std=" + standard, "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
            for source in ("use.c", "names.h"):
                subprocess.run([os.environ.get(compiler, compiler.lower()), *flags, "-I", self.folder.name,
                                self.path(source)], check=True)

    def test_errors_at_run_time(self):
        self.good("compile", "scatter.onnx", "-o", "scatter.so")
        with open(self.path("use.c"), "w") as file:
            file.write("""
                #include "scatter.h"
                #include <stdio.h>
                int main(void) {
                  float x[4] = {1, 2, 3, 4}, updates[2] = {5, 6}, y[4];
                  int64_t indices[2] = {0, 9};
                  scatter_model *model = scatter_init(2);
                  int bad = scatter_run(model, x, indices, updates, y);
                  indices[1] = -1;
                  int good = scatter_run(model, x, indices, updates, y);
                  scatter_free(model);
                  printf("%d %d %s: %g %g", bad != 0, good, scatter_error(bad), y[0], y[3]);
                  return 0;
                }
""")
        self.assertRegex(self.build(self.path("use.c"), "scatter.so", "use"), r"^1 0 scatter\.onnx: node 'ScatterElements_0' \(ScatterElements\): an index is "
                         r"out of range; give indices .*: 5 6$")

    def test_indices_of_a_kernel_at_run_time(self):
        self.good("compile", "gather.onnx", "--shape", "indices=2", "-o", "gather.so")
        with open(self.path("use.c"), "w") as file:
            file.write("""
                #include "gather.h"
                #include <stdio.h>
                int main(void) {
                  float x[60] = {0}, y[40];
                  int64_t indices[2] = {0, 3};
                  x[40] = 4;
                  gather_model *model = gather_init(2);
                  int bad = gather_run(model, x, indices, y);
                  indices[1] = -1;
                  int good = gather_run(model, x, indices, y);
                  gather_free(model);
                  printf("%d %s: %g; %s", good, gather_error(bad), y[20], gather_error(1 << 30 | 1));
                  return 0;
                }
""")
        self.assertRegex(self.build(self.path("use.c"), "gather.so", "use"),
                         r"^0 gather\.onnx: node 'pick' \(Gather\): an index is out of range; give .*: 8; an index is out")

    def test_null_pointers(self):
        self.good("compile", "dense.onnx", "--shape", "x=2x4", "-o", "dense.so")
        self.good("compile", "dense.onnx", "--shape", "x=0x4", "-o", "none.so")
        with open(self.path("use.c"), "w") as file:
            file.write("""
                #include "dense.h"
                #include <stdio.h>
                int main(void) {
                  float x[8] = {0}, y[6];
                  const void *no_input[1] = {0};
                  void *output[1] = {0};
                  dense_model *model = dense_init(1);
                  int codes[] = {dense_run(NULL, x, y), dense_run(model, NULL, y), dense_run(model, x, NULL),
                                 dense_run_arrays(model, NULL, NULL), dense_run_arrays(model, no_input, output)};
                  for (int i = 0; i < 5; ++i)
                    printf("%s, ", codes[i] ? dense_error(codes[i]) : "fine");
                  printf("%d", dense_run(model, x, y));
                  dense_free(model);
                  return 0;
                }
""")
        text = "the model, an input or an output is a null pointer, "
        self.assertEqual(self.build(self.path("use.c"), "dense.so", "use"), 5 * text + "0")
        with open(self.path("empty.c"), "w") as file:
            file.write("""
                #include "none.h"
                #include <stdio.h>
                int main(void) {
                  none_model *model = none_init(1);
                  printf("%d", none_run(model, NULL, NULL)); /* no bytes, so no buffer is needed */
                  none_free(model);
                  return 0;
                }
""")
        self.assertEqual(self.build(self.path("empty.c"), "none.so", "empty"), "0")

    def test_two_libraries_in_one_program(self):
        self.good("compile", "dense.onnx", "-o", "dense.so")
        self.good("compile", "scalar.onnx", "-o", "scalar.so")
        with open(self.path("use.c"), "w") as file:
            file.write("""
                #include "dense.h"
                #include "scalar.h"
                #include <stdio.h>
                int main(void) {
                  float x[4] = {1, 1, 1, 1}, y[3], two = 2, four;
                  dense_model *a = dense_init(0);
                  scalar_model *b = scalar_init(0);
                  int code = dense_run(a, x, y) + scalar_run(b, &two, &four);
                  dense_free(a);
                  scalar_free(b);
                  printf("%d %g %g", code, y[2], four);
                  return 0;
                }
""")
        libraries = [self.path("scalar.so")]
        subprocess.run([CC, *STRICT, "-I", self.folder.name, self.path("use.c"), self.path("dense.so"), *libraries,
                        "-Wl,-rpath,$ORIGIN", "-o", self.path("use")], check=True)
        done = subprocess.run([self.path("use")], check=True, capture_output=True, text=True)
        self.assertEqual(done.stdout, "0 40 4")

    def test_stages(self):
        self.assertIn("tk.matmul", self.good("compile", "dense.onnx", "--emit", "graph"))
        self.assertIn("tk.fusion", self.good("compile", "dense.onnx", "--emit", "fused"))
        self.assertIn("func", self.good("compile", "dense.onnx", "--emit", "kernels"))
        self.assertIn("define", self.good("compile", "dense.onnx", "--emit", "llvm"))
        self.assertIn(".text", self.good("compile", "dense.onnx", "--emit", "asm"))
        self.assertIn("zmm", self.good("compile", "two_inputs.onnx", "--shape", "a=64x64", "--emit", "asm",
                                       "--target-cpu", "x86-64-v4"))
        self.assertEqual(self.good("compile", "dense.onnx", "--emit", "fused", "-o", "fused.mlir"), "")
        self.assertTrue(os.path.exists(self.path("fused.mlir")))

    def test_stages_that_tokamak_opt_reads(self):
        self.assertIn("__elided__", self.good("compile", "large_constants.onnx", "--emit", "graph"))
        for stage in ("graph", "fused"):
            self.good("compile", "large_constants.onnx", "--emit", stage, "-o", stage + ".mlir")
            done = subprocess.run([TOKAMAK_OPT, stage + ".mlir", "--mlir-print-debuginfo"], cwd=self.folder.name,
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            with open(self.path(stage + ".mlir")) as file:
                self.assertEqual(done.stdout.strip(), file.read().strip())  # nothing is lost

    def test_no_linker(self):
        self.fails(1, "compile", "dense.onnx", "-o", "dense.so", parts=["no linker"],
                   environment={"PATH": self.folder.name})

    def test_a_bare_linker_will_do(self):
        linker = next((path for name in ("ld.lld-19", "ld") for path in ["/usr/bin/" + name] if os.path.exists(path)), None)
        if not linker:
            self.skipTest("no linker on this machine")
        os.mkdir(self.path("bin"))
        os.symlink(linker, self.path("bin/" + os.path.basename(linker)))
        self.good("compile", "dense.onnx", "--shape", "x=2x4", "-o", "dense.so", environment={"PATH": self.path("bin")})
        self.assertLessEqual(self.needed("dense.so"), {"libc.so.6", "libm.so.6"})
        self.assertEqual(self.build(EXAMPLE, "dense.so", "example"), "y is 2 x 3: 0 2 13 0 11 22\n")

    def test_odd_places(self):
        folder = "a folder, with 'odd' \"marks\" and $signs"
        os.mkdir(self.path(folder))
        environment = dict(os.environ, TMPDIR=self.path(folder))
        self.good("compile", "dense.onnx", "-o", folder + "/dense.so", environment=environment)
        self.assertEqual(sorted(os.listdir(self.path(folder))), ["dense.h", "dense.so"])
        self.fails(1, "compile", "dense.onnx", "-o", "no/such/folder/dense.so", parts=["no/such/folder"])


if __name__ == "__main__":
    unittest.main()
