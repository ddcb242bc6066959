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

/// Values of macros as the compiler gets them.
using MacroTexts = std::map<std::string, std::string>;

/// The results of compiling a kernel.
struct Trial {
  std::string symbol;
  /// For a kernel that is `extern "C"`: a mangled name with its type, as in `f(void (*)(float*,
  /// int))`.
  std::string signature = {};
  PtxFacts facts = {};
  std::string ptx = {};
  /// Macros of unknown value, and the values they were given.
  MacroTexts guessed = {};
};

/// Compiles `request` with `known` macros. Undefined names that the preprocessor compares or the
/// compiler reports are taken for macros and get the value 32, else 16, else 1. Throws InputError
/// with the compiler's error if nothing compiles.
[[nodiscard]] Trial try_kernel(Compiler& compiler, const CompileRequest& request,
                               const MacroTexts& known, const SourceMacros& macros);

/// Compiles `trial` with other values of the macros and adds the results: one compilation for each
/// of `variants`. Variants that do not compile are dropped.
void try_variants(Compiler& compiler, const CompileRequest& request,
                  const std::vector<MacroTexts>& variants, Trial& trial);

/// Compiles the kernel that an option names. Throws InputError listing the kernels if neither
/// `declared` nor the compiler knows it.
[[nodiscard]] Trial try_named(const std::function<Trial(const std::string&)>& look,
                              const std::string& option, const std::string& entry,
                              const Declarations& declared);

/// The PTX with these macros; nullopt if it does not compile.
[[nodiscard]] std::optional<std::string> ptx_of(Compiler& compiler, const CompileRequest& request,
                                                const MacroTexts& macros);

}  // namespace evo
