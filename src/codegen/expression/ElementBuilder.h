//===- ElementBuilder.h - emits tensor elements by pulling them through index maps -----------===//
// Asked for element `index` of a tensor, the builder finds the operation that defines it, lets the
// operation's TensorExpression emit that one element, and so on down to loads from the kernel's buffers. With
// more than one lane it emits that many elements at once, neighbours along whatever axis the index's lane
// term runs along.
#pragma once
#include "codegen/Layout.h"
#include "codegen/expression/Index.h"
#include "ir/Tk.h"
#include "mlir/IR/Builders.h"
#include <functional>

namespace tokamak::codegen {

/// Memory that holds a tensor while the kernel runs.
struct Buffer {
  mlir::Value pointer; ///< !llvm.ptr to element 0
  DataType type;
  llvm::SmallVector<int64_t> shape;
  Layout layout = {};
  /// Position of an element, in elements from `pointer`; unset: by shape and layout.
  std::function<Index(IndexSpace &, llvm::ArrayRef<Index>)> position = nullptr;
  bool isConstant = false; ///< holds a value of the model: its indices were checked while importing
  bool staysAsIs = false;  ///< nothing in it is written while the kernel runs
};

/// Where an element of a buffer lies, in elements from its pointer.
Index positionIn(const Buffer &buffer, IndexSpace &space, llvm::ArrayRef<Index> index);

/// The index in a tensor of one in memory order of its layout.
llvm::SmallVector<Index> logicalIndex(IndexSpace &space, const Layout &layout,
                                      llvm::ArrayRef<Index> physical);

class ElementBuilder {
public:
  ElementBuilder(mlir::OpBuilder &builder, mlir::Location loc, IndexSpace &space, int64_t lanes)
      : b(builder), loc(loc), indices(space), laneCount(lanes) {
    scopes.emplace_back();
  }

  mlir::OpBuilder &builder() { return b; }
  mlir::Location location() const { return loc; }
  IndexSpace &space() { return indices; }
  int64_t lanes() const { return laneCount; }
  void setLanes(int64_t lanes) { laneCount = lanes; }
  /// The lane number as an index (0 for scalars).
  Index laneIndex() { return indices.lane(laneCount); }

  // Where values come from. A tensor with neither a buffer nor a source is computed from its operation.
  void bindBuffer(mlir::Value tensor, Buffer buffer) { buffers[tensor] = std::move(buffer); }
  const Buffer *buffer(mlir::Value tensor) const {
    auto it = buffers.find(tensor);
    return it == buffers.end() ? nullptr : &it->second;
  }
  using Source = std::function<mlir::Value(llvm::ArrayRef<Index>)>;
  /// `source` is asked for elements of `tensor` (accumulators in registers).
  void bindSource(mlir::Value tensor, Source source) { sources[tensor] = std::move(source); }
  void unbindSource(mlir::Value tensor) { sources.erase(tensor); }

  /// Element `index` of `tensor`, in the compute type of its element type, `lanes()` of them.
  mlir::Value element(mlir::Value tensor, llvm::ArrayRef<Index> index);
  /// The same where `condition` (i1, or one a lane) holds; lanes where it does not hold are unspecified but
  /// are never read from memory.
  mlir::Value elementIf(mlir::Value condition, mlir::Value tensor, llvm::ArrayRef<Index> index);
  /// Like `element`, with the indices an elementwise operator of `resultShape` uses on a smaller operand.
  mlir::Value broadcastElement(mlir::Value tensor, llvm::ArrayRef<Index> resultIndex);
  /// Loads an index tensor's element as an index in [0, extent - 1]; negative values count from `extent`.
  /// One out of range is clamped, so that no memory is touched that is not the tensor's, and reported.
  Index loadedIndex(mlir::Value tensor, llvm::ArrayRef<Index> index, int64_t extent);

  mlir::Value load(const Buffer &buffer, llvm::ArrayRef<Index> index);
  void store(mlir::Value value, const Buffer &buffer, llvm::ArrayRef<Index> index);

  /// An index as an SSA value: index type where uniform, else vector<lanes x index>.
  mlir::Value materialize(const Index &index);
  /// low <= index < high, as i1 or a lane vector; null where that is certain.
  mlir::Value inRange(const Index &index, int64_t low, int64_t high);
  /// Told of what `inRange` is asked and cannot answer for certain.
  using RangeObserver = std::function<void(const Index &index, int64_t low, int64_t high)>;
  void setRangeObserver(RangeObserver observer) { rangeObserver = std::move(observer); }
  mlir::Value andMask(mlir::Value a, mlir::Value b); ///< either may be null

  /// for (i = 0; i < extent; ++i) values = body(i, values). Bounds may be given as SSA indices.
  using LoopBody = std::function<llvm::SmallVector<mlir::Value>(Index, mlir::ValueRange)>;
  llvm::SmallVector<mlir::Value> loop(int64_t extent, mlir::ValueRange init, const LoopBody &body);
  llvm::SmallVector<mlir::Value> loop(mlir::Value from, mlir::Value to, Range range, mlir::ValueRange init,
                                      const LoopBody &body, int64_t step = 1);

  // Types and constants.
  /// The type arithmetic is done in: f32 for f16 and bf16, signless integers, i1 for bool.
  mlir::Type computeScalar(DataType type);
  mlir::Type laneType(mlir::Type scalar); ///< vector<lanes x scalar>, or the scalar itself for one lane
  mlir::Value splat(mlir::Value scalar);  ///< to all lanes; vectors pass through
  mlir::Value constant(DataType type, double value);
  mlir::Value constantInt(DataType type, int64_t value);
  mlir::Value indexConstant(int64_t value);
  /// Converts between element types by the rules of tk.cast, on compute values.
  mlir::Value cast(mlir::Value value, DataType from, DataType to, bool saturate);
  /// The index as an element of `type`.
  mlir::Value indexElement(const Index &index, DataType type);
  /// Rounds a compute value to what storage in `type` would keep (f16, bf16).
  mlir::Value round(mlir::Value value, DataType type);

  /// Where code says that an index is out of range (!llvm.ptr to an i32 that becomes 1; null: nowhere).
  void setFault(mlir::Value pointer) { fault = pointer; }

  /// Lanes (a vector of i1, or null) that loads and stores must respect now.
  mlir::Value mask() const { return currentMask; }
  void setMask(mlir::Value mask) { currentMask = mask; }
  /// Lanes (or null: all) that lie within the channels of a ragged block. Off lanes may be stored, since a
  /// block has room for them, but only a load from a block may read there.
  void setChannelLanes(mlir::Value lanes) { channelLanes = lanes; }

  /// Loads and stores emitted so far: contiguous or of one element, and those that go lane by lane.
  std::pair<int64_t, int64_t> accessCounts() const { return {regularAccesses, irregularAccesses}; }

  /// Values emitted inside are not reused outside (they may not dominate).
  struct Scope {
    explicit Scope(ElementBuilder &owner) : owner(owner) { owner.scopes.emplace_back(); }
    ~Scope() { owner.scopes.pop_back(); }
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;
    ElementBuilder &owner;
  };

private:
  /// `quotients` are those that this index has emitted already.
  mlir::Value materialize(const Index &index, llvm::DenseMap<AtomId, mlir::Value> &quotients);
  mlir::Value toCompute(mlir::Value stored, DataType type);
  mlir::Value toStorage(mlir::Value value, DataType type);
  mlir::Type storageScalar(DataType type);
  mlir::Value pointerTo(const Buffer &buffer, const Index &position, mlir::Value guard);
  bool staysInside(const Buffer &buffer, llvm::ArrayRef<Index> index);
  void reportIf(mlir::Value isWrong);

  mlir::OpBuilder &b;
  mlir::Location loc;
  IndexSpace &indices;
  int64_t laneCount;
  mlir::Value currentMask, channelLanes, fault;
  RangeObserver rangeObserver;
  mlir::Operation *expressed = nullptr; ///< whose element is being emitted
  int64_t regularAccesses = 0, irregularAccesses = 0;
  llvm::DenseMap<mlir::Value, Buffer> buffers;
  llvm::DenseMap<mlir::Value, Source> sources;
  using Key = std::pair<void *, std::vector<Index>>;
  std::vector<std::map<Key, mlir::Value>> scopes;
};

} // namespace tokamak::codegen
