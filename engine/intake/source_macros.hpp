#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/compile/source.hpp"

namespace evo {

/// A macro that a source does not define, or defines only as a default.
struct SourceMacro {
  std::string default_value;  ///< from `#ifndef NAME` / `#define NAME value`; otherwise empty
  bool is_compared = false;   ///< #if compares its value, directly or through another macro
  bool is_asked_for = false;  ///< used by #ifdef, #ifndef or defined()
  std::string file = {};      ///< place of its first use
  std::size_t line = 0;

  /// Whether every compilation needs a value for it.
  [[nodiscard]] bool needs_value() const { return is_compared && default_value.empty(); }
};

/// The macros of a source and its own headers that affect preprocessing.
struct SourceMacros {
  std::map<std::string, SourceMacro> open;  ///< given from outside, or with a default
  std::set<std::string> defined;            ///< defined by the source other than as a default
};

/// Include guards and names with double underscores, which belong to the compiler, are left out.
/// Macros used only in code are not found here; the compiler reports them.
[[nodiscard]] SourceMacros macros_of(const KernelSource& source);

}  // namespace evo
