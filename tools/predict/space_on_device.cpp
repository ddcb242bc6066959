#include "tools/predict/space_on_device.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "engine/compile/compiler_options.hpp"
#include "engine/compile/host_code.hpp"
#include "engine/compile/nvrtc.hpp"
#include "engine/compile/toolkit.hpp"
#include "engine/evaluate/build_options.hpp"
#include "engine/evaluate/static_gates.hpp"
#include "engine/evaluate/validity.hpp"

namespace evo {

SpaceOnDevice::SpaceOnDevice(const SpaceDefinition& space, const std::string& shape,
                             const std::string& device, const VirtualOptions& options)
    : templates_(std::filesystem::path(space.file).parent_path().parent_path() /
                 "kernel_templates"),
      problem_(Problem::load(templates_ / space.problem)),
      spec_(problem_.kernel(space.template_name)),
      shape_(problem_.shape(shape.empty() ? space.shape : shape)),
      compiler_(open_nvrtc()),
      device_(open_virtual_device(device, options)),
      space_(placed_space(space, problem_, spec_, shape_, device_->info())),
      work_(make_host_work(*device_)),
      programs_(problem_),
      cases_(*work_, problem_, programs_, std::nullopt, {.seed = 1}) {}  // no expected outputs

std::filesystem::path SpaceOnDevice::source_file(const std::string& name) const {
  const std::filesystem::path beside = (templates_ / spec_.source).parent_path() / name;
  return std::filesystem::exists(beside) ? beside : templates_ / name;
}

CompileOutcome SpaceOnDevice::compile(const Candidate& candidate) {
  const std::vector<std::filesystem::path> toolkit = toolkit_include_folders();
  std::vector<std::string> options = options_of_space(space_, problem_, templates_);
  std::vector<std::filesystem::path> folders = include_folders(options);
  folders.insert(folders.end(), toolkit.begin(), toolkit.end());
  KernelSource source = load_source(spec_.source, templates_, folders);
  if (!makes_all_device_code(options)) source = without_host_code(std::move(source));
  options = with_toolkit(std::move(options), source, toolkit);
  CompileRequest request{std::move(source), spec_.entries(), space_.definition().arch,
                         std::move(options)};
  for (const auto& [name, value] : space_.macros(candidate))
    request.options.push_back(fmt::format("-D{}={}", name, value));
  for (const auto& [name, value] : problem_.macros_for(shape_))
    request.options.push_back(fmt::format("-D{}={}", name, static_cast<long long>(value)));
  request.options.emplace_back("-lineinfo");
  return outcome_of(compiler_->compile(request));
}

std::variant<LoadedKernel, Fault> SpaceOnDevice::load(const Candidate& candidate,
                                                      const Compiled& compiled) {
  CompilationRecord record;
  record.ptx = compiled.ptx;
  record.cubin = compiled.cubin;
  auto loaded = device_->load(image_of(problem_, spec_, record));
  if (auto* fault = std::get_if<Fault>(&loaded)) return std::move(*fault);
  return LoadedKernel{std::get<KernelId>(loaded), &spec_, space_.values(candidate)};
}

std::variant<Workspace, Fault> SpaceOnDevice::workspace_of(const LoadedKernel& kernel) {
  return Workspace::make(*device_, problem_, kernel, data());
}

}  // namespace evo
