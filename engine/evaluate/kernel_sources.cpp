#include "engine/evaluate/kernel_sources.hpp"

#include <set>
#include <utility>

#include "engine/compile/compiler_options.hpp"
#include "engine/compile/host_code.hpp"
#include "engine/compile/source_checks.hpp"
#include "engine/compile/toolkit.hpp"
#include "engine/core/error.hpp"
#include "engine/core/formulas.hpp"
#include "engine/device/arch_limits.hpp"
#include "engine/evaluate/build_options.hpp"

namespace evo {
namespace {

std::string define(const std::string& name, const std::string& value) {
  return "-D" + name + "=" + value;
}

/// The architecture for which kernels are compiled. Throws a SpaceError that names the space file
/// and the key "arch" if the device cannot run code for the space's architecture.
std::string arch_of(const SpaceDefinition& space, const DeviceInfo& device) {
  try {
    return compile_arch(device.arch, space.arch);
  } catch (const InputError& error) {
    throw SpaceError(space.file + ": arch: \"" + space.arch + "\": " + error.what() + " (" +
                     device.name + ")");
  }
}

}  // namespace

KernelSources::KernelSources(const Problem& problem, const KernelSpec& kernel, const Shape& shape,
                             const Space& space, std::filesystem::path templates_root,
                             const DeviceInfo& device, bool with_lines)
    : problem_(problem),
      kernel_(kernel),
      shape_(shape),
      space_(space),
      templates_root_(std::move(templates_root)),
      with_lines_(with_lines),
      options_(options_of_space(space, problem, templates_root_)),
      source_(load(kernel, options_)),
      arch_(arch_of(space.definition(), device)),
      has_own_includes_(!include_folders(options_).empty()) {
  options_ = with_toolkit(std::move(options_), source_, toolkit_include_folders());
  (void)source_.expanded();  // fails now, before compilations, if the source cannot be exported
}

KernelSource KernelSources::load(const KernelSpec& spec,
                                 const std::vector<std::string>& options) const {
  std::vector<std::filesystem::path> folders = include_folders(options);
  for (const auto& folder : toolkit_include_folders()) folders.push_back(folder);
  KernelSource source = load_source(spec.source, templates_root_, folders);
  return makes_all_device_code(options) ? source : without_host_code(std::move(source));
}

CompileRequest KernelSources::request_for(const KernelSpec& spec, const KernelSource& source,
                                          std::vector<std::string> options) const {
  for (const auto& [name, value] : problem_.macros_for(shape_)) {
    options.push_back(define(name, formula_of(value)));
  }
  if (with_lines_) options.emplace_back("-lineinfo");
  return {source, spec.entries(), arch_, std::move(options)};
}

CompileRequest KernelSources::request(const Candidate& candidate) const {
  std::vector<std::string> options = options_;
  for (const auto& [name, value] : space_.macros(candidate)) {
    options.push_back(define(name, value));
  }
  return request_for(kernel_, source_, std::move(options));
}

KernelSource KernelSources::reference_source() const {
  return load(*problem_.reference.kernel, include_options_of(problem_, templates_root_));
}

CompileRequest KernelSources::reference_request() const {
  const KernelSource source = reference_source();
  std::vector<std::string> options = with_toolkit(include_options_of(problem_, templates_root_),
                                                  source, toolkit_include_folders());
  std::set<std::string> given;
  for (const auto& [name, value] : problem_.reference.macros) {
    options.push_back(define(name, value));
    given.insert(name);
  }
  require_macros_kept(source, given);
  return request_for(*problem_.reference.kernel, source, std::move(options));
}

}  // namespace evo
