//===- RandomGraph.cpp - random tk graphs: values, choices, the frame -----------------------------------===//
#include "RandomGraph.h"
#include "SpecialValues.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include <cmath>

namespace tokamak::test {

using namespace mlir;

namespace {

constexpr int64_t mostElements = 6000;
/// Whole numbers up to here keep sums and products of a few of them exact.
double exactLimit(DataType type) {
  switch (type) {
  case DataType::Float16:
    return 0x1p14;
  case DataType::Float64:
    return 0x1p50;
  default:
    return 0x1p23;
  }
}

Bounds typeBounds(DataType type) {
  if (type == DataType::Bool)
    return {0, 1, 0, true};
  int bits = static_cast<int>(byteSize(type)) * 8;
  if (isUnsigned(type))
    return {0, std::ldexp(1.0, bits), 0, true};
  return {-std::ldexp(1.0, bits - 1), std::ldexp(1.0, bits - 1), 0, true};
}

constexpr Bounds anyFloat{-HUGE_VAL, HUGE_VAL, 0, false};

DataType typeOf(Value value) { return *fromMlir(tk::tensorType(value).getElementType()); }

} // namespace

double roundingError(DataType type) {
  switch (type) {
  case DataType::Float16:
    return 0x1p-11;
  case DataType::BFloat16:
    return 0x1p-8;
  case DataType::Float32:
    return 0x1p-24;
  case DataType::Float64:
    return 0x1p-53;
  default:
    return 0;
  }
}

RandomGraph::RandomGraph(MLIRContext &context, uint64_t seed)
    : random(seed), b(&context), loc(UnknownLoc::get(&context)) {
  domain = oneOf({Domain::Integers, Domain::Integers, Domain::Integers, Domain::Reals, Domain::Reals,
                  Domain::Reals, Domain::Special});
  module = ModuleOp::create(loc);
  signs = domain == Domain::Special;
  b.setInsertionPointToStart(module->getBody());
  auto function = b.create<func::FuncOp>(loc, "main", b.getFunctionType({}, {}));
  entry = function.addEntryBlock();
  b.setInsertionPointToStart(entry);
  // Refused operators are part of the game.
  ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) { return success(); });
  bool spatial = chance(40);
  for (int64_t i = pick(1, 3); i > 0; --i) {
    Value start = fresh(elementType(), shape(spatial ? pick(3, 4) : pick(0, chance(15) ? 6 : 4)));
    if (start.getDefiningOp())
      visible.push_back(start);
  }
  bool opaque = chance(50), anchors = chance(70);
  for (int64_t i = pick(1, 16); i > 0; --i)
    anyOperator(anchors, opaque);
  finish();
}

//===-----------------------------------------------------------------------------------------===//
// Choice
//===-----------------------------------------------------------------------------------------===//

int64_t RandomGraph::extent() {
  if (chance(2))
    return 0;
  return oneOf<int64_t>({1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33});
}

DataType RandomGraph::elementType() {
  if (chance(65))
    return DataType::Float32;
  return oneOf({DataType::Float16, DataType::BFloat16, DataType::Float64, DataType::Int8, DataType::Int16,
                DataType::Int32, DataType::Int64, DataType::UInt8, DataType::UInt16, DataType::UInt32,
                DataType::UInt64, DataType::Bool, DataType::Float64, DataType::Int64, DataType::Int32});
}

RandomGraph::Shape RandomGraph::shape(int64_t rank) {
  Shape result;
  int64_t elements = 1;
  for (int64_t i = 0; i < rank; ++i) {
    // Lines of many vectors are reduced in ways of their own.
    int64_t n = i + 1 == rank && chance(10) ? oneOf<int64_t>({40, 65, 100, 128, 131}) : extent();
    if (elements * n > mostElements / 2)
      n = pick(1, 2);
    elements *= std::max<int64_t>(n, 1);
    result.push_back(n);
  }
  return result;
}

Value RandomGraph::value(Predicate fits) {
  SmallVector<Value> candidates;
  for (size_t i = firstVisible; i < visible.size(); ++i)
    if (fits(visible[i]))
      candidates.push_back(visible[i]);
  if (candidates.empty())
    return nullptr;
  auto count = static_cast<int64_t>(candidates.size());
  // Chains of recent values, with long ways around.
  return candidates[static_cast<size_t>(chance(70) ? pick(std::max<int64_t>(0, count - 3), count - 1)
                                                   : pick(0, count - 1))];
}

//===-----------------------------------------------------------------------------------------===//
// Building
//===-----------------------------------------------------------------------------------------===//

Value RandomGraph::emit(StringRef name, ValueRange operands, const Attributes &attributes) {
  if (llvm::is_contained(operands, Value()))
    return nullptr;
  // Of two zeros either is the larger one.
  if (name == "max" || name == "min" || name == "reduce" || name == "window")
    signs = false;
  auto op = tk::createChecked(b, loc, name, operands, attributes);
  if (failed(op))
    return nullptr;
  for (Type result : (*op)->getResultTypes())
    if (cast<RankedTensorType>(result).getNumElements() > mostElements) {
      (*op)->erase();
      return nullptr;
    }
  return (*op)->getResult(0);
}

NamedAttribute RandomGraph::ints(StringRef name, ArrayRef<int64_t> values) {
  return b.getNamedAttr(name, b.getDenseI64ArrayAttr(values));
}
NamedAttribute RandomGraph::integer(StringRef name, int64_t value) {
  return b.getNamedAttr(name, b.getI64IntegerAttr(value));
}
NamedAttribute RandomGraph::flag(StringRef name, bool value) {
  return b.getNamedAttr(name, b.getBoolAttr(value));
}
NamedAttribute RandomGraph::type(StringRef name, DataType value) {
  return b.getNamedAttr(name, TypeAttr::get(toMlir(value, b.getContext())));
}

Value RandomGraph::constant(const Tensor &tensor) {
  Value result = b.create<tk::ConstantOp>(loc, tensor.toAttr(b.getContext()));
  Bounds known{0, 0, 0, true};
  for (int64_t i = 0; i < tensor.size(); ++i) {
    double x = tensor.doubleAt(i);
    known.low = i ? std::min(known.low, x) : x;
    known.high = i ? std::max(known.high, x) : x;
    known.integral &= x == std::floor(x);
  }
  bounds[result] = known;
  return result;
}

Tensor RandomGraph::randomTensor(DataType type, ArrayRef<int64_t> shape, double low, double high,
                                 bool integral) {
  Tensor tensor(type, shape);
  for (int64_t i = 0; i < tensor.size(); ++i) {
    if (type == DataType::Bool)
      tensor.setInt(i, pick(0, 1));
    else if (integral || !isFloat(type))
      tensor.setInt(i, pick(static_cast<int64_t>(low), static_cast<int64_t>(high)));
    else
      tensor.setDouble(i, pickReal(low, high));
  }
  return tensor;
}

Tensor RandomGraph::specialTensor(DataType type, ArrayRef<int64_t> shape) {
  constexpr int64_t count = 240; // all that SpecialValues.cpp lists, and some random patterns
  Tensor all = specialValues(type, count), tensor(type, shape);
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.setDouble(i, all.doubleAt(pick(0, count - 1)));
  return tensor;
}

Value RandomGraph::fresh(DataType type, ArrayRef<int64_t> shape, double low, double high,
                         bool forceConstant) {
  bool special = domain == Domain::Special && isFloat(type);
  bool integral = domain == Domain::Integers || !isFloat(type);
  // A composite holds no constants but scalars, and has no other inputs than its operands.
  if (isolated)
    shape = {};
  Tensor tensor = special ? specialTensor(type, shape) : randomTensor(type, shape, low, high, integral);
  if (isolated || forceConstant || chance(30))
    return constant(tensor);
  auto tensorType = tensor.mlirType(b.getContext());
  Value input = entry->addArgument(tensorType, loc);
  inputs.push_back(tensor);
  bounds[input] = special                  ? anyFloat
                  : type == DataType::Bool ? typeBounds(type)
                                           : Bounds{low, high, 0, integral};
  visible.insert(visible.begin(), input);
  return input;
}

Bounds RandomGraph::boundsOf(Value value) const { return bounds.lookup(value); }

Value RandomGraph::add(Value value, Bounds known) {
  if (!value)
    return nullptr;
  DataType type = typeOf(value);
  if (!isFloat(type)) {
    Bounds widest = typeBounds(type);
    bool fits = known.low >= widest.low && known.high <= widest.high && std::isfinite(known.low);
    bounds[value] = fits && known.high < widest.high ? Bounds{known.low, known.high, 0, true} : widest;
    visible.push_back(value);
    return value;
  }
  if (domain == Domain::Special) {
    bounds[value] = {anyFloat.low, anyFloat.high, known.error, false};
    visible.push_back(value);
    return value;
  }
  if (std::isnan(known.low) || std::isnan(known.high) || std::isnan(known.error))
    return nullptr;
  bounds[value] = known;
  if (known.magnitude() > exactLimit(type)) {
    double most = oneOf({3.0, 8.0, 50.0});
    return clamp(value, -most, most);
  }
  if (known.error > 0.02 * std::max(1.0, known.magnitude()))
    return nullptr;
  visible.push_back(value);
  return value;
}

Value RandomGraph::clamp(Value value, double low, double high) {
  if (!value) // too large
    return nullptr;
  Bounds known = boundsOf(value);
  if (known.low >= low && known.high <= high)
    return value;
  DataType type = typeOf(value);
  Value below = emit("min", {value, scalar(type, high)});
  Value result = emit("max", {below, scalar(type, low)});
  if (!result) // too large
    return nullptr;
  bool whole = known.integral && low == std::floor(low) && high == std::floor(high);
  known = {std::clamp(known.low, low, high), std::clamp(known.high, low, high), known.error, whole};
  bounds[below] = known;
  bounds[result] = known;
  if (isFloat(type) && known.error > 0.02 * std::max(1.0, known.magnitude()))
    return nullptr;
  visible.push_back(result);
  return result;
}

Value RandomGraph::partner(DataType type, ArrayRef<int64_t> extents) {
  if (Value found =
          value([&](Value v) { return typeOf(v) == type && tk::tensorType(v).getShape() == extents; });
      found && chance(70))
    return found;
  return fresh(type, extents);
}

Value RandomGraph::broadcastPartner(Value like, DataType type) {
  auto shape = tk::tensorType(like).getShape();
  if (chance(60))
    if (Value other = value([&](Value v) {
          return typeOf(v) == type && succeeded(tk::broadcastShapes(tk::tensorType(v).getShape(), shape));
        }))
      return other;
  Shape smaller(shape.drop_front(static_cast<size_t>(pick(0, static_cast<int64_t>(shape.size())))));
  for (int64_t &n : smaller)
    if (chance(30))
      n = 1;
  return fresh(type, smaller);
}

Value RandomGraph::indices(ArrayRef<int64_t> shape, int64_t extent) {
  if (extent == 0 && !llvm::is_contained(shape, 0))
    return nullptr; // each would be out of range
  DataType type = chance(50) ? DataType::Int64 : DataType::Int32;
  if (chance(40) && !isolated)
    if (Value computed = value([&](Value v) {
          Bounds known = boundsOf(v);
          return typeOf(v) == type && tk::tensorType(v).getShape() == shape && known.low >= -extent &&
                 known.high < extent;
        }))
      return computed;
  if (extent == 0)
    return fresh(type, shape, 0, 0, false);
  return fresh(type, shape, chance(50) ? -extent : 0, extent - 1, false);
}

void RandomGraph::inside(Block &block, bool isolate, llvm::function_ref<void()> body) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&block);
  size_t count = visible.size(), first = firstVisible;
  bool outerIsolated = isolated;
  isolated = isolated || isolate;
  if (isolate)
    firstVisible = count;
  for (Value argument : block.getArguments())
    visible.push_back(argument);
  ++depth;
  body();
  --depth;
  isolated = outerIsolated;
  firstVisible = first;
  // Inputs of the function made meanwhile stay visible; everything else goes with the block.
  llvm::erase_if(visible, [&](Value v) { return v.getParentBlock() == &block; });
}

void RandomGraph::anyOperator(bool anchors, bool opaque) {
  struct Choice {
    int weight;
    void (RandomGraph::*emit)();
    enum { Light, Heavy, Opaque } kind = Light;
  };
  static const Choice choices[] = {
      {8, &RandomGraph::unary},
      {8, &RandomGraph::realFunction},
      {20, &RandomGraph::binary},
      {2, &RandomGraph::logical},
      {3, &RandomGraph::bits},
      {4, &RandomGraph::compare},
      {4, &RandomGraph::select},
      {6, &RandomGraph::cast},
      {4, &RandomGraph::batchNorm},
      {18, &RandomGraph::movement},
      {9, &RandomGraph::concatOrPad},
      {8, &RandomGraph::gather},
      {10, &RandomGraph::reduce},
      {3, &RandomGraph::argReduce},
      {4, &RandomGraph::softmax},
      {7, &RandomGraph::matMul, Choice::Heavy},
      {10, &RandomGraph::convolution, Choice::Heavy},
      {6, &RandomGraph::window, Choice::Heavy},
      {5, &RandomGraph::library, Choice::Opaque},
      {2, &RandomGraph::sampling, Choice::Opaque},
      {2, &RandomGraph::branch, Choice::Opaque},
      {3, &RandomGraph::loop, Choice::Opaque},
      {5, &RandomGraph::composite, Choice::Opaque},
      {16, &RandomGraph::motif},
      {8, &RandomGraph::convolutionChain, Choice::Heavy},
      {8, &RandomGraph::anchorChain, Choice::Heavy},
      {8, &RandomGraph::productChain, Choice::Heavy},
      {3, &RandomGraph::attention, Choice::Heavy},
      {5, &RandomGraph::siblings, Choice::Heavy},
  };
  int64_t total = 0;
  auto allowed = [&](const Choice &c) {
    return c.kind == Choice::Light || (c.kind == Choice::Heavy ? anchors : opaque && depth < 2 && !isolated);
  };
  for (const Choice &c : choices)
    total += allowed(c) ? c.weight : 0;
  int64_t at = pick(0, total - 1);
  for (const Choice &c : choices) {
    if (!allowed(c))
      continue;
    at -= c.weight;
    if (at < 0)
      return (this->*c.emit)();
  }
}

void RandomGraph::finish() {
  SmallVector<Value> results;
  // What nothing else uses first, so that little of the graph is dead.
  for (Value v : visible)
    if (v.use_empty() && results.size() < 4 && v.getParentBlock() == entry && !isa<BlockArgument>(v))
      results.push_back(v);
  for (int64_t i = results.empty() ? 1 : pick(0, 1); i > 0; --i)
    results.push_back(chance(10) ? constant(randomTensor(DataType::Float32, {3}, -2, 2, true)) : anyValue());
  if (chance(5)) // one value, returned under two names
    results.push_back(results.front());
  if (chance(5) && tk::tensorType(results.front()).getRank() > 1)
    if (Value flat = emit("reshape", results.front(),
                          {ints("shape", tk::tensorType(results.front()).getNumElements())}))
      results.push_back(flat);
  for (Value &result : results) {
    if (result.getDefiningOp<tk::ReshapeOp>() && !bounds.count(result))
      bounds[result] = boundsOf(result.getDefiningOp()->getOperand(0));
    tolerances.push_back(2 * boundsOf(result).error); // both sides round, perhaps in opposite directions
  }
  b.setInsertionPointToEnd(entry);
  b.create<func::ReturnOp>(loc, results);
  auto function = cast<func::FuncOp>(entry->getParentOp());
  function.setFunctionType(b.getFunctionType(entry->getArgumentTypes(), ValueRange(results).getTypes()));
}

} // namespace tokamak::test
