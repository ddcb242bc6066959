#pragma once

#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "engine/ptx/lexer.hpp"

namespace evo::ptx {

/// The instruction with which a kernel waits for the previous kernel in the stream.
inline constexpr std::string_view kGridWaitWord = "griddepcontrol.wait";

/// A statement at module scope: a function, a variable, or something else (kOther).
struct Declaration {
  enum class Kind : std::uint8_t { kOther, kEntry, kFunction, kConstant, kGlobal };
  Kind kind = Kind::kOther;
  bool has_value = false;  ///< for a variable: whether it has an initial value
  std::string_view name = {};
  /// The words in the function's body or the variable's initial value that may be symbols of the
  /// module, that are environment registers ("%envreg1"), or that are kGridWaitWord. The list
  /// `names` may contain a word several times.
  std::vector<std::string_view> names = {};

  [[nodiscard]] bool is_variable() const {
    return kind == Kind::kConstant || kind == Kind::kGlobal;
  }
};

/// The declarations of a PTX module; for each declaration, the names that it mentions. Constructing
/// an Outline is much faster than parse_ptx() and accepts any text, including PTX that the virtual
/// GPU does not support. `ptx` must exist as long as the Outline, whose names are views of it.
class Outline {
 public:
  explicit Outline(std::string_view ptx);

  [[nodiscard]] const std::vector<Declaration>& declarations() const { return declarations_; }

  /// The names that the declaration of `symbol` mentions, those that the declarations of these
  /// names mention, and so on, and `symbol` itself.
  [[nodiscard]] std::set<std::string_view> reached_from(std::string_view symbol) const;

 private:
  void advance() { token_ = lexer_.next(); }
  [[nodiscard]] bool at_end() const { return token_.kind == Token::Kind::kEnd; }
  void take_declaration();
  void skip_parentheses();
  static void note_directive(std::string_view directive, Declaration& declaration);

  Lexer lexer_;
  Token token_;
  std::vector<Declaration> declarations_;
};

}  // namespace evo::ptx
