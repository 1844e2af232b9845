//===- LoadRules.cpp - from a rule file to rules ------------------------------------------------===//
#include "ir/Tk.h"
#include "mlir/Dialect/PDL/IR/PDL.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "rewrite/rules/CompileRules.h"
#include "rewrite/rules/Guard.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::rules;

static std::string placeOf(Location loc) {
  auto place = loc->findInstanceOf<FileLineColLoc>();
  return place ? (place.getFilename().getValue() + ":" + llvm::Twine(place.getLine()) + ":" +
                  llvm::Twine(place.getColumn()) + ": ")
                     .str()
               : std::string();
}

llvm::Error rules::ruleError(Location loc, const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), placeOf(loc) + message);
}

llvm::Error rules::ruleError(const Rule &rule, const llvm::Twine &message) {
  std::string who = rule.name.empty() ? "the rule" : "rule '" + rule.name + "'";
  return ruleError(rule.pattern->getLoc(), who + " " + message);
}

llvm::Expected<RuleFile> rules::loadRules(llvm::StringRef rules, MLIRContext &context) {
  llvm::Expected<std::string> text = compileRules(rules);
  if (!text)
    return text.takeError();
  context.loadDialect<tk::TkDialect, pdl::PDLDialect>();
  std::string reason = "no reason is given";
  ScopedDiagnosticHandler diagnostics(&context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      reason = placeOf(diagnostic.getLocation()) + diagnostic.str();
    return success();
  });
  RuleFile file;
  file.name = rules.str();
  file.module = parseSourceString<ModuleOp>(*text, ParserConfig(&context, /*verifyAfterParse=*/false));
  if (file.module) // the verifier's words for it are those of pdl
    if (llvm::Error error = checkBodies(*file.module))
      return std::move(error);
  if (!file.module || failed(verify(*file.module)))
    return llvm::createStringError(llvm::inconvertibleErrorCode(), rules + ": not valid as pdl: " + reason);
  for (auto pattern : file.module->getOps<pdl::PatternOp>()) {
    llvm::Expected<Rule> rule = checkPattern(pattern);
    if (!rule)
      return rule.takeError();
    file.rules.push_back(std::move(*rule));
  }
  llvm::stable_sort(file.rules, [](const Rule &a, const Rule &b) {
    return const_cast<Rule &>(a).pattern.getBenefit() > const_cast<Rule &>(b).pattern.getBenefit();
  });
  return file;
}
