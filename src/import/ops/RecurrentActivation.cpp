//===- RecurrentActivation.cpp - activation functions of RNN, GRU, LSTM ---------------------===//
#include "import/ops/RecurrentActivation.h"
#include "import/ErrorLine.h"
#include "import/ops/Common.h"

namespace tokamak::import {

namespace {

using Build = Value (*)(Body &, Value x, double alpha, double beta);

struct Function {
  const char *name;
  std::optional<double> alpha, beta; ///< defaults of the parameters it has
  Build build;
};

Value c(Body &b, Value like, double value) { return b.scalarLike(like, value); }

Value sigmoid(Body &b, Value x) {
  return b.div(c(b, x, 1), b.add(c(b, x, 1), b.unary("exp", b.unary("neg", x))));
}

Value whereNegative(Body &b, Value x, Value negative, Value otherwise) {
  return b.select(b.compare(tk::Predicate::Less, x, c(b, x, 0)), negative, otherwise);
}

/// log(1 + exp(x)) without overflow: max(x, 0) + log(1 + exp(-|x|)).
Value softplus(Body &b, Value x) {
  Value tail = b.unary("exp", b.unary("neg", b.unary("abs", x)));
  return b.add(b.max(x, c(b, x, 0)), b.unary("log", b.add(c(b, x, 1), tail)));
}

const Function functions[] = {
    {"relu", {}, {}, [](Body &b, Value x, double, double) { return b.max(x, c(b, x, 0)); }},
    {"tanh", {}, {}, [](Body &b, Value x, double, double) { return b.unary("tanh", x); }},
    {"sigmoid", {}, {}, [](Body &b, Value x, double, double) { return sigmoid(b, x); }},
    {"affine", 1.0, 0.0,
     [](Body &b, Value x, double alpha, double beta) {
       return b.add(b.mul(x, c(b, x, alpha)), c(b, x, beta));
     }},
    {"leakyrelu",
     0.01,
     {},
     [](Body &b, Value x, double alpha, double) { return whereNegative(b, x, b.mul(x, c(b, x, alpha)), x); }},
    {"thresholdedrelu",
     1.0,
     {},
     [](Body &b, Value x, double alpha, double) {
       return b.select(b.compare(tk::Predicate::Greater, x, c(b, x, alpha)), x, c(b, x, 0));
     }},
    {"scaledtanh", 1.0, 1.0,
     [](Body &b, Value x, double alpha, double beta) {
       return b.mul(b.unary("tanh", b.mul(x, c(b, x, beta))), c(b, x, alpha));
     }},
    {"hardsigmoid", 0.2, 0.5,
     [](Body &b, Value x, double alpha, double beta) {
       Value line = b.add(b.mul(x, c(b, x, alpha)), c(b, x, beta));
       return b.max(b.min(line, c(b, x, 1)), c(b, x, 0));
     }},
    {"elu",
     1.0,
     {},
     [](Body &b, Value x, double alpha, double) {
       return whereNegative(b, x, b.mul(b.sub(b.unary("exp", x), c(b, x, 1)), c(b, x, alpha)), x);
     }},
    {"softsign",
     {},
     {},
     [](Body &b, Value x, double, double) { return b.div(x, b.add(c(b, x, 1), b.unary("abs", x))); }},
    {"softplus", {}, {}, [](Body &b, Value x, double, double) { return softplus(b, x); }},
};

const Function *functionOf(llvm::StringRef name) {
  for (const Function &function : functions)
    if (name.equals_insensitive(function.name))
      return &function;
  return nullptr;
}

} // namespace

Value RecurrentActivation::apply(Body &b, Value x) const {
  return functionOf(name)->build(b, x, alpha, beta);
}

llvm::SmallVector<RecurrentActivation>
recurrentActivations(NodeContext &n, const std::vector<std::string> &defaults, int64_t directions) {
  std::vector<std::string> names;
  if (std::optional<std::vector<std::string>> given = n.stringsAttr("activations"); given && !given->empty())
    names = *given;
  else
    for (int64_t d = 0; d < directions; ++d)
      names.insert(names.end(), defaults.begin(), defaults.end());
  size_t expected = defaults.size() * static_cast<size_t>(directions);
  if (names.size() != expected)
    fault("attribute activations must name " + llvm::Twine(expected) + " functions, not " +
          llvm::Twine(names.size()));

  llvm::SmallVector<double> alphas = n.floatsAttr("activation_alpha").value_or(llvm::SmallVector<double>());
  llvm::SmallVector<double> betas = n.floatsAttr("activation_beta").value_or(llvm::SmallVector<double>());
  size_t alpha = 0, beta = 0;
  llvm::SmallVector<RecurrentActivation> activations;
  for (const std::string &name : names) {
    const Function *function = functionOf(name);
    if (!function)
      fault("attribute activations names '" + oneLine(name, 40) + "', which is no activation function");
    RecurrentActivation one{function->name};
    if (function->alpha)
      one.alpha = alpha < alphas.size() ? alphas[alpha++] : *function->alpha;
    if (function->beta)
      one.beta = beta < betas.size() ? betas[beta++] : *function->beta;
    activations.push_back(one);
  }
  return activations;
}

} // namespace tokamak::import
