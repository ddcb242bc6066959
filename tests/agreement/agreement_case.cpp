#include "tests/agreement/agreement_case.hpp"

#include <iterator>

#include "engine/core/hash.hpp"
#include "tests/agreement/cases.hpp"

namespace evo::agreement {
namespace {

std::string_view view(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::optional<Fault> stray_write(Device& device, const std::vector<KernelArgument>& arguments) {
  for (const KernelArgument& argument : arguments) {
    const auto* buffer = std::get_if<BufferId>(&argument);
    if (buffer == nullptr) continue;
    if (const auto damage = device.memory().guard_violation(*buffer)) return Fault{*damage};
  }
  return std::nullopt;
}

std::vector<KernelArgument> upload_all(Device& device, const AgreementCase& data) {
  std::vector<KernelArgument> arguments;
  for (const CaseArgument& argument : data.arguments) {
    if (argument.scalar) {
      arguments.emplace_back(*argument.scalar);
      continue;
    }
    const BufferId buffer = device.memory().allocate(
        {"argument " + std::to_string(arguments.size()), argument.initial.size(),
         argument.is_output || argument.is_scratch});
    if (!argument.initial.empty()) device.memory().upload(buffer, argument.initial);
    arguments.emplace_back(buffer);
  }
  return arguments;
}

}  // namespace

std::string AgreementCase::inputs_hash() const {
  ContentHash hash;
  hash.add(entry);
  for (const CaseArgument& argument : arguments) {
    if (argument.is_scratch) continue;
    hash.add(argument.scalar ? view(argument.scalar->bytes) : view(argument.initial));
  }
  return hash.hex();
}

std::variant<Outputs, Fault> run_case(Device& device, const AgreementCase& data,
                                      const KernelImage& image) {
  auto loaded = device.load(image);
  if (auto* fault = std::get_if<Fault>(&loaded)) return std::move(*fault);
  const KernelId kernel = std::get<KernelId>(loaded);
  const std::vector<KernelArgument> arguments = upload_all(device, data);
  auto fault = device.launch(kernel, data.launch, arguments);
  if (!fault) fault = stray_write(device, arguments);
  if (fault) return std::move(*fault);  // buffers of a lost context cannot be released
  Outputs outputs;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto* buffer = std::get_if<BufferId>(&arguments[i]);
    if (buffer == nullptr) continue;
    if (data.arguments[i].is_output) {
      outputs.emplace_back(data.arguments[i].initial.size());
      if (!outputs.back().empty()) device.memory().download(*buffer, outputs.back());
    }
    device.memory().release(*buffer);
  }
  device.unload(kernel);
  return outputs;
}

std::vector<AgreementCase> all_cases() {
  std::vector<AgreementCase> all;
  for (auto* part :
       {ordinary_cases, ordinary_control_cases, approximation_cases, ieee_cases, half_cases,
        conversion_cases, integer_cases, warp_cases, memory_cases, matrix_cases, cluster_cases}) {
    std::vector<AgreementCase> cases = part();
    std::move(cases.begin(), cases.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace evo::agreement
