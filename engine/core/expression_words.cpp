#include "engine/core/expression_words.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace evo {
namespace {

constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();

constexpr std::array<ExpressionFunction, 14> kFunctions = {{{"ceil_div", 2, 2, true},
                                                            {"floor_div", 2, 2, true},
                                                            {"align_up", 2, 2, true},
                                                            {"floor", 1, 1, false},
                                                            {"ceil", 1, 1, false},
                                                            {"round", 1, 1, false},
                                                            {"min", 1, kAny, false},
                                                            {"max", 1, kAny, false},
                                                            {"sqrt", 1, 1, true},
                                                            {"exp", 1, 1, true},
                                                            {"ln", 1, 1, true},
                                                            {"log2", 1, 1, true},
                                                            {"abs", 1, 1, false},
                                                            {"is_pow2", 1, 1, false}}};

constexpr std::array<ExpressionWord, 17> kWords = {{{"and", ""},
                                                    {"or", ""},
                                                    {"not", ""},
                                                    {"in", ""},
                                                    {"True", ""},
                                                    {"False", ""},
                                                    {"true", ""},
                                                    {"false", ""},
                                                    {"if", "write CONDITION ? A : B"},
                                                    {"else", "write CONDITION ? A : B"},
                                                    {"is", "write =="},
                                                    {"xor", "write !A != !B"},
                                                    {"lambda", "functions cannot be defined"},
                                                    {"for", "there are no loops"},
                                                    {"None", "a number is needed"},
                                                    {"inf", "a finite number is needed"},
                                                    {"nan", "a finite number is needed"}}};

template <typename Entries>
auto* find_by_name(const Entries& entries, std::string_view name) {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const auto& entry) { return entry.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

}  // namespace

const ExpressionFunction* find_expression_function(std::string_view name) {
  return find_by_name(kFunctions, name);
}

std::string expression_functions() {
  std::string list;
  for (const ExpressionFunction& function : kFunctions) {
    list += (list.empty() ? "" : ", ") + std::string(function.name);
  }
  return list;
}

const ExpressionWord* find_expression_word(std::string_view name) {
  return find_by_name(kWords, name);
}

}  // namespace evo
