"""Rule files, good and bad: a bad one ends in exit status 1 and one line with file, line, column and cause."""
import os
import pathlib
import subprocess
import tempfile
import unittest

OPT = os.environ["TOKAMAK_OPT"]
GRAPH = pathlib.Path(__file__).parent / "Inputs" / "graph.mlir"

KEEP = "let root = op<tk.neg>(x: Value);"


def apply(rules, *, trust=False, graph=GRAPH, env=None):
    """Runs the pass on a file; the result has returncode, stdout and stderr."""
    option = f"--apply-rules=rules={rules}" + (" trust=true" if trust else "")
    return subprocess.run([OPT, str(graph), option], capture_output=True, text=True, timeout=60, env=env)


class Rules(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, text, name="my.pdll"):
        path = pathlib.Path(self.folder.name) / name
        path.write_text(text)
        return path

    def accepted(self, text, **options):
        result = apply(self.write(text), **options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def refused(self, text, place, *causes, **options):
        """`place`: LINE:COLUMN of the error in the rule file, or only its beginning."""
        path = self.write(text)
        result = apply(path, **options)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        first = next(line for line in result.stderr.splitlines() if "error: " in line)
        message = first.split("error: ", 1)[1]
        self.assertTrue(message.startswith(f"{path}:{place}"), message)
        for cause in causes:
            self.assertIn(cause, message)

    # What mlir-pdll reports.

    def test_syntax(self):
        self.refused("Pattern {\n  let root = op<tk.neg>(x: Value)\n}\n", "3:1:", "expected `;`")

    def test_undefined_name(self):
        self.refused("Pattern {\n  let root = op<tk.neg>(x);\n}\n", "2:25:", "undefined reference to `x`")

    def test_undeclared_constraint(self):
        self.refused("Pattern {\n  %s\n  IsBlue(x);\n  replace root with x;\n}\n" % KEEP, "3:3:",
                     "undefined reference to `IsBlue`")

    def test_missing_include(self):
        self.refused('#include "nowhere.pdll"\n', "1:10:", "unable to open include file `nowhere.pdll`")

    def test_bad_attribute_literal(self):
        self.refused('Pattern {\n  let root = op<tk.concat>(x: ValueRange) {axis = attr<"1 :: i64">};\n'
                     "  replace root with x;\n}\n", "2:56:", '"1 :: i64"')

    # What only the guard sees.

    def test_operand_count(self):
        for operands, count in [("x: Value, y: Value, z: Value", 3), ("x: Value", 1)]:
            self.refused("Pattern {\n  let root = op<tk.add>(%s);\n  replace root with x;\n}\n" % operands, "2:14:",
                         f"operator 'tk.add' has 2 operands, not {count}")

    def test_unknown_operator(self):
        for name in ["tk.ad", "arith.addf", "tk.yield"]:
            self.refused("Pattern {\n  let root = op<%s>(x: Value);\n  replace root with x;\n}\n" % name, "2:14:", name)
        self.refused("Pattern {\n  %s\n  replace root with op<tk.mov>(x);\n}\n" % KEEP, "3:21:",
                     "there is no operator 'tk.mov'")

    def test_unnamed_operator(self):
        self.refused("Pattern {\n  let root = op<tk.neg>(op<>(x: Value));\n  replace root with x;\n}\n", "2:25:",
                     "operator without a name")

    def test_operator_with_a_region(self):
        self.refused("Pattern {\n  let root = op<tk.if>(x: Value);\n  replace root with x;\n}\n", "2:14:", "region")

    def test_misspelt_attribute(self):
        self.refused("Pattern {\n  let root = op<tk.concat>(x: Value, y: Value) {axes = a: Attr};\n"
                     "  replace root with x;\n}\n", "2:14:", "operator 'tk.concat' has no attribute 'axes'")

    def test_native_that_is_not_registered(self):
        self.refused("Constraint IsBlue(v: Value);\nPattern {\n  %s\n  IsBlue(x);\n  replace root with x;\n}\n" % KEEP,
                     "4:3:", "there is no constraint 'IsBlue'")
        self.refused("Rewrite Paint(v: Value) -> Value;\nPattern {\n  %s\n  replace root with Paint(x);\n}\n" % KEEP,
                     "4:21:", "there is no rewrite 'Paint'")

    def test_constraint_of_an_operator_definition(self):
        self.refused('Constraint F32Attr(a: Attr) [{ return isF32(a); }];\nPattern {\n'
                     "  let root = op<tk.concat>(x: Value, y: Value) {axis = a: F32Attr};\n  replace root with x;\n}\n",
                     "3:", "there is no constraint 'F32Attr'")

    def test_inline_code(self):
        self.refused("Constraint Any(v: Value) [{ return success(); }];\nPattern {\n  %s\n  Any(x);\n"
                     "  replace root with x;\n}\n" % KEEP, "4:3:", "no C++ code")

    def test_declaring_again(self):
        self.refused("Constraint IsFloat(op: Op);\n", "1:12:", "`IsFloat` has already been defined")
        self.refused("Rewrite Splat(like: Op) -> Op;\n", "1:9:", "`Splat` has already been defined")

    def test_erase(self):
        self.refused("Pattern {\n  %s\n  erase root;\n}\n" % KEEP, "3:3:", "'erase' would leave the users")

    def test_replacing_another_than_the_root(self):
        self.refused("Pattern {\n  let inner = op<tk.add>(x: Value, y: Value);\n  let root = op<tk.neg>(inner);\n"
                     "  rewrite root with { replace inner with x; };\n}\n", "4:23:", "only the root")

    def test_never_replaced(self):
        self.refused("Pattern {\n  %s\n  rewrite root with { let y = op<tk.neg>(x); };\n}\n" % KEEP, "3:3:",
                     "never replaced")

    def test_bad_tolerance(self):
        self.refused("Pattern {\n  %s\n  Tolerance(attr<\"2.0 : f64\">);\n  replace root with x;\n}\n" % KEEP, "3:3:",
                     "[0, 1)")

    def test_unreadable_files(self):
        for rules, cause in [("/nowhere/my.pdll", "cannot read '/nowhere/my.pdll'"), ("nothing", "arithmetic")]:
            result = apply(rules)
            self.assertEqual(result.returncode, 1)
            self.assertIn(cause, result.stderr)

    def test_file_that_includes_itself(self):
        path = pathlib.Path(self.folder.name) / "my.pdll"
        result = apply(self.write(f'#include "{path}"\n'))
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("mlir-pdll cannot compile it", result.stderr)

    def test_no_compiler(self):
        result = apply(self.write("Pattern {\n  %s\n  replace root with x;\n}\n" % KEEP),
                       env={**os.environ, "PATH": self.folder.name})
        self.assertEqual(result.returncode, 1)
        self.assertIn("install the package mlir-19-tools", result.stderr)
        # Shipped rules need none.
        result = apply("arithmetic", env={**os.environ, "PATH": self.folder.name})
        self.assertEqual(result.returncode, 0, result.stderr)

    # What shows when a rule is applied.

    def test_endless(self):
        self.refused("Pattern Swap {\n  let root = op<tk.add>(x: Value, y: Value);\n  replace root with op<tk.add>(y, x);\n}\n",
                     "1:1:", "rule 'Swap'", "seems to undo itself")
        self.refused("Pattern Grow {\n  %s\n  replace root with op<tk.neg>(op<tk.neg>(op<tk.neg>(x)));\n}\n" % KEEP,
                     "1:1:", "seems to undo itself")

    def test_missing_attribute(self):
        self.refused("Pattern {\n  let root = op<tk.concat>(x: Value, y: Value);\n"
                     "  replace root with op<tk.concat>(y, x);\n}\n", "3:21:", "requires attribute 'axis'")
        self.refused("Pattern {\n  %s\n  replace root with op<tk.reshape>(x);\n}\n" % KEEP, "3:21:",
                     "requires attribute 'shape'")

    def test_attribute_of_a_wrong_type(self):
        self.refused('Pattern {\n  %s\n  replace root with op<tk.reshape>(x) {shape = attr<"1.0 : f32">};\n}\n' % KEEP,
                     "3:21:", "attribute 'shape' failed to satisfy constraint")

    def test_wrong_result_type(self):
        self.refused('Pattern {\n  %s\n  replace root with op<tk.neg>(x) -> (type<"tensor<7xf32>">);\n}\n' % KEEP,
                     "3:21:", "'tk.neg' gives tensor<2x3xf32>, not tensor<7xf32>")
        self.refused('Pattern {\n  %s\n  replace root with op<tk.reshape>(x) {shape = attr<"array<i64: 6>">};\n}\n'
                     % KEEP, "3:3:", "a value of tensor<6xf32> replaces one of tensor<2x3xf32>")

    def test_operands_that_do_not_fit(self):
        self.refused('Pattern {\n  %s\n  replace root with op<tk.reshape>(x) {shape = attr<"array<i64: 5>">};\n}\n'
                     % KEEP, "3:21:")
        self.refused("Pattern {\n  %s\n  replace root with op<tk.not>(x);\n}\n" % KEEP, "3:21:")

    def test_root_in_its_own_replacement(self):
        self.refused("Pattern {\n  %s\n  replace root with op<tk.neg>(root);\n}\n" % KEEP, "1:1:", "uses the root")
        self.refused("Pattern {\n  %s\n  replace root with root;\n}\n" % KEEP, "3:3:", "replaced by itself")

    # What the comparison with the evaluator shows.

    def test_another_function(self):
        text = "Pattern Wrong {\n  let root = op<tk.add>(x: Value, y: Value);\n  replace root with op<tk.sub>(x, y);\n}\n"
        self.refused(text, "1:1:", "rule 'Wrong' changes the result", "on random numbers", "'tk.add' is ")
        self.assertIn("tk.sub %arg0, %arg1", self.accepted(text, trust=True))

    def test_not_a_number(self):
        text = "Pattern Nothing {\n  let root = op<tk.sub>(x: Value, x);\n%s  rewrite root with {\n" \
               '    replace root with op<tk.mul>(op<tk.abs>(x), Splat(x, attr<"0.0 : f64">));\n  };\n}\n'
        # NaN and infinity come out as NaN on both sides here, ...
        self.accepted(text % "")
        # ... but not here.
        text = 'Pattern One {\n  let root = op<tk.sub>(x: Value, x);\n%s' \
               '  replace root with op<tk.broadcast>(Splat(x, attr<"0.0 : f64">)) {shape = attr<"array<i64: 2, 3>">};\n}\n'
        self.refused(text % "", "1:1:", "infinities, NaN", "AssumeFinite(x)")
        self.assertNotIn("tk.sub", self.accepted(text % "  AssumeFinite(x);\n"))

    def test_rounding(self):
        text = "Pattern {\n  let root = op<tk.neg>(op<tk.add>(x: Value, y: Value));\n%s  rewrite root with {\n" \
               '    let third = Splat(x, attr<"0.3333333333333333 : f64">);\n' \
               "    replace root with op<tk.div>(op<tk.mul>(op<tk.sub>(op<tk.neg>(x), y), third), third);\n  };\n}\n"
        self.refused(text % "  AssumeFinite(x);\n", "1:1:", "changes the result", "allows for rounding")
        self.assertIn("tk.div", self.accepted(text % "  AssumeFinite(x);\n  Tolerance(attr<\"1.0e-6 : f64\">);\n"))

    def test_types_that_a_rule_forgets(self):
        # Right for floats, wrong for integers: each set of types is compared.
        graph = self.write("""
func.func @main(%x: tensor<4xf32>, %i: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>) {
  %t = tk.constant dense<2.0> : tensor<f32>
  %u = tk.constant dense<2> : tensor<i32>
  %0 = tk.div %x, %t : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = tk.div %i, %u : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  return %0, %1 : tensor<4xf32>, tensor<4xi32>
}
""", "graph.mlir")
        text = 'Pattern Halve {\n  let root = op<tk.div>(x: Value, two: Value);\n  IsSplat(two, attr<"2.0 : f64">);\n%s' \
               '  replace root with op<tk.mul>(x, op<tk.pow>(two, Splat(x, attr<"-1.0 : f64">)));\n}\n'
        self.refused(text % "", "1:1:", "changes the result", graph=graph)
        self.assertIn("tk.div", self.accepted(text % "  IsFloat(x);\n", graph=graph))

    # Good rules.

    def test_lists_and_attributes(self):
        # A list stands for any number of operands; another value of an attribute does not match.
        text = 'Pattern {\n  let root = op<tk.concat>(x: Value, xs: ValueRange) {axis = attr<"%d : i64">};\n' \
               '  replace root with op<tk.slice>(op<tk.concat>(x, x, xs) {axis = attr<"0 : i64">})\n' \
               '    {starts = attr<"array<i64: 2, 0>">, sizes = attr<"array<i64: 4, 3>">, steps = attr<"array<i64: 1, 1>">};\n}\n'
        # The concatenation that it makes matches again, with other extents.
        self.refused(text % 0, "3:3:", "a value of tensor<4x3xf32> replaces one of tensor<6x3xf32>")
        self.assertNotIn("tk.slice", self.accepted(text % 1))

    def test_prelude_included_and_several_files(self):
        first = self.write('#include "prelude.pdll"\nPattern {\n  %s\n  IsFloat(x);\n  replace root with '
                           'op<tk.mul>(x, Splat(x, attr<"-1.0 : f64">));\n}\n' % KEEP, "first.pdll")
        second = self.write('Pattern {\n  let root = op<tk.mul>(x: Value, m: Value);\n  IsSplat(m, attr<"-1.0 : f64">);\n'
                            "  SameType(x, root);\n  replace root with op<tk.neg>(x);\n}\n", "second.pdll")
        result = apply(f"{first},{second}")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("tk.neg", result.stdout)
        self.assertNotIn("tk.mul", result.stdout)

    def test_benefit(self):
        output = self.accepted("Pattern Low {\n  %s\n  replace root with op<tk.not>(x);\n}\nPattern High with benefit(5) {\n"
                               "  %s\n  IsFloat(x);\n  replace root with op<tk.mul>(x, Splat(x, attr<\"-1.0 : f64\">));\n}\n"
                               % (KEEP, KEEP))
        self.assertIn("tk.mul", output)

    def test_not(self):
        output = self.accepted("Pattern {\n  %s\n  not IsFloat(x);\n  replace root with x;\n}\n" % KEEP)
        self.assertIn("tk.neg", output)


if __name__ == "__main__":
    unittest.main()
