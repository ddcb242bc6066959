#include "engine/coordinator/pipeline.hpp"

#include <algorithm>

#include "engine/compile/entry_symbol.hpp"
#include "engine/compile/ptx_constants.hpp"
#include "engine/coordinator/kernel_key.hpp"
#include "engine/core/error.hpp"

namespace evo {

KernelUnderTest Pipeline::kernel_under_test(const CompilationRecord& compilation,
                                            const std::string& kernel_key,
                                            const Values& macros) const {
  return {kernel_key, image_of(setup_.problem, setup_.kernel, compilation), macros};
}

std::vector<CompiledEntry> entries_of(const KernelSpec& kernel,
                                      const CompilationRecord& compilation) {
  return compiled_entries(compilation.ptx, kernel.entries(), compilation.resources);
}

KernelImage image_of(const Problem& problem, const KernelSpec& kernel,
                     const CompilationRecord& compilation) {
  KernelImage image{compilation.ptx, compilation.cubin, {}};
  for (const CompiledEntry& entry : entries_of(kernel, compilation)) {
    image.entries.push_back(entry.symbol);
  }
  for (const Argument& argument : problem.arguments) {
    if (!argument.is_constant()) continue;
    image.constants.push_back(
        constant_symbol(compilation.ptx, argument.symbol).value_or(std::string()));
  }
  return image;
}

std::string unset_constants_text(const Problem& problem, const KernelImage& image) {
  std::string list;
  bool is_constant = true;  // all that are listed
  std::vector<std::string> unset;
  for (const std::string& symbol : image.entries) {
    for (const auto& names :
         {unset_constants(image.ptx, symbol), variables_only_read(image.ptx, symbol)}) {
      for (const std::string& name : names) {
        if (std::ranges::find(unset, name) == unset.end()) unset.push_back(name);
      }
    }
  }
  const auto is_meant = [&](const std::string& name) {
    const auto& meant = problem.unset_constants;
    return std::ranges::find(meant, name) != meant.end() ||
           std::ranges::find(problem.arguments, name, &Argument::symbol) != problem.arguments.end();
  };
  for (const std::string& name : unset) {
    if (is_meant(name)) continue;
    is_constant = is_constant && constant_symbol(image.ptx, name).has_value();
    list += (list.empty() ? "" : ", ") + name;
  }
  if (list.empty()) return list;
  return (is_constant ? "__constant__ " : "__device__ ") + list +
         ": the kernel reads what nothing sets, and finds zeros; " +
         (is_constant ? "an argument of \"kind\": \"constant\" sets it"
                      : "arguments of direction \"in\" are given to a kernel") +
         "; where zeros are meant, \"unset_constants\" of problem.json names it";
}

Judgement Pipeline::judge(Compilations::Ticket ticket, const Values& macros, Effort effort,
                          double give_up_us) {
  Judgement result;
  result.built = workers_.wait_for(ticket);
  result.rejection = build_gate(result);
  if (!result.rejection) result.rejection = resource_gates(result, macros);
  if (result.rejection || !workers_.has_device()) return result;
  result.duplicate = !known_kernels_.insert(result.kernel_key).second;
  if (result.duplicate) return result;
  const KernelUnderTest kernel = kernel_under_test(result.built.record, result.kernel_key, macros);
  result.rejection = correctness_gate(result, kernel, effort);
  if (!result.rejection) result.rejection = timing_gate(result, kernel, effort, give_up_us);
  if (!result.rejection && setup_.energy_s > 0) result.rejection = energy_gate(result, kernel);
  return result;
}

std::optional<Rejection> Pipeline::build_gate(Judgement& result) const {
  const CompilationRecord& compilation = result.built.record;
  if (compilation.ok) {
    const std::string unset =
        unset_constants_text(setup_.problem, image_of(setup_.problem, setup_.kernel, compilation));
    if (unset.empty()) return std::nullopt;
    return Rejection{Gate::kBuild, setup_.kernel.source.filename().string() + ": " + unset, {}};
  }
  return Rejection{Gate::kBuild, compilation.error, compilation.log};
}

std::optional<Rejection> Pipeline::resource_gates(Judgement& result, const Values& macros) const {
  try {
    const Values values = setup_.problem.values_for(setup_.timed, setup_.device.sm_count, macros);
    result.launch = setup_.kernel.launch(values);
    const CompilationRecord& record = result.built.record;
    result.entries = entries_of(setup_.kernel, record);
    const std::int64_t dynamic =
        largest_shared_bytes(result.entries, result.launch) - record.resources.static_shared_bytes;
    // An entry that is left out may have more than all that run.
    result.dynamic_shared_bytes = static_cast<int>(std::max<std::int64_t>(dynamic, 0));
    result.kernel_key = kernel_key(record.ptx_hash, result.entries, setup_.problem, setup_.kernel,
                                   setup_.timed, macros, setup_.device);
  } catch (const InputError& error) {
    // The expressions are the problem's, but only this configuration breaks them.
    return Rejection{Gate::kResource, error.what()};
  }
  return resource_gate(result.entries, setup_.kernel.entries(), result.launch, setup_.policy,
                       setup_.device);
}

std::optional<Rejection> Pipeline::correctness_gate(Judgement& result,
                                                    const KernelUnderTest& kernel, Effort effort) {
  auto answer = workers_.check(kernel, effort, Workers::Purpose::kJudging);
  result.check_ms = workers_.last_ms();
  if (auto* failure = std::get_if<WorkerFailure>(&answer)) {
    return Rejection{Gate::kCorrectness, std::move(failure->reason)};
  }
  auto& outcome = std::get<CorrectnessResult>(answer);
  result.checks = std::move(outcome.checks);
  result.screened = !outcome.complete;
  return std::move(outcome.rejection);
}

std::optional<Rejection> Pipeline::timing_gate(Judgement& result, const KernelUnderTest& kernel,
                                               Effort effort, double give_up_us) {
  auto answer = workers_.time(kernel, effort, give_up_us, Workers::Purpose::kJudging);
  result.time_ms = workers_.last_ms();
  if (auto* failure = std::get_if<WorkerFailure>(&answer)) {
    return Rejection{Gate::kTiming, std::move(failure->reason)};
  }
  auto& outcome = std::get<TimingResult>(answer);
  result.timing = outcome.timing;
  result.card = std::move(outcome.card);
  result.screened = result.screened || !outcome.aged;
  return std::move(outcome.rejection);
}

std::optional<Rejection> Pipeline::energy_gate(Judgement& result, const KernelUnderTest& kernel) {
  if (!result.timing || !result.timing->complete) return std::nullopt;
  auto answer = workers_.energy(kernel, setup_.energy_s, Workers::Purpose::kJudging);
  result.time_ms += workers_.last_ms();
  if (auto* failure = std::get_if<WorkerFailure>(&answer)) {
    return Rejection{Gate::kTiming, std::move(failure->reason)};
  }
  auto& outcome = std::get<EnergyResult>(answer);
  result.energy = outcome.energy;
  return std::move(outcome.rejection);
}

}  // namespace evo
