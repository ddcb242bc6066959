#include "engine/intake/trial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "engine/compile/entry_symbol.hpp"
#include "engine/core/error.hpp"
#include "engine/core/names.hpp"
#include "engine/core/suggestion.hpp"

namespace evo {
namespace {

/// Limit of the number of compilations that search for undefined names. The compiler reports a few
/// dozen names at a time.
constexpr int kMostRounds = 50;

CompileOutcome compile(Compiler& compiler, CompileRequest request, const MacroTexts& macros) {
  for (const auto& [name, value] : macros) request.options.push_back("-D" + name + "=" + value);
  return outcome_of(compiler.compile(request));
}

/// True for functions of the CUDA runtime library, which are not macros.
bool is_of_the_runtime(std::string_view name) { return name.starts_with("cuda"); }

/// The names that the compiler's log reports as undefined, except functions of the CUDA runtime and
/// names in the compiler's own headers. The latter are undefined only if a macro has a name that is
/// used in these headers.
std::set<std::string> undefined_in(const std::string& log) {
  constexpr std::string_view kOwnHeaders = "__nv_nvrtc_";
  constexpr std::string_view kBefore = "identifier \"";
  constexpr std::string_view kAfter = "\" is undefined";
  std::set<std::string> names;
  for (std::size_t at = log.find(kBefore); at != std::string::npos; at = log.find(kBefore, at)) {
    const std::size_t line = log.rfind('\n', at) + 1;  // npos + 1 is 0
    at += kBefore.size();
    const std::size_t end = log.find('"', at);
    if (end == std::string::npos) break;
    if (log.compare(line, kOwnHeaders.size(), kOwnHeaders) == 0) continue;
    const std::string name = log.substr(at, end - at);
    if (log.compare(end, kAfter.size(), kAfter) != 0 || !is_identifier(name)) continue;
    if (!is_of_the_runtime(name)) names.insert(name);
  }
  return names;
}

/// The compiler's message, with an explanation if the message is unclear.
std::string explained(const std::string& reason) {
  constexpr std::string_view kLaunch = "device-side kernel launch";
  constexpr std::string_view kNoHeader = "not open source file";
  if (reason.find(kNoHeader) != std::string::npos) {
    return reason + "; -I FOLDER names a folder of headers";
  }
  if (reason.find(kLaunch) == std::string::npos) return reason;
  return "a kernel of this file launches kernels (dynamic parallelism), which is not supported; "
         "remove it, or give evo-init a file without it: " +
         reason;
}

std::string listed(const MacroTexts& macros) {
  std::string text;
  for (const auto& [name, value] : macros) {
    text.append(text.empty() ? "" : ", ").append(name).append("=").append(value);
  }
  return text;
}

/// Finds the macros without a value by compiling, and assumes the value `guess` for each of them.
/// Sets `outcome` to the last compilation's result.
MacroTexts guesses(Compiler& compiler, const CompileRequest& request, const MacroTexts& known,
                   const SourceMacros& macros, const std::string& guess, CompileOutcome& outcome) {
  MacroTexts guessed;
  for (const auto& [name, macro] : macros.open) {
    if (macro.needs_value() && !known.contains(name)) guessed[name] = guess;
  }
  for (int round = 0; round < kMostRounds; ++round) {
    MacroTexts all = known;
    all.insert(guessed.begin(), guessed.end());
    outcome = compile(compiler, request, all);
    const auto* rejection = std::get_if<Rejection>(&outcome);
    if (rejection == nullptr) break;
    bool is_new = false;
    for (const std::string& name : undefined_in(rejection->reason + "\n" + rejection->detail)) {
      if (macros.defined.contains(name) || !why_no_macro(name).empty()) continue;
      if (name == unqualified(request.entries.front())) continue;
      is_new |= !all.contains(name) && guessed.emplace(name, guess).second;
    }
    if (!is_new) break;
  }
  return guessed;
}

/// The mangled name of a function whose parameter is a pointer to the kernel, because such a name
/// contains the kernel's parameter types. Empty if `symbol` itself contains the types, or if the
/// compiler does not report the types.
std::string signature_of(Compiler& compiler, CompileRequest request, const std::string& symbol,
                         const MacroTexts& macros) {
  constexpr const char* kProbe = "evo_type_of_the_kernel";
  if (symbol.starts_with("_Z")) return {};
  request.source.text +=
      fmt::format("\n__global__ void {}(decltype(&{})) {{}}\n", kProbe, request.entries.front());
  request.entries = {kProbe};
  const CompileOutcome outcome = compile(compiler, request, macros);
  const auto* compiled = std::get_if<Compiled>(&outcome);
  return compiled == nullptr ? "" : entry_symbol(compiled->ptx, kProbe);
}

}  // namespace

std::string unqualified(const std::string& entry) {
  const std::string name = entry.substr(0, entry.find('<'));
  return name.substr(name.rfind(':') + 1);
}

Trial try_kernel(Compiler& compiler, const CompileRequest& request, const MacroTexts& known,
                 const SourceMacros& macros) {
  std::string reason;
  for (const char* guess : {"32", "16", "1"}) {
    CompileOutcome outcome = Rejection{};
    MacroTexts guessed = guesses(compiler, request, known, macros, guess, outcome);
    if (const auto* compiled = std::get_if<Compiled>(&outcome)) {
      const std::string symbol = entry_symbol(compiled->ptx, request.entries.front());
      MacroTexts all = known;
      all.insert(guessed.begin(), guessed.end());
      return {.symbol = symbol,
              .signature = signature_of(compiler, request, symbol, all),
              .facts = ptx_facts(compiled->ptx, symbol),
              .ptx = compiled->ptx,
              .guessed = std::move(guessed)};
    }
    reason = explained(std::get<Rejection>(outcome).reason);
    if (guessed.empty()) {
      throw InputError(request.source.name + ": does not compile" +
                       (known.empty() ? "" : " with " + listed(known)) + ": " + reason);
    }
    if (std::string_view(guess) != "1") continue;
    throw InputError(request.source.name + ": does not compile with " + listed(guessed) +
                     " (nor with 16 or 32) for macros without a value: " + reason +
                     "; give them values: --param " + guessed.begin()->first + "=VALUE,VALUE");
  }
  throw InputError(reason);
}

void try_variants(Compiler& compiler, const CompileRequest& request,
                  const std::vector<MacroTexts>& variants, Trial& trial) {
  for (MacroTexts macros : variants) {
    macros.insert(trial.guessed.begin(), trial.guessed.end());
    const CompileOutcome outcome = compile(compiler, request, macros);
    const auto* compiled = std::get_if<Compiled>(&outcome);
    if (compiled == nullptr) continue;
    const std::string symbol = entry_symbol(compiled->ptx, request.entries.front());
    trial.facts = joined(std::move(trial.facts), ptx_facts(compiled->ptx, symbol));
  }
}

Trial try_named(const std::function<Trial(const std::string&)>& look, const std::string& option,
                const std::string& entry, const Declarations& declared) {
  try {
    return look(entry);
  } catch (const InputError& error) {
    std::vector<std::string> names;
    for (const DeclaredKernel& kernel : declared.kernels) names.push_back(kernel.name);
    const std::string name = entry.substr(0, entry.find('<'));
    const bool is_unknown =
        std::ranges::count(names, name) == 0 && !names.empty() &&
        std::string_view(error.what()).find("no entry point") != std::string_view::npos;
    if (!is_unknown) throw;
    const auto meant = std::ranges::find(names, unqualified(entry), unqualified);
    if (meant != names.end()) {
      throw InputError(option + ": unknown kernel '" + entry + "'; did you mean '" + *meant +
                       entry.substr(name.size()) + "'?");
    }
    throw InputError(option + ": " + unknown_name("kernel", entry, names));
  }
}

std::optional<std::string> ptx_of(Compiler& compiler, const CompileRequest& request,
                                  const MacroTexts& macros) {
  CompileOutcome outcome = compile(compiler, request, macros);
  auto* compiled = std::get_if<Compiled>(&outcome);
  if (compiled == nullptr) return std::nullopt;
  return std::move(compiled->ptx);
}

}  // namespace evo
