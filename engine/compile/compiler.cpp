#include "engine/compile/compiler.hpp"

#include <string_view>

#include "engine/core/hash.hpp"

namespace evo {
namespace {

/// Version of the code that derives a kernel's resources and symbols from the compiler's output.
/// Increase the version when the code changes, so that older cached results are no longer used.
constexpr std::string_view kReading = "compilation 3";

}  // namespace

std::string CompileRequest::key(const std::string& compiler_version) const {
  ContentHash hash;
  hash.add(kReading).add(compiler_version).add(arch).add(entries.front());
  hash.add(source.name).add(source.text);
  hash.add(std::to_string(source.headers.size()));
  for (const auto& [name, text] : source.headers) hash.add(name).add(text);
  for (const std::string& option : options) hash.add(option);
  // A space marks further entries, because no option begins with a space.
  for (std::size_t i = 1; i < entries.size(); ++i) hash.add(" entry " + entries[i]);
  return hash.hex();
}

CompileOutcome outcome_of(CompileAnswer answer) {
  if (auto* failure = std::get_if<CompilerFailure>(&answer)) {
    return Rejection{Gate::kBuild, std::move(failure->reason), std::move(failure->detail)};
  }
  if (auto* compiled = std::get_if<Compiled>(&answer)) return std::move(*compiled);
  return std::get<Rejection>(std::move(answer));
}

}  // namespace evo
