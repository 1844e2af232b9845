//===- NGrams.cpp - TfIdfVectorizer on integer tokens --------------------------------------===//
#include "import/ops/Common.h"

namespace tokamak::import {

namespace {

/// The n-grams of one length in the pool, [count][n].
struct Pool {
  int64_t n, count;
  IntsRef tokens;
};

/// How often each n-gram of the pool occurs in each row of `x` [rows, columns] with up to `maxSkip` tokens
/// skipped between its tokens: [rows, count], float32.
Value countGrams(Body &b, Value x, const Pool &pool, int64_t maxSkip) {
  int64_t rows = shapeOf(x)[0], columns = shapeOf(x)[1];
  Value total = filled(b, DataType::Float32, {rows, pool.count}, 0);
  for (int64_t skip = 0; skip <= (pool.n == 1 ? 0 : maxSkip); ++skip) {
    int64_t starts = columns - (pool.n - 1) * (skip + 1);
    if (starts < 1)
      break;
    Value match; // [rows, starts, count]
    for (int64_t k = 0; k < pool.n; ++k) {
      Ints wanted;
      for (int64_t g = 0; g < pool.count; ++g)
        wanted.push_back(pool.tokens[g * pool.n + k]);
      Value token = b.reshape(b.sliceAxis(x, 1, k * (skip + 1), starts), {rows, starts, 1});
      Value equal = b.compare(tk::Predicate::Equal, token, b.constant(intTensor(wanted, {pool.count})));
      match = match ? b.op("and", {match, equal}) : equal;
    }
    total = b.add(total, b.reduce(tk::ReduceKind::Sum, b.cast(match, DataType::Float32), {1}, false));
  }
  return total;
}

/// One column an n-gram of the pool: its count, or 1 where it occurs (IDF), times its weight.
Result importTfIdfVectorizer(NodeContext &n) {
  if (n.hasAttr("pool_strings"))
    return n.error("string tensors are not supported; map the tokens to integers before the model");
  int64_t shortest = n.intAttr("min_gram_length", 1), longest = n.intAttr("max_gram_length", 1),
          maxSkip = n.intAttr("max_skip_count", 0);
  std::string mode = n.stringAttr("mode", "TF");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF")
    return n.error("mode must be TF, IDF or TFIDF, not '" + mode + "'");
  Ints tokens = n.intsAttr("pool_int64s").value_or(Ints()),
       offsets = n.intsAttr("ngram_counts").value_or(Ints()),
       columnOf = n.intsAttr("ngram_indexes").value_or(Ints());
  Value x = n.input(0);
  if (rankOf(x) < 1 || rankOf(x) > 2 || isFloat(typeOf(x)))
    return n.error("the input must be integers of rank 1 or 2");
  if (shortest < 1 || longest < shortest || maxSkip < 0 || maxSkip > 1024 || longest > 1024)
    return n.error("the n-gram lengths or max_skip_count are out of range");

  // The pools of all lengths; only lengths from min to max are counted, but all have columns.
  std::vector<Pool> pools;
  int64_t grams = 0, comparisons = 0;
  for (size_t i = 0; i < offsets.size(); ++i) {
    int64_t length = static_cast<int64_t>(i) + 1, first = offsets[i],
            end = i + 1 < offsets.size() ? offsets[i + 1] : static_cast<int64_t>(tokens.size());
    if (first < 0 || end < first || end > static_cast<int64_t>(tokens.size()) || (end - first) % length != 0)
      return n.error("ngram_counts " + text(offsets) + " do not cut the pool into n-grams");
    pools.push_back({length, (end - first) / length, IntsRef(tokens).slice(first, end - first)});
    grams += pools.back().count;
    comparisons += pools.back().count > 0 ? length * (maxSkip + 1) : 0;
  }
  if (comparisons > 10000)
    return n.error("the pool and max_skip_count ask for too many comparisons");
  if (grams != static_cast<int64_t>(columnOf.size()) || grams == 0)
    return n.error("ngram_indexes has " + llvm::Twine(columnOf.size()) + " entries for " +
                   llvm::Twine(grams) + " n-grams");
  Tensor weights(DataType::Float32, {grams});
  auto given = n.floatsAttr("weights");
  if (given && given->size() != columnOf.size())
    return n.error("there are " + llvm::Twine(given->size()) + " weights for " + llvm::Twine(grams) +
                   " n-grams");
  for (int64_t g = 0; g < grams; ++g)
    weights.setDouble(g, given ? (*given)[g] : 1);
  int64_t columns = *std::max_element(columnOf.begin(), columnOf.end()) + 1;
  checkTable(columns);
  Ints gramOf(columns, grams); // `grams` is a column of zeros behind all others
  for (int64_t g = 0; g < grams; ++g) {
    if (columnOf[g] < 0 || gramOf[columnOf[g]] != grams)
      return n.error("ngram_indexes must be different and >= 0");
    gramOf[columnOf[g]] = g;
  }

  return n.composite1({x}, [&](Body &b, ValueRange xs) {
    int64_t rows = rankOf(x) == 2 ? shapeOf(x)[0] : 1;
    Value matrix = b.reshape(b.cast(xs[0], DataType::Int64), {rows, shapeOf(x).back()});
    Values counts;
    for (const Pool &pool : pools)
      counts.push_back(pool.n < shortest || pool.n > longest || pool.count == 0
                           ? filled(b, DataType::Float32, {rows, pool.count}, 0)
                           : countGrams(b, matrix, pool, maxSkip));
    Value result = b.concat(counts, 1);
    if (mode == "IDF")
      result = b.min(result, b.scalarLike(result, 1));
    if (mode != "TF")
      result = b.mul(result, b.constant(weights));
    result = b.concat({result, filled(b, DataType::Float32, {rows, 1}, 0)}, 1);
    result = b.gather(result, b.constant(Tensor::fromInts(gramOf)), 1);
    return rankOf(x) == 2 ? result : b.reshape(result, {columns});
  });
}

} // namespace

void registerNGrams(Registry &registry) { registry.add("TfIdfVectorizer", importTfIdfVectorizer); }

} // namespace tokamak::import
