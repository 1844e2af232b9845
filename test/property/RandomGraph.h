//===- RandomGraph.h - random tk graphs whose results are known to a bound ------------------------------===//
// Every value carries an interval that holds it and a bound on how far a correct implementation may be off.
// The bound is 0 as long as all arithmetic is exact or rounds once (integers, selections, +, -, *, / in the
// element type on whole numbers, sums of small integers); operators that jump are applied to such values
// only.
#pragma once
#include "GraphCase.h"
#include "ir/Tk.h"
#include <random>

namespace tokamak::test {

struct Bounds {
  double low = 0, high = 0;
  double error = 0;      ///< largest |computed - exact|; 0: bit for bit but for the sign of zero
  bool integral = false; ///< only whole numbers
  double magnitude() const { return std::max(std::abs(low), std::abs(high)); }
};

/// One random graph and values for its inputs.
class RandomGraph {
public:
  RandomGraph(mlir::MLIRContext &context, uint64_t seed);

  /// Once.
  GraphCase take() { return {std::move(module), inputs, tolerances, signs}; }

private:
  using Attributes = llvm::SmallVector<mlir::NamedAttribute>;
  using Shape = llvm::SmallVector<int64_t>;
  using Predicate = llvm::function_ref<bool(mlir::Value)>;
  enum class Domain {
    Integers,
    Reals,
    /// Floats are infinities, NaN, zeros of both signs, the smallest and the largest numbers. Only operators
    /// that no rewrite may reassociate; an error above 0 marks what is rounded, so that it is not rounded
    /// again.
    Special
  };

  // Choice.
  int64_t pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  }
  double pickReal(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  }
  bool chance(int64_t percent) { return pick(1, 100) <= percent; }
  template <typename T>
  T oneOf(std::initializer_list<T> choices) {
    return choices.begin()[pick(0, static_cast<int64_t>(choices.size()) - 1)];
  }
  int64_t extent();
  DataType elementType();
  Shape shape(int64_t rank);
  /// A visible value, recent ones likelier; null if none fits.
  mlir::Value value(Predicate fits);
  mlir::Value anyValue() {
    return value([](mlir::Value) { return true; });
  }

  // Building.
  /// The operator's (first) result, or null where its operands do not go together.
  mlir::Value emit(llvm::StringRef name, mlir::ValueRange operands, const Attributes &attributes = {});
  mlir::NamedAttribute ints(llvm::StringRef name, llvm::ArrayRef<int64_t> values);
  mlir::NamedAttribute integer(llvm::StringRef name, int64_t value);
  mlir::NamedAttribute flag(llvm::StringRef name, bool value);
  mlir::NamedAttribute type(llvm::StringRef name, DataType value);
  template <typename Attr, typename Enum>
  mlir::NamedAttribute choice(llvm::StringRef name, Enum value) {
    return b.getNamedAttr(name, Attr::get(b.getContext(), value));
  }
  mlir::Value constant(const Tensor &tensor);
  mlir::Value scalar(DataType type, double value) { return constant(Tensor::scalar(type, value)); }
  /// Random elements: whole numbers of [low, high], or reals between.
  Tensor randomTensor(DataType type, llvm::ArrayRef<int64_t> shape, double low, double high, bool integral);
  Tensor specialTensor(DataType type, llvm::ArrayRef<int64_t> shape);
  /// A constant or a new input of the function.
  mlir::Value fresh(DataType type, llvm::ArrayRef<int64_t> shape, double low, double high,
                    bool forceConstant);
  mlir::Value fresh(DataType type, llvm::ArrayRef<int64_t> shape) {
    return fresh(type, shape, isUnsigned(type) ? 0 : -3, 3, false);
  }
  /// Makes a value visible to later operators (or not, if too little is known about it); returns it.
  mlir::Value add(mlir::Value value, Bounds bounds);
  mlir::Value clamp(mlir::Value value, double low, double high);
  /// The value with `extents` as its shape, by whatever means.
  mlir::Value partner(DataType type, llvm::ArrayRef<int64_t> extents);
  /// An operand that broadcasts against `like`, of `type`.
  /// add, sub, mul, div, max or min of floats.
  mlir::Value arithmetic(llvm::StringRef name, mlir::Value x, mlir::Value y);
  mlir::Value broadcastPartner(mlir::Value like, DataType type);
  mlir::Value indices(llvm::ArrayRef<int64_t> shape, int64_t extent);
  Bounds boundsOf(mlir::Value value) const;

  // One operator each; nothing happens where no operand fits.
  void unary();
  void realFunction();
  void binary();
  void logical();
  void bits();
  void compare();
  void select();
  void cast();
  void batchNorm();
  void movement();
  void concatOrPad();
  void gather();
  void reduce();
  void argReduce();
  void softmax();
  void matMul();
  void convolution();
  void window();
  void library();
  void sampling();
  void branch();
  void loop();
  void composite();
  // Shapes that rewrites look for (RandomMotifs.cpp).
  void motif();
  void constantChain();
  void identities();
  void clipChain();
  void movementChain();
  void slicesAndConcats();
  void castChain();
  void sharedTerms();
  void normalization();
  void convolutionChain();
  void anchorChain();
  void squeeze(mlir::Value x);
  void productChain();
  void attention();
  void siblings();
  mlir::Value convolve(mlir::Value x, int64_t channels, int64_t kernel);
  mlir::Value multiply(mlir::Value x, mlir::Value y, bool transposeLhs, bool transposeRhs);
  mlir::Value softmaxOf(mlir::Value x);
  /// Any of them; `anchors`, `opaque`: also the heavy ones, also those that no kernel holds.
  void anyOperator(bool anchors, bool opaque);
  void finish();

  /// Runs `body` with a builder in a new block; what it makes is visible inside only.
  void inside(mlir::Block &block, bool isolated, llvm::function_ref<void()> body);
  mlir::Value sameTypeAs(mlir::Value value);

  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<Tensor> inputs;
  std::vector<double> tolerances; ///< one a result
  bool signs = false;             ///< whether the sign of a zero is defined everywhere
  std::mt19937_64 random;
  mlir::OpBuilder b;
  mlir::Location loc;
  Domain domain;
  mlir::Block *entry = nullptr;
  std::vector<mlir::Value> visible;
  size_t firstVisible = 0; ///< of `visible`; above 0 where the region is isolated
  int depth = 0;           ///< of nested regions
  bool isolated = false;
  llvm::DenseMap<mlir::Value, Bounds> bounds;
};

/// Half the distance between neighbours, relative: 2^-24 for float32.
double roundingError(DataType type);
/// What a result of this size may be off by one rounding, where the two sides round different numbers.
double jitter(DataType type, double magnitude);
/// A sum of `count` terms of at most `term` with error `error` each. Exact while whole numbers fit; otherwise
/// it is off by a rounding a term at worst, in the type that sums (float32 for half types), and by that of
/// the result.
Bounds sumBounds(DataType type, double count, double term, double low, double high, double error,
                 bool integral);

} // namespace tokamak::test
