//===- ControlTest.cpp - If, Loop, Scan ----------------------------------------------------------===//
#include "ModelBuilder.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tokamak;
using namespace tokamak::test;
using testing::HasSubstr;

//===----------------------------------------------------------------------------------------------------===//
// If
//===----------------------------------------------------------------------------------------------------===//

/// y = c ? x + 1 : x * w, with the one in the branch and w outside.
static void addIf(ModelBuilder &m) {
  m.initializer("w", floats({2}, {10, 20}));
  onnx::NodeProto &node = m.node("If", {"c"}, {"y"});
  GraphBuilder taken = addGraph(node, "then_branch");
  taken.initializer("one", floats({}, {1})).output("t");
  taken.node("Add", {"x", "one"}, {"t"});
  GraphBuilder other = addGraph(node, "else_branch");
  other.node("Mul", {"x", "w"}, {"e"});
  other.output("e");
}

TEST(If, BothBranchesStayWhereTheConditionIsAnInput) {
  for (const Dims &shape : {Dims{}, Dims{1}}) {
    ModelBuilder m;
    m.input("x", {2}).input("c", shape, DataType::Bool).output("y");
    addIf(m);
    EXPECT_EQ(count(importedText(m), "tk.if"), 1);
    Tensor x = floats({2}, {1, 2});
    std::vector<int64_t> extents(shape.size(), 1);
    expectTensor(evaluate(m, {{"x", x}, {"c", boolean(true).reshaped(extents)}}).at(0), {2}, {2, 3});
    expectTensor(evaluate(m, {{"x", x}, {"c", boolean(false).reshaped(extents)}}).at(0), {2}, {10, 40});
  }
}

TEST(If, ConstantConditionTakesOneBranch) {
  ModelBuilder m;
  m.input("x", {2}).initializer("c", boolean(false)).output("y");
  addIf(m);
  std::string text = importedText(m);
  EXPECT_EQ(count(text, "tk.if") + count(text, "tk.add"), 0) << text;
  expectTensor(evaluate(m, {{"x", floats({2}, {1, 2})}}).at(0), {2}, {10, 40});
}

/// `depth` conditionals in one another around y = relu(x); y = x where the condition is false.
static std::string nestedIfs(int depth) {
  ModelBuilder m;
  m.input("x", {2}).input("c", {}, DataType::Bool).output("y");
  onnx::GraphProto *graph = &m.graph;
  std::string result = "y";
  for (int i = 0; i < depth; ++i) {
    onnx::NodeProto &node = GraphBuilder(*graph).node("If", {"c"}, {result});
    addGraph(node, "else_branch").output("x");
    result = "t" + std::to_string(i);
    graph = &addGraph(node, "then_branch").output(result).graph;
  }
  GraphBuilder(*graph).node("Relu", {"x"}, {result});
  return m.bytes();
}

TEST(If, NestsBeyondTheLimitsOfProtobuf) {
  EXPECT_EQ(importError(nestedIfs(120)), "");
  EXPECT_EQ(importError(nestedIfs(199)), "");
}

TEST(If, TooDeeplyNestedIsNotDamaged) {
  for (int depth : {200, 232, 233, 1000})
    EXPECT_EQ(importError(nestedIfs(depth)),
              "test.onnx: its graphs and functions are nested too deeply; make the model flatter")
        << depth;
  std::string bytes = nestedIfs(300);
  EXPECT_THAT(importError(bytes.substr(0, bytes.size() / 2)), HasSubstr("damaged or cut off"));
}

TEST(If, BranchesWithoutNodes) {
  for (bool known : {true, false}) {
    ModelBuilder m;
    m.input("x", {2}).output("y");
    if (known)
      m.initializer("c", boolean(true));
    else
      m.input("c", {}, DataType::Bool);
    onnx::NodeProto &node = m.node("If", {"c"}, {"y"});
    addGraph(node, "then_branch").initializer("own", floats({2}, {5, 6})).output("own");
    addGraph(node, "else_branch").output("x");
    Inputs inputs{{"x", floats({2}, {1, 2})}};
    if (!known)
      inputs["c"] = boolean(true);
    expectTensor(evaluate(m, inputs).at(0), {2}, {5, 6});
  }
}

TEST(If, BranchesOfDifferentShape) {
  ModelBuilder m;
  m.input("x", {2}).input("c", {}, DataType::Bool).output("y").initializer("target", ints({1, 2}));
  onnx::NodeProto &node = m.node("If", {"c"}, {"y"}, "choice");
  GraphBuilder taken = addGraph(node, "then_branch");
  taken.node("Reshape", {"x", "target"}, {"t"});
  taken.output("t");
  addGraph(node, "else_branch").output("x");
  std::string error = importError(m);
  EXPECT_THAT(error, HasSubstr("node 'choice' (If): "));
  EXPECT_THAT(error, HasSubstr("float32[1, 2] and float32[2]"));
  EXPECT_THAT(error, HasSubstr("--bind c="));
  expectTensor(evaluate(m, {{"x", floats({2}, {1, 2})}, {"c", boolean(true)}}, /*hinted=*/true).at(0), {1, 2},
               {1, 2});
}

TEST(If, Faults) {
  ModelBuilder m;
  m.input("x", {2}).input("c", {2}, DataType::Bool).output("y");
  addIf(m);
  EXPECT_THAT(importError(m), HasSubstr("its condition must be one bool, not bool[2]"));
  ModelBuilder missing;
  missing.input("c", {}, DataType::Bool).output("y");
  missing.node("If", {"c"}, {"y"});
  EXPECT_THAT(importError(missing), HasSubstr("attribute 'then_branch' must be a graph"));
}

//===----------------------------------------------------------------------------------------------------===//
// Loop
//===----------------------------------------------------------------------------------------------------===//

/// Carries `sum` (from x) and adds the iteration number; scans the sums. With `stop`, goes on while the
/// iteration number is less than that.
static void addLoop(ModelBuilder &m, const std::string &trips, const std::string &condition,
                    const char *stop) {
  onnx::NodeProto &node = m.node("Loop", {trips, condition, "x"}, {"last", "all"}, "loop");
  m.output("last").output("all");
  GraphBuilder body = addGraph(node, "body");
  body.input("i", {}, DataType::Int64).input("go", {}, DataType::Bool).input("sum", {2});
  addAttr(body.node("Cast", {"i"}, {"f"}), "to", int64_t(1));
  body.node("Add", {"sum", "f"}, {"next"});
  body.node("Identity", {"next"}, {"slice"});
  if (stop)
    body.node("Less", {"i", stop}, {"more"});
  body.output(stop ? "more" : "go").output("next").output("slice");
}

TEST(Loop, ConstantTripsUnroll) {
  ModelBuilder m;
  m.input("x", {2}).initializer("n", Tensor::scalarInt(DataType::Int64, 3));
  addLoop(m, "n", "", nullptr);
  EXPECT_EQ(count(importedText(m), "tk.loop"), 0);
  std::vector<Tensor> results = evaluate(m, {{"x", floats({2}, {1, 2})}});
  expectTensor(results.at(0), {2}, {4, 5});
  expectTensor(results.at(1), {3, 2}, {1, 2, 2, 3, 4, 5});
}

TEST(Loop, ManyTripsStayALoop) {
  ModelBuilder m;
  m.input("x", {2}).initializer("n", ints({100}));
  addLoop(m, "n", "", nullptr);
  EXPECT_EQ(count(importedText(m), "tk.loop"), 1);
  std::vector<Tensor> results = evaluate(m, {{"x", floats({2}, {0, 1})}});
  expectTensor(results.at(0), {2}, {4950, 4951});
  EXPECT_EQ(results.at(1).shape().vec(), (std::vector<int64_t>{100, 2}));
}

TEST(Loop, EarlyExitWithScanOutputsUnrolls) {
  for (int64_t limit : {int64_t(100), int64_t(4), int64_t(0x7fffffffffffffff)}) {
    ModelBuilder m;
    m.input("x", {2}).initializer("n", ints({limit})).initializer("two", ints({2}));
    addLoop(m, "n", "", "two");
    std::vector<Tensor> results = evaluate(m, {{"x", floats({2}, {0, 1})}});
    expectTensor(results.at(0), {2}, {3, 4});
    expectTensor(results.at(1), {3, 2}, {0, 1, 1, 2, 3, 4});
  }
}

TEST(Loop, WithoutAnEndIsRefusedBeforeUnrolling) {
  // Three nodes an iteration: a number that overflows times them, and one that does not.
  for (int64_t trips : {int64_t(0x7fffffffffffffff), int64_t(1) << 60}) {
    ModelBuilder tooLong;
    tooLong.input("x", {2}).initializer("n", ints({trips}));
    addLoop(tooLong, "n", "", nullptr);
    // Unrolling until then takes more nodes than an import may visit.
    EXPECT_THAT(importError(tooLong), HasSubstr("runs more than 65536 iterations"));
  }
  ModelBuilder endless;
  endless.input("x", {2});
  addLoop(endless, "", "", nullptr);
  EXPECT_THAT(importError(endless), HasSubstr("runs more than 65536 iterations"));
}

TEST(Loop, NoTrips) {
  for (bool byCondition : {true, false}) {
    ModelBuilder m;
    m.input("x", {2}).initializer("n", ints({byCondition ? 5 : 0})).initializer("c", boolean(!byCondition));
    addLoop(m, "n", "c", nullptr);
    std::vector<Tensor> results = evaluate(m, {{"x", floats({2}, {3, 4})}});
    expectTensor(results.at(0), {2}, {3, 4});
    expectTensor(results.at(1), {0, 2}, {});
  }
}

TEST(Loop, TripsFromAnInput) {
  ModelBuilder m;
  m.input("x", {2}).input("n", {}, DataType::Int64);
  addLoop(m, "n", "", nullptr);
  EXPECT_THAT(importError(m),
              HasSubstr("node 'loop' (Loop): its trip count (an extent of its outputs) must be known"));
  Inputs inputs{{"x", floats({2}, {0, 0})}, {"n", Tensor::scalarInt(DataType::Int64, 20)}};
  EXPECT_EQ(evaluate(m, inputs, /*hinted=*/true).at(1).shape()[0], 20);
  // Without scan outputs nothing depends on the number.
  ModelBuilder carried;
  carried.input("x", {2}).input("n", {}, DataType::Int64);
  addLoop(carried, "n", "", nullptr);
  carried.graph.mutable_output()->RemoveLast();
  carried.graph.mutable_node(0)->mutable_output()->RemoveLast();
  carried.graph.mutable_node(0)->mutable_attribute(0)->mutable_g()->mutable_output()->RemoveLast();
  EXPECT_EQ(count(importedText(carried), "tk.loop"), 1);
  expectTensor(evaluate(carried, inputs).at(0), {2}, {190, 190});
}

TEST(Loop, ConditionFromData) {
  // Doubles x until its first element reaches 100.
  ModelBuilder m;
  m.input("x", {1}).input("c", {}, DataType::Bool).output("y").initializer("bound", floats({1}, {100}));
  onnx::NodeProto &node = m.node("Loop", {"", "c", "x"}, {"y"});
  GraphBuilder body = addGraph(node, "body");
  body.input("i", {}, DataType::Int64).input("go", {}, DataType::Bool).input("v", {1});
  body.node("Add", {"v", "v"}, {"w"});
  body.node("Less", {"w", "bound"}, {"more"});
  body.output("more").output("w");
  EXPECT_EQ(count(importedText(m), "tk.loop"), 1);
  expectTensor(evaluate(m, {{"x", floats({1}, {3})}, {"c", boolean(true)}}).at(0), {1}, {192});
  expectTensor(evaluate(m, {{"x", floats({1}, {3})}, {"c", boolean(false)}}).at(0), {1}, {3});
}

TEST(Loop, CarriedValuesMayGrow) {
  ModelBuilder m;
  m.input("x", {1}).initializer("n", ints({20})).output("y");
  onnx::NodeProto &node = m.node("Loop", {"n", "", "x"}, {"y"});
  GraphBuilder body = addGraph(node, "body");
  body.input("i", {1}, DataType::Int64).input("go", {}, DataType::Bool).input("v", {std::string("N")});
  addAttr(body.node("Cast", {"i"}, {"f"}), "to", int64_t(1));
  addAttr(body.node("Concat", {"v", "f"}, {"w"}), "axis", int64_t(0));
  body.output("go").output("w");
  Tensor y = evaluate(m, {{"x", floats({1}, {-1})}}).at(0);
  EXPECT_EQ(y.shape().vec(), std::vector<int64_t>{21});
  EXPECT_EQ(y.doubleAt(20), 19);
}

TEST(Loop, Faults) {
  ModelBuilder endless;
  endless.input("x", {2}).output("y");
  GraphBuilder body = addGraph(endless.node("Loop", {"", "", "x"}, {"y"}, "endless"), "body");
  body.input("i", {}, DataType::Int64).input("go", {}, DataType::Bool).input("v", {2});
  body.node("Neg", {"v"}, {"w"});
  body.output("go").output("w");
  EXPECT_THAT(importError(endless), HasSubstr("node 'endless' (Loop): runs more than 65536 iterations"));
  endless.graph.mutable_node(0)->add_input("x");
  EXPECT_THAT(importError(endless), HasSubstr("do not fit 2 carried values"));
}

TEST(Loop, AShapeFromALongLoopIsRefused) {
  // Next to no arithmetic, but many steps of the evaluator.
  ModelBuilder m;
  m.input("x", {2}).initializer("n", ints({20'000'000})).initializer("zero", ints({0})).output("y");
  GraphBuilder body = addGraph(m.node("Loop", {"n", "", "zero"}, {"extent"}, "long"), "body");
  body.input("i", {}, DataType::Int64).input("go", {}, DataType::Bool).input("v", {1}, DataType::Int64);
  body.node("Neg", {"v"}, {"w"});
  body.output("go").output("w");
  m.node("Expand", {"x", "extent"}, {"y"}, "expand");
  EXPECT_THAT(importError(m), AllOf(HasSubstr("node 'expand' (Expand)"), HasSubstr("too much arithmetic")));
}

//===----------------------------------------------------------------------------------------------------===//
// Scan
//===----------------------------------------------------------------------------------------------------===//

/// sum += slice; scans the sums.
static void addScanBody(onnx::NodeProto &node) {
  GraphBuilder body = addGraph(node, "body");
  body.input("sum", {2}).input("slice", {2});
  body.node("Add", {"sum", "slice"}, {"next"});
  body.node("Identity", {"next"}, {"out"});
  body.output("next").output("out");
  addAttr(node, "num_scan_inputs", int64_t(1));
}

TEST(Scan, AxesAndDirections) {
  ModelBuilder m;
  m.input("x", {2, 3}).initializer("zero", floats({2}, {0, 0})).output("last").output("sums");
  onnx::NodeProto &node = m.node("Scan", {"zero", "x"}, {"last", "sums"});
  addScanBody(node);
  addAttr(node, "scan_input_axes", std::vector<int64_t>{-1});
  addAttr(node, "scan_output_axes", std::vector<int64_t>{1});
  addAttr(node, "scan_input_directions", std::vector<int64_t>{1});
  addAttr(node, "scan_output_directions", std::vector<int64_t>{1});
  std::vector<Tensor> results = evaluate(m, {{"x", floats({2, 3}, {1, 2, 3, 10, 20, 30})}});
  expectTensor(results.at(0), {2}, {6, 60});
  expectTensor(results.at(1), {2, 3}, {6, 5, 3, 60, 50, 30});
}

TEST(Scan, Empty) {
  ModelBuilder m;
  m.input("x", {0, 2}).initializer("start", floats({2}, {4, 5})).output("last").output("sums");
  addScanBody(m.node("Scan", {"start", "x"}, {"last", "sums"}));
  std::vector<Tensor> results = evaluate(m, {{"x", floats({0, 2}, {})}});
  expectTensor(results.at(0), {2}, {4, 5});
  expectTensor(results.at(1), {0, 2}, {});
}

TEST(Scan, BatchesOfOperatorSet8) {
  ModelBuilder m(8);
  m.input("x", {2, 3, 2}).initializer("zero", floats({2, 2}, {0, 0, 0, 0})).output("last").output("sums");
  m.initializer("lengths", ints({3, 1}));
  addScanBody(m.node("Scan", {"lengths", "zero", "x"}, {"last", "sums"}));
  std::vector<Tensor> results =
      evaluate(m, {{"x", floats({2, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})}});
  expectTensor(results.at(0), {2, 2}, {9, 12, 7, 8});
  expectTensor(results.at(1), {2, 3, 2}, {1, 2, 4, 6, 9, 12, 7, 8, 0, 0, 0, 0});
}

TEST(Scan, Faults) {
  ModelBuilder m;
  m.input("x", {3, 2}).initializer("zero", floats({3}, {0, 0, 0})).output("last").output("sums");
  addScanBody(m.node("Scan", {"zero", "x"}, {"last", "sums"}));
  EXPECT_THAT(importError(m), HasSubstr("node '")); // [3] + [2] in the body
  m.graph.mutable_node(0)->mutable_attribute(1)->set_i(5);
  EXPECT_THAT(importError(m), HasSubstr("attribute num_scan_inputs is 5"));
}

//===----------------------------------------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------------------------------------===//

TEST(Sequences, ConstructInsertEraseAt) {
  ModelBuilder m;
  m.input("x", {2})
      .input("z", {2})
      .output("y")
      .output("n")
      .initializer("last", ints({-1}))
      .initializer("one", ints({1}));
  m.node("SequenceConstruct", {"x", "z"}, {"s"});
  m.node("SequenceInsert", {"s", "z"}, {"t"});         // x z z
  m.node("SequenceInsert", {"t", "x", "last"}, {"u"}); // x z x z
  m.node("SequenceErase", {"u", "one"}, {"v"});        // x x z
  m.node("SequenceAt", {"v", "one"}, {"y"});
  m.node("SequenceLength", {"v"}, {"n"});
  std::string text = importedText(m);
  EXPECT_EQ(text.find("tuple"), std::string::npos) << text;
  std::vector<Tensor> results = evaluate(m, {{"x", floats({2}, {1, 2})}, {"z", floats({2}, {3, 4})}});
  expectTensor(results.at(0), {2}, {1, 2});
  expectTensor(results.at(1), {}, {3});
}

TEST(Sequences, SplitAndConcatenate) {
  ModelBuilder m;
  m.input("x", {3, 2})
      .output("joined")
      .output("stacked")
      .output("part")
      .initializer("two", Tensor::scalarInt(DataType::Int64, 2));
  m.initializer("zero", Tensor::scalarInt(DataType::Int64, 0));
  addAttr(m.node("SplitToSequence", {"x"}, {"rows"}), "keepdims", int64_t(0));
  addAttr(m.node("ConcatFromSequence", {"rows"}, {"joined"}), "axis", int64_t(-1));
  onnx::NodeProto &stack = m.node("ConcatFromSequence", {"rows"}, {"stacked"});
  addAttr(stack, "axis", int64_t(-1));
  addAttr(stack, "new_axis", int64_t(1));
  m.node("SplitToSequence", {"x", "two"}, {"parts"});
  m.node("SequenceAt", {"parts", "zero"}, {"part"});
  std::vector<Tensor> results = evaluate(m, {{"x", floats({3, 2}, {1, 2, 3, 4, 5, 6})}});
  expectTensor(results.at(0), {6}, {1, 2, 3, 4, 5, 6});
  expectTensor(results.at(1), {2, 3}, {1, 3, 5, 2, 4, 6});
  expectTensor(results.at(2), {2, 2}, {1, 2, 3, 4});
}

TEST(Sequences, LoopsThatAppend) {
  ModelBuilder m;
  m.input("x", {2}).output("y").initializer("n", ints({20}));
  m.node("SequenceEmpty", {}, {"empty"});
  onnx::NodeProto &node = m.node("Loop", {"n", "", "empty"}, {"s"});
  GraphBuilder body = addGraph(node, "body");
  body.input("i", {}, DataType::Int64).input("go", {}, DataType::Bool).input("before");
  addAttr(body.node("Cast", {"i"}, {"f"}), "to", int64_t(1));
  body.node("Add", {"x", "f"}, {"t"});
  body.node("SequenceInsert", {"before", "t"}, {"after"});
  body.output("go").output("after");
  addAttr(m.node("ConcatFromSequence", {"s"}, {"y"}), "axis", int64_t(0));
  Tensor y = evaluate(m, {{"x", floats({2}, {0, 100})}}).at(0);
  EXPECT_EQ(y.shape().vec(), std::vector<int64_t>{40});
  EXPECT_EQ(y.doubleAt(39), 119);
}

TEST(Sequences, Map) {
  ModelBuilder m;
  m.input("x", {2}).input("z", {1}).output("y");
  m.node("SequenceConstruct", {"x", "z"}, {"s"});
  onnx::NodeProto &node = m.node("SequenceMap", {"s", "z"}, {"t"});
  GraphBuilder body = addGraph(node, "body");
  body.input("a").input("b");
  body.node("Add", {"a", "b"}, {"c"});
  body.output("c");
  addAttr(m.node("ConcatFromSequence", {"t"}, {"y"}), "axis", int64_t(0));
  expectTensor(evaluate(m, {{"x", floats({2}, {1, 2})}, {"z", floats({1}, {10})}}).at(0), {3}, {11, 12, 20});
}

TEST(Sequences, Faults) {
  auto error = [](auto add, const char *output) {
    ModelBuilder m;
    m.input("x", {2}).input("c", {}, DataType::Bool).output(output).initializer("five", ints({5}));
    m.node("SequenceConstruct", {"x"}, {"s"});
    add(m);
    return importError(m);
  };
  EXPECT_THAT(error([](ModelBuilder &m) { m.node("Relu", {"s"}, {"y"}); }, "y"),
              HasSubstr("node 'Relu_1' (Relu): input 0 is a sequence of tensors, but must be a tensor"));
  EXPECT_THAT(error([](ModelBuilder &m) { m.node("SequenceAt", {"s", "five"}, {"y"}); }, "y"),
              HasSubstr("its position 5 is outside a sequence of 1 tensors"));
  EXPECT_THAT(error([](ModelBuilder &m) { m.node("SequenceAt", {"x", "five"}, {"y"}); }, "y"),
              HasSubstr("input 0 must be a sequence"));
  EXPECT_THAT(error([](ModelBuilder &) {}, "s"), HasSubstr("the outputs of the model must be tensors"));
  EXPECT_THAT(error(
                  [](ModelBuilder &m) {
                    onnx::NodeProto &node = m.node("If", {"c"}, {"t"});
                    for (const char *branch : {"then_branch", "else_branch"})
                      addGraph(node, branch).output("s");
                    m.node("SequenceAt", {"t", "five"}, {"y"});
                  },
                  "y"),
              HasSubstr("(the branches give a sequence and a sequence)"));
}
