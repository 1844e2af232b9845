"""tokamak verify: the same, not the same, and which rewrite is to blame."""
import json
import unittest

from support import Command, write_npy

WRONG_RULE = """
Pattern SumsAreDifferences {
  let root = op<tk.add>(x: Value, y: Value);
  IsFloat(x);
  replace root with op<tk.sub>(x, y);
}
"""

SUMS_ARE_LEFT_OUT = """
Pattern SumsAreLeftOut {
  let root = op<tk.add>(x: Value, y: Value);
  IsFloat(x);
  replace root with y;
}
"""
TANH_IS_A_MULTIPLE = """
Pattern TanhIsAMultiple {
  let root = op<tk.tanh>(x: Value);
  IsFloat(x);
  replace root with op<tk.mul>(x, Splat(x, attr<"%s : f64">));
}
"""


class Verify(Command):
    def test_the_same(self):
        for fusion in ("none", "dominator", "full"):
            text = self.good("verify", "dense.onnx", "--fusion", fusion)
            self.assertRegex(text, r"^dense\.onnx: \d kernels \(fusion %s\), 1 outputs" % fusion)
            self.assertIn("output 'y'", text)
            self.assertTrue(text.endswith("\nthe same\n"), text)

    def test_json(self):
        data = json.loads(self.good("verify", "clean_up.onnx", "--json"))
        self.assertTrue(data["same"])
        self.assertEqual([output["name"] for output in data["outputs"]], ["y"])
        self.assertEqual([kernel["runs"] for kernel in data["kernels"]], [1] * len(data["kernels"]))
        nodes = [node for kernel in data["kernels"] for node in kernel["nodes"]]
        self.assertIn("sum", nodes)
        self.assertGreater(data["applications"], 0)

    def test_every_type_and_special_values(self):
        write_npy(self.path("x.npy"), "<f8", (6,), [float("nan"), float("inf"), -float("inf"), -0.0, 1e300, 2.5])
        self.good("verify", "all_types.onnx", "--input", "x=x.npy")

    def test_inputs(self):
        self.good("verify", "two_inputs.onnx", "--shape", "a=3x5", "--seed", "7", "--threads", "2")
        self.good("verify", "dense.onnx", "--shape", "x=0x4")
        self.good("verify", "reshape_by_input.onnx", "--bind", "shape=3,2")
        write_npy(self.path("shape.npy"), "<i8", (2,), [2, 3])
        self.good("verify", "reshape_by_input.onnx", "--input", "shape=shape.npy")
        write_npy(self.path("indices.npy"), "<i8", (2,), [3, 0])
        self.good("verify", "scatter.onnx", "--input", "indices=indices.npy")

    def wrong(self, *arguments, rule=WRONG_RULE, fault="in Tokamak or in a rule of wrong.pdll"):
        """(standard output, standard error) of a model that is not the same, and whose `fault` that is."""
        with open(self.path("wrong.pdll"), "w") as file:
            file.write(rule)
        done = self.run_command("verify", *arguments, "--rules", "wrong.pdll", "--trust-rules")
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertRegex(done.stderr, r"^tokamak: error: .*; this is a fault %s; .*\.mlir reproduces it$" % fault)
        return done.stdout, done.stderr

    def test_a_wrong_rule_is_found(self):
        text, error = self.wrong("two_inputs.onnx", "--shape", "a=2x3")
        self.assertRegex(text, r"WRONG .* output 'c'")
        self.assertRegex(text, r"ok .* output 'd'")
        self.assertIn("6 of 6 elements beyond the tolerance; element [0,0]: ", text)
        self.assertIn("output 'c' is wrong, though each kernel computes its operators", error)

    def test_a_wrong_result_of_rank_0(self):
        write_npy(self.path("x.npy"), "<f4", (), [3])
        text, error = self.wrong("scalar.onnx", "--input", "x=x.npy")
        self.assertIn("element []: 0 instead of 6", text)
        self.assertIn("output 'y' is wrong", error)

    def test_bisect_names_the_rule(self):
        fault = r"in the rule SumsAreDifferences of wrong\.pdll, or in Tokamak"
        text, _ = self.wrong("clean_up.onnx", "--bisect", fault=fault)
        self.assertRegex(text, r"\nbisect \(\d+ runs\): right with \d+ rewrites and merges, wrong with \d+ of \d+: "
                               r"apply-rules \(SumsAreDifferences of wrong\.pdll\) at sum \(Add\)\n  then output 'y' is wrong")
        text, _ = self.wrong("two_inputs.onnx", "--bisect", "--json", fault=fault)
        data = json.loads(text)
        self.assertFalse(data["same"])
        self.assertRegex(data["bisect"]["application"],
                         r"^apply-rules \(SumsAreDifferences of wrong\.pdll\) at Add_0 \(Add\)$")
        unnamed = WRONG_RULE.replace(" SumsAreDifferences", "")
        text, _ = self.wrong("clean_up.onnx", "--bisect", rule=unnamed,
                             fault=r"in the rule at line 2 of wrong\.pdll, or in Tokamak")

    def test_rules_of_several_files(self):
        with open(self.path("other.pdll"), "w") as file:
            file.write(TANH_IS_A_MULTIPLE % "1.0")
        self.wrong("two_inputs.onnx", "--rules", "other.pdll",
                   fault=r"in Tokamak or in a rule of other\.pdll, wrong\.pdll")
        self.wrong("two_inputs.onnx", "--rules", "other.pdll", "--bisect",
                   fault=r"in the rule SumsAreDifferences of wrong\.pdll, or in Tokamak")

    def test_bisect_takes_of_each_graph_what_its_sums_leave_open(self):
        write_npy(self.path("x.npy"), "<f4", (50000, 16), [0.1] * 800000)
        # The graph that is wrong has no sums, or sums of zeros; the others' are off by more than others may be.
        for name, rule in ("SumsAreLeftOut", SUMS_ARE_LEFT_OUT), ("TanhIsAMultiple", TANH_IS_A_MULTIPLE % "0.0"):
            text, _ = self.wrong("shifted_sums.onnx", "--input", "x=x.npy", "--bisect", rule=rule,
                                 fault=r"in the rule %s of wrong\.pdll, or in Tokamak" % name)
            self.assertRegex(text, r"wrong with [1-9]\d* of \d+: apply-rules \(%s of wrong\.pdll\) at " % name)

    def test_a_tolerance_of_zero(self):
        done = self.run_command("verify", "clean_up.onnx", "--rtol", "0", "--atol", "0", "--json")
        data = json.loads(done.stdout)
        self.assertIn(done.returncode, (0, 3))
        self.assertEqual(done.returncode, 0 if data["same"] else 3)
        self.good("verify", "clean_up.onnx", "--rtol", "1e-3", "--atol", "0")

    def test_what_long_sums_are_off_by_is_no_multiple_of_the_tolerance(self):
        # Single precision is off by 5 parts in 10000 here, where outputs may be off by 2.
        write_npy(self.path("x.npy"), "<f4", (50000, 16), [0.1] * 800000)
        sums = ("shifted_sums.onnx", "--input", "x=x.npy")
        for tolerance in (), ("--rtol", "1e-2"), ("--rtol", "0"):
            self.good("verify", *sums, *tolerance)
        for factor in "1.01", "1.5", "0.5":
            self.wrong(*sums, rule=TANH_IS_A_MULTIPLE % factor)
        for factor in "1.5", "0.5":
            self.wrong(*sums, "--rtol", "1e-2", rule=TANH_IS_A_MULTIPLE % factor)

    def test_many_updates_of_one_element(self):
        count = 50000
        write_npy(self.path("updates.npy"), "<f4", (count,), [0.1] * count)
        for name, shape in ("scatter_elements_add", (count,)), ("scatter_nd_add", (count, 1)):
            write_npy(self.path("indices.npy"), "<i8", shape, [-2] * count)
            text = self.good("verify", name + ".onnx", "--input", "indices=indices.npy", "--input", "updates=updates.npy")
            self.assertIn("1 of 4 elements as minimal filtering and long sums leave them open", text)

    def test_tolerances_that_are_none(self):
        for option in ("--rtol", "--atol"):
            for value in ("nan", "-nan", "-1", "inf", "x"):
                self.fails(2, "verify", "dense.onnx", option + "=" + value,
                           parts=[option, "give a finite number from 0 on"])

    def test_user_faults(self):
        self.fails(1, "verify", "nowhere.onnx", parts=["nowhere.onnx"])
        self.fails(1, "verify", "unknown_operator.onnx", parts=["Frobnicate"])
        self.fails(2, "verify", "dense.onnx", "--rtol", "-1", parts=["--rtol"])
        self.fails(1, "verify", "dense.onnx", "--shape", "x=2x5", parts=["'x'"])
        write_npy(self.path("x.npy"), "<f4", (2, 4), [0] * 8)
        self.fails(1, "verify", "dense.onnx", "--input", "x=x.npy", "--shape", "x=3x4", parts=["'x'", "[2,4]", "[3,4]"])
        write_npy(self.path("far.npy"), "<i8", (2,), [9, 0])
        self.fails(1, "verify", "scatter.onnx", "--input", "indices=far.npy", parts=[
            "scatter.onnx: node 'ScatterElements_0' (ScatterElements): ", "index 9 is out of range", "; give"])
        self.fails(1, "verify", "gather.onnx", "--input", "indices=far.npy", parts=[
            "gather.onnx: node 'pick' (Gather): ", "index 9 is out of range"])


if __name__ == "__main__":
    unittest.main()
