"""tokamak run and bench: results, files, and what is said of wrong input."""
import json
import os
import subprocess
import unittest

from support import TOKAMAK, Command, read_npy, write_npy


class Run(Command):
    def test_summary(self):
        write_npy(self.path("x.npy"), "<f4", (2, 4), [1, 0, 0, 0, 0, 0, 0, 1])
        text = self.good("run", "dense.onnx", "--input", "x=x.npy")
        first, second = text.splitlines()
        self.assertRegex(first, r"^dense\.onnx: 3 nodes as 1 kernels, compiled in \d+ ms, run in [0-9.]+ ms$")
        self.assertEqual(second, "y: float32[2,3]  min 0  max 22  mean 8  values 0 2 13 0 11 22")

    def test_long_axes(self):
        write_npy(self.path("x.npy"), "|u1", (4,), [1, 2, 3, 4])
        self.good("run", "long_axis.onnx", "--input", "x=x.npy", "--output-dir", ".")
        self.assertEqual(read_npy(self.path("y.npy")), ("|u1", (4,), [0, 1, 2, 3]))

    def test_outputs_as_files(self):
        write_npy(self.path("a.npy"), "<f4", (1, 2), [1, 2])
        write_npy(self.path("b.npy"), "<f4", (1, 2), [10, 20])
        for fusion in ("none", "dominator", "full"):
            self.good("run", "two_inputs.onnx", "--input", "a=a.npy", "--input", "b=b.npy", "--output-dir", "deep/out",
                      "--fusion", fusion)
            self.assertEqual(read_npy(self.path("deep/out/c.npy")), ("<f4", (1, 2), [11, 22]))
            self.assertEqual(read_npy(self.path("deep/out/d.npy")), ("<f4", (1, 2), [10, 40]))

    def test_json(self):
        data = json.loads(self.good("run", "two_inputs.onnx", "--shape", "a=2x3", "--json", "--output-dir", "out"))
        self.assertEqual([output["name"] for output in data["outputs"]], ["c", "d"])
        self.assertEqual(data["outputs"][0]["shape"], [2, 3])
        self.assertEqual(data["outputs"][0]["type"], "float32")
        self.assertEqual(data["outputs"][0]["nan_count"], 0)
        self.assertTrue(os.path.exists(self.path(data["outputs"][1]["file"])))

    def test_nan_and_infinity(self):
        nan, inf = float("nan"), float("inf")
        write_npy(self.path("a.npy"), "<f4", (1, 4), [nan, inf, 1, 2])
        write_npy(self.path("b.npy"), "<f4", (1, 4), [1, 1, 1, 1])
        arguments = ("run", "two_inputs.onnx", "--input", "a=a.npy", "--input", "b=b.npy")
        self.assertIn("NaN 1 of 4  inf 1 of 4", self.good(*arguments))
        data = json.loads(self.good(*arguments, "--json"))
        self.assertEqual(data["outputs"][1]["nan_count"], 1)
        self.assertEqual(data["outputs"][1]["first"], ["nan", "inf", 1, 2])

    def test_seed(self):
        outputs = [json.loads(self.good("run", "dense.onnx", "--json", "--seed", seed))["outputs"]
                   for seed in ("1", "1", "2")]
        self.assertEqual(outputs[0], outputs[1])
        self.assertNotEqual(outputs[0], outputs[2])

    def test_every_type(self):
        write_npy(self.path("x.npy"), "<f8", (3,), [0, 1, 2])
        self.good("run", "all_types.onnx", "--input", "x=x.npy", "--output-dir", "out")
        for number, descr, two in ((1, "<f4", 2), (2, "|u1", 2), (3, "|i1", 2), (4, "<u2", 2), (5, "<i2", 2),
                                   (6, "<i4", 2), (7, "<i8", 2), (9, "|b1", True), (10, "<f2", 2), (11, "<f8", 2),
                                   (12, "<u4", 2), (13, "<u8", 2), (16, "<V2", 0x4000)):
            got = read_npy(self.path("out/as%d.npy" % number))
            self.assertEqual((got[0], got[1], got[2][2]), (descr, (3,), two))

    def test_rank_zero_and_zero_extent(self):
        write_npy(self.path("x.npy"), "<f4", (), [21])
        self.assertIn("y: float32[]  values 42", self.good("run", "scalar.onnx", "--input", "x=x.npy"))
        self.good("run", "scalar.onnx", "--shape", "x=")
        self.assertIn("y: float32[0,3]  no elements", self.good("run", "dense.onnx", "--shape", "x=0x4"))

    def test_odd_names(self):
        write_npy(self.path("x.npy"), "<f4", (2,), [1, 2])
        text = self.good("run", "odd_names.onnx", "--input", "x=y=x.npy", "--shape", "a/b=2", "--output-dir", "out")
        self.assertIn("x=y': float32[2]", text)
        self.assertEqual(read_npy(self.path("out/x_y_.npy"))[2], [6, 7])
        # a.b', a_b' and a/b' must not overwrite each other
        self.assertEqual(len(os.listdir(self.path("out"))), 8)

    def test_bind(self):
        for value in ("3,2", "shape.npy"):
            write_npy(self.path("shape.npy"), "<i8", (2,), [3, 2])
            self.assertIn("y: float32[3,2]", self.good("run", "reshape_by_input.onnx", "--bind", "shape=" + value))

    def test_an_input_with_a_default_value(self):
        write_npy(self.path("x.npy"), "<f4", (2,), [10, 20])
        write_npy(self.path("w.npy"), "<f4", (2,), [5, 6])
        for option, expected in ((), [11, 22]), (("--input", "w=w.npy"), [15, 26]), (("--bind", "w=7,8"), [17, 28]):
            self.good("run", "optional_input.onnx", "--input", "x=x.npy", *option, "--output-dir", "out")
            self.assertEqual(read_npy(self.path("out/y.npy"))[2], expected)
        self.good("compile", "optional_input.onnx", "--bind", "w=7,8", "-o", "overridden.so")
        self.fails(1, "run", "optional_input.onnx", "--bind", "w=1,2,3", parts=["optional_input.onnx", "w=1,2,3"])
        self.fails(1, "run", "optional_input.onnx", "--bind", "z=1", parts=["'z'", "'x', 'w'"])

    def test_a_shape_that_depends_on_an_input_file(self):
        write_npy(self.path("shape.npy"), "<i8", (2,), [2, 3])
        self.assertIn("y: float32[2,3]", self.good("run", "reshape_by_input.onnx", "--input", "shape=shape.npy"))
        self.fails(1, "run", "reshape_by_input.onnx", parts=["reshape", "--bind"])

    def test_targets(self):
        for cpu in ("native", "x86-64-v3"):
            self.good("run", "dense.onnx", "--target-cpu", cpu)

    def test_developer_options(self):
        passes = self.good("run", "--list-passes")
        self.assertIn("partition-dominator", passes)
        self.assertIn(" 3 kernels", self.good("run", "dense.onnx", "--fuel", "0"))
        self.assertIn(" 3 kernels", self.good("run", "dense.onnx", "--fusion", "dominator", "--disable-pass", "partition-dominator"))
        printed = self.run_command("run", "dense.onnx", "--print-after-change", "--timing")
        self.assertEqual(printed.returncode, 0)
        self.assertIn("tk.fusion", printed.stderr)
        self.assertIn("generating code", printed.stderr)

    def test_trace(self):
        """One event a call, none before another on its thread has ended."""
        path = self.path("trace.json")
        arguments = ("bench", "two_inputs.onnx", "--shape", "a=64x64", "--fusion", "none", "--runs", "3")
        self.assertNotIn("predicted", self.good(*arguments, "--trace", path))
        with open(path, encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        kernels = json.loads(self.good(*arguments, "--profile", "--json"))["profile"]
        self.assertEqual({event["name"] for event in events}, {kernel["kernel"] for kernel in kernels})
        for thread in {event["tid"] for event in events}:
            calls = sorted((event["ts"], event["dur"]) for event in events if event["tid"] == thread)
            for (start, duration), (following, _) in zip(calls, calls[1:]):
                self.assertLessEqual(start + duration, following + 1e-3)
        self.fails(1, "bench", "dense.onnx", "--trace", self.path("none/trace.json"), parts=["none/trace.json"])

    def test_bench(self):
        data = json.loads(self.good("bench", "dense.onnx", "--shape", "x=8x4", "--threads", "1", "--runs", "7", "--json"))
        for key in ("model", "threads", "fusion", "runs", "min_ms", "median_ms", "max_ms", "compile_ms", "kernels",
                    "arena_bytes", "weight_bytes", "bytes_moved", "flops"):
            self.assertIn(key, data)
        self.assertEqual((data["threads"], data["runs"], data["kernels"]), (1, 7, 1))
        self.assertLessEqual(data["min_ms"], data["median_ms"])
        self.assertLessEqual(data["median_ms"], data["max_ms"])
        self.assertEqual(data["bytes_moved"], 4 * (8 * 4 + 8 * 3 + 4 * 3 + 3))
        self.assertIn("median", self.good("bench", "dense.onnx"))

    def test_profile(self):
        arguments = ("bench", "two_inputs.onnx", "--shape", "a=64x64", "--runs", "5", "--profile", "--fusion", "none")
        data = json.loads(self.good(*arguments, "--json"))
        self.assertEqual(sorted(node for kernel in data["profile"] for node in kernel["nodes"]), ["Add_0", "Mul_1"])
        self.assertEqual(sum(kernel["calls"] for kernel in data["profile"]), data["kernels"])
        self.assertTrue(all(kernel["ms"] > 0 and kernel["bound_ms"] > 0 for kernel in data["profile"]))
        self.assertIn("rates_from", data)
        self.assertIn("Mul_1", self.good(*arguments))
        library = json.loads(self.good("bench", "scatter.onnx", "--bind", "indices=1,2", "--profile", "--json"))
        self.assertEqual([kernel["kernel"] for kernel in library["profile"]], ["tk_lib_scatter_elements"])
        self.assertEqual(library["profile"][0]["kind"], "library")


class WrongInput(Command):
    def test_models(self):
        self.fails(1, "run", "nosuch.onnx", parts=["nosuch.onnx"])
        self.fails(1, "run", ".")
        with open(self.path("dense.onnx"), "rb") as file:
            whole = file.read()
        for length in (0, 1, 10, len(whole) // 2, len(whole) - 1):
            with open(self.path("cut.onnx"), "wb") as file:
                file.write(whole[:length])
            self.fails(1, "run", "cut.onnx", parts=["cut.onnx"])
        with open(self.path("text.onnx"), "w") as file:
            file.write("this is no model\n" * 100)
        self.fails(1, "run", "text.onnx", parts=["text.onnx"])
        self.fails(1, "run", "unknown_operator.onnx", parts=["unknown_operator.onnx", "'strange'", "Frobnicate"])
        self.fails(1, "run", "no_rank.onnx", parts=["no_rank.onnx", "'x'", "--shape"])
        self.fails(1, "run", "three_summands.onnx", parts=["'sum' (Add)", "3 inputs", "2 at most"])
        self.fails(1, "run", "wrong_output_type.onnx", parts=["'y'", "int32", "float32"])
        self.fails(1, "run", "wrong_output_rank.onnx", parts=["'y'", "rank 2", "[2]"])
        if os.environ.get("SANITIZED") != "1":  # whose allocator aborts where others say that there is no memory
            self.fails(1, "run", "huge.onnx", parts=["huge.onnx: ", "memory", "smaller"])
            for command in ("bench", "verify"):
                self.fails(1, command, "huge.onnx", parts=["huge.onnx: ", "memory", "smaller"])
            for command in ("run", "bench", "verify"):
                self.fails(1, command, "dense.onnx", "--shape", "x=250000000000x4",
                           parts=["dense.onnx: ", "input 'x'", "[250000000000,4]", "memory", "smaller shape"])

    def test_bit_flips(self):
        with open(self.path("dense.onnx"), "rb") as file:
            whole = bytearray(file.read())
        for position in range(0, len(whole), 7):
            flipped = bytearray(whole)
            flipped[position] ^= 1 << position % 8
            with open(self.path("flipped.onnx"), "wb") as file:
                file.write(flipped)
            done = self.run_command("run", "flipped.onnx")
            self.assertIn(done.returncode, (0, 1), "bit of byte %d: %s" % (position, done.stderr))
            if done.returncode:
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_shapes(self):
        self.fails(1, "run", "dense.onnx", "--shape", "x=1x5", parts=["dense.onnx: ", "'x'", "[1,5]", "[N,4]"])
        for command in (["run"], ["explain"], ["compile", "-o", "pool.so"]):
            self.fails(1, *command, "symbolic_pool.onnx",
                       parts=["'pool'", "'x' [N, 3, H, W] was taken as [1, 3, 1, 1]", "--shape x="])
        self.assertNotIn("was taken", self.fails(1, "run", "symbolic_pool.onnx", "--shape", "x=1x3x1x1"))
        self.fails(1, "run", "dense.onnx", "--shape", "x=4", parts=["rank 1"])
        self.fails(1, "run", "dense.onnx", "--shape", "z=4", parts=["'z'", "'x'"])
        self.fails(1, "run", "dense.onnx", "--shape", "x=4611686018427387904x4", parts=["too large"])
        self.fails(1, "run", "two_inputs.onnx", "--shape", "a=2x3", "--shape", "b=2x4", parts=["'b'", "'M'"])
        self.fails(2, "run", "dense.onnx", "--shape", "x=1,4", parts=["--shape"])
        self.fails(2, "run", "dense.onnx", "--shape", "x")
        self.fails(2, "run", "dense.onnx", "--shape", "x=1x4", "--shape", "x=2x4", parts=["twice"])

    def test_inputs(self):
        write_npy(self.path("double.npy"), "<f8", (1, 4), [1, 2, 3, 4])
        write_npy(self.path("long.npy"), "<f4", (1, 5), [1, 2, 3, 4, 5])
        self.fails(1, "run", "dense.onnx", "--input", "x=double.npy", parts=["double.npy", "float64", "float32"])
        self.fails(1, "run", "dense.onnx", "--input", "x=long.npy", parts=["dense.onnx: ", "'x'", "[1,5]"])
        self.fails(1, "run", "dense.onnx", "--input", "z=long.npy", parts=["'z'"])
        self.fails(1, "run", "dense.onnx", "--input", "x=nosuch.npy", parts=["nosuch.npy"])
        self.fails(1, "run", "dense.onnx", "--input", "x=dense.onnx", parts=["no .npy file"])
        self.fails(1, "run", "dense.onnx", "--input", "x=long.npy", "--shape", "x=1x4", parts=["'x'"])
        os.mkfifo(self.path("pipe"))
        self.fails(1, "run", "dense.onnx", "--input", "x=pipe", parts=["pipe", "not a regular file"])
        self.fails(1, "run", "dense.onnx", "--input", "x=.", parts=["not a regular file"])
        with open(self.path("typeless.npy"), "wb") as file:
            header = b"{'descr': '', 'fortran_order': False, 'shape': (1, 4), }\n"
            file.write(b"\x93NUMPY\x01\x00" + bytes([len(header), 0]) + header)
        self.fails(1, "run", "dense.onnx", "--input", "x=typeless.npy", parts=["typeless.npy", "type ''"])
        with open(self.path("long.npy"), "r+b") as file:
            file.truncate(100)
        self.fails(1, "run", "dense.onnx", "--input", "x=long.npy", parts=["long.npy"])

    def test_bindings(self):
        self.fails(1, "run", "reshape_by_input.onnx", "--bind", "shape=1,2,3", parts=["shape=1,2,3"])
        self.fails(1, "run", "reshape_by_input.onnx", "--bind", "shape=a,b", parts=["'a'", "int64"])
        self.fails(1, "run", "reshape_by_input.onnx", "--bind", "nosuch=1", parts=["nosuch"])
        self.fails(1, "run", "reshape_by_input.onnx", "--bind", "shape=4,4", parts=["reshape"])

    def test_values_out_of_range(self):
        write_npy(self.path("indices.npy"), "<i8", (2,), [0, 9])
        self.fails(1, "run", "scatter.onnx", "--input", "indices=indices.npy", parts=[
            "scatter.onnx: node 'ScatterElements_0' (ScatterElements): an index is out of range; give indices"])
        self.fails(1, "run", "gather.onnx", "--input", "indices=indices.npy", "--shape", "indices=2", parts=[
            "gather.onnx: node 'pick' (Gather): an index is out of range; give indices"])
        for command in ("run", "explain", "verify"):
            self.fails(1, command, "gather_outside.onnx", parts=[
                "gather_outside.onnx: node 'pick' (Gather): index 5 is out of range for an axis of 3 elements; "
                "give indices from -3 to 2"])

    def test_random_indices_are_in_range(self):
        # Of an axis of three elements; random integers go from -4 to 4.
        for command in ("run", "bench", "verify"):
            self.good(command, "gather.onnx", "--shape", "indices=100")

    def test_unwritable_folder(self):
        with open(self.path("file"), "w"):
            pass
        self.fails(1, "run", "dense.onnx", "--output-dir", "file/out", parts=["file/out"])


class WrongUse(Command):
    def test_options(self):
        for arguments in (["run"], [], ["frobnicate"], ["run", "dense.onnx", "--frobnicate"],
                          ["run", "dense.onnx", "extra"], ["run", "dense.onnx", "--fusion", "some"],
                          ["run", "dense.onnx", "--threads", "-1"], ["run", "dense.onnx", "--seed", "x"],
                          ["verify", "dense.onnx", "--seed", "-1"], ["bench", "dense.onnx", "--seed", "0x1"],
                          ["run", "dense.onnx", "--disable-pass", "nosuch"], ["run", "dense.onnx", "--shape"],
                          ["run", "dense.onnx", "--target-cpu", "z80"], ["bench", "dense.onnx", "--runs", "0"],
                          ["compile", "dense.onnx"], ["compile", "dense.onnx", "--emit", "everything"],
                          ["explain", "dense.onnx", "--format", "xml"]):
            self.fails(2, *arguments)

    def test_seed(self):
        for seed in ("-1", "99999999999999999999999", "18446744073709551616", "1.5", "x"):
            self.fails(2, "run", "dense.onnx", "--seed=" + seed, parts=["--seed", "from 0 to 18446744073709551615"])
        self.good("run", "dense.onnx", "--seed", "18446744073709551615")

    def test_messages(self):
        self.fails(2, "frobnicate", parts=["'frobnicate' is no command", "run", "explain"])
        for option in (["run", "--fuel", "-2"], ["bench", "--runs", "0"]):
            self.assertLess(len(self.fails(2, option[0], "dense.onnx", *option[1:])), 200)

    def test_rewrite_to_force(self):
        self.fails(2, "run", "dense.onnx", "--force-rewrite", "nosuch",
                   parts=["nosuch", "merge-siblings, enlarge-kernels, residual-to-convolution, merge-sums"])

    def test_rewrite_that_nothing_forces(self):
        for command in ("run", "explain", "bench"):
            for option, cause in [(("--fusion", "dominator"), "--fusion full"), (("--fusion", "none"), "--fusion full"),
                                  (("--disable-pass", "rewrite-search"), "'rewrite-search', which forces it, is disabled")]:
                self.fails(1, command, "dense.onnx", "--force-rewrite", "merge-siblings", *option,
                           parts=["rewrite 'merge-siblings' cannot be forced", cause])

    def test_rules_with_a_fusion_that_applies_none(self):
        for fusion in ("none", "dominator"):
            self.fails(2, "run", "dense.onnx", "--fusion", fusion, "--rules", "arithmetic",
                       parts=["--rules", "--fusion full", "--fusion " + fusion])

    def test_what_is_not_there_yet(self):
        for arguments in (["train", "dense.onnx", "--steps", "3"],):
            self.fails(2, *arguments, parts=["not there yet"])

    def test_help(self):
        self.assertIn("explain", self.good("--help"))
        for command in ("run", "compile", "bench", "explain"):
            self.assertIn("MODEL", self.good(command, "--help"))
        self.assertRegex(self.good("--version"), r"^tokamak \d+\.\d+\.\d+\n$")

    def test_help_before_a_command(self):
        for command in ("run", "compile", "bench", "explain", "verify", "calibrate"):
            self.assertEqual(self.good("-h", command), self.good(command, "--help"))
            self.assertEqual(self.good("--version", command), self.good("--version"))

    def test_standard_output_that_takes_nothing(self):
        for arguments in (["--help"], ["--version"], ["run", "--help"], ["run", "dense.onnx", "--list-passes"],
                          ["run", "dense.onnx"]):
            for redirection, cause in ((">/dev/full", "No space left"), (">&-", "Bad file descriptor")):
                done = subprocess.run(["sh", "-c", 'exec "$0" "$@" ' + redirection, TOKAMAK, *arguments],
                                      cwd=self.folder.name, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                      text=True, timeout=120)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertRegex(done.stderr, "^tokamak: error: cannot write standard output: .*" + cause + ".*\n$")


if __name__ == "__main__":
    unittest.main()
