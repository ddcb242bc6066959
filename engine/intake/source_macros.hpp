#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/compile/source.hpp"

namespace evo {

/// A macro that a source does not define itself, or only where nobody else does.
struct SourceMacro {
  std::string default_value;  ///< of `#ifndef NAME` / `#define NAME value`; else empty
  bool is_compared = false;   ///< its value is looked at by #if, itself or through another one
  bool is_asked_for = false;  ///< by #ifdef, #ifndef or defined()
  std::string file = {};      ///< where it was seen first
  std::size_t line = 0;

  /// Whether every compilation needs a value for it.
  [[nodiscard]] bool needs_value() const { return is_compared && default_value.empty(); }
};

/// The macros of a source and its own headers that preprocessing depends on.
struct SourceMacros {
  std::map<std::string, SourceMacro> open;  ///< given from outside, or with a default
  std::set<std::string> defined;            ///< by a #define of the source that is no default
};

/// Include guards and names with two underscores in a row, which are the compiler's, are left out.
/// Macros that only the code uses are not found: the compiler names those.
[[nodiscard]] SourceMacros macros_of(const KernelSource& source);

}  // namespace evo
