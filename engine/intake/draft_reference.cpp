// Drafts the source of the expected outputs.

#include <algorithm>

#include "engine/core/error.hpp"
#include "engine/intake/intake.hpp"

namespace evo {
namespace {

constexpr const char* kDefaults = "default";
constexpr const char* kProgram = "program";

bool has_default_configuration(const Draft& draft) {
  return !draft.parameters.empty() &&
         std::ranges::none_of(draft.parameters, [](const auto& p) { return p.values.empty(); });
}

std::string listed(const std::vector<DeclaredParameter>& parameters) {
  std::string text;
  for (const DeclaredParameter& parameter : parameters) {
    text += (text.empty() ? "" : ", ") + parameter.type + " " + parameter.name;
  }
  return "(" + text + ")";
}

const DeclaredKernel* find(const Declarations& declared, const std::string& entry) {
  const std::string plain = entry.substr(0, entry.find('<'));
  const auto found = std::ranges::find_if(
      declared.kernels, [&](const DeclaredKernel& kernel) { return kernel.name == plain; });
  return found == declared.kernels.end() ? nullptr : &*found;
}

/// Throws unless both kernels have the same parameters, because the reference is launched with the
/// arguments of the tuned kernel.
void require_same_parameters(const Declarations& declared, const Trial& trial,
                             const std::string& reference, const Draft& draft) {
  const DeclaredKernel* kernel = find(declared, draft.entry);
  const DeclaredKernel* other = find(declared, reference);
  const auto parameters = static_cast<std::size_t>(std::ranges::count_if(
      draft.arguments, [](const auto& a) { return a.kind != DraftArgument::Kind::kConstant; }));
  bool is_same = trial.facts.parameters.size() == parameters;
  for (std::size_t i = 0; is_same && i < parameters; ++i) {
    is_same = trial.facts.parameters[i].bytes == draft.arguments[i].bytes;
  }
  if (is_same && kernel != nullptr && other != nullptr) {
    is_same = std::ranges::equal(kernel->parameters, other->parameters,
                                 [](const auto& a, const auto& b) { return a.name == b.name; });
  }
  if (is_same) return;
  throw InputError("--reference " + reference + ": its parameters " +
                   (other == nullptr ? "" : listed(other->parameters)) + " are not those of " +
                   draft.entry + " " + (kernel == nullptr ? "" : listed(kernel->parameters)) +
                   "; allowed: a kernel with the same parameter names and types in the same order");
}

/// The first `dimensions` of `sizes`, the tuned kernel's grid or block, for the reference.
std::vector<std::string> borrowed(const std::vector<std::string>& sizes, int dimensions) {
  std::vector<std::string> list(
      sizes.begin(), sizes.begin() + std::min<std::ptrdiff_t>(dimensions, std::ssize(sizes)));
  return list;
}

}  // namespace

void draft_reference(const Given& given, const Declarations& declared, const TrialOf& look,
                     Draft& draft) {
  if (given.reference == kProgram) return;
  const bool is_said = !given.reference.empty();
  if (!is_said && (given.sizes.empty() || !has_default_configuration(draft))) return;
  if (!is_said || given.reference == kDefaults) {
    if (!has_default_configuration(draft)) {
      throw InputError(
          "--reference default: the space has no default configuration; give "
          "macros values by --param");
    }
    draft.reference.kind = DraftReference::Kind::kDefaults;
    draft.assumed.push_back(
        "reference: the default configuration is the reference; other configurations are compared "
        "with it, so an error common to all configurations is not found; --reference program "
        "writes a reference.py instead");
    return;
  }
  const Trial trial = try_named(look, "--reference", given.reference, declared);
  require_same_parameters(declared, trial, given.reference, draft);
  draft.reference = {DraftReference::Kind::kKernel, given.reference,
                     borrowed(draft.grid, trial.facts.grid_dimensions),
                     borrowed(draft.block, trial.facts.block_dimensions)};
  if (trial.facts.has_dynamic_shared) {
    draft.reference.dynamic_shared_bytes = draft.dynamic_shared_bytes;
  }
  if (!given.reference_grid.empty()) {
    draft.reference.grid = given_expressions("--reference-grid", given.reference_grid, 3, draft);
  }
  if (!given.reference_block.empty()) {
    draft.reference.block = given_expressions("--reference-block", given.reference_block, 3, draft);
  }
  if (given.reference_grid.empty() || given.reference_block.empty()) {
    draft.assumed.push_back(
        "reference: " + given.reference + " is launched with the grid and block of " + draft.entry +
        ", limited to the dimensions that the reference uses; --reference-grid and "
        "--reference-block change this");
  }
}

}  // namespace evo
