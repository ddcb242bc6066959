#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ptx/ast.hpp"

namespace evo::ptx {

/// The modifiers of an opcode, consumed one by one. A modifier that was not consumed makes the
/// instruction unsupported.
class Modifiers {
 public:
  explicit Modifiers(const Instruction& in) : in_(in), used_(in.modifiers.size(), false) {}
  /// Consumes the modifier if it is present.
  bool take(std::string_view name);
  /// Consumes the first of `names` that is present; −1 if none is.
  int take_one_of(std::initializer_list<std::string_view> names);
  /// Consumes the first modifier that is a type; kNone if there is none.
  Type take_type();
  /// Throws "not supported" if a modifier is left.
  void finish() const;
  [[noreturn]] void unsupported(const std::string& why = {}) const;

 private:
  const Instruction& in_;
  std::vector<bool> used_;
};

}  // namespace evo::ptx
