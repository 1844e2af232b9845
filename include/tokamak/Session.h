//===- Session.h - the C++ interface: load a model, run it ------------------------------===//
// A session keeps one ONNX model and compiles it, when first run, for the shapes it is given. The C interface
// of the same is tokamak.h.
//
//   auto session = tokamak::Session::fromFile("resnet50.onnx");
//   if (!session) return fail(session.status().message);
//   tokamak::HostTensor image(tokamak::ElementType::Float32, {1, 3, 224, 224});
//   auto outputs = (*session)->run({{"input", image}});
//
// Tensors are dense and row-major. Nothing here throws; whatever may fail returns a Status with a one-line
// reason.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tokamak {

/// Element types, numbered as ONNX TensorProto.DataType does. Bool takes one byte, 0 or 1; Float16 and
/// BFloat16 are their two bytes.
enum class ElementType : int32_t {
  Float32 = 1,
  UInt8 = 2,
  Int8 = 3,
  UInt16 = 4,
  Int16 = 5,
  Int32 = 6,
  Int64 = 7,
  Bool = 9,
  Float16 = 10,
  Float64 = 11,
  UInt32 = 12,
  UInt64 = 13,
  BFloat16 = 16,
};

/// Bytes of one element.
size_t elementBytes(ElementType type);
/// The NumPy name: "float32", "int64", "bool", ...
const char *elementTypeName(ElementType type);

/// What a call came to. The codes are the exit statuses of the command.
enum class StatusCode {
  Ok = 0,
  InvalidInput = 1, ///< the model, a shape, a type, a value: the message names what and how to mend it
  Misuse = 2,       ///< a wrong call: a null pointer, an index out of range
  Internal = 3,     ///< a fault of Tokamak
};

struct [[nodiscard]] Status {
  StatusCode code = StatusCode::Ok;
  std::string message; ///< one line; empty when ok
  bool ok() const { return code == StatusCode::Ok; }
};

/// A value, or the status that says why there is none.
template <typename T>
class [[nodiscard]] Result {
public:
  Result(T value) : held(std::move(value)) {}
  Result(Status status) : failure(std::move(status)) {}
  explicit operator bool() const { return held.has_value(); }
  const Status &status() const { return failure; }
  T &operator*() { return *held; }
  const T &operator*() const { return *held; }
  T *operator->() { return &*held; }
  const T *operator->() const { return &*held; }

private:
  std::optional<T> held;
  Status failure;
};

using Shape = std::vector<int64_t>;

/// An input or output as the model declares it.
struct ValueInfo {
  std::string name;
  ElementType type = ElementType::Float32;
  bool hasRank = true; ///< false: the model does not say; `shape` is empty and any rank may fit
  Shape shape;         ///< -1 where a dimension is symbolic
  std::vector<std::string>
      symbols; ///< as long as `shape`: the symbol's name, empty where the dimension is a number
  /// Of an input of a compiled program that gathers or scatters use as indices: the least and the largest
  /// that all of them accept.
  std::optional<std::pair<int64_t, int64_t>> indices;
};

/// A tensor that owns its bytes.
struct HostTensor {
  HostTensor() = default;
  /// Zero-filled. All extents must be >= 0.
  HostTensor(ElementType type, Shape shape);
  size_t elements() const; ///< 1 for rank 0
  ElementType type = ElementType::Float32;
  Shape shape;
  std::vector<std::byte> bytes; ///< elements() * elementBytes(type)
};

/// A tensor in memory of the caller. No alignment beyond that of the element type is needed.
struct TensorView {
  ElementType type = ElementType::Float32;
  std::span<const int64_t> shape;
  void *data = nullptr; ///< read where the view is an input, written where it is an output
};

enum class Fusion {
  None,      ///< every operator is a kernel of its own
  Dominator, ///< the post-dominator-tree algorithm
  Full,      ///< by cost
};

struct SessionOptions {
  Fusion fusion = Fusion::Full;
  std::string targetCpu = "native"; ///< or an x86-64 CPU as LLVM names it, at least AVX2 with FMA
  /// JSON file with cache sizes and speeds that the cost model shall go by (`tokamak calibrate`); empty:
  /// those of the CPU, or for "native" what was calibrated on this machine.
  std::string targetDescription;
  int threads = 0;           ///< that one run may use, the caller's included; 0: one a core
  size_t cachedPrograms = 8; ///< kept, one a set of shapes; the least recently used goes first
  /// Folder in which compiled programs outlive the process, see defaultCacheDirectory; empty: none. Its files
  /// are code: nobody else should be able to write there. Faults of the folder cost a compilation, they are
  /// no errors. Not used with `profile`, with rules out of files, or where passes print.
  std::string cacheDirectory;
  uint64_t cacheBytes = uint64_t(2) << 30; ///< that its files may take; the least recently used go first
  bool profile = false;                    ///< measure kernels, see Session::kernelTimes
  std::vector<std::string> rules; ///< files (docs/rules.md), or names of shipped ones; with Fusion::Full
  bool trustRules = false;        ///< do not compare rules with the reference evaluator
  /// Convolutions are plain sums of products: none by minimal filtering (Winograd), which is faster and
  /// rounds otherwise, and lets a NaN or an infinity reach up to three rows and columns of results further.
  bool exact = false;
  /// Names of rewrites to apply wherever they are legal, whatever they cost; some of them hold for finite
  /// values only (docs/rewrite-search.md). Fusion::Full.
  std::vector<std::string> forcedRewrites;

  // For finding faults.
  std::vector<std::string> disabledPasses;        ///< by name, as `tokamak run --list-passes` prints them
  int64_t fuel = -1;                              ///< rewrites and fusions applied at most; -1: all
  bool printAfterChange = false;                  ///< the graph after each pass that changed it, to stderr
  bool timing = false;                            ///< how long each pass took, to stderr
  std::string reproducerDirectory;                ///< a fault of ours leaves a file here; empty: nowhere
  std::function<void(const char *stage)> onStage; ///< called by the compiling thread when a stage begins
};

/// $XDG_CACHE_HOME/tokamak/programs, or the same below ~/.cache; empty without a home. The command uses it.
std::string defaultCacheDirectory();

/// What was compiled for one set of shapes.
struct ProgramInfo {
  std::vector<ValueInfo> inputs, outputs; ///< concrete shapes
  size_t nodes = 0;                       ///< ONNX nodes of the model
  size_t kernels = 0;                     ///< kernel and library calls of one run
  size_t arenaBytes = 0;                  ///< memory for intermediate values, one run at a time
  size_t weightBytes = 0;                 ///< packed constants
  int64_t bytesMoved = 0;                 ///< modelled memory traffic of one run: activations and weights
  int64_t flops = 0;                      ///< of one run; a multiply-add is two
  double compileMs = 0;                   ///< from the model in memory to code that can run
  bool cached = false;                    ///< the code was in SessionOptions::cacheDirectory
};

/// One kernel, or library function, in a profile.
struct KernelTime {
  std::string kernel;             ///< symbol; equal groups of operators share one
  std::string kind;               ///< "convolution", "matmul", "library", ...
  std::vector<std::string> nodes; ///< ONNX node names of all its calls
  size_t calls = 0;               ///< in the schedule of one run, bodies of loops counted once
  double ms = 0;                  ///< added up over runs and over threads
  // Of one run, modelled: all calls together, on one thread.
  double predictedMs = 0; ///< by the cost model that fusion decides with
  double boundMs = 0;     ///< what the arithmetic peak and the bandwidths of the caches allow at best
  int64_t flops = 0;      ///< a multiply-add is two
  int64_t bytes = 0;      ///< read and written, weights included
};

/// One call of a kernel, or library function, on one thread.
struct KernelCall {
  size_t kernel = 0;          ///< index in what Session::kernelTimes returns
  int thread = 0;             ///< counted from 0
  double startUs = 0, us = 0; ///< since the first call began
};

struct NamedTensor {
  std::string name;
  HostTensor tensor;
};

/// A model ready to run. `prepare` and `run` may be called from several threads at once; `bind` and moving it
/// may not.
class Session {
public:
  /// Reads a model; external data is looked up beside the file. Compiles nothing yet.
  static Result<std::unique_ptr<Session>> fromFile(const std::string &path, SessionOptions options = {});
  /// Reads a model from `size` bytes, which may be freed afterwards. `name` stands for the file in messages.
  static Result<std::unique_ptr<Session>> fromMemory(const void *data, size_t size,
                                                     SessionOptions options = {},
                                                     const std::string &name = "<memory>");
  ~Session();

  /// In the order of the model; inputs that are bound or initializers are not among them.
  const std::vector<ValueInfo> &inputs() const;
  const std::vector<ValueInfo> &outputs() const;
  /// Inputs that have an initializer as their default value. They take part only by `bind`.
  const std::vector<ValueInfo> &optionalInputs() const;

  /// Makes an input, or an optional one, a constant of the compiled code: it leaves inputs() or
  /// optionalInputs(). Forgets what was compiled before.
  Status bind(const std::string &input, HostTensor value);

  /// Compiles for these input shapes (by name; a symbolic dimension of an input left out is 1) unless that
  /// was done before. `values` holds inputs whose value is known already: models whose shapes depend on one
  /// need it.
  Result<ProgramInfo> prepare(const std::map<std::string, Shape> &shapes = {},
                              const std::vector<NamedTensor> &values = {});

  /// Runs on the caller's memory: one view an input and one an output, in the order of inputs() and
  /// outputs(). Output views must have the shapes that `prepare` reports. No output may overlap an input or
  /// another output.
  Status run(std::span<const TensorView> inputs, std::span<const TensorView> outputs);

  /// Time spent in each kernel of the program that was used last, since it was compiled or reset. Empty
  /// unless the options ask for a profile.
  std::vector<KernelTime> kernelTimes() const;
  void resetKernelTimes();
  /// The same, call by call, the first 65536 of them. Not while a run is under way.
  std::vector<KernelCall> kernelCalls() const;

  /// Runs on inputs by name, and returns the outputs in the order of outputs().
  Result<std::vector<NamedTensor>> run(const std::vector<NamedTensor> &inputs);

private:
  Session();
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace tokamak
