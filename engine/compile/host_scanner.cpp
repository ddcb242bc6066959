#include "engine/compile/host_scanner.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <string_view>
#include <utility>

#include "engine/compile/standard_names.hpp"
#include "engine/core/names.hpp"
#include "engine/cxx/directives.hpp"

namespace evo {
namespace {

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

/// CUDA's annotations except `__host__`.
bool is_annotation(const std::string& word) {
  constexpr std::array<std::string_view, 6> kAnnotations = {
      "__global__", "__device__", "__shared__", "__constant__", "__managed__", "__grid_constant__"};
  return is_one_of(kAnnotations, word);
}

/// Whether `word` may be a macro that expands to an annotation such as `__device__` and is defined
/// in a header that is not read.
bool may_annotate(const std::string& word) {
  constexpr auto kHarmless =
      std::to_array<std::string_view>({"__host__",       "__restrict__",
                                       "__restrict",     "__inline__",
                                       "__inline",       "__forceinline__",
                                       "__noinline__",   "CUDART_CB",
                                       "__attribute__",  "__FILE__",
                                       "__LINE__",       "__func__",
                                       "__FUNCTION__",   "__PRETTY_FUNCTION__",
                                       "__VA_ARGS__",    "__VA_OPT__",
                                       "__COUNTER__",    "__DATE__",
                                       "__TIME__",       "__half",
                                       "__half2",        "__nv_bfloat16",
                                       "__nv_bfloat162", "__int128"});
  if (is_one_of(kHarmless, word) || word.starts_with("__nv_fp")) return false;
  if (word.starts_with("__") || (word.size() > 1 && word[0] == '_' && std::isupper(word[1]) != 0)) {
    return true;
  }
  const bool is_upper =
      std::none_of(word.begin(), word.end(), [](unsigned char c) { return std::islower(c) != 0; });
  if (!is_upper || !is_identifier(word)) return false;
  constexpr std::array<std::string_view, 9> kParts = {
      "DEVICE", "HOST", "HD", "KERNEL", "GLOBAL", "INLINE", "FUNC", "QUALIFIER", "DECL"};
  return std::any_of(kParts.begin(), kParts.end(),
                     [&](std::string_view part) { return word.find(part) != std::string::npos; });
}

constexpr std::size_t kNoEnd = std::numeric_limits<std::size_t>::max();

class HostScanner {
 public:
  HostScanner(std::vector<CppWord> words, const SourceMacros& macros)
      : words_(std::move(words)), macros_(macros) {}

  HostCode run() {
    scope(false);
    if (at_ < words_.size()) {
      is_broken_ = true;
      found_.inside.push_back({words_[at_].begin, kNoEnd});
    }
    if (is_broken_) return {{}, {}, std::move(found_.inside)};
    return std::move(found_);
  }

 private:
  [[nodiscard]] const std::string& word(std::size_t at) const {
    static const std::string nothing;
    return at < words_.size() ? words_[at].text : nothing;
  }

  /// Parses declarations up to a closing brace or the end of the text.
  void scope(bool is_class) {
    while (at_ < words_.size() && word(at_) != "}") {
      if (word(at_) == ";") {
        ++at_;
      } else if (is_class && is_access(word(at_)) && word(at_ + 1) == ":") {
        at_ += 2;
      } else if (!take_scope()) {
        declaration(is_class);
      }
    }
  }

  static bool is_access(const std::string& text) {
    return text == "public" || text == "private" || text == "protected";
  }

  /// Parses `namespace x {` or `extern "C" {`, and the content of the braces.
  bool take_scope() {
    std::size_t at = at_;
    if (word(at) == "extern" && word(at + 1).starts_with('"')) {
      at += 2;
    } else {
      if (word(at) == "inline") ++at;
      if (word(at) != "namespace") return false;
      for (++at; is_identifier(word(at)) || word(at) == "::"; ++at) {
      }
    }
    if (word(at) != "{") return false;
    at_ = at + 1;
    braces_of_scope(false);
    return true;
  }

  /// Parses the rest of a scope after its opening brace.
  void braces_of_scope(bool is_class) {
    scope(is_class);
    if (word(at_) != "}") is_broken_ = true;
    ++at_;
  }

  /// Adds the range of a declaration, from word `first` to the last word read, to the result.
  void add_inside(std::size_t first) {
    const bool has_end = !is_broken_ && at_ <= words_.size();
    found_.inside.push_back({words_[first].begin, has_end ? words_[at_ - 1].end : kNoEnd});
  }

  /// Moves past the bracket that closes the bracket at `at_`.
  void skip_brackets() {
    int depth = 0;
    for (; at_ < words_.size(); ++at_) {
      const std::string& text = words_[at_].text;
      if (text == "(" || text == "[" || text == "{") ++depth;
      if (text == ")" || text == "]" || text == "}") --depth;
      if (depth == 0) {
        ++at_;
        return;
      }
    }
    is_broken_ = true;
  }

  /// Parses `template <…>`, in which > is a closing bracket.
  void skip_template_head() {
    int depth = 0;
    for (++at_; at_ < words_.size(); ++at_) {
      if (word(at_) == "(") {
        skip_brackets();
        --at_;
        continue;
      }
      if (word(at_) == "<") ++depth;
      if (word(at_) == ">" && --depth == 0) {
        ++at_;
        return;
      }
    }
  }

  /// The position of a declaration's first word, and properties of the declaration.
  struct Seen {
    std::size_t begin = 0;
    std::size_t behind_templates = 0;  ///< the first word after `template <class T>`
    bool has_annotation = false;
    bool has_host = false;
    bool has_constexpr = false;
    std::size_t constexpr_at = 0;
    bool is_fixed = false;  ///< whether the declaration has `const` and no `*` after it
    /// whether the declaration has a word of kTypes: it may be neither function nor variable
    bool is_type = false;
    bool has_parameters = false;
    bool is_initialised = false;
    bool is_defaulted = false;
    std::string name = {};       ///< the word before the parameters
    bool is_first_name = false;  ///< whether no type precedes `name`, as in a call of a macro
  };

  void declaration(bool is_class) {
    Seen seen{at_};
    bool is_instantiation = false;
    while (word(at_) == "template") {
      is_instantiation = word(at_ + 1) != "<";
      if (is_instantiation) {
        ++at_;
      } else {
        skip_template_head();
      }
    }
    seen.behind_templates = at_;
    while (at_ < words_.size() && word(at_) != ";" && word(at_) != "}") {
      const std::string& text = word(at_);
      if (text == "{") {
        if (open_brace(seen)) break;
      } else if (text == "(" || text == "[") {
        take_parameters(seen);
      } else {
        take_word(text, seen);
        ++at_;
      }
    }
    if (word(at_) == ";") ++at_;
    add_inside(seen.begin);
    judge(seen, is_class, is_instantiation);
  }

  void take_word(const std::string& text, Seen& seen) {
    constexpr std::array<std::string_view, 12> kTypes = {
        "struct",        "class", "union",   "enum",   "using",   "typedef",
        "static_assert", "asm",   "concept", "friend", "texture", "namespace"};
    const bool is_before = !seen.is_initialised;
    if (is_one_of(kTypes, text)) seen.is_type = true;
    if (text == "__host__") seen.has_host = true;
    const bool is_annotating = is_before && is_identifier(text) && macros_.annotates(text);
    if (is_annotating && !is_function_with_body(text)) seen.has_annotation = true;
    if (is_before && text == "constexpr") {
      seen.has_constexpr = true;
      seen.constexpr_at = words_[at_].begin;
    }
    if (text == "const" && is_before) seen.is_fixed = true;
    if (text == "*" && is_before) seen.is_fixed = false;
    if (text == "=" && word(at_ - 1) != "operator") {
      seen.is_initialised = true;
      const std::string& next = word(at_ + 1);
      seen.is_defaulted = seen.has_parameters && (next == "default" || next == "delete");
    }
  }

  void take_parameters(Seen& seen) {
    const std::string& before = at_ > seen.begin ? word(at_ - 1) : word(words_.size());
    const bool is_list = word(at_) == "(" && !seen.is_initialised;
    constexpr std::array<std::string_view, 4> kNoNames = {"alignas", "decltype", "noexcept",
                                                          "explicit"};
    const bool may_be_name = !before.starts_with("__") || is_body_behind_brackets(seen);
    if (is_list && !before.empty() && may_be_name && !is_one_of(kNoNames, before)) {
      if (!seen.has_parameters) {
        seen.name = name_before(at_);
        seen.is_first_name = word(seen.behind_templates) == seen.name;
      }
      seen.has_parameters = true;
      const std::size_t begin = at_;
      skip_brackets();
      for (std::size_t at = begin; at < std::min(at_, words_.size()); ++at) {
        // If two branches of an #if open the list, the second annotation is inside the first list.
        if (is_annotation(word(at))) seen.has_annotation = true;
      }
      return;
    }
    skip_brackets();
  }

  /// Whether `text` is a function's name, not an annotation, as in `__check(int code) {`.
  [[nodiscard]] bool is_function_with_body(const std::string& text) const {
    return !is_annotation(text) && !macros_.words.contains(text) && word(at_ + 1) == "(" &&
           is_body_behind(at_ + 1);
  }

  /// Whether a body follows the parentheses, as in `__stcs(float* x) {`, so that a function's name
  /// precedes them, not an annotation as in `__launch_bounds__(128) __global__`.
  [[nodiscard]] bool is_body_behind_brackets(const Seen& seen) const {
    return !seen.is_type && is_body_behind(at_);
  }

  /// Whether "{" follows the parenthesis that closes the parenthesis at `at`.
  [[nodiscard]] bool is_body_behind(std::size_t at) const {
    int depth = 0;
    for (; at < words_.size(); ++at) {
      depth += word(at) == "(" ? 1 : word(at) == ")" ? -1 : 0;
      if (depth == 0) return word(at + 1) == "{";
    }
    return false;
  }

  /// The name before a bracket, such as `f` in `f(` and `f<int>(`.
  [[nodiscard]] std::string name_before(std::size_t at) const {
    int depth = 0;
    for (--at; word(at) == ">" || depth > 0; --at) {
      depth += word(at) == ">" ? 1 : 0;
      depth -= word(at) == "<" ? 1 : 0;
      if (at == 0) return {};
    }
    return word(at);
  }

  /// Parses braces and their content; returns true if the braces enclose a function's body.
  bool open_brace(const Seen& seen) {
    if (seen.is_type && !seen.has_parameters) {
      bool is_members = false;
      for (std::size_t at = seen.behind_templates; at < at_; ++at) {
        is_members |= word(at) == "struct" || word(at) == "class" || word(at) == "union";
      }
      if (!is_members || word(seen.behind_templates) == "enum") {
        skip_brackets();
      } else {
        ++at_;
        braces_of_scope(true);
      }
      return false;
    }
    skip_brackets();
    if (!seen.has_parameters || seen.is_initialised) return false;
    return word(at_) != "," && word(at_) != "{";  // false after a{1} in `T() : a{1}, b{2} {}`
  }

  void judge(const Seen& seen, bool is_class, bool is_instantiation) {
    if (seen.has_annotation || seen.is_defaulted || at_ > words_.size()) return;
    const bool is_function = seen.has_parameters;
    if (is_use_of_the_host(seen)) {
      found_.declarations.push_back({words_[seen.begin].begin, words_[at_ - 1].end});
      return;
    }
    // A macro call without a type before the macro's name is not a function.
    if (is_function && seen.is_first_name && macros_.words.contains(seen.name)) return;
    if (is_instantiation && !host_names_.contains(seen.name)) return;
    if (is_function ? seen.is_type && !is_returned_type(seen)
                    : (seen.is_type && !is_of_named_type(seen)) || is_class)
      return;
    const std::size_t begin = words_[seen.begin].begin;
    if (seen.has_constexpr) {
      if (is_function && !seen.has_host) found_.annotate.push_back(seen.constexpr_at);
      return;
    }
    if (!is_function && (seen.is_fixed || !is_variable(seen))) return;
    if (is_function) host_names_.insert(seen.name);
    found_.declarations.push_back({begin, words_[at_ - 1].end});
  }

  /// Whether the declaration may be a function: `struct T f() {`, not `typedef void (*f)(int);`.
  [[nodiscard]] bool is_returned_type(const Seen& seen) const {
    const std::string& first = word(seen.behind_templates);
    return first == "struct" || first == "enum" || first == "union" || first == "friend" ||
           first == "static" || first == "inline";
  }

  /// True for `using std::cout;` and `typedef std::vector<int> Numbers;`, which use parts of the
  /// standard library that device code lacks.
  [[nodiscard]] bool is_use_of_the_host(const Seen& seen) const {
    if (word(seen.begin) != "using" && word(seen.begin) != "typedef") return false;
    for (std::size_t at = seen.begin; at + 1 < at_; ++at) {
      if (word(at) != "std") continue;
      do ++at;
      while (word(at) == ":" || word(at) == "::");
      if (is_one_of(kHostsOwn, word(at))) return true;
    }
    return false;
  }

  /// Whether the declaration is a variable whose type begins with `struct` or a similar word: true
  /// for `extern struct T x;`, false for `struct T;` and `struct T { int i; };`.
  [[nodiscard]] bool is_of_named_type(const Seen& seen) const {
    constexpr std::array<std::string_view, 5> kBefore = {"extern", "static", "const", "volatile",
                                                         "inline"};
    constexpr std::array<std::string_view, 4> kKeywords = {"struct", "class", "union", "enum"};
    constexpr std::array<std::string_view, 4> kAfter = {";", "=", "[", ","};
    std::size_t at = seen.begin;
    while (is_one_of(kBefore, word(at))) ++at;
    if (!is_one_of(kKeywords, word(at)) || !is_identifier(word(at + 1))) return false;
    at += 2;
    while (word(at) == "*" || word(at) == "const") ++at;
    return is_identifier(word(at)) && is_one_of(kAfter, word(at + 1));
  }

  /// Whether the declaration has at least two words, as a variable such as `float *x;` has.
  [[nodiscard]] bool is_variable(const Seen& seen) const {
    return at_ > seen.begin + 2 && is_identifier(word(seen.begin));
  }

  std::vector<CppWord> words_;
  const SourceMacros& macros_;
  HostCode found_;
  std::set<std::string> host_names_;
  std::size_t at_ = 0;
  bool is_broken_ = false;
};

}  // namespace

void SourceMacros::read(const std::string& text) {
  for (const Directive& directive : directives_of(text)) {
    if (directive.name != "define") continue;
    const std::vector<std::string> all = cpp_words(directive.argument);
    if (!all.empty()) words[all.front()].insert(all.begin() + 1, all.end());
  }
}

bool SourceMacros::annotates(const std::string& word, int depth) const {
  constexpr int kDeepest = 16;
  if (is_annotation(word)) return true;
  const auto found = words.find(word);
  if (found == words.end()) return may_annotate(word);
  if (depth == kDeepest) return true;
  return std::any_of(found->second.begin(), found->second.end(), [&](const std::string& part) {
    return part != word && annotates(part, depth + 1);
  });
}

HostCode find_host_code(const std::string& text, const SourceMacros& macros) {
  return HostScanner(tokenize(text).words, macros).run();
}

}  // namespace evo
