#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ptx/ast.hpp"

namespace evo::ptx {

/// The modifiers of an instruction, which a decoder consumes one by one. If a modifier remains that
/// no decoder consumed, the instruction is not supported.
class Modifiers {
 public:
  explicit Modifiers(const Instruction& in) : in_(in), used_(in.modifiers.size(), false) {}
  /// Consumes the modifier `name`; false if the instruction does not have it, or if it is already
  /// consumed.
  bool take(std::string_view name);
  /// Consumes the first of `names` that the instruction has; returns its index, or −1 for none.
  int take_one_of(std::initializer_list<std::string_view> names);
  /// Consumes the first modifier that names a type; kNone if there is none.
  Type take_type();
  /// Consumes the modifiers that only guide caches, such as .cg and .L2::128B. Returns the number
  /// of the instruction's operands without the cache policy, which .L2::cache_hint puts last.
  std::size_t skip_cache_hints();
  /// Throws PtxError ("not supported") if any modifier was not consumed.
  void finish() const;
  [[noreturn]] void unsupported(const std::string& why = {}) const;

 private:
  const Instruction& in_;
  std::vector<bool> used_;
};

}  // namespace evo::ptx
