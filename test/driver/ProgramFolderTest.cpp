//===- ProgramFolderTest.cpp - compiled programs that outlive their process ----------------------------===//
#include "driver/cache/ProgramFolder.h"
#include "TestModels.h"
#include "driver/cache/BuildId.h"
#include "onnx/onnx_pb.h"
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tokamak;
using test::testModel;
namespace fs = std::filesystem;

namespace {

HostTensor floats(Shape shape, const std::vector<float> &values) {
  HostTensor result(ElementType::Float32, std::move(shape));
  std::memcpy(result.bytes.data(), values.data(), result.bytes.size());
  return result;
}

HostTensor integers(const std::vector<int64_t> &values) {
  HostTensor result(ElementType::Int64, {static_cast<int64_t>(values.size())});
  std::memcpy(result.bytes.data(), values.data(), result.bytes.size());
  return result;
}

std::string contentsOf(const fs::path &file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}
void writeTo(const fs::path &file, const std::string &contents) {
  std::ofstream(file, std::ios::binary) << contents;
}

/// Each test has a folder of its own.
class ProgramFolder : public testing::Test {
protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "tokamak-cache-XXXXXX").string();
    ASSERT_TRUE(mkdtemp(name.data()));
    folder = name;
    options.cacheDirectory = folder / "programs";
    options.threads = 1;
  }
  void TearDown() override { fs::remove_all(folder); }

  std::unique_ptr<Session> load(const std::string &bytes) const {
    auto session = Session::fromMemory(bytes.data(), bytes.size(), options);
    EXPECT_TRUE(session) << session.status().message;
    return session ? std::move(*session) : nullptr;
  }

  /// Whether the program of a new session on `dense` was in the folder; it must compute the same either way.
  bool isCached(int64_t batch = 2) const {
    auto session = load(testModel("dense"));
    auto program = session->prepare({{"x", {batch, 4}}});
    EXPECT_TRUE(program) << program.status().message;
    std::vector<float> ones(static_cast<size_t>(batch) * 4, 1);
    auto outputs = session->run({{"x", floats({batch, 4}, ones)}});
    EXPECT_TRUE(outputs) << outputs.status().message;
    std::vector<float> expected;
    for (int64_t row = 0; row < batch; ++row)
      expected.insert(expected.end(), {12, 26, 40});
    EXPECT_EQ((*outputs)[0].tensor.bytes, floats({batch, 3}, expected).bytes);
    return program->cached;
  }

  std::vector<fs::path> files() const {
    std::vector<fs::path> result;
    if (fs::exists(options.cacheDirectory)) {
      for (const auto &entry : fs::directory_iterator(options.cacheDirectory))
        if (entry.path().extension() != ".timestamp")
          result.push_back(entry.path());
    }
    return result;
  }

  fs::path folder;
  SessionOptions options;
};

TEST_F(ProgramFolder, ASecondSessionFindsTheProgram) {
  EXPECT_FALSE(isCached());
  EXPECT_EQ(files().size(), 1u);
  EXPECT_TRUE(isCached());
  EXPECT_EQ(files().size(), 1u);
  options.cacheDirectory = "";
  EXPECT_FALSE(isCached());
}

TEST_F(ProgramFolder, DescribesTheProgramAlike) {
  auto first = *load(testModel("dense"))->prepare(), second = *load(testModel("dense"))->prepare();
  ASSERT_FALSE(first.cached);
  ASSERT_TRUE(second.cached);
  EXPECT_EQ(first.nodes, second.nodes);
  EXPECT_EQ(first.kernels, second.kernels);
  EXPECT_EQ(first.arenaBytes, second.arenaBytes);
  EXPECT_EQ(first.weightBytes, second.weightBytes);
  EXPECT_EQ(first.bytesMoved, second.bytesMoved);
  EXPECT_EQ(first.flops, second.flops);
  EXPECT_EQ(first.outputs[0].name, second.outputs[0].name);
  EXPECT_EQ(first.outputs[0].shape, second.outputs[0].shape);
}

TEST_F(ProgramFolder, NamesTheNodeThatFails) {
  std::string messages[2];
  for (std::string &message : messages) {
    auto outputs = load(testModel("scatter"))
                       ->run({{"x", floats({4}, {1, 2, 3, 4})},
                              {"indices", integers({0, 9})},
                              {"updates", floats({2}, {5, 6})}});
    ASSERT_FALSE(outputs);
    message = outputs.status().message;
  }
  EXPECT_EQ(messages[0], messages[1]);
}

TEST_F(ProgramFolder, EveryOptionIsPartOfTheKey) {
  EXPECT_FALSE(isCached());
  const std::vector<std::pair<const char *, std::function<void(SessionOptions &)>>> changes = {
      {"fusion", [](SessionOptions &o) { o.fusion = Fusion::None; }},
      {"exact", [](SessionOptions &o) { o.exact = true; }},
      {"target cpu", [](SessionOptions &o) { o.targetCpu = "x86-64-v3"; }},
      {"target description",
       [&](SessionOptions &o) {
         o.targetDescription = folder / "target.json";
         writeTo(o.targetDescription, R"({"dispatch_us": 3.25})");
       }},
      {"threads", [](SessionOptions &o) { o.threads = 2; }},
      {"forced rewrites", [](SessionOptions &o) { o.forcedRewrites = {"merge-siblings"}; }},
      {"disabled passes", [](SessionOptions &o) { o.disabledPasses = {"merge-rows"}; }},
      {"fuel", [](SessionOptions &o) { o.fuel = 1; }},
      {"rules", [](SessionOptions &o) { o.rules = {"arithmetic"}; }},
      {"trusted rules", [](SessionOptions &o) { o.trustRules = true; }},
  };
  const SessionOptions plain = options;
  for (const auto &[name, change] : changes) {
    SCOPED_TRACE(name);
    options = plain;
    change(options);
    EXPECT_FALSE(isCached());
    EXPECT_TRUE(isCached());
  }
  options = plain;
  EXPECT_TRUE(isCached());
  EXPECT_FALSE(isCached(/*batch=*/3));
  EXPECT_TRUE(isCached(/*batch=*/3));
}

TEST_F(ProgramFolder, TheContentsOfATargetDescriptionCount) {
  options.targetDescription = folder / "target.json";
  writeTo(options.targetDescription, R"({"dispatch_us": 3.25})");
  EXPECT_FALSE(isCached());
  writeTo(options.targetDescription, R"({"dispatch_us": 3.2500000000000004})");
  EXPECT_FALSE(isCached());
  EXPECT_TRUE(isCached());
}

TEST_F(ProgramFolder, TheCompilerIsPartOfTheKey) {
  auto id = driver::buildId();
  ASSERT_TRUE(id);
  EXPECT_GE(id->size(), 8u);
  EXPECT_EQ(id, driver::buildId());
}

TEST_F(ProgramFolder, TheModelIsPartOfTheKey) {
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(testModel("dense")));
  auto cached = [&] { return load(model.SerializeAsString())->prepare()->cached; };
  EXPECT_FALSE(cached());
  EXPECT_TRUE(cached());
  model.mutable_graph()->mutable_initializer(0)->set_float_data(11, 13);
  EXPECT_FALSE(cached()) << "a weight";
  model.mutable_graph()->mutable_node(2)->set_op_type("Tanh");
  EXPECT_FALSE(cached()) << "an operator";
  model.mutable_graph()->mutable_node(2)->set_name("other");
  EXPECT_FALSE(cached()) << "a name, which faults show";
  EXPECT_TRUE(cached());
}

TEST_F(ProgramFolder, ExternalDataIsPartOfTheKey) {
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(testModel("dense")));
  onnx::TensorProto &weight = *model.mutable_graph()->mutable_initializer(1);
  weight.clear_float_data();
  weight.set_data_location(onnx::TensorProto::EXTERNAL);
  onnx::StringStringEntryProto &location = *weight.add_external_data();
  location.set_key("location");
  location.set_value("bias.bin");
  writeTo(folder / "model.onnx", model.SerializeAsString());
  auto run = [&](std::array<float, 3> bias) {
    writeTo(folder / "bias.bin", std::string(reinterpret_cast<const char *>(bias.data()), sizeof bias));
    auto session = Session::fromFile(folder / "model.onnx", options);
    EXPECT_TRUE(session) << session.status().message;
    bool isCached = (*session)->prepare()->cached;
    auto outputs = (*session)->run({{"x", floats({1, 4}, {0, 0, 0, 0})}});
    EXPECT_EQ((*outputs)[0].tensor.bytes, floats({1, 3}, {bias.begin(), bias.end()}).bytes);
    return isCached;
  };
  EXPECT_FALSE(run({1, 2, 3}));
  EXPECT_TRUE(run({1, 2, 3}));
  EXPECT_FALSE(run({1, 2, 4}));
  EXPECT_TRUE(run({1, 2, 3}));
}

TEST_F(ProgramFolder, BoundValuesArePartOfTheKey) {
  auto cached = [&](float value) {
    auto session = load(testModel("two_inputs"));
    EXPECT_TRUE(session->bind("b", floats({1, 1}, {value})).ok());
    return session->prepare()->cached;
  };
  EXPECT_FALSE(cached(1));
  EXPECT_FALSE(cached(2));
  EXPECT_TRUE(cached(1));
  EXPECT_FALSE(load(testModel("two_inputs"))->prepare()->cached) << "not bound at all";
}

TEST_F(ProgramFolder, ValuesCountOnlyWhereShapesDependOnThem) {
  auto cached = [&](int64_t rows, int64_t columns, float first) {
    auto session = load(testModel("reshape_by_input"));
    auto x = floats({6}, {first, 2, 3, 4, 5, 6});
    auto shape = integers({rows, columns});
    auto program = session->prepare({}, {{"x", x}, {"shape", shape}});
    EXPECT_TRUE(program) << program.status().message;
    auto outputs = session->run({{"x", x}, {"shape", shape}});
    EXPECT_TRUE(outputs) << outputs.status().message;
    EXPECT_EQ((*outputs)[0].tensor.shape, (Shape{rows, columns}));
    EXPECT_EQ((*outputs)[0].tensor.bytes, floats({6}, {-first, -2, -3, -4, -5, -6}).bytes);
    return program->cached;
  };
  EXPECT_FALSE(cached(2, 3, 1));
  EXPECT_FALSE(cached(3, 2, 1));
  EXPECT_TRUE(cached(2, 3, 7));
  EXPECT_TRUE(cached(3, 2, 8));
}

TEST_F(ProgramFolder, DamagedFilesAreReplaced) {
  ASSERT_FALSE(isCached());
  ASSERT_EQ(files().size(), 1u);
  const fs::path file = files()[0];
  const std::string good = contentsOf(file);
  auto expectRepair = [&](const std::string &damaged) {
    writeTo(file, damaged);
    EXPECT_FALSE(isCached());
    EXPECT_EQ(files().size(), 1u);
    EXPECT_EQ(contentsOf(file), good);
  };
  for (size_t length : {size_t(0), size_t(1), size_t(63), size_t(64), good.size() / 2, good.size() - 1}) {
    SCOPED_TRACE("cut off at " + std::to_string(length));
    expectRepair(good.substr(0, length));
  }
  expectRepair(good + '\0');
  // Magic, key, lengths (low and high bytes), checksum, description, weights.
  for (size_t place : {size_t(0), size_t(8), size_t(40), size_t(47), size_t(48), size_t(55), size_t(56),
                       size_t(64), size_t(70), good.size() / 2, good.size() - 1}) {
    SCOPED_TRACE("byte " + std::to_string(place));
    std::string damaged = good;
    damaged[place] = static_cast<char>(damaged[place] ^ 0x40);
    expectRepair(damaged);
  }
  EXPECT_TRUE(isCached());
}

TEST_F(ProgramFolder, AProgramUnderAnotherNameIsNotUsed) {
  ASSERT_FALSE(isCached(2));
  const fs::path file = files()[0];
  const std::string other = contentsOf(file);
  fs::remove_all(options.cacheDirectory);
  ASSERT_FALSE(isCached(3));
  writeTo(files()[0], other);
  EXPECT_FALSE(isCached(3));
  EXPECT_TRUE(isCached(3));
}

TEST_F(ProgramFolder, FilesOfOthersAreNotRead) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root can give files away";
  ASSERT_FALSE(isCached());
  ASSERT_EQ(chown(files()[0].c_str(), 1, 1), 0);
  EXPECT_FALSE(isCached());
}

TEST_F(ProgramFolder, FoldersThatCannotBeWrittenAreNoFault) {
  writeTo(folder / "file", "");
  for (const fs::path &path : {folder / "file", folder / "file" / "below", fs::path("/proc/tokamak")}) {
    SCOPED_TRACE(path);
    options.cacheDirectory = path;
    EXPECT_FALSE(isCached());
    EXPECT_FALSE(isCached());
  }
}

TEST_F(ProgramFolder, ProgramsOfAReadOnlyFolderAreUsed) {
  ASSERT_FALSE(isCached());
  fs::permissions(options.cacheDirectory, fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_TRUE(isCached());
  EXPECT_FALSE(isCached(3));
  fs::permissions(options.cacheDirectory, fs::perms::owner_all);
}

TEST_F(ProgramFolder, TheLeastRecentlyUsedGoes) {
  ASSERT_FALSE(isCached(1));
  const uint64_t one = fs::file_size(files()[0]);
  options.cacheBytes = one * 7 / 2;
  EXPECT_FALSE(isCached(2));
  EXPECT_FALSE(isCached(3));
  EXPECT_TRUE(isCached(1));
  EXPECT_FALSE(isCached(4)); // 2 is the one not used for longest
  uint64_t total = 0;
  for (const fs::path &file : files())
    total += fs::file_size(file);
  EXPECT_LE(total, options.cacheBytes);
  EXPECT_TRUE(isCached(1));
  EXPECT_TRUE(isCached(4));
  EXPECT_FALSE(isCached(2));
}

TEST_F(ProgramFolder, NothingIsKeptBeyondTheBound) {
  options.cacheBytes = 100;
  EXPECT_FALSE(isCached());
  EXPECT_TRUE(files().empty());
}

TEST_F(ProgramFolder, IsLeftAloneWhereTheCompilationIsObserved) {
  options.profile = true;
  EXPECT_FALSE(isCached());
  EXPECT_TRUE(files().empty());
}

TEST_F(ProgramFolder, ProcessesWriteAndReadAtOnce) {
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      // Programs come and go under the readers: the bound holds about two of them.
      options.cacheBytes = 40000;
      for (int round = 0; round < 3; ++round)
        for (int64_t batch : {1, 2, 3})
          (void)isCached(batch);
      _exit(HasFailure());
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
  for (const fs::path &file : files())
    EXPECT_EQ(file.extension(), "") << "left half written: " << file;
  (void)isCached();
  EXPECT_TRUE(isCached());
}

} // namespace
