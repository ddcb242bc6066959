#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ptx/ast.hpp"

namespace evo::ptx {

/// The modifiers of an opcode, consumed one by one; what nobody asked for makes the instruction
/// unsupported.
class Modifiers {
 public:
  explicit Modifiers(const Instruction& in) : in_(in), used_(in.modifiers.size(), false) {}
  /// Consumes the modifier when it is there.
  bool take(std::string_view name);
  /// Consumes the first of `names` that is there; −1 when none is.
  int take_one_of(std::initializer_list<std::string_view> names);
  /// Consumes the first modifier that is a type; kNone when there is none.
  Type take_type();
  /// Throws "not supported" when something is left.
  void finish() const;
  [[noreturn]] void unsupported(const std::string& why = {}) const;

 private:
  const Instruction& in_;
  std::vector<bool> used_;
};

}  // namespace evo::ptx
