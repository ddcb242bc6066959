#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/compile/compiler.hpp"
#include "engine/intake/declarations.hpp"
#include "engine/intake/ptx_facts.hpp"
#include "engine/intake/source_macros.hpp"

namespace evo {

/// Macros and their values, as passed to the compiler.
using MacroTexts = std::map<std::string, std::string>;

/// The result of compiling a kernel.
struct Trial {
  std::string symbol;
  /// For an `extern "C"` kernel: the mangled name of a function whose parameter is a pointer to the
  /// kernel, as in `f(void (*)(float*, int))`, because this name contains the kernel's type.
  std::string signature = {};
  PtxFacts facts = {};
  std::string ptx = {};
  /// The macros without a known value, with the values that were assumed when the kernel was
  /// compiled.
  MacroTexts guessed = {};
};

/// The name of a kernel without namespaces and template arguments: "scan" for "sort::scan<4>".
[[nodiscard]] std::string unqualified(const std::string& entry);

/// Compiles `request` with the macros `known`. Undefined names that #if compares or the compiler
/// reports are assumed to be macros with the value 32 or, if that does not compile, 16 or 1. Throws
/// InputError with the compiler's error if `request` compiles with none of these values.
[[nodiscard]] Trial try_kernel(Compiler& compiler, const CompileRequest& request,
                               const MacroTexts& known, const SourceMacros& macros);

/// Compiles the kernel once for each of `variants` and adds the facts of each result to `trial`.
/// Variants that do not compile are ignored.
void try_variants(Compiler& compiler, const CompileRequest& request,
                  const std::vector<MacroTexts>& variants, Trial& trial);

/// Compiles the kernel `entry` by `look`. Throws InputError listing the kernels if neither
/// `declared` nor the compiler knows it. `option`: the option that gave `entry`, for the error.
[[nodiscard]] Trial try_named(const std::function<Trial(const std::string&)>& look,
                              const std::string& option, const std::string& entry,
                              const Declarations& declared);

/// The PTX of `request` with `macros`; nullopt if it does not compile.
[[nodiscard]] std::optional<std::string> ptx_of(Compiler& compiler, const CompileRequest& request,
                                                const MacroTexts& macros);

}  // namespace evo
