#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>

#include "engine/compile/source.hpp"

namespace evo {

/// A macro that a source does not define, or defines only as a default.
struct SourceMacro {
  std::string default_value;  ///< from `#ifndef NAME` / `#define NAME value`; otherwise empty
  bool is_compared = false;   ///< #if compares the value
  bool is_asked_for = false;  ///< used by #ifdef, #ifndef or defined()
  std::string file = {};      ///< file and line of the first use
  std::size_t line = 0;

  /// True if every compilation needs a value for the macro.
  [[nodiscard]] bool needs_value() const { return is_compared && default_value.empty(); }
};

/// The macros of a source and of its copied headers that affect preprocessing.
struct SourceMacros {
  std::map<std::string, SourceMacro> open;  ///< macros without a definition, or with only a default
  std::set<std::string> defined;            ///< names of the other macros that the source defines
};

/// Finds the macros that #if, #ifdef and similar directives use, except include guards and names
/// that may belong to the compiler or the toolkit, for example names with double underscores. For
/// undefined macros in code, not in directives, see trial.hpp, which reads the compiler's error
/// messages.
[[nodiscard]] SourceMacros macros_of(const KernelSource& source);

}  // namespace evo
