//===- SessionTest.cpp - the C++ interface -----------------------------------------------------------===//
#include "tokamak/Session.h"
#include "TestModels.h"
#include <atomic>
#include <cstring>
#include <gtest/gtest.h>
#include <thread>

using namespace tokamak;
using test::testModel;

namespace {

std::unique_ptr<Session> load(const std::string &name, SessionOptions options = {}) {
  std::string bytes = testModel(name);
  auto session = Session::fromMemory(bytes.data(), bytes.size(), std::move(options), name);
  EXPECT_TRUE(session) << session.status().message;
  return session ? std::move(*session) : nullptr;
}

template <typename T>
HostTensor tensor(ElementType type, Shape shape, const std::vector<T> &values) {
  HostTensor result(type, std::move(shape));
  EXPECT_EQ(result.bytes.size(), values.size() * sizeof(T));
  if (!values.empty())
    std::memcpy(result.bytes.data(), values.data(), result.bytes.size());
  return result;
}
HostTensor floats(Shape shape, const std::vector<float> &values) {
  return tensor(ElementType::Float32, std::move(shape), values);
}

std::vector<float> floatsOf(const HostTensor &tensor) {
  EXPECT_EQ(tensor.type, ElementType::Float32);
  std::vector<float> values(tensor.elements());
  if (!values.empty())
    std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

/// What the model `dense` computes.
std::vector<float> dense(const std::vector<float> &x) {
  const float bias[3] = {-10, 0, 10};
  std::vector<float> y;
  for (size_t n = 0; n < x.size() / 4; ++n) {
    for (int m = 0; m < 3; ++m) {
      float sum = bias[m];
      for (int k = 0; k < 4; ++k)
        sum += x[n * 4 + static_cast<size_t>(k)] * static_cast<float>(k * 3 + m + 1);
      y.push_back(std::max(sum, 0.0f));
    }
  }
  return y;
}

std::vector<float> ramp(size_t count, float start) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = start + static_cast<float>(i % 7) - 3;
  return values;
}

TEST(Session, DescribesTheModel) {
  auto session = load("dense");
  ASSERT_EQ(session->inputs().size(), 1u);
  EXPECT_EQ(session->inputs()[0].name, "x");
  EXPECT_EQ(session->inputs()[0].type, ElementType::Float32);
  EXPECT_EQ(session->inputs()[0].shape, (Shape{-1, 4}));
  EXPECT_EQ(session->inputs()[0].symbols[0], "N");
  EXPECT_EQ(session->inputs()[0].symbols[1], "");
  ASSERT_EQ(session->outputs().size(), 1u);
  EXPECT_EQ(session->outputs()[0].name, "y");
}

TEST(Session, RunsUnderEveryFusionModeAndShape) {
  for (Fusion fusion : {Fusion::None, Fusion::Dominator, Fusion::Full}) {
    SessionOptions options;
    options.fusion = fusion;
    auto session = load("dense", options);
    for (int64_t batch : {1, 2, 17, 0}) {
      std::vector<float> x = ramp(static_cast<size_t>(batch) * 4, 1);
      auto outputs = session->run({{"x", floats({batch, 4}, x)}});
      ASSERT_TRUE(outputs) << outputs.status().message;
      ASSERT_EQ(outputs->size(), 1u);
      EXPECT_EQ((*outputs)[0].name, "y");
      EXPECT_EQ((*outputs)[0].tensor.shape, (Shape{batch, 3}));
      EXPECT_EQ(floatsOf((*outputs)[0].tensor), dense(x));
    }
  }
}

TEST(Session, FusionMakesFewerKernels) {
  SessionOptions none;
  none.fusion = Fusion::None;
  auto unfused = load("dense", none)->prepare();
  auto fused = load("dense")->prepare();
  ASSERT_TRUE(unfused && fused);
  EXPECT_EQ(unfused->kernels, 3u);
  EXPECT_EQ(fused->kernels, 1u);
  EXPECT_EQ(fused->nodes, 3u);
  EXPECT_LT(fused->bytesMoved, unfused->bytesMoved);
  EXPECT_GE(fused->flops, 2 * 12);
}

TEST(Session, RunsOnMemoryOfTheCaller) {
  auto session = load("two_inputs");
  // Misaligned on purpose: nothing beyond the element's alignment is promised.
  std::vector<float> memory(1 + 4 * 6);
  float *a = memory.data() + 1, *b = a + 6, *c = b + 6, *d = c + 6;
  for (int i = 0; i < 6; ++i) {
    a[i] = static_cast<float>(i);
    b[i] = 10;
  }
  Shape shape = {2, 3};
  std::vector<TensorView> inputs = {{ElementType::Float32, shape, a}, {ElementType::Float32, shape, b}};
  std::vector<TensorView> outputs = {{ElementType::Float32, shape, c}, {ElementType::Float32, shape, d}};
  Status status = session->run(inputs, outputs);
  ASSERT_TRUE(status.ok()) << status.message;
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(c[i], a[i] + 10);
    EXPECT_EQ(d[i], a[i] * 10);
  }
}

TEST(Session, HandlesRankZero) {
  auto session = load("scalar");
  auto outputs = session->run({{"x", floats({}, {21})}});
  ASSERT_TRUE(outputs) << outputs.status().message;
  EXPECT_EQ((*outputs)[0].tensor.shape, Shape{});
  EXPECT_EQ(floatsOf((*outputs)[0].tensor), std::vector<float>{42});
}

TEST(Session, CompilesOnceAShape) {
  std::atomic<int> compilations = 0;
  SessionOptions options;
  options.cachedPrograms = 2;
  options.onStage = [&](const char *stage) { compilations += std::string(stage) == "generating code"; };
  auto session = load("dense", options);
  auto prepare = [&](int64_t batch) { ASSERT_TRUE(session->prepare({{"x", {batch, 4}}})); };
  prepare(1);
  prepare(2);
  prepare(1);
  EXPECT_EQ(compilations, 2);
  prepare(3); // 2 was used least recently
  prepare(1);
  EXPECT_EQ(compilations, 3);
  prepare(2);
  EXPECT_EQ(compilations, 4);
}

TEST(Session, SpecialisesOnValues) {
  auto session = load("reshape_by_input");
  HostTensor x = floats({6}, {1, 2, 3, 4, 5, 6});
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>{2, 3}, {3, 2}, {6, 1}, {2, 3}}) {
    auto outputs =
        session->run({{"x", x}, {"shape", tensor<int64_t>(ElementType::Int64, {2}, {rows, columns})}});
    ASSERT_TRUE(outputs) << outputs.status().message;
    EXPECT_EQ((*outputs)[0].tensor.shape, (Shape{rows, columns}));
    EXPECT_EQ(floatsOf((*outputs)[0].tensor), (std::vector<float>{-1, -2, -3, -4, -5, -6}));
  }
}

TEST(Session, BindsInputs) {
  auto session = load("reshape_by_input");
  ASSERT_TRUE(session->bind("shape", tensor<int64_t>(ElementType::Int64, {2}, {3, 2})).ok());
  ASSERT_EQ(session->inputs().size(), 1u);
  auto program = session->prepare();
  ASSERT_TRUE(program) << program.status().message;
  EXPECT_EQ(program->outputs[0].shape, (Shape{3, 2}));
  EXPECT_FALSE(session->bind("shape", tensor<int64_t>(ElementType::Int64, {2}, {3, 2})).ok());
}

TEST(Session, ABoundInputBindsItsSymbols) {
  auto session = load("two_inputs");
  ASSERT_TRUE(session->bind("b", floats({2, 3}, {1, 2, 3, 4, 5, 6})).ok());
  auto program = session->prepare();
  ASSERT_TRUE(program) << program.status().message;
  EXPECT_EQ(program->inputs[0].shape, (Shape{2, 3}));
  EXPECT_FALSE(session->prepare({{"a", {2, 4}}}));
}

TEST(Session, RunsFromManyThreads) {
  SessionOptions options;
  options.threads = 2;
  auto session = load("dense", options);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        int64_t batch = 1 + (t + i) % 3;
        std::vector<float> x = ramp(static_cast<size_t>(batch) * 4, static_cast<float>(t));
        auto outputs = session->run({{"x", floats({batch, 4}, x)}});
        wrong += !outputs || floatsOf((*outputs)[0].tensor) != dense(x);
      }
    });
  }
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

/// The message of a failed status; empty (and a failed test) if it did not fail or has several lines.
std::string messageOf(const Status &status, StatusCode code = StatusCode::InvalidInput) {
  EXPECT_EQ(static_cast<int>(status.code), static_cast<int>(code));
  EXPECT_EQ(status.message.find('\n'), std::string::npos) << status.message;
  EXPECT_NE(status.message, "");
  return status.message;
}
bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

TEST(Session, KnowsWhichInputsAreIndices) {
  auto program = load("gather")->prepare({{"indices", {2}}});
  ASSERT_TRUE(program);
  EXPECT_FALSE(program->inputs[0].indices);
  EXPECT_EQ(program->inputs[1].indices, std::pair(int64_t{-3}, int64_t{2}));
}

TEST(SessionErrors, InputsByName) {
  auto session = load("two_inputs");
  HostTensor good = floats({1, 2}, {1, 2});
  EXPECT_TRUE(contains(messageOf(session->run({{"a", good}}).status()), "input 'b' is missing"));
  EXPECT_TRUE(contains(messageOf(session->run({{"a", good}, {"b", good}, {"z", good}}).status()),
                       "no input 'z' (inputs: 'a', 'b')"));
  std::string type =
      messageOf(session->run({{"a", good}, {"b", HostTensor(ElementType::Float64, {1, 2})}}).status());
  EXPECT_TRUE(contains(type, "'b' is float32, not float64")) << type;
  std::string shape =
      messageOf(session->run({{"a", good}, {"b", HostTensor(ElementType::Float32, {1, 3})}}).status());
  EXPECT_TRUE(contains(shape, "'M'")) << shape;
  std::string rank =
      messageOf(session->run({{"a", good}, {"b", HostTensor(ElementType::Float32, {2})}}).status());
  EXPECT_TRUE(contains(rank, "rank 1")) << rank;
}

TEST(SessionErrors, Views) {
  auto session = load("dense");
  std::vector<float> x(4), y(3);
  Shape in = {1, 4}, wrong = {1, 5}, out = {1, 3}, negative = {-1, 4};
  TensorView input{ElementType::Float32, in, x.data()}, output{ElementType::Float32, out, y.data()};
  EXPECT_TRUE(session->run(std::vector{input}, std::vector{output}).ok());
  messageOf(session->run({}, std::vector{output}));
  messageOf(session->run(std::vector{input, input}, std::vector{output}));
  messageOf(session->run(std::vector{input}, {}));
  messageOf(
      session->run(std::vector{TensorView{ElementType::Float32, wrong, x.data()}}, std::vector{output}));
  messageOf(
      session->run(std::vector{TensorView{ElementType::Float32, negative, x.data()}}, std::vector{output}));
  messageOf(session->run(std::vector{TensorView{ElementType::Int32, in, x.data()}}, std::vector{output}));
  messageOf(session->run(std::vector{TensorView{ElementType::Float32, in, nullptr}}, std::vector{output}),
            StatusCode::Misuse);
  std::string shape = messageOf(
      session->run(std::vector{input}, std::vector{TensorView{ElementType::Float32, in, x.data()}}));
  EXPECT_TRUE(contains(shape, "[1,3]")) << shape;
}

TEST(SessionErrors, Shapes) {
  auto session = load("dense");
  messageOf(session->prepare({{"nosuch", {1}}}).status());
  messageOf(session->prepare({{"x", {1, 5}}}).status());
  messageOf(session->prepare({{"x", {4}}}).status());
  messageOf(session->prepare({{"x", {-2, 4}}}).status());
  messageOf(session->prepare({{"x", {int64_t(1) << 62, 4}}}).status());
  messageOf(load("no_rank")->prepare().status());
  auto program = load("no_rank")->prepare({{"x", {2, 2}}});
  EXPECT_TRUE(program) << program.status().message;
}

TEST(SessionErrors, Models) {
  std::string bytes = testModel("dense");
  messageOf(Session::fromMemory(bytes.data(), bytes.size() / 2).status());
  messageOf(Session::fromMemory("nonsense", 8).status());
  messageOf(Session::fromMemory(nullptr, 0).status());
  messageOf(Session::fromMemory(nullptr, 8).status(), StatusCode::Misuse);
  EXPECT_TRUE(contains(messageOf(Session::fromFile("/no/such/file.onnx").status()), "/no/such/file.onnx"));
  messageOf(Session::fromFile("/").status());
}

TEST(SessionErrors, UnknownOperatorNamesTheNode) {
  std::string bytes = testModel("unknown_operator");
  auto session = Session::fromMemory(bytes.data(), bytes.size(), {}, "strange.onnx");
  Status status = session ? (*session)->prepare().status() : session.status();
  std::string message = messageOf(status);
  EXPECT_TRUE(contains(message, "strange.onnx") && contains(message, "'strange'") &&
              contains(message, "Frobnicate"))
      << message;
}

TEST(SessionErrors, TargetAndRun) {
  SessionOptions options;
  options.targetCpu = "z80";
  messageOf(load("dense", options)->prepare().status(), StatusCode::Misuse);
  auto session = load("scatter");
  auto outputs = session->run({{"x", floats({4}, {1, 2, 3, 4})},
                               {"indices", tensor<int64_t>(ElementType::Int64, {2}, {0, 9})},
                               {"updates", floats({2}, {5, 6})}});
  std::string message = messageOf(outputs.status());
  EXPECT_TRUE(contains(message,
                       "scatter: node 'ScatterElements_0' (ScatterElements): an index is out of range; "
                       "give indices"))
      << message;
}

TEST(SessionErrors, IndicesOfAKernel) {
  for (Fusion fusion : {Fusion::None, Fusion::Full}) {
    SessionOptions options;
    options.fusion = fusion;
    options.threads = 2;
    auto session = load("gather", options);
    // Enough rows for several threads and whole vectors.
    for (int64_t rows : {1, 9, 20000}) {
      std::vector<int64_t> indices(static_cast<size_t>(rows), 2);
      auto run = [&] {
        return session->run({{"x", HostTensor(ElementType::Float32, {3, 20})},
                             {"indices", tensor<int64_t>(ElementType::Int64, {rows}, indices)}});
      };
      for (int64_t bad : {int64_t{3}, int64_t{-4}, INT64_MAX, INT64_MIN}) {
        indices[static_cast<size_t>(rows / 2)] = bad;
        std::string message = messageOf(run().status());
        EXPECT_TRUE(contains(message, "gather: node 'pick' (Gather): an index is out of range; give indices"))
            << message;
      }
      indices[static_cast<size_t>(rows / 2)] = -3; // one fault leaves nothing behind
      EXPECT_TRUE(run());
    }
  }
}

} // namespace
