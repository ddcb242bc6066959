#include "engine/compile/ptx_constants.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>

namespace evo {
namespace {

using Names = std::set<std::string, std::less<>>;

bool is_part(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '.' ||
         c == '%';
}

/// Words with the dots in them, and signs; comments and strings are left out.
std::vector<std::string_view> words_of(std::string_view ptx) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < ptx.size();) {
    const std::string_view rest = ptx.substr(at);
    std::size_t length = 1;
    if (rest.starts_with("//")) {
      length = std::min(rest.find('\n'), rest.size());
    } else if (rest.starts_with("/*")) {
      const std::size_t end = rest.find("*/", 2);
      length = end == std::string_view::npos ? rest.size() : end + 2;
    } else if (rest[0] == '"') {
      const std::size_t end = rest.find('"', 1);
      length = end == std::string_view::npos ? rest.size() : end + 1;
    } else if (is_part(rest[0])) {
      while (length < rest.size() && is_part(rest[length])) ++length;
      words.push_back(rest.substr(0, length));
    } else if (std::isspace(static_cast<unsigned char>(rest[0])) == 0) {
      words.push_back(rest.substr(0, 1));
    }
    at += length;
  }
  return words;
}

bool is_symbol(std::string_view word) {
  return std::isalpha(static_cast<unsigned char>(word[0])) != 0 || word[0] == '_' || word[0] == '$';
}

/// A module: which functions and variables name which others.
class Module {
 public:
  explicit Module(std::string_view ptx) : words_(words_of(ptx)) {
    while (at_ < words_.size()) take_statement();
  }

  /// All that can be reached from `symbol`.
  [[nodiscard]] Names reached_from(const std::string& symbol) const {
    Names reached = {symbol};
    std::vector<std::string> open = {symbol};
    while (!open.empty()) {
      const auto found = named_by_.find(open.back());
      open.pop_back();
      if (found == named_by_.end()) continue;
      for (const std::string& name : found->second) {
        if (reached.insert(name).second) open.push_back(name);
      }
    }
    return reached;
  }

  [[nodiscard]] const Names& unset() const { return unset_; }
  [[nodiscard]] const Names& constants() const { return constants_; }

 private:
  /// From here to the ';' or '}' that ends it: a variable, a function, or a line of no interest.
  void take_statement() {
    // These end without a sign.
    if (words_[at_] == ".version" || words_[at_] == ".target" || words_[at_] == ".address_size") {
      at_ += 2;
      while (at_ < words_.size() && words_[at_] == ",") at_ += 2;
      return;
    }
    bool is_constant = false;
    bool has_value = false;
    std::string name;
    Names named;
    for (int depth = 0; at_ < words_.size();) {
      const std::string_view word = words_[at_++];
      if (word == "{") ++depth;
      if (word == "}" && --depth <= 0 && !has_value) break;
      if (word == ";" && depth <= 0) break;
      has_value |= word == "=" && depth == 0;
      is_constant |= word == ".const" && depth == 0;
      // In front of a function's name stand its results.
      if (name.empty() && word == "(") skip_parentheses();
      if (!is_symbol(word)) continue;
      if (name.empty()) {
        name = word;
      } else {
        named.emplace(word);
      }
    }
    if (is_constant) constants_.insert(name);
    if (is_constant && !has_value) unset_.insert(name);
    named_by_[name].merge(named);
  }

  void skip_parentheses() {
    int depth = 1;
    while (at_ < words_.size() && depth > 0) {
      depth += words_[at_] == "(" ? 1 : words_[at_] == ")" ? -1 : 0;
      ++at_;
    }
  }

  std::vector<std::string_view> words_;
  std::size_t at_ = 0;
  std::map<std::string, Names, std::less<>> named_by_;
  Names unset_;
  Names constants_;
};

}  // namespace

std::string variable_name(const std::string& symbol) {
  if (!symbol.starts_with("_Z")) return symbol;  // "Gx" would be the name of a type
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  std::string name = text ? text.get() : symbol;
  // What the compiler puts in front of a static variable.
  if (name.starts_with("_INTERNAL_")) {
    const std::size_t end = name.find("::");
    if (end != std::string::npos) name.erase(0, end + 2);
  }
  return name;
}

std::vector<std::string> unset_constants(std::string_view ptx, const std::string& symbol) {
  if (ptx.find(".const") == std::string_view::npos) return {};
  const Module module(ptx);
  const Names reached = module.reached_from(symbol);
  std::vector<std::string> names;
  for (const std::string& name : module.unset()) {
    if (reached.contains(name)) names.push_back(variable_name(name));
  }
  return names;
}

std::optional<std::string> constant_symbol(std::string_view ptx, std::string_view name) {
  if (ptx.find(".const") == std::string_view::npos) return std::nullopt;
  const Module module(ptx);
  for (const std::string& symbol : module.constants()) {
    if (variable_name(symbol) == name) return symbol;
  }
  return std::nullopt;
}

}  // namespace evo
