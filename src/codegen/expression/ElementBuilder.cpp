//===- ElementBuilder.cpp - emits tensor elements by pulling them through index maps ----------===//
#include "codegen/expression/ElementBuilder.h"
#include "codegen/expression/ElementType.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <utility>

namespace tokamak::codegen {

using namespace mlir;

//===-----------------------------------------------------------------------------------------===//
// Elements
//===-----------------------------------------------------------------------------------------===//

Value ElementBuilder::element(Value tensor, ArrayRef<Index> index) {
  if (auto it = sources.find(tensor); it != sources.end())
    return it->second(index);
  Key key{tensor.getAsOpaquePointer(), {index.begin(), index.end()}};
  for (auto &scope : llvm::reverse(scopes))
    if (auto it = scope.find(key); it != scope.end())
      return it->second;
  Value result;
  if (const Buffer *memory = buffer(tensor)) {
    result = load(*memory, index);
  } else {
    Operation *op = tensor.getDefiningOp();
    assert(op && "a block argument without a buffer");
    unsigned number = cast<OpResult>(tensor).getResultNumber();
    Operation *outer = std::exchange(expressed, op);
    result = cast<tk::TensorExpressionInterface>(op).emitElement(*this, index, number);
    expressed = outer;
    result = round(result, elementOf(tensor));
  }
  scopes.back()[key] = result;
  return result;
}

Value ElementBuilder::elementIf(Value condition, Value tensor, ArrayRef<Index> index) {
  if (!condition)
    return element(tensor, index);
  if (tk::tensorType(tensor).getNumElements() == 0)
    return constant(elementOf(tensor), 0);
  Scope scope(*this);
  Value saved = currentMask;
  currentMask = andMask(currentMask, condition);
  Value result = element(tensor, index);
  currentMask = saved;
  return result;
}

Value ElementBuilder::broadcastElement(Value tensor, ArrayRef<Index> resultIndex) {
  auto shape = tk::tensorType(tensor).getShape();
  SmallVector<Index> index;
  for (size_t i = 0; i < shape.size(); ++i)
    index.push_back(shape[i] == 1 ? Index(0) : resultIndex[resultIndex.size() - shape.size() + i]);
  return element(tensor, index);
}

/// Sets the fault where `isWrong` (i1, or one a lane) holds in a lane that is on. The store has the location
/// of the operator whose element is emitted.
void ElementBuilder::reportIf(Value isWrong) {
  isWrong = andMask(isWrong, andMask(currentMask, channelLanes));
  if (isa<VectorType>(isWrong.getType()))
    isWrong = b.create<vector::ReductionOp>(loc, vector::CombiningKind::OR, isWrong);
  auto branch = b.create<scf::IfOp>(loc, isWrong, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  Value one = b.create<arith::ConstantOp>(loc, b.getI32IntegerAttr(1));
  // Threads that store at the same time store the same.
  b.create<LLVM::StoreOp>(expressed ? expressed->getLoc() : loc, one, fault, /*alignment=*/4,
                          /*isVolatile=*/false, /*isNonTemporal=*/false, LLVM::AtomicOrdering::monotonic);
}

Index ElementBuilder::loadedIndex(Value tensor, ArrayRef<Index> index, int64_t extent) {
  DataType type = elementOf(tensor);
  Value value = element(tensor, index);
  bool isUniform = llvm::all_of(index, [&](const Index &i) { return indices.isUniform(i); });
  if (isUniform && laneCount > 1) // all lanes hold the same element
    value = b.create<vector::ExtractOp>(loc, value, ArrayRef<int64_t>{0});
  Type i64 = b.getI64Type();
  bool isVector = isa<VectorType>(value.getType());
  Type wide = isVector ? Type(VectorType::get({laneCount}, i64)) : i64;
  if (type == DataType::Int32)
    value = b.create<arith::ExtSIOp>(loc, wide, value);
  auto number = [&](int64_t v) -> Value {
    TypedAttr attr =
        isVector ? TypedAttr(DenseElementsAttr::get(cast<ShapedType>(wide), v)) : b.getI64IntegerAttr(v);
    return b.create<arith::ConstantOp>(loc, attr);
  };
  Value isNegative = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, value, number(0));
  Value wrapped = b.create<arith::AddIOp>(loc, value, number(extent));
  value = b.create<arith::SelectOp>(loc, isNegative, wrapped, value);
  const Buffer *memory = buffer(tensor);
  if (fault && !(memory && memory->isConstant))
    reportIf(b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::uge, value, number(extent)));
  value = b.create<arith::MaxSIOp>(loc, value, number(0));
  value = b.create<arith::MinSIOp>(loc, value, number(std::max<int64_t>(extent - 1, 0)));
  Type indexType = isVector ? Type(VectorType::get({laneCount}, b.getIndexType())) : b.getIndexType();
  value = b.create<arith::IndexCastOp>(loc, indexType, value);
  int64_t high = std::max<int64_t>(extent - 1, 0);
  return isVector ? indices.varying(value, 0, high) : indices.uniform(value, 0, high);
}

//===-----------------------------------------------------------------------------------------===//
// Memory
//===-----------------------------------------------------------------------------------------===//

Index positionIn(const Buffer &buffer, IndexSpace &space, ArrayRef<Index> index) {
  if (buffer.position)
    return buffer.position(space, index);
  if (!buffer.layout.isBlocked())
    return linearize(space, index, buffer.shape);
  SmallVector<Index> physical(index.begin(), index.end());
  physical[1] = space.floorDiv(index[1], buffer.layout.block);
  physical.push_back(space.mod(index[1], buffer.layout.block));
  SmallVector<int64_t> extents = buffer.layout.physicalShape(buffer.shape);
  if (buffer.layout.pitch == 0)
    return linearize(space, physical, extents);
  Index inImage =
      linearize(space, ArrayRef<Index>(physical).drop_front(), ArrayRef<int64_t>(extents).drop_front());
  return space.add(space.scale(physical[0], buffer.layout.pitch), inImage);
}

SmallVector<Index> logicalIndex(IndexSpace &space, const Layout &layout, ArrayRef<Index> physical) {
  if (!layout.isBlocked())
    return SmallVector<Index>(physical);
  SmallVector<Index> index(physical.drop_back());
  index[1] = space.add(space.scale(physical[1], layout.block), physical.back());
  return index;
}

/// Whether every value of the index is in the buffer's memory, padding included.
bool ElementBuilder::staysInside(const Buffer &buffer, ArrayRef<Index> index) {
  for (size_t axis = 0; axis < buffer.shape.size(); ++axis) {
    Range r = indices.range(index[axis]);
    int64_t extent = buffer.shape[axis];
    if (buffer.layout.isBlocked() && axis == 1)
      extent = (extent + buffer.layout.block - 1) / buffer.layout.block * buffer.layout.block;
    if (r.low < 0 || r.high >= extent)
      return false;
  }
  return true;
}

/// Constant offsets of LLVM::GEPOp have 29 bits; larger ones become values.
static constexpr int64_t largestConstantOffset = (int64_t(1) << 28) - 1;

/// Address of a uniform position; `guard` (i1 or null) false gives the address of element 0.
Value ElementBuilder::pointerTo(const Buffer &buffer, const Index &position, Value guard) {
  Type element = storageScalar(buffer.type);
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  const bool small = std::abs(position.constant) <= largestConstantOffset && !guard;
  if (position.isConstant() && small && position.constant >= 0) {
    if (position.constant == 0)
      return buffer.pointer;
    return b.create<LLVM::GEPOp>(loc, pointer, element, buffer.pointer,
                                 ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(position.constant)});
  }
  // The constant goes into a second step, where it becomes the displacement of the addressing mode.
  Index variable = position;
  if (small)
    variable.constant = 0;
  Value offset = materialize(variable);
  if (guard)
    offset = b.create<arith::SelectOp>(loc, guard, offset, indexConstant(0));
  offset = b.create<arith::IndexCastOp>(loc, b.getI64Type(), offset);
  Value address =
      b.create<LLVM::GEPOp>(loc, pointer, element, buffer.pointer, ArrayRef<LLVM::GEPArg>{offset});
  if (small && position.constant)
    address = b.create<LLVM::GEPOp>(loc, pointer, element, address,
                                    ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(position.constant)});
  return address;
}

Value ElementBuilder::load(const Buffer &buffer, ArrayRef<Index> index) {
  if (llvm::is_contained(buffer.shape, 0))
    return constant(buffer.type, 0);
  Index position = positionIn(buffer, indices, index);
  Type scalar = storageScalar(buffer.type);
  auto alignment = static_cast<unsigned>(byteSize(buffer.type));
  std::optional<int64_t> stride = indices.laneStride(position);
  Value mask = channelLanes && !staysInside(buffer, index) ? andMask(currentMask, channelLanes) : currentMask;
  bool vectorMask = mask && isa<VectorType>(mask.getType());
  Value scalarMask = mask && !vectorMask ? mask : Value();
  ++(laneCount == 1 || stride == 0 || stride == 1 ? regularAccesses : irregularAccesses);
  if (laneCount == 1 || stride == 0) {
    // One address for all lanes. Under a lane mask some lane may be off, but then so may the address be:
    // guard by any.
    Value guard = scalarMask;
    if (vectorMask)
      guard = b.create<vector::ReductionOp>(loc, vector::CombiningKind::OR, mask);
    // Where the index is in range whatever the loops around do, the load may leave those that do not run.
    const bool isInvariant = buffer.staysAsIs && staysInside(buffer, index);
    Value value = b.create<LLVM::LoadOp>(loc, scalar, pointerTo(buffer, position, guard), alignment,
                                         /*isVolatile=*/false, /*isNonTemporal=*/false, isInvariant);
    return splat(toCompute(value, buffer.type));
  }
  Type vectorType = VectorType::get({laneCount}, scalar);
  auto zero = [&] { return b.create<arith::ConstantOp>(loc, b.getZeroAttr(vectorType)); };
  if (stride == 1) {
    Index first = position; // the address of lane 0
    llvm::erase_if(first.terms,
                   [&](auto &term) { return indices.atom(term.first).kind == IndexSpace::Kind::Lane; });
    Value address = pointerTo(buffer, first, nullptr);
    Value value;
    if (mask) {
      Value lanesOn =
          vectorMask ? mask
                     : b.create<vector::BroadcastOp>(loc, VectorType::get({laneCount}, b.getI1Type()), mask);
      value = b.create<LLVM::MaskedLoadOp>(loc, vectorType, address, lanesOn, ValueRange{zero()}, alignment);
    } else {
      value = b.create<LLVM::LoadOp>(loc, vectorType, address, alignment, /*isVolatile=*/false,
                                     /*isNonTemporal=*/false, buffer.staysAsIs && staysInside(buffer, index));
    }
    return toCompute(value, buffer.type);
  }
  Value offsets = materialize(position);
  offsets = b.create<arith::IndexCastOp>(loc, VectorType::get({laneCount}, b.getI64Type()), offsets);
  Type pointers = LLVM::getFixedVectorType(LLVM::LLVMPointerType::get(b.getContext()), laneCount);
  Value addresses =
      b.create<LLVM::GEPOp>(loc, pointers, scalar, buffer.pointer, ArrayRef<LLVM::GEPArg>{offsets});
  Type maskType = VectorType::get({laneCount}, b.getI1Type());
  Value lanesOn =
      vectorMask ? mask
      : scalarMask
          ? Value(b.create<vector::BroadcastOp>(loc, maskType, scalarMask))
          : Value(b.create<arith::ConstantOp>(loc, DenseElementsAttr::get(cast<ShapedType>(maskType), true)));
  Value value = b.create<LLVM::masked_gather>(loc, vectorType, addresses, lanesOn, ValueRange{zero()},
                                              b.getI32IntegerAttr(static_cast<int32_t>(alignment)));
  return toCompute(value, buffer.type);
}

void ElementBuilder::store(Value value, const Buffer &buffer, ArrayRef<Index> index) {
  Index position = positionIn(buffer, indices, index);
  value = toStorage(value, buffer.type);
  auto alignment = static_cast<unsigned>(byteSize(buffer.type));
  std::optional<int64_t> stride = indices.laneStride(position);
  ++(laneCount == 1 || stride == 0 || stride == 1 ? regularAccesses : irregularAccesses);
  if (laneCount == 1 || stride == 0) {
    // All lanes hold the same element; lane 0 is on under every mask.
    if (laneCount > 1)
      value = b.create<vector::ExtractOp>(loc, value, ArrayRef<int64_t>{0});
    b.create<LLVM::StoreOp>(loc, value, pointerTo(buffer, position, nullptr), alignment);
    return;
  }
  Type maskType = VectorType::get({laneCount}, b.getI1Type());
  if (stride == 1) {
    Index first = position;
    llvm::erase_if(first.terms,
                   [&](auto &term) { return indices.atom(term.first).kind == IndexSpace::Kind::Lane; });
    Value address = pointerTo(buffer, first, nullptr);
    if (currentMask)
      b.create<LLVM::MaskedStoreOp>(loc, value, address, currentMask,
                                    b.getI32IntegerAttr(static_cast<int32_t>(alignment)));
    else
      b.create<LLVM::StoreOp>(loc, value, address, alignment);
    return;
  }
  Value offsets =
      b.create<arith::IndexCastOp>(loc, VectorType::get({laneCount}, b.getI64Type()), materialize(position));
  Type pointers = LLVM::getFixedVectorType(LLVM::LLVMPointerType::get(b.getContext()), laneCount);
  Value addresses = b.create<LLVM::GEPOp>(loc, pointers, storageScalar(buffer.type), buffer.pointer,
                                          ArrayRef<LLVM::GEPArg>{offsets});
  Value lanesOn =
      currentMask
          ? currentMask
          : Value(b.create<arith::ConstantOp>(loc, DenseElementsAttr::get(cast<ShapedType>(maskType), true)));
  b.create<LLVM::masked_scatter>(loc, value, addresses, lanesOn,
                                 b.getI32IntegerAttr(static_cast<int32_t>(alignment)));
}

//===-----------------------------------------------------------------------------------------===//
// Indices and loops
//===-----------------------------------------------------------------------------------------===//

Value ElementBuilder::indexConstant(int64_t value) { return b.create<arith::ConstantIndexOp>(loc, value); }

Value ElementBuilder::materialize(const Index &index) {
  // Quotients share their numerators: through a chain of reshapes and transposes there are exponentially many
  // paths to few atoms.
  llvm::DenseMap<AtomId, Value> quotients;
  return materialize(index, quotients);
}

Value ElementBuilder::materialize(const Index &index, llvm::DenseMap<AtomId, Value> &quotients) {
  bool uniform = indices.isUniform(index);
  auto vectorType = VectorType::get({laneCount}, b.getIndexType());
  auto number = [&](int64_t v, bool asVector) -> Value {
    if (!asVector)
      return indexConstant(v);
    return b.create<arith::ConstantOp>(
        loc, DenseElementsAttr::get(vectorType, APInt(64, static_cast<uint64_t>(v), true)));
  };
  // Uniform terms first, as scalars; then the lanes.
  Value scalarSum, vectorSum;
  auto accumulate = [&](Value &sum, Value term) {
    sum = sum ? b.create<arith::AddIOp>(loc, sum, term) : term;
  };
  for (const auto &[id, coefficient] : index.terms) {
    const IndexSpace::Atom atom = indices.atom(id); // a copy: materializing may add atoms
    Value value;
    switch (atom.kind) {
    case IndexSpace::Kind::Uniform:
    case IndexSpace::Kind::Varying:
      value = atom.value;
      break;
    case IndexSpace::Kind::Lane:
      value = b.create<vector::StepOp>(loc, vectorType);
      break;
    case IndexSpace::Kind::Quotient: {
      if (Value known = quotients.lookup(id)) {
        value = known;
        break;
      }
      Value numerator = materialize(atom.numerator, quotients);
      bool asVector = isa<VectorType>(numerator.getType());
      Value divisor = number(atom.divisor, asVector);
      if (atom.divisor == 1)
        value = numerator;
      else if (atom.range.low >= 0 && indices.range(atom.numerator).low >= 0)
        value = b.create<arith::DivUIOp>(loc, numerator, divisor);
      else
        value = b.create<arith::FloorDivSIOp>(loc, numerator, divisor);
      quotients[id] = value;
      break;
    }
    }
    bool asVector = isa<VectorType>(value.getType());
    if (coefficient != 1)
      value = b.create<arith::MulIOp>(loc, value, number(coefficient, asVector));
    accumulate(asVector ? vectorSum : scalarSum, value);
  }
  if (index.constant || !scalarSum)
    if (index.constant || (!scalarSum && !vectorSum))
      accumulate(scalarSum, indexConstant(index.constant));
  if (uniform)
    return scalarSum;
  if (scalarSum)
    accumulate(vectorSum, b.create<vector::BroadcastOp>(loc, vectorType, scalarSum));
  return vectorSum;
}

Value ElementBuilder::inRange(const Index &index, int64_t low, int64_t high) {
  Range r = indices.range(index);
  if (r.low >= low && r.high < high)
    return nullptr;
  if (rangeObserver)
    rangeObserver(index, low, high);
  Value value = materialize(index);
  bool asVector = isa<VectorType>(value.getType());
  auto number = [&](int64_t v) -> Value {
    if (!asVector)
      return indexConstant(v);
    return b.create<arith::ConstantOp>(
        loc,
        DenseElementsAttr::get(cast<ShapedType>(value.getType()), APInt(64, static_cast<uint64_t>(v), true)));
  };
  Value result;
  if (r.low < low)
    result = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::sge, value, number(low));
  if (r.high >= high)
    result = andMask(result, b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, value, number(high)));
  return result;
}

Value ElementBuilder::andMask(Value a, Value c) {
  if (!a || !c)
    return a ? a : c;
  auto widen = [&](Value value, Value other) -> Value {
    if (isa<VectorType>(other.getType()) && !isa<VectorType>(value.getType()))
      return b.create<vector::BroadcastOp>(loc, other.getType(), value);
    return value;
  };
  Value x = widen(a, c), y = widen(c, a);
  return b.create<arith::AndIOp>(loc, x, y);
}

SmallVector<Value> ElementBuilder::loop(int64_t extent, ValueRange init, const LoopBody &body) {
  if (extent == 1) {
    Scope scope(*this);
    return body(Index(0), init);
  }
  return loop(indexConstant(0), indexConstant(extent), {0, std::max<int64_t>(extent - 1, 0)}, init, body);
}

SmallVector<Value> ElementBuilder::loop(Value from, Value to, Range range, ValueRange init,
                                        const LoopBody &body, int64_t step) {
  auto loopOp = b.create<scf::ForOp>(loc, from, to, indexConstant(step), init);
  OpBuilder::InsertionGuard guard(b);
  Block *block = loopOp.getBody();
  if (block->mightHaveTerminator())
    block->getTerminator()->erase();
  b.setInsertionPointToEnd(block);
  Scope scope(*this);
  auto results =
      body(indices.uniform(loopOp.getInductionVar(), range.low, range.high), loopOp.getRegionIterArgs());
  b.create<scf::YieldOp>(loc, results);
  return SmallVector<Value>(loopOp.getResults());
}

} // namespace tokamak::codegen
