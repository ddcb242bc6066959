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

/// What compiling a kernel tells of it.
struct Trial {
  std::string symbol;
  /// Of a kernel that is `extern "C"`: a mangled name with its type, as `f(void (*)(float*, int))`.
  std::string signature = {};
  PtxFacts facts = {};
  std::string ptx = {};
  /// Macros without a known value, and what they were given.
  MacroTexts guessed = {};
};

/// Compiles `request` with `known` macros. What the preprocessor compares and what the compiler
/// calls undefined, and nothing defines, is taken for a macro: it gets 32, else 16, else 1. Throws
/// InputError with the compiler's reason when none of them compiles.
[[nodiscard]] Trial try_kernel(Compiler& compiler, const CompileRequest& request,
                               const MacroTexts& known, const SourceMacros& macros);

/// The same for other values of the macros, added to `trial`: one compilation for each of
/// `variants`. Those that do not compile are left out.
void try_variants(Compiler& compiler, const CompileRequest& request,
                  const std::vector<MacroTexts>& variants, Trial& trial);

/// What `look` tells of the kernel that an option names. Throws InputError that says which kernels
/// there are where neither `declared` nor the compiler knows one of this name.
[[nodiscard]] Trial try_named(const std::function<Trial(const std::string&)>& look,
                              const std::string& option, const std::string& entry,
                              const Declarations& declared);

/// The PTX with these macros; nothing where it does not compile.
[[nodiscard]] std::optional<std::string> ptx_of(Compiler& compiler, const CompileRequest& request,
                                                const MacroTexts& macros);

}  // namespace evo
