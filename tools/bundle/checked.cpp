#include "tools/bundle/checked.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

#include "engine/core/expression.hpp"
#include "engine/core/formulas.hpp"
#include "engine/problem/dtype.hpp"
#include "tools/bundle/size_operation.hpp"
#include "tools/bundle/size_tests.hpp"

namespace evo {
namespace {

using OrderedJson = nlohmann::ordered_json;
using Whole = std::int64_t;

constexpr std::uint64_t kLargestDivisor = 4095;

/// The integer literals among the operands of an instruction, as two's complement.
std::vector<std::uint64_t> immediates(std::string operands) {
  std::vector<std::uint64_t> numbers;
  std::ranges::replace_if(
      operands, [](char c) { return c == ',' || c == ';'; }, ' ');
  std::istringstream words(operands);
  for (std::string word; words >> word;) {
    const std::size_t digit = word.starts_with('-') ? 1 : 0;
    if (digit >= word.size() || word[digit] < '0' || word[digit] > '9') continue;
    char* end = nullptr;
    const std::uint64_t number = std::strtoull(word.c_str(), &end, 0);
    if (*end == '\0' || *end == 'U') numbers.push_back(number);
  }
  return numbers;
}

std::uint64_t odd_part(std::uint64_t number) {
  return number == 0 ? 0 : number >> std::countr_zero(number);
}

}  // namespace

std::set<std::uint64_t> code_divisors(const std::string& ptx) {
  std::set<std::uint64_t> divisors;
  std::istringstream lines(ptx);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string opcode;
    words >> opcode;
    if (opcode.starts_with('@')) words >> opcode;
    const auto is = [&](std::string_view start) { return opcode.starts_with(start); };
    const bool divides = is("div.") || is("rem.");
    if (!divides && !is("mul.hi") && !is("mul.wide") && !is("mad.hi") && !is("mad.wide")) continue;
    const int bits = opcode.ends_with("64") ? 64 : opcode.ends_with("16") ? 16 : 32;
    const std::uint64_t mask = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
    std::string operands;
    std::getline(words, operands);
    for (const std::uint64_t number : immediates(operands)) {
      const bool is_negative = divides && number >> 63 != 0;
      const auto reciprocal = divides ? std::nullopt : reciprocal_of(number & mask, bits);
      const std::uint64_t divisor = divides      ? odd_part(is_negative ? ~number + 1 : number)
                                    : reciprocal ? reciprocal->divisor
                                                 : 0;
      if (divisor >= 3 && divisor <= kLargestDivisor) divisors.insert(divisor);
    }
  }
  return divisors;
}

namespace {

/// Collects the numbers in an expression tree that may be the size of a tile, a block or a step.
void add_numbers(const OrderedJson& tree, std::set<Whole>& numbers) {
  constexpr double kMost = 0x1p16;
  if (tree.is_array()) {
    for (const OrderedJson& operand : tree) add_numbers(operand, numbers);
  } else if (tree.is_number()) {
    const auto value = tree.get<double>();
    if (value >= 2 && value <= kMost && value == std::floor(value)) {
      numbers.insert(static_cast<Whole>(value));
    }
  }
}

std::map<std::string, double> macros_of(const CheckedKernel& kernel) {
  return kernel.manifest.at("macros").get<std::map<std::string, double>>();
}

/// Possible sizes of tiles: values of macros, numbers in the expressions for grid and block, powers
/// of two up to the largest size of a CTA.
std::set<Whole> tile_numbers(const CheckedKernel& kernel) {
  constexpr Whole kMostThreads = 1024;
  std::set<Whole> numbers;
  for (Whole power = 2; power <= kMostThreads; power *= 2) numbers.insert(power);
  for (const auto& [macro, value] : macros_of(kernel)) add_numbers(value, numbers);
  constexpr std::size_t kGridAndBlock = 6;
  for (const OrderedJson& step : kernel.plan.at("steps")) {
    for (std::size_t i = 0; i < kGridAndBlock; ++i) {
      add_numbers(step.at("sizes").at(i).at("tree").at(1), numbers);
    }
  }
  return numbers;
}

/// For each variable that is the contiguous dimension of a buffer: the number of elements in 16
/// bytes, for the narrowest type of these buffers.
std::map<std::string, Whole> vector_widths(const OrderedJson& plan) {
  constexpr Whole kAccessBytes = 16;
  std::map<std::string, Whole> widths;
  for (const OrderedJson& argument : plan.at("arguments")) {
    if (!argument.contains("dimensions") || argument.at("dimensions").empty()) continue;
    const OrderedJson& fastest = argument.at("dimensions").back();
    if (!fastest.is_string()) continue;
    const auto bytes =
        static_cast<Whole>(size_of(dtype_from_string(argument.at("dtype").get<std::string>())));
    Whole& width = widths[fastest.get<std::string>()];
    width = std::max(width, kAccessBytes / bytes);
  }
  return widths;
}

/// The first few checked values of a variable as text, for messages.
std::string listed(const std::set<double>& values) {
  constexpr std::size_t kMost = 12;
  std::vector<std::string> texts;
  for (const double value : values) {
    texts.push_back(texts.size() < kMost ? formula_of(value) : std::string("…"));
    if (texts.size() > kMost) break;
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

/// The conditions on one shape variable.
class Conditions {
 public:
  Conditions(std::string variable, const std::set<double>& seen)
      : name_(std::move(variable)),
        seen_(seen),
        checked_(fmt::format("the kernel was checked with {} = {}", name_, listed(seen))) {}

  void add_range() {
    const double least = *seen_.begin();
    const double most = *seen_.rbegin();
    const auto count = static_cast<double>(seen_.size());
    if (!all_whole() || most - least + 1 == count) {
      std::vector<std::string> texts;
      for (const double value : seen_) texts.push_back(formula_of(value));
      add(fmt::format("{} in [{}]", name_, fmt::join(texts, ", ")), checked_);
      return;
    }
    add(fmt::format("{} <= {} <= {} && {} % 1 == 0", formula_of(least), name_, formula_of(most),
                    name_),
        checked_);
    for (const double value : seen_) {
      if (value != 0) sizes_.insert(static_cast<Whole>(std::fabs(value)));
    }
  }

  void add_divisor() {
    for (const Whole size : sizes_) divisor_ = std::gcd(divisor_, size);
    if (divisor_ > 1) {
      add_unless_zero(fmt::format("{} % {} == 0", name_, divisor_),
                      fmt::format("the kernel was only checked on multiples of {}", divisor_));
    }
  }

  /// If no multiple of a tile was checked, multiples of the tile are not served.
  void add_tiles(const std::set<Whole>& tiles) {
    std::vector<Whole> refused;
    for (const Whole tile : tiles) {
      const auto divides = [](Whole divisor) {
        return [divisor](Whole value) { return value % divisor == 0; };
      };
      if (sizes_.empty() || tile > *sizes_.rbegin() || std::ranges::any_of(sizes_, divides(tile)) ||
          std::ranges::any_of(refused, [&](Whole smaller) { return tile % smaller == 0; })) {
        continue;
      }
      refused.push_back(tile);
      add_unless_zero(fmt::format("{} % {} != 0", name_, tile),
                      fmt::format("no multiple of {} was checked: {}", tile, checked_));
    }
  }

  /// A size is served only if a checked size is divisible by the same powers of two up to `width`,
  /// because the kernel may choose the width of its memory accesses by the largest of these powers.
  void add_vectors(Whole width) {
    if (sizes_.empty() || divisor_ % width == 0) return;
    std::set<Whole> steps;
    for (const Whole size : sizes_) steps.insert(std::gcd(size, width));
    std::set<Whole> remainders;
    for (Whole remainder = 0; remainder < width; ++remainder) {
      if (steps.contains(std::gcd(remainder, width))) remainders.insert(remainder);
    }
    add_remainders(
        width, remainders,
        fmt::format("no checked size gives vectors of up to {} elements this alignment: {}", width,
                    checked_));
  }

  void add_code(const std::set<std::uint64_t>& divisors) {
    for (const std::uint64_t divisor : divisors) {
      std::set<Whole> remainders;
      for (const Whole size : sizes_) remainders.insert(size % static_cast<Whole>(divisor));
      add_remainders(static_cast<Whole>(divisor), remainders,
                     fmt::format("the code divides by {}: {}", divisor, checked_));
    }
  }

  [[nodiscard]] const OrderedJson& all() const { return all_; }

 private:
  [[nodiscard]] bool all_whole() const {
    constexpr double kExact = 0x1.0p53;
    return std::ranges::all_of(seen_, [](double value) {
      return value == std::floor(value) && std::fabs(value) < kExact;
    });
  }
  void add(const std::string& expression, const std::string& why) {
    all_.push_back(
        {{"expression", expression}, {"why", why}, {"variables", OrderedJson::array({name_})}});
  }
  /// Adds a condition. If the size 0 was checked, 0 always satisfies the condition, because a size
  /// of 0 means no elements.
  void add_unless_zero(const std::string& expression, const std::string& why) {
    add(seen_.contains(0) ? fmt::format("{} == 0 || {}", name_, expression) : expression, why);
  }
  void add_remainders(Whole modulus, const std::set<Whole>& seen, const std::string& why) {
    if (seen.empty() || static_cast<Whole>(seen.size()) == modulus) return;
    add_unless_zero(fmt::format("{} % {} in [{}]", name_, modulus, fmt::join(seen, ", ")), why);
  }

  std::string name_;
  const std::set<double>& seen_;
  std::string checked_;
  std::set<Whole> sizes_;  ///< empty if the range already lists all served sizes
  Whole divisor_ = 0;      ///< greatest common divisor of the sizes
  OrderedJson all_ = OrderedJson::array();
};

/// For each buffer except workspaces, if its size depends on several variables: limits its elements
/// to the largest checked number, because the product of variables may exceed the range of 32-bit
/// indices even if each variable is in its checked range.
void add_extents(const CheckedKernel& kernel, const ShapeVariables& variables, OrderedJson& all) {
  std::map<std::string, double> constants = macros_of(kernel);
  for (const auto& [name, value] : variables) constants.erase(name);
  std::set<std::string> texts;
  for (const OrderedJson& argument : kernel.manifest.at("arguments")) {
    if (!argument.contains("extent") || argument.at("direction") == "workspace") continue;
    const auto text = argument.at("extent").at("expression").get<std::string>();
    const Expression extent(text, constants);
    const std::vector<std::string>& names = extent.variables();
    const bool are_sizes = std::ranges::all_of(
        names, [&](const std::string& name) { return variables.contains(name); });
    if (names.size() < 2 || !are_sizes || !texts.insert(text).second) continue;
    double most = 0;
    for (const auto& [name, shape] : kernel.shapes) most = std::max(most, extent.evaluate(shape));
    all.push_back({{"expression", fmt::format("{} <= {}", "(" + text + ")", formula_of(most))},
                   {"why", fmt::format("{} had at most {} elements during the checks",
                                       argument.at("name").get<std::string>(), formula_of(most))},
                   {"variables", names}});
  }
}

/// A condition that the variables of `names` together have the sizes of a checked shape: "A == 1 &&
/// B == 2 || …".
std::string checked_sizes(const CheckedKernel& kernel, const std::set<std::string>& names) {
  std::set<std::string> texts;
  for (const auto& [shape, variables] : kernel.shapes) {
    std::vector<std::string> parts;
    for (const std::string& name : names) {
      parts.push_back(fmt::format("{} == {}", name, formula_of(variables.at(name))));
    }
    texts.insert(fmt::format("({})", fmt::join(parts, " && ")));
  }
  return fmt::format("{}", fmt::join(texts, " || "));
}

/// Whether all products in `test` fit in 31 bits, even with the largest checked size of each
/// variable.
bool fits(const CheckedKernel& kernel, const SizeTest& test) {
  constexpr double kBeyond = 0x1p31;
  ShapeVariables largest;
  for (const auto& [shape, variables] : kernel.shapes) {
    for (const auto& [name, value] : variables) {
      double& most = largest.emplace(name, value).first->second;
      most = std::max(most, value);
    }
  }
  return std::ranges::all_of(test.must_fit, [&](const std::string& text) {
    return Expression(text).evaluate(largest) < kBeyond;
  });
}

/// The values of `test` on the checked shapes; nullopt if the test has no expression, cannot be
/// computed for a checked shape, or may overflow.
std::optional<std::set<double>> outcomes(const CheckedKernel& kernel, const SizeTest& test) {
  if (test.expression.empty() || !fits(kernel, test)) return std::nullopt;
  const Expression expression(test.expression);
  std::set<double> values;
  for (const auto& [shape, variables] : kernel.shapes) {
    std::vector<double> sizes;
    for (const std::string& name : expression.variables()) sizes.push_back(variables.at(name));
    const std::optional<double> value = expression.try_evaluate(sizes);
    if (!value) return std::nullopt;
    values.insert(*value);
  }
  return values;
}

/// Adds a condition for each size test in the kernel's code: the test must have an outcome that it
/// also has on a checked shape. If outcomes() returns nullopt, the sizes in the test must be those
/// of a checked shape. A test whose possible outcomes all occurred on checked shapes needs no
/// condition.
void add_size_tests(const CheckedKernel& kernel, OrderedJson& all) {
  std::set<std::string> names;
  for (const auto& [name, value] : kernel.shapes.begin()->second) names.insert(name);
  for (const SizeTest& test : size_tests(kernel.ptx, kernel.manifest, names)) {
    const auto seen = outcomes(kernel, test);
    if (seen && static_cast<Whole>(seen->size()) == test.most) continue;
    std::string text;
    std::string why = "the kernel's code distinguishes sizes in a way that no expression describes";
    if (!seen) {
      text = checked_sizes(kernel, test.variables);
    } else {
      std::vector<std::string> values;
      for (const double value : *seen) values.push_back(formula_of(value));
      text = fmt::format("{} in [{}]", test.expression, fmt::join(values, ", "));
      why = fmt::format(
          "the kernel's code depends on {}, which had only these values during the checks",
          test.expression);
    }
    all.push_back({{"expression", text}, {"why", why}, {"variables", test.variables}});
  }
}

}  // namespace

OrderedJson checked_conditions(const CheckedKernel& kernel) {
  std::map<std::string, std::set<double>> values;
  for (const auto& [name, shape] : kernel.shapes) {
    for (const auto& [variable, value] : shape) values[variable].insert(value);
  }
  const std::set<Whole> tiles = tile_numbers(kernel);
  const std::map<std::string, Whole> widths = vector_widths(kernel.plan);
  const std::set<std::uint64_t> divisors = code_divisors(kernel.ptx);
  OrderedJson all = OrderedJson::array();
  for (const auto& [variable, seen] : values) {
    Conditions conditions(variable, seen);
    conditions.add_range();
    conditions.add_divisor();
    conditions.add_tiles(tiles);
    if (widths.contains(variable)) conditions.add_vectors(widths.at(variable));
    conditions.add_code(divisors);
    for (const OrderedJson& condition : conditions.all()) all.push_back(condition);
  }
  if (kernel.shapes.empty()) return all;
  add_extents(kernel, kernel.shapes.begin()->second, all);
  add_size_tests(kernel, all);
  return all;
}

}  // namespace evo
