//===- SpecialValuesTest.cpp - NaN, infinities, signed zeros, limits of integers
//---------------------------===//
#include "SpecialValues.h"
#include "ProgramHarness.h"
#include "ir/Tk.h"
#include "mlir/IR/BuiltinOps.h"
#include "gtest/gtest.h"

using namespace tokamak;
using namespace tokamak::test;

namespace {

const DataType everyType[] = {DataType::Float32, DataType::Float16, DataType::BFloat16, DataType::Float64,
                              DataType::Int8,    DataType::Int16,   DataType::Int32,    DataType::Int64,
                              DataType::UInt8,   DataType::UInt16,  DataType::UInt32,   DataType::UInt64,
                              DataType::Bool};

std::string typeName(DataType type) {
  static auto context = makeContext();
  std::string text;
  llvm::raw_string_ostream(text) << toMlir(type, context.get());
  return text;
}

std::string tensorName(std::initializer_list<int64_t> shape, DataType type) {
  std::string text = "tensor<";
  for (int64_t n : shape)
    text += std::to_string(n) + "x";
  return text + typeName(type) + ">";
}

/// A function of inputs that returns the results of some operators on them.
class Function {
public:
  explicit Function(std::vector<Tensor> tensors) : inputs(std::move(tensors)) {
    for (const Tensor &input : inputs) {
      std::string type = "tensor<";
      for (int64_t n : input.shape())
        type += std::to_string(n) + "x";
      arguments += (arguments.empty() ? "%x" : ", %x") + std::to_string(count++) + ": " + type +
                   typeName(input.type()) + ">";
    }
    count = 0;
  }
  /// A line `%NAME = tk.OPERATION : (...) -> TYPE` whose result is returned.
  void returns(const std::string &operation, const std::string &operands, const std::string &type) {
    std::string name = "%r" + std::to_string(count++);
    body += "  " + name + " = " + operation + " : (" + operands + ") -> " + type + "\n";
    names += (names.empty() ? "" : ", ") + name;
    types += (types.empty() ? "" : ", ") + type;
  }
  void line(const std::string &text) { body += "  " + text + "\n"; }

  void expectSame(const std::string &what) const {
    ProgramCase test{.text = "func.func @main(" + arguments + ") -> (" + types + ") {\n" + body +
                             "  return " + names + " : " + types + "\n}",
                     .exact = true,
                     .inputs = inputs};
    for (const char *cpu : {"native", "x86-64-v3"}) {
      test.cpu = cpu;
      EXPECT_EQ(differenceFromReference(test), "") << what << ", " << cpu << "\n" << test.text;
    }
  }

private:
  std::vector<Tensor> inputs;
  std::string arguments, body, names, types;
  int count = 0;
};

TEST(SpecialValues, CastsBetweenAllTypes) {
  constexpr int64_t count = 400;
  for (DataType from : everyType) {
    Function function({specialValues(from, count)});
    for (DataType to : everyType)
      if (to != from)
        for (const char *saturate : {"", ", saturate = true"})
          function.returns("tk.cast %x0 {to = " + typeName(to) + saturate + "}", tensorName({count}, from),
                           tensorName({count}, to));
    function.expectSame("casts from " + typeName(from));
  }
}

TEST(SpecialValues, BinaryOperators) {
  for (DataType type : everyType) {
    if (type == DataType::Bool)
      continue;
    const int64_t each = isFloat(type) ? 44 : 34;
    auto [a, b] = specialPairs(type, each);
    Function function({a, b});
    std::string operand = tensorName({each * each}, type), operands = operand + ", " + operand;
    std::vector<std::string> operations = {"add", "sub", "mul", "div", "max", "min"};
    if (!isFloat(type))
      operations.insert(operations.end(), {"bit_and", "bit_or", "bit_xor", "shift_left", "shift_right"});
    for (const std::string &name : operations)
      function.returns("tk." + name + " %x0, %x1", operands, operand);
    function.returns("tk.mod %x0, %x1 {truncated = true}", operands, operand);
    function.returns("tk.mod %x0, %x1", operands, operand);
    for (const char *predicate : {"eq", "lt", "le", "gt", "ge"})
      function.returns("tk.compare %x0, %x1 {predicate = #tk.predicate<" + std::string(predicate) + ">}",
                       operands, tensorName({each * each}, DataType::Bool));
    function.expectSame("binary operators on " + typeName(type));
  }
}

TEST(SpecialValues, IntegerPowers) {
  for (DataType type : everyType) {
    if (!isInteger(type))
      continue;
    auto [a, b] = specialPairs(type, 30);
    Function function({a, b});
    std::string operand = tensorName({900}, type);
    function.returns("tk.pow %x0, %x1", operand + ", " + operand, operand);
    for (int exponent : {0, 1, 2, 3, 5, 34, 39, 63, 127}) {
      function.line("%k" + std::to_string(exponent) + " = tk.constant dense<" + std::to_string(exponent) +
                    "> : " + tensorName({}, type));
      function.returns("tk.pow %x0, %k" + std::to_string(exponent), operand + ", " + tensorName({}, type),
                       operand);
    }
    function.expectSame("powers of " + typeName(type));
  }
}

TEST(SpecialValues, ExactUnaryOperators) {
  constexpr int64_t count = 400;
  for (DataType type : everyType) {
    Function function({specialValues(type, count)});
    std::string operand = tensorName({count}, type), flags = tensorName({count}, DataType::Bool);
    if (type == DataType::Bool) {
      function.returns("tk.not %x0", operand, operand);
    } else {
      for (const char *name : {"neg", "abs", "sign"})
        function.returns("tk." + std::string(name) + " %x0", operand, operand);
      if (!isFloat(type))
        function.returns("tk.bit_not %x0", operand, operand);
    }
    if (isFloat(type)) {
      for (const char *name : {"sqrt", "floor", "ceil", "round"})
        function.returns("tk." + std::string(name) + " %x0", operand, operand);
      function.returns("tk.is_nan %x0", operand, flags);
      for (const char *which :
           {"", " {negative = false}", " {positive = false}", " {positive = false, negative = false}"})
        function.returns("tk.is_inf %x0" + std::string(which), operand, flags);
    }
    function.expectSame("unary operators on " + typeName(type));
  }
}

/// Functions whose values stay small, on every size of number: polynomials end somewhere, arguments do not.
TEST(SpecialValues, FunctionsOnTheirWholeDomain) {
  constexpr int64_t count = 2000;
  for (DataType type : {DataType::Float32, DataType::Float16, DataType::BFloat16, DataType::Float64})
    for (const char *name : {"sin", "cos", "tan", "atan", "asin", "acos", "tanh", "erf", "log"})
      for (const char *cpu : {"native", "x86-64-v3"}) {
        std::string tensor = tensorName({count}, type);
        // tan is as large as it likes near its poles: bound it.
        std::string bounded =
            std::string(name) == "tan" ? "%b = tk.atan %a : (X) -> X" : "%b = tk.neg %a : (X) -> X";
        std::string text = "func.func @main(%x: X) -> X {\n  %a = tk." + std::string(name) +
                           " %x : (X) -> X\n  " + bounded + "\n  return %b : X\n}";
        for (size_t at = text.find('X'); at != std::string::npos; at = text.find('X', at))
          text.replace(at, 1, tensor);
        // MLIR's polynomial of atan is off by 2.5e-6.
        ProgramCase test{.text = text, .tolerance = 4e-6, .cpu = cpu, .inputs = {specialValues(type, count)}};
        EXPECT_EQ(differenceFromReference(test), "") << name << " of " << typeName(type) << ", " << cpu;
      }
}

/// max and min with a constant: relu, relu6, clip.
TEST(SpecialValues, ExtremesWithConstants) {
  constexpr int64_t count = 400;
  for (DataType type : {DataType::Float32, DataType::Float16, DataType::Float64}) {
    Function function({specialValues(type, count)});
    std::string operand = tensorName({count}, type), scalar = tensorName({}, type);
    int number = 0;
    function.line("%one = tk.constant dense<1.0> : " + scalar);
    for (const char *value :
         {"0.0", "-0.0", "6.0", "0x7FF0000000000000", "0xFFF0000000000000", "0x7FF8000000000000"}) {
      if (value[1] == 'x' && type != DataType::Float64)
        continue;
      std::string name = "%c" + std::to_string(number++);
      function.line(name + " = tk.constant dense<" + value + "> : " + scalar);
      for (const char *op : {"tk.max ", "tk.min "}) {
        function.returns(op + ("%x0, " + name), operand + ", " + scalar, operand);
        function.returns(op + (name + ", %x0"), scalar + ", " + operand, operand);
        // The sign of a zero shows in its reciprocal.
        const std::string extreme = "%e" + std::to_string(number++);
        function.line(extreme + " = " + op + "%x0, " + name + " : (" + operand + ", " + scalar + ") -> " +
                      operand);
        function.returns("tk.div %one, " + extreme, scalar + ", " + operand, operand);
      }
    }
    function.expectSame("extremes of " + typeName(type));
  }
}

/// Rows of few distinct values, so that ties and NaN meet in every order.
Tensor rowsOfFewValues(DataType type, int64_t rows, int64_t columns, std::initializer_list<double> choices) {
  Tensor tensor(type, {rows, columns});
  uint64_t state = 12345;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    tensor.setDouble(i, choices.begin()[(state >> 33) % choices.size()]);
  }
  return tensor;
}

TEST(SpecialValues, ReductionsWithNaN) {
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::nan("");
  for (DataType type : {DataType::Float32, DataType::Float16, DataType::BFloat16, DataType::Float64,
                        DataType::Int8, DataType::UInt8, DataType::UInt64}) {
    for (int64_t columns : {1, 2, 3, 7, 40}) {
      Tensor mixed = isFloat(type)
                         ? rowsOfFewValues(type, 60, columns, {1, 1, -1, 0, -0.0, infinity, -infinity, nan})
                         : rowsOfFewValues(type, 60, columns, {1, 1, 0, 2, 3, 120});
      Tensor rare = rowsOfFewValues(type, 60, columns, {1, 2, 2, 0, 3, isFloat(type) ? -infinity : 0});
      for (const Tensor &values : {mixed, rare}) {
        Function function({values});
        std::string operand = tensorName({60, columns}, type);
        for (const char *kind : {"max", "min"})
          for (int64_t axis : {0, 1}) {
            std::string extremes = tensorName({axis == 0 ? columns : 60}, type);
            std::string positions = tensorName({axis == 0 ? columns : 60}, DataType::Int64);
            std::string common = std::string(", kind = #tk.reduce_kind<") + kind + ">, keep_dims = false";
            function.returns("tk.reduce %x0 {axes = array<i64: " + std::to_string(axis) + ">" + common + "}",
                             operand, extremes);
            for (const char *last : {"", ", select_last = true"})
              function.returns("tk.arg_reduce %x0 {axis = " + std::to_string(axis) + " : i64" + common +
                                   last + "}",
                               operand, positions);
          }
        function.expectSame("reductions of " + typeName(type) + " in rows of " + std::to_string(columns));
      }
    }
  }
}

TEST(SpecialValues, ReductionsOfNothing) {
  for (DataType type : everyType) {
    if (type == DataType::Bool)
      continue;
    Function function({Tensor(type, {3, 0, 5})});
    std::string operand = tensorName({3, 0, 5}, type);
    for (const char *kind : {"sum", "product", "max", "min"}) {
      std::string common = std::string("kind = #tk.reduce_kind<") + kind + ">";
      function.returns("tk.reduce %x0 {axes = array<i64: 1>, keep_dims = true, " + common + "}", operand,
                       tensorName({3, 1, 5}, type));
      function.returns("tk.reduce %x0 {axes = array<i64: 0, 1, 2>, keep_dims = false, " + common + "}",
                       operand, tensorName({}, type));
    }
    function.expectSame("reductions of no " + typeName(type));
  }
}

TEST(SpecialValues, WindowsWithNaNAndPadding) {
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::nan("");
  for (DataType type : {DataType::Float32, DataType::Float64, DataType::Int8, DataType::UInt8}) {
    Tensor values = isFloat(type) ? rowsOfFewValues(type, 40, 9, {1, 2, 3, -1, -2, -3, 0, -infinity, nan})
                                  : rowsOfFewValues(type, 40, 9, {1, 2, 3, 100});
    Function function({values.reshaped({2, 20, 9})});
    std::string operand = tensorName({2, 20, 9}, type);
    for (const char *kind : {"max", "sum"}) {
      // The first and last windows lie in the padding altogether.
      function.returns(
          "tk.window %x0 {kind = #tk.reduce_kind<" + std::string(kind) +
              ">, kernel = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>, pads_low = "
              "array<i64: 3>, pads_high = array<i64: 3>}",
          operand, tensorName({2, 20, 7}, type));
      function.returns(
          "tk.window %x0 {kind = #tk.reduce_kind<" + std::string(kind) +
              ">, kernel = array<i64: 3>, strides = array<i64: 1>, dilations = array<i64: 2>, pads_low = "
              "array<i64: 1>, pads_high = array<i64: 2>}",
          operand, tensorName({2, 20, 8}, type));
    }
    function.expectSame("windows of " + typeName(type));
  }
}

TEST(SpecialValues, SoftmaxOfMaskedRows) {
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::nan("");
  for (int64_t columns : {1, 7, 16, 40}) {
    Tensor values =
        rowsOfFewValues(DataType::Float32, 50, columns, {0, 1, -1, -infinity, -infinity, -infinity, 1000});
    for (int64_t i = 0; i < columns; ++i) { // a row of -inf, of inf, of NaN
      values.setDouble(i, -infinity);
      values.setDouble(columns + i, infinity);
      values.setDouble(2 * columns + i, nan);
    }
    std::string full = tensorName({50, columns}, DataType::Float32),
                row = tensorName({50, 1}, DataType::Float32);
    ProgramCase test{.text = "func.func @main(%x: " + full + ") -> " + full + R"( {
      %r = tk.composite "Softmax"(%x) {
      ^bb0(%a: )" + full + R"():
        %m = tk.reduce %a {kind = #tk.reduce_kind<max>, axes = array<i64: 1>, keep_dims = true} : ()" +
                             full + ") -> " + row + R"(
        %d = tk.sub %a, %m : ()" +
                             full + ", " + row + ") -> " + full + R"(
        %e = tk.exp %d : ()" +
                             full + ") -> " + full + R"(
        %s = tk.reduce %e {kind = #tk.reduce_kind<sum>, axes = array<i64: 1>, keep_dims = true} : ()" +
                             full + ") -> " + row + R"(
        %q = tk.div %e, %s : ()" +
                             full + ", " + row + ") -> " + full + R"(
        tk.yield %q : )" + full +
                             R"(
      } : ()" + full + ") -> " +
                             full + R"(
      return %r : )" + full + "\n}",
                     .tolerance = 1e-6,
                     .inputs = {values}};
    for (const char *cpu : {"native", "x86-64-v3"}) {
      test.cpu = cpu;
      EXPECT_EQ(differenceFromReference(test), "") << cpu << ", rows of " << columns;
    }
  }
}

} // namespace
