#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "engine/ptx/lexer.hpp"

namespace evo::ptx {

/// The instruction that waits for the kernel before this one in the stream.
inline constexpr std::string_view kGridWaitWord = "griddepcontrol.wait";

/// A function or a variable at module scope, or text that declares neither.
struct Declaration {
  enum class Kind : std::uint8_t { kOther, kEntry, kFunction, kConstant, kGlobal };
  Kind kind = Kind::kOther;
  bool has_value = false;  ///< for a variable
  std::string_view name = {};
  /// Words in its body or initial value that may be names of the module, environment registers
  /// ("%envreg1") and kGridWaitWord. Repeated words are repeated here.
  std::vector<std::string_view> names = {};

  [[nodiscard]] bool is_variable() const {
    return kind == Kind::kConstant || kind == Kind::kGlobal;
  }
};

/// The declarations of a module, with the names that each mentions. It is much faster than
/// parse_ptx() and accepts any text, including PTX that the virtual GPU does not support. `ptx`
/// must outlive it.
class Outline {
 public:
  explicit Outline(std::string_view ptx);

  [[nodiscard]] const std::vector<Declaration>& declarations() const { return declarations_; }

  /// The names reachable from `symbol`, including itself.
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
