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

    def test_definition_files(self):
        # Operators are known without them; the constraints that they would declare are not.
        self.refused('#include "TkOps.td"\n', "1:10:", "unable to open include file `TkOps.td`")
        self.refused("Pattern {\n  let root = op<tk.neg>(x: [Value, AnyRankedTensor]);\n  replace root with x;\n}\n",
                     "2:36:", "unknown reference to constraint `AnyRankedTensor`")

    def test_results_by_name(self):
        self.refused("Pattern {\n  let inner = op<tk.add>(x: Value, y: Value);\n  let root = op<tk.neg>(inner.result);\n"
                     "  replace root with x;\n}\n", "3:25:", "invalid member access `result`")

    def test_arguments_of_another_kind(self):
        for call, cause in [('IsFloat(attr<"1.0 : f32">)', "expected type of `Value`"),
                            ("IsFloat(x, x)", "expected 1, but got 2"), ("IsSplat(x, x)", "expected type of `Attr`")]:
            self.refused("Pattern {\n  %s\n  %s;\n  replace root with x;\n}\n" % (KEEP, call), "3:", cause)
        self.refused("Pattern {\n  let root = op<tk.neg>(x: Value) -> (t: Type);\n  replace root with Splat(x, t);\n}\n",
                     "3:30:", "expected type of `Attr`")

    def test_operator_beside_the_root(self):
        self.refused("Pattern {\n  let other = op<tk.add>(x: Value, y: Value);\n  let root = op<tk.neg>(z: Value);\n"
                     "  replace root with z;\n}\n", "2:15:", "expected a bindable user")

    def test_no_replacement(self):
        self.refused("Pattern {\n  %s\n}\n" % KEEP, "1:1:", "terminate with an operation rewrite statement")

    def test_attribute_of_the_dialect(self):
        self.refused('Pattern {\n  %s\n  replace root with op<tk.reduce>(x) {kind = attr<"#tk.reduce_kind<sum>">};\n}\n'
                     % KEEP, "3:51:", "cannot spell attributes of a dialect", "{kind = k: Attr}")

    def test_missing_include(self):
        self.refused('#include "nowhere.pdll"\n', "1:10:", "unable to open include file `nowhere.pdll`")

    def test_bad_attribute_literal(self):
        self.refused('Pattern {\n  let root = op<tk.concat>(x: ValueRange) {axis = attr<"1 :: i64">};\n'
                     "  replace root with x;\n}\n", "2:56:", '"1 :: i64"')

    def test_bad_type_literal(self):
        # mlir-pdll crashes behind its report of this one.
        self.refused('Pattern {\n  let root = op<tk.neg>(x: Value) -> (type<"tensor<2x3xf3">);\n'
                     "  replace root with x;\n}\n", "2:44:", '"tensor<2x3xf3"', "expected non-function type")

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
        self.refused("Constraint AnyRankedTensor(v: Value);\nPattern {\n"
                     "  let root = op<tk.neg>(x: [Value, AnyRankedTensor]);\n  replace root with x;\n}\n",
                     "3:36:", "there is no constraint 'AnyRankedTensor'")

    def test_inline_code(self):
        self.refused("Constraint Any(v: Value) [{ return success(); }];\nPattern {\n  %s\n  Any(x);\n"
                     "  replace root with x;\n}\n" % KEEP, "4:3:", "no C++ code")
        self.refused("Rewrite Same(v: Value) -> Value [{ return v; }];\nPattern {\n  %s\n"
                     "  replace root with Same(x);\n}\n" % KEEP, "4:21:", "no C++ code")

    def test_lists_where_one_value_is_meant(self):
        self.refused("Pattern {\n  let root = op<tk.concat>(xs: ValueRange);\n  IsFloat(xs);\n  replace root with xs;\n}\n",
                     "3:3:", "'IsFloat' is not called as the prelude declares it")
        self.refused("Pattern {\n  let root = op<tk.concat>(xs: ValueRange, ys: ValueRange);\n  replace root with xs;\n}\n",
                     "2:14:", "more than one list among the operands of 'tk.concat'")

    def test_result_count(self):
        self.refused("Pattern {\n  let inner = op<tk.add>(x: Value, y: Value);\n  let root = op<tk.neg>(inner.1);\n"
                     "  replace root with x;\n}\n", "3:25:", "operator 'tk.add' has no result 1")
        self.refused("Pattern {\n  let root = op<tk.neg>(x: Value) -> (t: Type, u: Type);\n  replace root with x;\n}\n",
                     "2:14:", "operator 'tk.neg' has 1 result, not 2")
        self.refused("Pattern {\n  let root = op<tk.neg>(x: Value) -> ();\n  replace root with x;\n}\n", "2:14:",
                     "operator 'tk.neg' has results")
        self.refused("Pattern {\n  %s\n  replace root with (x, x);\n}\n" % KEEP, "3:3:", "2 values replace 1")

    def test_attribute_that_the_replacement_makes_up(self):
        self.refused('Pattern {\n  %s\n  replace root with op<tk.neg>(x) {color = attr<"1 : i64">};\n}\n' % KEEP,
                     "3:21:", "operator 'tk.neg' has no attribute 'color'")

    def test_replaced_twice(self):
        self.refused("Pattern {\n  %s\n  rewrite root with { replace root with x; replace root with x; };\n}\n" % KEEP,
                     "3:44:", "replaced twice")

    def test_negated_statement(self):
        self.refused("Pattern {\n  %s\n  not Tolerance(attr<\"0.1 : f64\">);\n  replace root with x;\n}\n" % KEEP,
                     "3:7:", "'not Tolerance' means nothing")

    def test_declaring_again(self):
        self.refused("Constraint IsFloat(op: Op);\n", "1:12:", "`IsFloat` has already been defined")
        self.refused("Rewrite Splat(like: Op) -> Op;\n", "1:9:", "`Splat` has already been defined")

    def test_erase(self):
        self.refused("Pattern {\n  %s\n  erase root;\n}\n" % KEEP, "3:3:", "'erase' would leave the users")
        self.refused("Pattern {\n  let inner = op<tk.add>(x: Value, y: Value);\n  let root = op<tk.neg>(inner);\n"
                     "  rewrite root with { replace root with x; erase inner; };\n}\n", "4:44:",
                     "'erase' would leave the users")

    def test_replacing_another_than_the_root(self):
        self.refused("Pattern {\n  let inner = op<tk.add>(x: Value, y: Value);\n  let root = op<tk.neg>(inner);\n"
                     "  rewrite root with { replace inner with x; };\n}\n", "4:23:", "only the root")

    def test_never_replaced(self):
        self.refused("Pattern {\n  %s\n  rewrite root with { let y = op<tk.neg>(x); };\n}\n" % KEEP, "3:3:",
                     "never replaced")
        self.refused("Pattern {\n  %s\n  rewrite root with { };\n}\n" % KEEP, "3:3:", "the root is never replaced")

    def test_bad_tolerance(self):
        self.refused("Pattern {\n  %s\n  Tolerance(attr<\"2.0 : f64\">);\n  replace root with x;\n}\n" % KEEP, "3:3:",
                     "[0, 1)")

    def test_what_is_no_number(self):
        for literal in ['\\"a\\"', "9223372036854775807 : i64", "array<i64: 1>"]:
            self.refused('Pattern {\n  %s\n  IsSplat(x, attr<"%s">);\n  replace root with x;\n}\n' % (KEEP, literal), "3:3:",
                         "'IsSplat' takes a number")
        self.refused('Pattern {\n  %s\n  replace root with Splat(x, attr<"\\"a\\"">);\n}\n' % KEEP, "3:21:",
                     "'Splat' takes a number")

    def test_unreadable_files(self):
        for rules, cause in [("/nowhere/my.pdll", "cannot read '/nowhere/my.pdll'"), ("nothing", "arithmetic")]:
            result = apply(rules)
            self.assertEqual(result.returncode, 1)
            self.assertIn(cause, result.stderr)

    def test_file_that_includes_itself(self):
        path = pathlib.Path(self.folder.name) / "my.pdll"
        for name in ("my.pdll", str(path)):
            self.refused(f'// A comment, "\n#include "{name}"\n', "2:10:", f"this includes '{name}' in itself")
        self.refused('Pattern {\n  %s\n  replace root with x;\n} #include // now\n  "my.pdll"\n' % KEEP, "5:3:",
                     "this includes 'my.pdll' in itself")

    def test_files_that_include_each_other(self):
        other = self.write('\n  #include "my.pdll"\n', "other.pdll")
        result = apply(self.write('#include "other.pdll"\n'))
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn(f"error: {other}:2:12: this includes 'my.pdll' in itself", result.stderr)

    def test_file_that_is_included_twice(self):
        self.write("Rewrite Twice(x: Value) -> Op => op<tk.neg>(op<tk.neg>(x));\n", "common.pdll")
        self.write('#include "common.pdll"\n', "other.pdll")
        # No circle, but a definition again.
        result = apply(self.write('#include "other.pdll"\n#include "common.pdll"\n'))
        self.assertEqual(result.returncode, 1)
        self.assertIn("common.pdll:1:9: `Twice` has already been defined", result.stderr)

    def test_what_is_no_include(self):
        self.accepted('// #include "my.pdll"\nPattern {\n  %s\n  replace root with op<tk.abs>(x);\n}\n' % KEEP,
                      trust=True)

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

    def test_two_rules_that_undo_each_other(self):
        self.refused('Pattern There {\n  %s\n  replace root with op<tk.mul>(x, Splat(x, attr<"-1.0 : f64">));\n}\n'
                     "Pattern Back {\n  let root = op<tk.mul>(x: Value, m: Value);\n"
                     '  IsSplat(m, attr<"-1.0 : f64">);\n  SameType(x, root);\n  replace root with op<tk.neg>(x);\n}\n'
                     % KEEP, "1:1:", "rule 'There'", "or another rule")

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

    def test_operands_that_are_the_same(self):
        # Right where both operands are one value, which is met first.
        graph = self.write("""
func.func @main(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = tk.add %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = tk.add %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32>
}
""", "graph.mlir")
        text = "Pattern Double {\n  let root = op<tk.add>(x: Value, %s);\n" \
               '  replace root with op<tk.mul>(x, Splat(x, attr<"2.0 : f64">));\n}\n'
        self.refused(text % "y: Value", "1:1:", "rule 'Double' changes the result", graph=graph)
        self.assertIn("tk.mul", self.accepted(text % "x", graph=graph))

    def test_an_operand_that_another_operator_reads(self):
        # (x ^ y) ^ z is x where z is y, which is met first.
        graph = self.write("""
func.func @main(%x: tensor<4xi32>, %y: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  %0 = tk.bit_xor %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %1 = tk.bit_xor %0, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %2 = tk.bit_xor %0, %x : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %1, %2 : tensor<4xi32>, tensor<4xi32>
}
""", "graph.mlir")
        text = "Pattern First {\n  let root = op<tk.bit_xor>(op<tk.bit_xor>(x: Value, y: Value), %s);\n" \
               "  replace root with x;\n}\n"
        self.refused(text % "z: Value", "1:1:", "rule 'First' changes the result", graph=graph)
        # In either order.
        self.assertIn("return %arg0, %arg1", self.accepted(text % "y", graph=graph))

    def test_operands_the_other_way_round(self):
        # The first row is all of b where b has one; then a place where a has one.
        graph = self.write("""
func.func @main(%x: tensor<2x3xf32>, %r: tensor<1x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = tk.neg %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = tk.max %0, %r : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  %2 = tk.neg %r : (tensor<1x3xf32>) -> tensor<1x3xf32>
  %3 = tk.max %x, %2 : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  return %1, %3 : tensor<2x3xf32>, tensor<2x3xf32>
}
""", "graph.mlir")
        self.refused("Pattern Row {\n  let root = op<tk.max>(a: Value, b: Value);\n  HasOneUse(a);\n  rewrite root with {\n"
                     '    let row = op<tk.slice>(b) {starts = attr<"array<i64: 0, 0>">, sizes = attr<"array<i64: 1, 3>">, '
                     'steps = attr<"array<i64: 1, 1>">};\n'
                     "    replace root with op<tk.max>(op<tk.max>(b, row), a);\n  };\n}\n",
                     "1:1:", "rule 'Row' changes the result", graph=graph)

    def test_long_constants(self):
        # Zeros are met first.
        graph = self.write("""
func.func @main(%x: tensor<2x128xf32>) -> (tensor<2x128xf32>, tensor<2x128xf32>) {
  %zeros = tk.constant dense<-0.0> : tensor<128xf32>
  %fives = tk.constant dense<5.0> : tensor<128xf32>
  %0 = tk.add %x, %zeros : (tensor<2x128xf32>, tensor<128xf32>) -> tensor<2x128xf32>
  %1 = tk.add %x, %fives : (tensor<2x128xf32>, tensor<128xf32>) -> tensor<2x128xf32>
  return %0, %1 : tensor<2x128xf32>, tensor<2x128xf32>
}
""", "graph.mlir")
        text = "Pattern DropZeros {\n  let root = op<tk.add>(x: Value, c: Value);\n  IsConstant(c);\n%s" \
               "  SameType(x, root);\n  replace root with x;\n}\n"
        self.refused(text % "", "1:1:", "rule 'DropZeros' changes the result", graph=graph)
        output = self.accepted(text % '  IsSplat(c, attr<"0.0 : f64">);\n', graph=graph)
        self.assertEqual(output.count("tk.add"), 1)

    def test_constant_as_the_root(self):
        graph = self.write("""
func.func @main() -> (tensor<f32>, tensor<f32>) {
  %0 = tk.constant dense<1.0> : tensor<f32>
  %1 = tk.constant dense<2.0> : tensor<f32>
  return %0, %1 : tensor<f32>, tensor<f32>
}
""", "graph.mlir")
        self.refused("Pattern One {\n  let root = op<tk.constant>();\n"
                     '  replace root with op<tk.constant>() {value = attr<"dense<1.0> : tensor<f32>">};\n}\n',
                     "1:1:", "rule 'One' changes the result", graph=graph)

    def test_integers_that_overflow(self):
        text = 'Pattern Half {\n  let root = op<tk.div>(op<tk.mul>(x: Value, two: Value), two);\n%s' \
               '  IsSplat(two, attr<"2 : i64">);\n  SameType(x, root);\n  replace root with x;\n}\n'
        for integer in ["i8", "ui8", "i32", "ui32", "i64", "ui64"]:
            for shape in ["", "2x3x", "64x80x"]:
                graph = self.write("""
func.func @main(%%x: tensor<%(type)s>) -> tensor<%(type)s> {
  %%two = tk.constant dense<2> : tensor<%(integer)s>
  %%0 = tk.mul %%x, %%two : (tensor<%(type)s>, tensor<%(integer)s>) -> tensor<%(type)s>
  %%1 = tk.div %%0, %%two : (tensor<%(type)s>, tensor<%(integer)s>) -> tensor<%(type)s>
  return %%1 : tensor<%(type)s>
}
""" % {"type": shape + integer, "integer": integer}, "graph.mlir")
                self.refused(text % "", "1:1:", "integers at the ends of their range", "AssumeFinite(x)", graph=graph)
                self.assertNotIn("tk.div", self.accepted(text % "  AssumeFinite(x);\n", graph=graph))

    def test_neighbouring_integers(self):
        # A double does not tell them apart.
        graph = self.write("""
func.func @main(%x: tensor<i64>) -> tensor<i64> {
  %large = tk.constant dense<9007199254740993> : tensor<i64>
  %0 = tk.max %x, %large : (tensor<i64>, tensor<i64>) -> tensor<i64>
  return %0 : tensor<i64>
}
""", "graph.mlir")
        self.refused("Pattern Near {\n  let root = op<tk.max>(x: Value, c: Value);\n  IsConstant(c);\n"
                     '  replace root with op<tk.max>(x, op<tk.constant>() {value = attr<"dense<9007199254740992> : tensor<i64>">});\n'
                     "}\n", "1:1:", "is 9007199254740992 where it was 9007199254740993", graph=graph)

    def test_two_special_values(self):
        # Of rank 0, and wrong for one pair alone, -0 and 0.
        graph = self.write("""
func.func @main(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = tk.sub %x, %y : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
""", "graph.mlir")
        text = "Pattern Add {\n  let root = op<tk.sub>(x: Value, y: Value);\n  AssumeFinite(x);\n%s" \
               '  replace root with op<tk.add>(op<tk.add>(x, op<tk.neg>(y)), Splat(x, attr<"0.0 : f64">));\n}\n'
        self.refused(text % "", "1:1:", "zeros of both signs", "where it was -0.0", graph=graph)
        self.assertIn("tk.add", self.accepted(text % '  Tolerance(attr<"0.0 : f64">);\n', graph=graph))

    def test_signs_of_zeros(self):
        text = 'Pattern Negate {\n  %s\n  IsFloat(x);\n%%s' \
               '  replace root with op<tk.sub>(Splat(x, attr<"0.0 : f64">), x);\n}\n' % KEEP
        for stated in ["", "  AssumeFinite(x);\n"]:
            self.refused(text % stated, "1:1:", "where it was -0.0", "Tolerance(attr<\"0.0 : f64\">)")
        self.assertNotIn("tk.neg", self.accepted(text % '  Tolerance(attr<"0.0 : f64">);\n'))
        # With the right zero there is nothing to state, NaN and infinities included.
        self.assertNotIn("tk.neg", self.accepted((text % "").replace('"0.0', '"-0.0')))

    # What depends on where values lie.

    def on(self, operators, types="4x5xf32"):
        """A graph of one input %x and operators that end in %r; `types` is that of both, or of each."""
        given, result = types if isinstance(types, tuple) else (types, types)
        return self.write("func.func @main(%%x: tensor<%s>) -> tensor<%s> {\n%s\n  return %%r : tensor<%s>\n}\n"
                          % (given, result, operators, result), "graph.mlir")

    def binary(self, operator, number, types="4x5xf32", attributes=""):
        """%x and a constant."""
        element = types.split("x")[-1]
        return self.on("  %%c = tk.constant dense<%s> : tensor<%s>\n"
                       "  %%r = tk.%s %%x, %%c%s : (tensor<%s>, tensor<%s>) -> tensor<%s>"
                       % (number, element, operator, attributes, types, element, types), types)

    STATED = '  SameType(x, root);\n  AssumeFinite(x);\n  Tolerance(attr<"1.0e-6 : f64">);\n'
    FAR = "numbers around the constants"

    def test_bounds(self):
        text = "Pattern Drop {\n  let root = op<tk.%s>(x: Value, c: Value);\n  IsConstant(c);\n%s" \
               "  replace root with x;\n}\n"
        for stated in ["  SameType(x, root);\n  AssumeFinite(x);\n", self.STATED]:
            for operator, bound in [("min", "6.0"), ("max", "-4.0"), ("min", "250.0"), ("max", "-3.0e4")]:
                for shape in ["", "4x5x", "64x80x"]:
                    for element in ["f16", "bf16", "f32", "f64"]:
                        self.refused(text % (operator, stated), "1:1:", "changes the result",
                                     graph=self.binary(operator, bound, shape + element))
            for operator, bound in [("min", "100"), ("max", "0"), ("min", "6")]:
                for element in ["i8", "ui8", "i16", "i32", "ui32", "i64", "ui64"]:
                    if operator == "max" and element.startswith("u"):
                        continue  # 0 bounds nothing there
                    self.refused(text % (operator, stated), "1:1:", "changes the result",
                                 graph=self.binary(operator, bound, "4x5x" + element))

    def test_bounds_on_both_sides(self):
        graph = self.on("""
  %low = tk.constant dense<-10.0> : tensor<f32>
  %high = tk.constant dense<10.0> : tensor<f32>
  %0 = tk.max %low, %x : (tensor<f32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  %r = tk.min %0, %high : (tensor<4x5xf32>, tensor<f32>) -> tensor<4x5xf32>""")
        clip = "Pattern Clip {\n  let root = op<tk.min>(op<tk.max>(x: Value, low: Value), high: Value);\n%s" % self.STATED
        self.refused(clip + "  replace root with x;\n}\n", "1:1:", self.FAR, graph=graph)
        for kept in ["op<tk.min>(x, high)", "op<tk.max>(x, low)"]:
            self.refused(clip + "  replace root with %s;\n}\n" % kept, "1:1:", self.FAR, graph=graph)
        output = self.accepted(clip + "  replace root with op<tk.max>(op<tk.min>(high, x), low);\n}\n", graph=graph)
        self.assertRegex(output, r"tk\.min %\d+, %arg0")

    def test_bounds_of_what_is_computed(self):
        # The bounds are reached where |x| is hundreds and thousands.
        graph = self.on("""
  %scale = tk.constant dense<0.002> : tensor<f32>
  %half = tk.constant dense<0.5> : tensor<f32>
  %one = tk.constant dense<1.0> : tensor<f32>
  %0 = tk.mul %x, %scale : (tensor<4x5xf32>, tensor<f32>) -> tensor<4x5xf32>
  %1 = tk.add %0, %half : (tensor<4x5xf32>, tensor<f32>) -> tensor<4x5xf32>
  %r = tk.min %1, %one : (tensor<4x5xf32>, tensor<f32>) -> tensor<4x5xf32>""")
        text = "Pattern Sigmoid {\n  let line = op<tk.add>(op<tk.mul>(x: Value, a: Value), b: Value);\n" \
               "  let root = op<tk.min>(line, one: Value);\n%s  replace root with %s;\n}\n"
        self.refused(text % (self.STATED, "line"), "1:1:", self.FAR, graph=graph)
        again = "op<tk.add>(op<tk.min>(op<tk.mul>(x, a), op<tk.sub>(one, b)), b)"
        self.accepted(text % (self.STATED, again), graph=graph)
        self.refused(text % (self.STATED, again.replace("op<tk.sub>(one, b)", "one")), "1:1:", self.FAR, graph=graph)

    def test_bounds_of_bits(self):
        for element, bound in [("ui8", 60), ("i16", -700), ("ui32", 5000)]:
            graph = self.on(f"""
  %c = tk.constant dense<{bound}> : tensor<{element}>
  %0 = tk.bit_not %x : (tensor<4x5x{element}>) -> tensor<4x5x{element}>
  %r = tk.max %0, %c : (tensor<4x5x{element}>, tensor<{element}>) -> tensor<4x5x{element}>""", "4x5x" + element)
            text = "Pattern Bits {\n  let root = op<tk.max>(op<tk.bit_not>(x: Value), c: Value);\n%s" \
                   "  replace root with op<tk.bit_not>(%s);\n}\n"
            self.refused(text % (self.STATED, "x"), "1:1:", self.FAR, graph=graph)
            self.accepted(text % ("  SameType(x, root);\n", "op<tk.min>(x, op<tk.bit_not>(c))"), graph=graph)

    def test_hard_swish_with_another_bound(self):
        graph = self.on("""
  %three = tk.constant dense<3.0> : tensor<f32>
  %zero = tk.constant dense<0.0> : tensor<f32>
  %twelve = tk.constant dense<12.0> : tensor<f32>
  %six = tk.constant dense<6.0> : tensor<f32>
  %0 = tk.add %x, %three : (tensor<4x5xf32>, tensor<f32>) -> tensor<4x5xf32>
  %1 = tk.max %0, %zero : (tensor<4x5xf32>, tensor<f32>) -> tensor<4x5xf32>
  %2 = tk.min %1, %twelve : (tensor<4x5xf32>, tensor<f32>) -> tensor<4x5xf32>
  %3 = tk.mul %x, %2 : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  %r = tk.div %3, %six : (tensor<4x5xf32>, tensor<f32>) -> tensor<4x5xf32>""")
        text = "Pattern Swish {\n" \
               "  let gate = op<tk.min>(op<tk.max>(op<tk.add>(x: Value, b: Value), low: Value), high: Value);\n" \
               "  let root = op<tk.div>(op<tk.mul>(x, gate), divisor: Value);\n%s  rewrite root with {\n" \
               '    let line = op<tk.add>(op<tk.mul>(x, Splat(x, attr<"0.16666666666666666 : f64">)), Splat(x, attr<"0.5 : f64">));\n' \
               '    let part = op<tk.min>(op<tk.max>(line, low), Splat(x, attr<"%s : f64">));\n' \
               "    replace root with op<tk.mul>(x, part);\n  };\n}\n"
        for bound in ["1.6", "2.5", "40.0", "1999.0"]:
            self.refused(text % (self.STATED, bound), "1:1:", self.FAR, graph=graph)
        self.accepted(text % (self.STATED, "2.0"), graph=graph)

    def test_thresholds(self):
        # ThresholdedRelu with a big alpha, whatever its type and whether zeros have a sign.
        for types, alpha in [("4x5xf32", "100.0"), ("f16", "30.0"), ("7xi32", "100"), ("3xi64", "70000"), ("2xui8", "30")]:
            element = types.split("x")[-1]
            zero = "0" if "i" in element else "0.0"
            boolean = types.replace(element, "i1")
            graph = self.on(f"""
  %alpha = tk.constant dense<{alpha}> : tensor<{element}>
  %zero = tk.constant dense<{zero}> : tensor<{types}>
  %0 = tk.compare %x, %alpha {{predicate = #tk.predicate<gt>}} : (tensor<{types}>, tensor<{element}>) -> tensor<{boolean}>
  %r = tk.select %0, %x, %zero : (tensor<{boolean}>, tensor<{types}>, tensor<{types}>) -> tensor<{types}>""", types)
            text = "Pattern Threshold {\n  let above = op<tk.compare>(x: Value, alpha: Value) {predicate = p: Attr};\n" \
                   "  let root = op<tk.select>(above, x, zero: Value);\n%s  replace root with %s;\n}\n"
            self.refused(text % (self.STATED, "zero"), "1:1:", self.FAR, graph=graph)
            # It differs at alpha alone.
            below = "op<tk.select>(op<tk.not>(op<tk.compare>(alpha, x) {predicate = p}), x, zero)"
            exact = self.STATED.replace("  Tolerance", "  // Tolerance")
            for stated in [exact, self.STATED]:
                self.refused(text % (stated, below), "1:1:", self.FAR, graph=graph)
            twice = "op<tk.select>(above, op<tk.select>(above, x, zero), zero)"
            self.accepted((text % (exact, twice)).replace("  SameType", "  HasOneUse(above);\n  SameType"), graph=graph)

    def test_integers_that_are_selected(self):
        graph = self.on("""
  %c = tk.constant dense<100> : tensor<i32>
  %y = tk.constant dense<-7> : tensor<3x4xi32>
  %0 = tk.compare %x, %c {predicate = #tk.predicate<eq>} : (tensor<3x4xi32>, tensor<i32>) -> tensor<3x4xi1>
  %r = tk.select %0, %y, %x : (tensor<3x4xi1>, tensor<3x4xi32>, tensor<3x4xi32>) -> tensor<3x4xi32>""", "3x4xi32")
        self.refused("Pattern Padding {\n  let equal = op<tk.compare>(x: Value, c: Value) {predicate = p: Attr};\n"
                     "  let root = op<tk.select>(equal, y: Value, x);\n%s  replace root with x;\n}\n" % self.STATED,
                     "1:1:", self.FAR, graph=graph)

    def test_remainders_and_quotients(self):
        drop = "Pattern Drop {\n  let root = op<tk.%s>(x: Value, c: Value);\n  IsConstant(c);\n%s  replace root with %s;\n}\n"
        for types, number in [("f32", "64.0"), ("4x5xf16", "64.0"), ("5xi32", "64"), ("2x2xui8", "64"), ("i64", "5000000000")]:
            # x mod c is x from 0 to c, or with the sign of x from -c to c.
            self.refused(drop % ("mod", self.STATED, "x"), "1:1:", self.FAR,
                         graph=self.binary("mod", number, types, " {truncated = true}"))
            if "i" in types:
                self.refused(drop % ("div", self.STATED, "op<tk.sub>(x, x)"), "1:1:", self.FAR,
                             graph=self.binary("div", number, types))
        # Right where nothing overflows.
        again = "op<tk.sub>(x, op<tk.mul>(op<tk.div>(x, c), c))"
        for element in ["i8", "ui8", "i32", "i64", "ui64"]:
            self.accepted(drop % ("mod", "  SameType(x, root);\n", again),
                          graph=self.binary("mod", "7", "4x5x" + element, " {truncated = true}"))
        # Floor of what is scaled.
        graph = self.on("""
  %c = tk.constant dense<20.0> : tensor<f32>
  %0 = tk.div %x, %c : (tensor<4x5xf32>, tensor<f32>) -> tensor<4x5xf32>
  %r = tk.floor %0 : (tensor<4x5xf32>) -> tensor<4x5xf32>""")
        self.refused("Pattern Floor {\n  let root = op<tk.floor>(op<tk.div>(x: Value, c: Value));\n%s"
                     '  replace root with op<tk.min>(op<tk.max>(op<tk.floor>(x), Splat(x, attr<"-1.0 : f64">)), '
                     'Splat(x, attr<"0.0 : f64">));\n}\n' % self.STATED, "1:1:", self.FAR, graph=graph)

    def test_integers_that_a_float_does_not_have(self):
        for element, number in [("f32", "i32"), ("f64", "i64"), ("f16", "i16")]:
            graph = self.on(f"""
  %0 = tk.cast %x {{to = {element}}} : (tensor<4x{number}>) -> tensor<4x{element}>
  %r = tk.cast %0 {{to = {number}}} : (tensor<4x{element}>) -> tensor<4x{number}>""", "4x" + number)
            self.refused("Pattern There {\n  let root = op<tk.cast>(op<tk.cast>(x: Value));\n"
                         "  SameType(x, root);\n  AssumeFinite(x);\n  replace root with x;\n}\n",
                         "1:1:", self.FAR, graph=graph)

    def test_rounding_of_large_numbers(self):
        # Sums cancel, and what is large rounds coarsely: the rule is right all the same.
        graph = self.on("""
  %a = tk.constant dense<3.0e4> : tensor<f32>
  %b = tk.constant dense<-7.1e4> : tensor<f32>
  %0 = tk.mul %x, %a : (tensor<4x5xf32>, tensor<f32>) -> tensor<4x5xf32>
  %1 = tk.mul %x, %b : (tensor<4x5xf32>, tensor<f32>) -> tensor<4x5xf32>
  %r = tk.add %0, %1 : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>""")
        text = "Pattern Factor {\n  let root = op<tk.add>(op<tk.mul>(x: Value, a: Value), op<tk.mul>(x, b: Value));\n%s" \
               "  replace root with op<tk.mul>(x, op<tk.%s>(a, b));\n}\n"
        self.accepted(text % (self.STATED, "add"), graph=graph)
        self.refused(text % (self.STATED, "max"), "1:1:", graph=graph)
        for element in ["f16", "f32", "f64"]:
            tolerance = "2.0e-2" if element == "f16" else "1.0e-5"
            graph = self.on(f"""
  %a = tk.constant dense<2.0> : tensor<{element}>
  %b = tk.constant dense<3000.0> : tensor<{element}>
  %0 = tk.mul %x, %a : (tensor<{element}>, tensor<{element}>) -> tensor<{element}>
  %1 = tk.add %0, %b : (tensor<{element}>, tensor<{element}>) -> tensor<{element}>
  %2 = tk.mul %1, %a : (tensor<{element}>, tensor<{element}>) -> tensor<{element}>
  %r = tk.add %2, %b : (tensor<{element}>, tensor<{element}>) -> tensor<{element}>""", element)
            rule = (pathlib.Path(__file__).parents[2] / "rules" / "arithmetic.pdll").read_text()
            output = self.accepted(rule.replace("1.0e-5", tolerance), graph=graph)
            self.assertRegex(output, r"tk\.mul %arg0, %\d+")
            self.assertEqual(output.count("%arg0,"), 1)

    def test_exponentials_that_overflow(self):
        graph = self.write("""
func.func @main(%x: tensor<4x5xf32>, %y: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %0 = tk.exp %x : (tensor<4x5xf32>) -> tensor<4x5xf32>
  %1 = tk.exp %y : (tensor<4x5xf32>) -> tensor<4x5xf32>
  %2 = tk.mul %0, %1 : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  return %2 : tensor<4x5xf32>
}
""", "graph.mlir")
        text = "Pattern Product {\n  let root = op<tk.mul>(op<tk.exp>(x: Value), op<tk.exp>(y: Value));\n%s" \
               "  replace root with op<tk.exp>(op<tk.add>(x, y));\n}\n"
        self.accepted(text % self.STATED.replace("  SameType(x, root);\n", ""), graph=graph)

    def test_what_hides_behind_large_numbers(self):
        # Sums and maxima have one scale; the bound shows where no summand is far beyond it.
        graph = self.on("""
  %c = tk.constant dense<-40.0> : tensor<f32>
  %0 = tk.reduce %x {kind = #tk.reduce_kind<sum>, axes = array<i64: 1>, keep_dims = false} : (tensor<4x5xf32>) -> tensor<4xf32>
  %r = tk.max %0, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>""", ("4x5xf32", "4xf32"))
        text = "Pattern Sum {\n  let sum = op<tk.reduce>(x: Value);\n  let root = op<tk.max>(c: Value, sum);\n%s" \
               "  replace root with %s;\n}\n"
        stated = self.STATED.replace("  SameType(x, root);\n", "")
        for wrong in ["sum", 'op<tk.max>(sum, op<tk.mul>(c, Splat(c, attr<"1.5 : f64">)))']:
            self.refused(text % (stated, wrong), "1:1:", self.FAR, graph=graph)
        self.accepted(text % (stated, "op<tk.neg>(op<tk.min>(op<tk.neg>(sum), op<tk.neg>(c)))"), graph=graph)

    def test_indices_beside_bounds(self):
        # Those far from 0 are out of range.
        graph = self.write("""
func.func @main(%x: tensor<4x5xf32>, %i: tensor<4xi64>) -> tensor<4x5xf32> {
  %c = tk.constant dense<90.0> : tensor<f32>
  %0 = tk.gather %x, %i {axis = 0 : i64} : (tensor<4x5xf32>, tensor<4xi64>) -> tensor<4x5xf32>
  %1 = tk.min %0, %c : (tensor<4x5xf32>, tensor<f32>) -> tensor<4x5xf32>
  return %1 : tensor<4x5xf32>
}
""", "graph.mlir")
        text = "Pattern Rows {\n  let rows = op<tk.gather>(x: Value, i: Value) {axis = a: Attr};\n" \
               "  let root = op<tk.min>(rows, c: Value);\n  AssumeFinite(x);\n  replace root with %s;\n}\n"
        self.refused(text % "rows", "1:1:", self.FAR, graph=graph)
        self.accepted(text % "op<tk.gather>(op<tk.min>(x, c), i) {axis = a}", graph=graph)

    def test_conversions_at_the_ends_of_a_type(self):
        def there_and_back(element, more=""):
            return self.on(f"""
  %0 = tk.cast %x {{to = {element}{more}}} : (tensor<4x5xf32>) -> tensor<4x5x{element}>
  %r = tk.cast %0 {{to = f32}} : (tensor<4x5x{element}>) -> tensor<4x5xf32>""")

        # To clip is what this one is for; the other may overflow, which AssumeFinite leaves out.
        text = "Pattern Convert {\n  let root = op<tk.cast>(op<tk.cast>(x: Value) {to = attr<\"%s\">, saturate = s: Attr}) {to = t: Attr};\n" \
               '%s  replace root with %s;\n}\n'
        wider = 'op<tk.cast>(op<tk.cast>(x) {to = attr<"i32">, saturate = s}) {to = t}'
        self.refused(text % ("i8", "  AssumeFinite(x);\n", wider), "1:1:", self.FAR,
                     graph=there_and_back("i8", ", saturate = true"))
        truncated = 'op<tk.add>(op<tk.floor>(op<tk.max>(x, Splat(x, attr<"0.0 : f64">))), ' \
                    'op<tk.ceil>(op<tk.min>(x, Splat(x, attr<"0.0 : f64">))))'
        stated = '  AssumeFinite(x);\n  Tolerance(attr<"0.0 : f64">);\n'
        for element in ["i32", "i64"]:
            self.accepted(text % (element, stated, truncated), graph=there_and_back(element))

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
