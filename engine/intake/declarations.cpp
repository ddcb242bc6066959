#include "engine/intake/declarations.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/core/names.hpp"
#include "engine/cxx/tokenizer.hpp"

namespace evo {
namespace {

using Words = std::vector<std::string>;

/// Joins words to the text of a type: "const float *".
std::string joined(const Words& words) {
  std::string text;
  for (const std::string& word : words) {
    const bool glued = text.empty() || word == "::" || text.ends_with("::") || word == ">" ||
                       word == "<" || word == "," || text.ends_with("<");
    text.append(glued ? "" : " ").append(word);
  }
  return text;
}

class Scanner {
 public:
  Scanner(Words words, Declarations& found) : words_(std::move(words)), found_(found) {}

  void run() {
    while (at_ < words_.size()) {
      const std::string& word = words_[at_];
      if (word == "namespace") {
        take_namespace();
      } else if (word == "template" && peek(1) == "<") {
        ++at_;
        skip_brackets("<", ">");
        is_template_ = true;
      } else if (word == "__global__") {
        take_kernel();
      } else if (word == "__constant__") {
        take_constants();
      } else if (word == "enum") {
        take_enumeration();
      } else {
        if (word == "{") scopes_.emplace_back();
        if (word == "}" && !scopes_.empty()) scopes_.pop_back();
        if (word == "{" || word == "}" || word == ";") is_template_ = false;
        ++at_;
      }
    }
  }

 private:
  [[nodiscard]] std::string_view peek(std::size_t ahead) const {
    return at_ + ahead < words_.size() ? std::string_view(words_[at_ + ahead]) : "";
  }

  /// Moves from an opening bracket past the matching closing bracket; returns the words in between.
  Words skip_brackets(std::string_view open, std::string_view close) {
    Words inside;
    int depth = 0;
    for (; at_ < words_.size(); ++at_) {
      const std::string& word = words_[at_];
      if (word == open) ++depth;
      if (word == close && --depth == 0) {
        ++at_;
        break;
      }
      if (depth > 1 || word != open) inside.push_back(word);
    }
    return inside;
  }

  void take_namespace() {
    std::string name;
    for (++at_; at_ < words_.size() && (is_identifier(words_[at_]) || words_[at_] == "::"); ++at_) {
      name += words_[at_];
    }
    if (peek(0) != "{") return;  // a namespace alias, or `using namespace`
    scopes_.push_back(name);
    ++at_;
  }

  [[nodiscard]] std::string qualified(const std::string& name) const {
    std::string text;
    for (const std::string& scope : scopes_) {
      if (!scope.empty()) text.append(scope).append("::");
    }
    return text.append(name);
  }

  /// Reads a kernel's declaration after `__global__`: attributes, `void`, the name, the parameters.
  void take_kernel() {
    ++at_;
    std::string name;
    while (at_ < words_.size() && peek(0) != ";" && peek(0) != "{") {
      const std::string word = words_[at_];
      if (word != "(") {
        name = word;
        ++at_;
      } else if (name.starts_with("__") || name == "alignas") {
        skip_brackets("(", ")");
      } else {
        break;
      }
    }
    if (peek(0) != "(" || name.empty() || !is_identifier(name)) return;
    const std::size_t begin = at_;
    const Words inside = skip_brackets("(", ")");
    if (std::find(inside.begin(), inside.end(), "__global__") != inside.end()) {
      // With #if and #else, a kernel may have two first lines before one parameter list, so the
      // scan continues at the second `__global__`, which the parameter list follows.
      at_ = begin;
      while (words_[at_] != "__global__") ++at_;
      return;
    }
    DeclaredKernel kernel{qualified(name), is_template_, parameters(inside)};
    const auto same = std::find_if(found_.kernels.begin(), found_.kernels.end(),
                                   [&](const auto& other) { return other.name == kernel.name; });
    if (same == found_.kernels.end()) {
      found_.kernels.push_back(std::move(kernel));
    } else if (peek(0) == "{") {
      // The definition replaces an earlier declaration, which may have unnamed parameters.
      *same = std::move(kernel);
    }
  }

  static std::vector<DeclaredParameter> parameters(const Words& words) {
    std::vector<DeclaredParameter> list;
    Words one;
    int depth = 0;
    const auto take = [&] {
      if (!one.empty() && !(one.size() == 1 && one[0] == "void")) list.push_back(parameter(one));
      one.clear();
    };
    for (const std::string& word : words) {
      depth += word == "(" || word == "<" || word == "[" ? 1 : 0;
      depth -= word == ")" || word == ">" || word == "]" ? 1 : 0;
      if (word == "," && depth == 0) {
        take();
      } else {
        one.push_back(word);
      }
    }
    take();
    return list;
  }

  static DeclaredParameter parameter(Words words) {
    constexpr std::array<std::string_view, 6> kIgnored = {
        "__restrict__", "__restrict", "restrict", "__grid_constant__", "register", "volatile"};
    std::erase_if(words, [&](const std::string& word) {
      return std::find(kIgnored.begin(), kIgnored.end(), word) != kIgnored.end();
    });
    words.erase(std::find(words.begin(), words.end(), "="), words.end());
    DeclaredParameter found;
    // a pointer to an array: "float (*rows)[4]"
    const auto open = std::find(words.begin(), words.end(), "(");
    if (words.end() - open > 3 && open[1] == "*" && is_identifier(open[2]) && open[3] == ")") {
      found.name = open[2];
      words.erase(open, words.end());
      words.emplace_back("*");
      found.type = joined(words);
      return found;
    }
    const auto array = std::find(words.begin(), words.end(), "[");
    const bool is_array = array != words.end();
    words.erase(array, words.end());
    const bool has_name = words.size() > 1 && is_identifier(words.back()) &&
                          words.back() != "const" && words[words.size() - 2] != "::" &&
                          !is_basic(words.back());
    if (has_name) {
      found.name = words.back();
      words.pop_back();
    }
    if (is_array) words.emplace_back("*");
    found.type = joined(words);
    return found;
  }

  static bool is_basic(const std::string& word) {
    constexpr std::array<std::string_view, 9> kBasic = {
        "int", "float", "double", "char", "long", "short", "unsigned", "signed", "bool"};
    return std::find(kBasic.begin(), kBasic.end(), word) != kBasic.end();
  }

  /// Reads "enum class Mode : int { kFast };" or "typedef enum { kFast } Mode;".
  void take_enumeration() {
    const auto take_name = [&] {
      if (at_ < words_.size() && is_identifier(words_[at_]))
        found_.enumerations.insert(words_[at_++]);
    };
    ++at_;
    if (peek(0) == "class" || peek(0) == "struct") ++at_;
    take_name();
    while (at_ < words_.size() && (peek(0) == ":" || is_identifier(words_[at_])))
      ++at_;  // the underlying type
    if (peek(0) != "{") return;
    skip_brackets("{", "}");
    take_name();
  }

  /// Reads a declaration such as "__constant__ float a[4], b[2][3];".
  void take_constants() {
    ++at_;
    Words words;
    int depth = 0;
    for (; at_ < words_.size(); ++at_) {
      const std::string& word = words_[at_];
      if (word == ";" && depth == 0) break;
      depth += word == "{" || word == "(" ? 1 : 0;
      depth -= word == "}" || word == ")" ? 1 : 0;
      words.push_back(word);
    }
    Words type;
    std::size_t at = 0;
    // Collects the words of the type. The name of the variable follows the type, and is the word
    // before the first "[", "=", "," or "{", or the last word.
    while (at + 1 < words.size() && words[at + 1] != "[" && words[at + 1] != "=" &&
           words[at + 1] != "," && words[at + 1] != "{") {
      if (words[at] != "static" && words[at] != "const" && words[at] != "extern") {
        type.push_back(words[at]);
      }
      ++at;
    }
    while (at < words.size() && is_identifier(words[at])) {
      DeclaredConstant constant{qualified(words[at++]), joined(type), {}};
      while (at < words.size() && words[at] == "[") {
        std::string extent;
        for (++at; at < words.size() && words[at] != "]"; ++at) extent += words[at];
        ++at;
        constant.extent = constant.extent.empty() ? extent : product(constant.extent, extent);
      }
      if (constant.extent.empty()) constant.extent.assign(1, '1');
      found_.constants.push_back(std::move(constant));
      for (depth = 0; at < words.size(); ++at) {  // skips the initial value
        depth += words[at] == "{" || words[at] == "(" ? 1 : 0;
        depth -= words[at] == "}" || words[at] == ")" ? 1 : 0;
        if (words[at] == "," && depth == 0) break;
      }
      ++at;
    }
  }

  static std::string product(const std::string& a, const std::string& b) {
    return std::string("(").append(a).append(")*(").append(b).append(")");
  }

  Words words_;
  Declarations& found_;
  std::size_t at_ = 0;
  bool is_template_ = false;
  /// the names of open namespaces; an empty name for any other open brace
  std::vector<std::string> scopes_;
};

}  // namespace

Declarations declarations_of(const KernelSource& source) {
  Declarations found;
  for (const auto& [name, text] : source.headers) Scanner(cpp_words(text), found).run();
  Scanner(cpp_words(source.text), found).run();
  return found;
}

}  // namespace evo
