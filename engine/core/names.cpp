#include "engine/core/names.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "engine/core/expression_words.hpp"

namespace evo {
namespace {

/// C++20's keywords and alternative tokens ([lex.key]), its identifiers with special meaning
/// ([lex.name]), names of preprocessor directives, and variables that CUDA defines, such as
/// `blockIdx`.
constexpr auto kWordsOfCpp = std::to_array<std::string_view>(
    {"alignas",       "alignof",      "and",       "and_eq",    "asm",       "auto",
     "bitand",        "bitor",        "blockDim",  "blockIdx",  "bool",      "break",
     "case",          "catch",        "char",      "char16_t",  "char32_t",  "char8_t",
     "class",         "co_await",     "co_return", "co_yield",  "compl",     "concept",
     "const",         "const_cast",   "consteval", "constexpr", "constinit", "continue",
     "decltype",      "default",      "define",    "defined",   "delete",    "do",
     "double",        "dynamic_cast", "elif",      "else",      "endif",     "enum",
     "explicit",      "export",       "extern",    "false",     "final",     "float",
     "for",           "friend",       "goto",      "gridDim",   "if",        "ifdef",
     "ifndef",        "import",       "include",   "inline",    "int",       "long",
     "module",        "mutable",      "namespace", "new",       "noexcept",  "not",
     "not_eq",        "nullptr",      "operator",  "or",        "or_eq",     "override",
     "pragma",        "private",      "protected", "public",    "register",  "reinterpret_cast",
     "requires",      "return",       "short",     "signed",    "sizeof",    "static",
     "static_assert", "static_cast",  "struct",    "switch",    "template",  "this",
     "threadIdx",     "thread_local", "throw",     "true",      "try",       "typedef",
     "typeid",        "typename",     "undef",     "union",     "unsigned",  "using",
     "virtual",       "void",         "volatile",  "warpSize",  "wchar_t",   "while",
     "xor",           "xor_eq"});
static_assert(std::is_sorted(kWordsOfCpp.begin(), kWordsOfCpp.end()));

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_decimal(char c) { return c >= '0' && c <= '9'; }

bool is_part_of_name(char c) { return is_letter(c) || is_decimal(c) || c == '_'; }

}  // namespace

bool is_identifier(std::string_view text) {
  return !text.empty() && !is_decimal(text.front()) && std::ranges::all_of(text, is_part_of_name);
}

std::set<std::string> names_in(std::string_view text) {
  std::set<std::string> names;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::size_t begin = at;
    while (at < text.size() && is_part_of_name(text[at])) ++at;
    const std::string_view word = text.substr(begin, at - begin);
    if (is_identifier(word)) names.emplace(word);
  }
  return names;
}

bool may_name_kernel(std::string_view text) {
  constexpr std::size_t kLongest = 1000;
  constexpr std::string_view kSigns = "_<>:,()*&+-/%=!|^~?. ";
  const auto allowed = [&](char c) {
    return is_letter(c) || is_decimal(c) || kSigns.find(c) != std::string_view::npos;
  };
  if (text.size() > kLongest || text.find("//") != std::string_view::npos ||
      text.find("/*") != std::string_view::npos || !std::ranges::all_of(text, allowed)) {
    return false;
  }
  if (text.starts_with("::")) text.remove_prefix(2);
  const std::string_view head = text.substr(0, text.find_first_of("<:"));
  if (!is_identifier(head)) return false;
  return text.find('<') == std::string_view::npos || text.ends_with('>');
}

std::string why_no_macro(std::string_view name) {
  constexpr std::size_t kLongest = 100;
  if (!is_identifier(name)) return "is no C identifier, such as TILE_N";
  if (name.size() > kLongest) return "is longer than 100 characters";
  if (std::binary_search(kWordsOfCpp.begin(), kWordsOfCpp.end(), name)) {
    return "is a word of CUDA C++";
  }
  if (name.find("__") != std::string_view::npos ||
      (name.size() > 1 && name[0] == '_' && name[1] >= 'A' && name[1] <= 'Z')) {
    return "is reserved for the compiler: it has two underscores, or begins with _ and a capital";
  }
  if (name == "SM_COUNT") return "is the device's number of multiprocessors in expressions";
  if (find_expression_word(name) != nullptr || find_expression_function(name) != nullptr) {
    return "has a fixed meaning in expressions";
  }
  return {};
}

bool is_arch(std::string_view text) {
  constexpr std::string_view kPrefix = "sm_";
  if (!text.starts_with(kPrefix)) return false;
  text.remove_prefix(kPrefix.size());
  if (text.ends_with('a') || text.ends_with('f')) text.remove_suffix(1);
  return (text.size() == 2 || text.size() == 3) &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_plain_name(std::string_view name) {
  constexpr std::size_t kLongest = 100;
  const auto plain = [](char c) {
    return is_letter(c) || is_decimal(c) || c == '.' || c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= kLongest && name.front() != '.' && name.front() != '-' &&
         std::all_of(name.begin(), name.end(), plain);
}

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

}  // namespace evo
