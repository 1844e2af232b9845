//===- Einsum.cpp - any Einstein summation as matrix products ------------------------------===//
// Operands are contracted from left to right. A label that two of them share and nobody needs later is summed
// in a matrix product; what only one of them has is summed before.
#include "import/ops/Common.h"
#include "llvm/ADT/StringExtras.h"

namespace tokamak::import {

namespace {

/// Labels are letters; those of an ellipsis are numbers from 256 on, counted from the last axis it stands
/// for.
using Labels = llvm::SmallVector<int, 8>;
constexpr int ellipsisLabel = 256;

struct Term {
  Value value;
  Labels labels;

  int64_t extent(int label) const {
    auto it = llvm::find(labels, label);
    return it == labels.end() ? 1 : shapeOf(value)[it - labels.begin()];
  }
};

/// The labels of one term of the equation, for an operand of `rank` (or -1: the output; the ellipsis then
/// stands for `ellipsisRank` axes).
Labels parseTerm(llvm::StringRef term, int64_t rank, int64_t &ellipsisRank) {
  size_t dots = term.find("...");
  std::string letters = (dots == llvm::StringRef::npos ? term : term.take_front(dots)).str();
  size_t before = letters.size();
  if (dots != llvm::StringRef::npos)
    letters += term.drop_front(dots + 3);
  Labels labels;
  for (char c : letters)
    if (!llvm::isAlpha(c))
      fault("the equation has an unexpected character '" + llvm::Twine(c) + "'");
  if (rank >= 0) {
    int64_t covered = rank - static_cast<int64_t>(letters.size());
    if (covered < 0 || (covered > 0 && dots == llvm::StringRef::npos))
      fault("term '" + term + "' does not fit an operand of rank " + llvm::Twine(rank));
    ellipsisRank = covered;
  }
  for (size_t i = 0; i <= letters.size(); ++i) {
    if (i == before && dots != llvm::StringRef::npos)
      for (int64_t e = ellipsisRank; e > 0; --e)
        labels.push_back(ellipsisLabel + static_cast<int>(e) - 1);
    if (i < letters.size())
      labels.push_back(letters[i]);
  }
  return labels;
}

bool contains(const Labels &labels, int label) { return llvm::is_contained(labels, label); }

/// The position of each of `order` in `labels`.
Ints positions(const Labels &labels, const Labels &order) {
  Ints result;
  for (int label : order)
    result.push_back(llvm::find(labels, label) - labels.begin());
  return result;
}

/// A label named twice in one term takes the diagonal: of [d, d] every (d + 1)-th element.
Term diagonals(Body &b, Term t) {
  for (size_t i = 0; i < t.labels.size(); ++i)
    for (size_t j = i + 1; j < t.labels.size(); ++j) {
      if (t.labels[i] != t.labels[j])
        continue;
      Ints shape(shapeOf(t.value)), order;
      if (shape[i] != shape[j])
        fault("label '" + llvm::Twine(static_cast<char>(t.labels[i])) + "' has extents " +
              llvm::Twine(shape[i]) + " and " + llvm::Twine(shape[j]));
      Labels labels;
      Ints flat;
      for (size_t k = 0; k < shape.size(); ++k)
        if (k != i && k != j) {
          order.push_back(static_cast<int64_t>(k));
          labels.push_back(t.labels[k]);
          flat.push_back(shape[k]);
        }
      order.append({static_cast<int64_t>(i), static_cast<int64_t>(j)});
      labels.push_back(t.labels[i]);
      flat.push_back(product({shape[i], shape[i]}));
      Value v = b.reshape(b.transpose(t.value, order), flat);
      int64_t last = static_cast<int64_t>(flat.size()) - 1;
      v = shape[i] == 0 ? v : b.sliceAxis(v, last, 0, shape[i], std::min(shape[i] + 1, flat[last]));
      return diagonals(b, {v, labels});
    }
  return t;
}

/// Sums the labels that `needed` does not hold.
Term sumOut(Body &b, Term t, llvm::function_ref<bool(int)> needed) {
  Ints axes;
  Labels left;
  for (auto [i, label] : llvm::enumerate(t.labels))
    if (needed(label))
      left.push_back(label);
    else
      axes.push_back(static_cast<int64_t>(i));
  return axes.empty() ? t : Term{b.reduce(tk::ReduceKind::Sum, t.value, axes, false), left};
}

Term permuted(Body &b, const Term &t, const Labels &order) {
  return {b.transpose(t.value, positions(t.labels, order)), order};
}

Labels joined(std::initializer_list<Labels> parts) {
  Labels all;
  for (const Labels &part : parts)
    all.append(part.begin(), part.end());
  return all;
}

/// Extents of `labels` where both terms may broadcast.
Ints commonExtents(const Term &x, const Term &y, const Labels &labels) {
  Ints extents;
  for (int label : labels) {
    int64_t a = x.extent(label), c = y.extent(label);
    if (a != c && a != 1 && c != 1)
      fault("one label has extents " + llvm::Twine(a) + " and " + llvm::Twine(c));
    extents.push_back(a == 1 ? c : a);
  }
  return extents;
}

/// `t` with axes `order`, absent ones of extent 1, ready to broadcast elementwise.
Value aligned(Body &b, const Term &t, const Labels &order) {
  Labels own;
  for (int label : order)
    if (contains(t.labels, label))
      own.push_back(label);
  Ints shape;
  for (int label : order)
    shape.push_back(t.extent(label));
  return b.reshape(permuted(b, t, own).value, shape);
}

/// An operand of the matrix product as [batch, rows, columns], or transposed where that costs no transpose.
struct Matrix {
  Value value;
  bool transposed;
};
Matrix matrixOf(Body &b, const Term &t, const Labels &batch, const Labels &rows, const Labels &columns,
                const Ints &batchExtents, llvm::function_ref<int64_t(int)> extent) {
  bool transposed =
      t.labels == joined({batch, columns, rows}) && !(t.labels == joined({batch, rows, columns}));
  Labels order = transposed ? joined({batch, columns, rows}) : joined({batch, rows, columns});
  Ints full(batchExtents);
  auto flatExtent = [&](const Labels &labels) {
    int64_t n = 1;
    for (int label : labels) {
      full.push_back(extent(label));
      n = product({n, extent(label)});
    }
    return n;
  };
  int64_t first = flatExtent(transposed ? columns : rows), second = flatExtent(transposed ? rows : columns);
  Value v = b.broadcast(permuted(b, t, order).value, full);
  Ints shape{first, second};
  if (!batchExtents.empty())
    shape.insert(shape.begin(), product(batchExtents));
  return {b.reshape(v, shape), transposed};
}

/// The product of two terms, summed over the shared labels that are not `needed` later.
Term contract(Body &b, Term x, Term y, llvm::function_ref<bool(int)> needed) {
  x = sumOut(b, x, [&](int l) { return needed(l) || contains(y.labels, l); });
  y = sumOut(b, y, [&](int l) { return needed(l) || contains(x.labels, l); });
  Labels batch, summed, rows, columns;
  for (int label : x.labels)
    (!contains(y.labels, label) ? rows : needed(label) ? batch : summed).push_back(label);
  for (int label : y.labels)
    if (!contains(x.labels, label))
      columns.push_back(label);
  Ints batchExtents = commonExtents(x, y, batch), summedExtents = commonExtents(x, y, summed);
  if (summed.empty() || (rows.empty() && columns.empty())) {
    Labels order = joined({batch, rows, columns, summed});
    Term result{b.mul(aligned(b, x, order), aligned(b, y, order)), order};
    return sumOut(b, result, needed);
  }
  auto extent = [&](int label) {
    auto it = llvm::find(summed, label);
    if (it != summed.end())
      return summedExtents[it - summed.begin()];
    return contains(rows, label) ? x.extent(label) : y.extent(label);
  };
  Matrix l = matrixOf(b, x, batch, rows, summed, batchExtents, extent);
  Matrix r = matrixOf(b, y, batch, summed, columns, batchExtents, extent);
  Value p = b.matmul(l.value, r.value, l.transposed, r.transposed);
  Ints shape(batchExtents);
  for (int label : rows)
    shape.push_back(x.extent(label));
  for (int label : columns)
    shape.push_back(y.extent(label));
  return {b.reshape(p, shape), joined({batch, rows, columns})};
}

/// Without "->" the output has the ellipsis, then every letter that occurs once, in alphabetic order.
std::string implicitOutput(llvm::StringRef inputs) {
  std::string letters;
  for (char c = 'A'; c <= 'z'; ++c)
    if (llvm::isAlpha(c) && inputs.count(c) == 1)
      letters += c;
  return (inputs.contains("...") ? "..." : "") + letters;
}

Result importEinsum(NodeContext &n) {
  std::string equation = n.stringAttr("equation", "");
  llvm::erase(equation, ' ');
  auto [inputs, output] = llvm::StringRef(equation).split("->");
  bool isExplicit = llvm::StringRef(equation).contains("->");
  std::string outputText = isExplicit ? output.str() : implicitOutput(inputs);
  llvm::SmallVector<llvm::StringRef> terms;
  inputs.split(terms, ',');
  if (static_cast<int64_t>(terms.size()) != n.inputCount())
    return n.error("equation '" + equation + "' has " + llvm::Twine(terms.size()) + " terms for " +
                   llvm::Twine(n.inputCount()) + " inputs");
  Values operands;
  std::vector<Labels> labels;
  int64_t ellipsisRank = 0;
  for (auto [i, term] : llvm::enumerate(terms)) {
    operands.push_back(n.input(static_cast<int64_t>(i)));
    int64_t covered = 0;
    labels.push_back(parseTerm(term, rankOf(operands.back()), covered));
    ellipsisRank = std::max(ellipsisRank, covered);
  }
  Labels result = parseTerm(outputText, -1, ellipsisRank);
  for (auto [i, label] : llvm::enumerate(result)) {
    if (contains(Labels(result.begin(), result.begin() + i), label))
      return n.error("equation '" + equation + "' names an output label twice");
    if (llvm::none_of(labels, [l = label](const Labels &term) { return contains(term, l); }))
      return n.error("equation '" + equation + "' has an output label that no input has");
  }
  return wideComposite(n, operands, [&](Body &b, ValueRange x) {
    Term term = diagonals(b, {x[0], labels[0]});
    for (size_t next = 1; next < labels.size(); ++next) {
      auto needed = [&](int label) {
        return contains(result, label) || std::any_of(labels.begin() + next + 1, labels.end(),
                                                      [&](const Labels &l) { return contains(l, label); });
      };
      term = contract(b, term, diagonals(b, {x[next], labels[next]}), needed);
    }
    term = sumOut(b, term, [&](int label) { return contains(result, label); });
    return permuted(b, term, result).value;
  });
}

} // namespace

void registerEinsum(Registry &registry) { registry.add("Einsum", importEinsum); }

} // namespace tokamak::import
