// Drafts shape variables, grid, block and shared memory.

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <set>

#include "engine/core/error.hpp"
#include "engine/core/expression.hpp"
#include "engine/core/names.hpp"
#include "engine/intake/intake.hpp"
#include "engine/intake/python_list.hpp"

namespace evo {
namespace {

constexpr std::array<const char*, 3> kAxes = {"x", "y", "z"};
constexpr std::array<const char*, 3> kVariables = {"N_X", "N_Y", "N_Z"};

bool is_number(const std::string& text) { return Json::parse(text, nullptr, false).is_number(); }

const DraftParameter* find(const Draft& draft, const std::string& macro) {
  const auto found = std::find_if(draft.parameters.begin(), draft.parameters.end(),
                                  [&](const auto& parameter) { return parameter.macro == macro; });
  return found == draft.parameters.end() ? nullptr : &*found;
}

/// A name for the shape variable of the problem size along `axis`, chosen so that no macro has the
/// same name.
std::string variable_name_for(std::size_t axis, const SourceMacros& macros, const Draft& draft) {
  std::string name = kVariables[axis];
  while (macros.defined.contains(name) || macros.open.contains(name) || find(draft, name)) {
    name = "PROBLEM_" + name;
  }
  return name;
}

/// The largest (`function` is "max") or smallest ("min") value of the macro `name`, as text; empty
/// unless all its values are known numbers.
std::string extreme(const std::string& function, const std::string& name, const Draft& draft) {
  if (const auto fixed = draft.fixed.find(name); fixed != draft.fixed.end()) return fixed->second;
  const DraftParameter* parameter = find(draft, name);
  if (parameter == nullptr || parameter->values.empty()) return {};
  if (!std::all_of(parameter->values.begin(), parameter->values.end(),
                   [](const Json& value) { return value.is_number(); })) {
    return {};
  }
  const auto [low, high] = std::minmax_element(parameter->values.begin(), parameter->values.end());
  return (function == "max" ? *high : *low).dump();
}

class Launch {
 public:
  Launch(const Given& given, const GivenLaunch& launch, const T1File& t1, const PtxFacts& facts,
         const SourceMacros& macros, Draft& draft)
      : given_(given), launch_(launch), t1_(t1), facts_(facts), macros_(macros), draft_(draft) {}

  void run() {
    draft_.block = block();
    draft_.grid = grid();
    shared_memory();
  }

 private:
  void leave_out(const std::string& what, const std::string& why) {
    draft_.left_out.push_back(what + ": " + why);
  }

  /// An expression for the number of threads of a CTA along an axis, from the T1 file or from
  /// macros with common names such as block_size_x; empty if neither gives it.
  std::string threads(std::size_t axis) {
    const std::string& given = t1_.local_size[axis];
    if (!given.empty()) {
      std::string text = understood(given, draft_, true);
      if (!text.empty()) return text;
      leave_out("LocalSize " + given, "not an expression of the space's parameters");
    }
    const std::string name = std::string("block_size_") + kAxes[axis];
    if (find(draft_, name) != nullptr) return name;
    const auto macro = macros_.open.find(name);
    if (macro != macros_.open.end() && is_number(macro->second.default_value)) {
      return macro->second.default_value;
    }
    return threads_by_other_names(axis);
  }

  /// The macro of the space with a usual name for the number of threads of a CTA, such as
  /// BLOCK_SIZE. If no macro has a usual name and the CTA has one dimension, returns the macro that
  /// neither the source nor --grid and --shared use, if it is the only one. Otherwise returns an
  /// empty text.
  std::string threads_by_other_names(std::size_t axis) {
    if (static_cast<int>(axis) >= facts_.block_dimensions) return {};
    const std::string letter(1, static_cast<char>('X' + axis));
    std::vector<std::string> names = {"BLOCK_SIZE_" + letter, "BLOCK_DIM_" + letter,
                                      "BLOCK_" + letter, "THREADS_" + letter,
                                      "WORK_GROUP_SIZE_" + letter};
    if (facts_.block_dimensions == 1) {
      names.insert(names.end(), {"BLOCK_SIZE", "BLOCK", "BLOCK_DIM", "THREADS", "NUM_THREADS",
                                 "THREADS_PER_BLOCK", "LOCAL_SIZE", "block_size"});
    }
    for (const std::string& name : names) {
      if (find(draft_, name) == nullptr) continue;
      draft_.assumed.push_back("block: " + name + " is the number of threads of a CTA in " +
                               kAxes[axis]);
      return name;
    }
    if (facts_.block_dimensions > 1) return {};
    std::vector<std::string> unread;
    for (const DraftParameter& parameter : draft_.parameters) {
      const bool is_named =
          names_in(launch_.grid + " " + launch_.shared_bytes).contains(parameter.macro);
      if (!parameter.is_read && !is_named) unread.push_back(parameter.macro);
    }
    if (unread.size() != 1) return {};
    draft_.assumed.push_back(
        "block: " + unread.front() +
        " is the number of threads of a CTA, because it is the only macro that the source, --grid "
        "and --shared do not use");
    return unread.front();
  }

  std::vector<std::string> block() {
    if (!launch_.block.empty()) {
      return given_expressions("--block", launch_.block, kAxes.size(), draft_);
    }
    std::vector<std::string> sizes;
    int used = facts_.block_dimensions;
    for (std::size_t axis = 0; axis < kAxes.size(); ++axis) {
      const std::string text = threads(axis);
      const bool is_told = !text.empty() && text != "1";
      if (is_told) used = std::max(used, static_cast<int>(axis) + 1);
      sizes.push_back(text.empty() ? todo(std::string("threads of a CTA in ") + kAxes[axis])
                                   : text);
    }
    sizes.resize(static_cast<std::size_t>(used));
    return sizes;
  }

  std::vector<std::string> grid() {
    if (!launch_.grid.empty()) {
      return given_expressions("--grid", launch_.grid, kAxes.size(), draft_);
    }
    std::vector<std::string> sizes;
    if (!t1_.problem_size.empty()) {
      for (std::size_t axis = 0; axis < t1_.problem_size.size(); ++axis) {
        sizes.push_back(ctas_of_problem(axis));
      }
      note_global_size(sizes);
    } else if (!t1_.global_size[0].empty()) {
      for (std::size_t axis = 0; axis < kAxes.size(); ++axis) {
        if (!t1_.global_size[axis].empty()) sizes.push_back(ctas_of_global_size(axis));
      }
    } else if (is_one_size_in_one_dimension()) {
      sizes.push_back("ceil_div(" + given_.sizes.front().first + ", " + draft_.block[0] + ")");
      draft_.assumed.push_back(
          "grid: " + sizes[0] +
          ": one thread for each element, because there is a single size; --grid changes it");
    } else {
      for (int axis = 0; axis < facts_.grid_dimensions; ++axis) {
        const auto a = static_cast<std::size_t>(axis);
        sizes.push_back(todo(std::string("CTAs in ") + kAxes[a] + ", such as ceil_div(" +
                             (a < draft_.variables.size() ? draft_.variables[a].first : "N") +
                             ", " + (a < draft_.block.size() ? example(draft_.block[a]) : "1") +
                             ")"));
      }
    }
    while (sizes.size() > 1 && sizes.back() == "1") sizes.pop_back();
    return sizes;
  }

  [[nodiscard]] bool is_one_size_in_one_dimension() const {
    const bool is_scalar = std::ranges::any_of(draft_.arguments, [&](const auto& argument) {
      return !given_.sizes.empty() && argument.value == given_.sizes.front().first;
    });
    return given_.sizes.size() == 1 && is_scalar && facts_.grid_dimensions == 1 &&
           facts_.block_dimensions == 1 && draft_.block.size() == 1 && !is_todo(draft_.block[0]);
  }

  static std::string example(const std::string& block) {
    return is_todo(block) ? "threads" : block;
  }

  /// The number of CTAs along an axis: ceil_div(size, product of the divisors in GridDiv). If the
  /// T1 file has no GridDiv, the divisor is the number of threads of a CTA.
  std::string ctas_of_problem(std::size_t axis) {
    const std::string size = understood(draft_.problem_sizes[axis], draft_, true);
    const std::string wanted = todo(std::string("CTAs in ") + kAxes[axis]);
    if (size.empty()) return wanted;
    std::string product;
    if (!t1_.grid_divisors[axis]) {
      const std::string by = axis < draft_.block.size() ? draft_.block[axis] : "1";
      if (is_todo(by)) return wanted;
      product = by;
    } else {
      for (const std::string& divisor : *t1_.grid_divisors[axis]) {
        const std::string by = understood(divisor, draft_, true);
        if (by.empty()) {
          leave_out(std::string("GridDiv") + static_cast<char>('X' + axis) + " " + divisor,
                    "not an expression of the space's parameters");
          return wanted;
        }
        const std::string factor = is_identifier(by) || is_number(by) ? by : "(" + by + ")";
        product += (product.empty() ? "" : " * ") + factor;
      }
    }
    if (product.empty() || product == "1") return size;
    return "ceil_div(" + size + ", " + product + ")";
  }

  std::string ctas_of_global_size(std::size_t axis) {
    const std::string size = understood(t1_.global_size[axis], draft_, true);
    const std::string by = axis < draft_.block.size() ? draft_.block[axis] : "1";
    if (size.empty() || (t1_.global_counts_threads && is_todo(by))) {
      leave_out("GlobalSize " + t1_.global_size[axis],
                "not an expression of the space's parameters");
      return todo(std::string("CTAs in ") + kAxes[axis]);
    }
    return t1_.global_counts_threads && by != "1" ? "ceil_div(" + size + ", " + by + ")" : size;
  }

  /// Tells the user if the GlobalSize of the T1 file contradicts ProblemSize and GridDiv, because
  /// the draft ignores this GlobalSize.
  void note_global_size(const std::vector<std::string>& sizes) {
    for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
      if (t1_.global_size[axis].empty() || is_todo(sizes[axis])) continue;
      const std::string other = ctas_of_global_size(axis);
      const auto here = by_default(sizes[axis]);
      const auto there = by_default(other);
      if (!here || !there || *here == *there) continue;
      leave_out("GlobalSize " + t1_.global_size[axis],
                "by default " + formula_of(*there) + " CTAs in " + kAxes[axis] +
                    ", but ProblemSize and GridDiv give " + formula_of(*here));
    }
  }

  std::optional<double> by_default(const std::string& text) const {
    std::map<std::string, double> values;
    for (const DraftParameter& parameter : draft_.parameters) {
      if (parameter.default_value.is_number()) {
        values[parameter.macro] = parameter.default_value.get<double>();
      }
    }
    for (const auto& [name, value] : draft_.variables) {
      if (is_number(value)) values[name] = Json::parse(value).get<double>();
    }
    try {
      return Expression(text).evaluate(values);
    } catch (const InputError&) {
      return std::nullopt;
    }
  }

  void shared_memory() {
    if (!launch_.shared_bytes.empty()) {
      draft_.dynamic_shared_bytes =
          given_expressions("--shared", launch_.shared_bytes, 1, draft_).front();
      return;
    }
    const std::string& given = t1_.shared_bytes;
    if (!facts_.has_dynamic_shared) {
      if (!given.empty() && given != "0") {
        leave_out("SharedMemory " + given, "the kernel has no extern __shared__ variable");
      }
      return;
    }
    const std::string text = given.empty() || given == "0" ? "" : understood(given, draft_, true);
    draft_.dynamic_shared_bytes =
        text.empty() ? todo("bytes of the extern __shared__ variable") : text;
  }

  const Given& given_;
  const GivenLaunch& launch_;
  const T1File& t1_;
  const PtxFacts& facts_;
  const SourceMacros& macros_;
  Draft& draft_;
};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The text between `open` and `close` at the beginning of `rest`, after optional spaces, and the
/// length up to and including `close`; nullopt if `rest` does not begin with `open`.
std::optional<std::pair<std::string, std::size_t>> bracketed(std::string_view rest, char open,
                                                             char close) {
  const std::size_t begin = rest.find_first_not_of(' ');
  if (begin == std::string_view::npos || rest[begin] != open) return std::nullopt;
  const std::size_t end = rest.find(close, begin);
  if (end == std::string_view::npos) return std::nullopt;
  return std::pair(std::string(trimmed(rest.substr(begin + 1, end - begin - 1))), end + 1);
}

/// Replaces ProblemSize[i], max(NAME), min(NAME) and the parameters in Draft::fixed in an
/// expression of a T1 file; returns an empty text if ProblemSize[i], max(NAME) or min(NAME) has no
/// value.
std::string replaced(const std::string& text, const Draft& draft) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    const std::string word = text.substr(at, end - at);
    const std::string_view rest = std::string_view(text).substr(end);
    const auto index = bracketed(rest, '[', ']');
    const auto call = bracketed(rest, '(', ')');
    if (word == "ProblemSize" && index) {
      const Json axis = Json::parse(index->first, nullptr, false);
      if (!axis.is_number_unsigned() || axis >= draft.problem_sizes.size()) return {};
      result += draft.problem_sizes[axis.get<std::size_t>()];
      end += index->second;
    } else if ((word == "max" || word == "min") && call && is_identifier(call->first)) {
      const std::string value = extreme(word, call->first, draft);
      if (value.empty()) return {};
      result += value;
      end += call->second;
    } else if (const auto fixed = draft.fixed.find(word); fixed != draft.fixed.end()) {
      result += fixed->second;
    } else {
      result += word;
    }
    if (end < text.size()) result += is_word(text[end]) ? "" : std::string(1, text[end]);
    at = end < text.size() && is_word(text[end]) ? end : end + 1;
  }
  return result;
}

}  // namespace

std::string understood(const std::string& text, const Draft& draft, bool with_macros) {
  if (text.empty()) return {};
  const std::string expression = replaced(text, draft);
  std::set<std::string> known;
  for (const auto& [name, unused] : draft.variables) known.insert(name);
  for (const DraftParameter& parameter : draft.parameters) {
    if (with_macros) known.insert(parameter.macro);
  }
  try {
    const Expression read(expression);
    for (const std::string& name : read.variables()) {
      if (!known.contains(name)) return {};
    }
  } catch (const InputError&) {
    return {};
  }
  return expression;
}

void draft_shape(const Given& given, const T1File& t1, const PtxFacts& facts,
                 const SourceMacros& macros, Draft& draft) {
  const auto variable = [&](std::size_t axis, const std::string& value) {
    draft.variables.emplace_back(variable_name_for(axis, macros, draft), value);
    return draft.variables.back().first;
  };
  for (std::size_t axis = 0; axis < t1.problem_size.size(); ++axis) {
    const std::string& size = t1.problem_size[axis];
    const bool is_variable = is_number(size) && (axis == 0 || size != "1");
    draft.problem_sizes.push_back(is_variable ? variable(axis, size) : size);
  }
  draft_sizes(given, draft);
  const bool is_launch_known = !t1.global_size[0].empty() || !launch_of(given, 0).grid.empty();
  if (!t1.problem_size.empty() || is_launch_known || !given.sizes.empty()) return;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(facts.grid_dimensions); ++axis) {
    (void)variable(axis, todo(std::string("size of the problem in ") + kAxes[axis]));
  }
}

void draft_launch(const Given& given, const GivenLaunch& launch, const T1File& t1,
                  const PtxFacts& facts, const SourceMacros& macros, Draft& draft) {
  Launch(given, launch, t1, facts, macros, draft).run();
}

}  // namespace evo
