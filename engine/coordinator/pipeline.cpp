#include "engine/coordinator/pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "engine/compile/entry_symbol.hpp"
#include "engine/coordinator/kernel_key.hpp"
#include "engine/core/error.hpp"
#include "engine/ptx/parameters.hpp"
#include "engine/ptx/variables.hpp"

namespace evo {

const ShapeJudgement* Judgement::on(std::size_t shape) const {
  const auto found = std::ranges::find(shapes, shape, &ShapeJudgement::shape);
  return found == shapes.end() ? nullptr : &*found;
}

void Judgement::become_duplicate() {
  duplicate = true;
  checks.clear();
  rejection.reset();
  screened = false;
  check_ms = 0;
  for (ShapeJudgement& on : shapes) {
    on.timing.reset();
    on.card.reset();
    on.energy.reset();
    on.time_ms = 0;
  }
}

std::vector<const Shape*> Pipeline::timed(std::span<const ShapeTask> tasks) const {
  std::vector<const Shape*> shapes;
  for (const ShapeTask& task : tasks) shapes.push_back(setup_.timed.at(task.shape));
  return shapes;
}

KernelUnderTest Pipeline::kernel_under_test(const CompilationRecord& compilation,
                                            const std::string& kernel_key, const Values& macros,
                                            std::span<const ShapeTask> tasks) const {
  KernelUnderTest kernel{
      kernel_key, image_of(setup_.problem, setup_.kernel, compilation), macros, {}};
  for (const Shape* shape : timed(tasks)) kernel.shapes.push_back(shape->name);
  return kernel;
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

namespace {

/// Why a kernel with these parameters cannot be given these arguments.
std::string misfit_of(const std::vector<PtxParameter>& parameters,
                      const std::vector<const Argument*>& arguments) {
  constexpr std::string_view kOrder = "; allowed are arguments in the order of the parameters";
  if (parameters.size() != arguments.size()) {
    return fmt::format("the kernel has {} parameters, the launch gives {} arguments{}",
                       parameters.size(), arguments.size(), kOrder);
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Argument& argument = *arguments[i];
    const PtxParameter& parameter = parameters[i];
    if (parameter.bytes != argument.parameter_bytes()) {
      return fmt::format("parameter {} has {} bytes, the argument '{}' {}{}", i, parameter.bytes,
                         argument.name, argument.parameter_bytes(), kOrder);
    }
    if (argument.direction != Direction::kScalar || !argument.fields.empty()) continue;
    const bool takes_float = parameter.type.starts_with(".f");
    const bool takes_integer = parameter.type.starts_with(".u") || parameter.type.starts_with(".s");
    if (!takes_float && !takes_integer) continue;
    // A half is 16 bits to the compiler, whichever they are.
    if (size_of(argument.dtype) < sizeof(float)) continue;
    if (takes_float != is_floating(argument.dtype)) {
      return fmt::format("parameter {} is {}, the argument '{}' {}{}", i,
                         takes_float ? "a floating number" : "an integer", argument.name,
                         to_string(argument.dtype), kOrder);
    }
  }
  return {};
}

}  // namespace

std::string parameters_text(const Problem& problem, const KernelSpec& kernel,
                            const KernelImage& image) {
  const std::vector<std::string> names = kernel.entries();
  for (const KernelStep& step : kernel.steps) {
    if (step.when) continue;
    const auto entry =
        static_cast<std::size_t>(std::ranges::find(names, step.entry) - names.begin());
    const auto parameters = parameters_of(image.ptx, image.entries.at(entry));
    if (!parameters) continue;
    std::vector<std::size_t> positions(problem.arguments.size());
    std::iota(positions.begin(), positions.end(), std::size_t{0});
    std::vector<const Argument*> arguments;
    for (const std::size_t i : step.arguments.value_or(positions)) {
      if (!problem.arguments.at(i).is_constant()) arguments.push_back(&problem.arguments[i]);
    }
    const std::string misfit = misfit_of(*parameters, arguments);
    if (!misfit.empty()) return kernel.is_plain() ? misfit : "step " + step.entry + ": " + misfit;
  }
  return {};
}

Judgement Pipeline::build(Compilations::Ticket ticket, const Values& macros,
                          std::span<const ShapeTask> tasks) {
  Judgement result;
  for (const ShapeTask& task : tasks) result.shapes.push_back({.shape = task.shape, .launch = {}});
  result.built = workers_.wait_for(ticket);
  result.rejection = build_gate(result);
  if (!result.rejection) result.rejection = resource_gates(result, macros);
  return result;
}

Judgement Pipeline::judge(Compilations::Ticket ticket, const Values& macros, Effort effort,
                          std::span<const ShapeTask> tasks) {
  Judgement result = build(ticket, macros, tasks);
  if (!result.rejection && workers_.has_device() && enter(result)) {
    measure(result, macros, effort, tasks);
  }
  return result;
}

bool Pipeline::enter(Judgement& built) {
  if (known_kernels_.insert(built.kernel_key).second) return true;
  built.become_duplicate();
  return false;
}

void Pipeline::measure(Judgement& built, const Values& macros, Effort effort,
                       std::span<const ShapeTask> tasks) {
  const KernelUnderTest kernel =
      kernel_under_test(built.built.record, built.kernel_key, macros, tasks);
  built.rejection = correctness_gate(built, kernel, effort);
  if (!built.rejection) built.rejection = timing_gate(built, kernel, effort, tasks);
  if (!built.rejection && setup_.energy_s > 0) built.rejection = energy_gate(built, kernel);
}

void Pipeline::time(Judgement& measured, const Values& macros, Effort effort,
                    std::span<const ShapeTask> tasks) {
  const KernelUnderTest kernel =
      kernel_under_test(measured.built.record, measured.kernel_key, macros, tasks);
  measured.rejection = timing_gate(measured, kernel, effort, tasks);
}

std::optional<Rejection> Pipeline::build_gate(Judgement& result) const {
  const CompilationRecord& compilation = result.built.record;
  if (compilation.ok) {
    const KernelImage image = image_of(setup_.problem, setup_.kernel, compilation);
    std::string why = parameters_text(setup_.problem, setup_.kernel, image);
    if (why.empty()) why = unset_constants_text(setup_.problem, image);
    if (why.empty()) return std::nullopt;
    return Rejection{Gate::kBuild, setup_.kernel.source.filename().string() + ": " + why, {}};
  }
  return Rejection{Gate::kBuild, compilation.error, compilation.log};
}

std::optional<Rejection> Pipeline::resource_gates(Judgement& result, const Values& macros) const {
  const CompilationRecord& record = result.built.record;
  try {
    result.entries = entries_of(setup_.kernel, record);
    std::vector<const Shape*> timed;
    for (ShapeJudgement& on : result.shapes) {
      timed.push_back(setup_.timed.at(on.shape));
      const Values values =
          setup_.problem.values_for(*timed.back(), setup_.device.sm_count, macros);
      on.launch = setup_.kernel.launch(values);
      const std::int64_t dynamic =
          largest_shared_bytes(result.entries, on.launch) - record.resources.static_shared_bytes;
      // An entry that is left out may have more than all that run.
      on.dynamic_shared_bytes = static_cast<int>(std::max<std::int64_t>(dynamic, 0));
    }
    result.kernel_key = kernel_key(record.ptx_hash, result.entries, setup_.problem, setup_.kernel,
                                   timed, macros, setup_.device);
  } catch (const InputError& error) {
    // The expressions are the problem's, but only this configuration breaks them.
    return Rejection{Gate::kResource, error.what()};
  }
  for (const ShapeJudgement& on : result.shapes) {
    auto rejection = resource_gate(result.entries, setup_.kernel.entries(), on.launch,
                                   setup_.policy, setup_.device);
    if (rejection) return rejection;
  }
  return std::nullopt;
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
                                               Effort effort, std::span<const ShapeTask> tasks) {
  bool aged = false;  // by the launches on all shapes together
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    ShapeJudgement& on = result.shapes[i];
    auto answer = workers_.time(kernel, kernel.shapes[i], effort, tasks[i].give_up_us,
                                Workers::Purpose::kJudging);
    on.time_ms = workers_.last_ms();
    const std::string where = tasks.size() > 1 ? "shape " + kernel.shapes[i] + ": " : "";
    if (auto* failure = std::get_if<WorkerFailure>(&answer)) {
      return Rejection{Gate::kTiming, where + failure->reason};
    }
    auto& outcome = std::get<TimingResult>(answer);
    on.timing = outcome.timing;
    on.card = std::move(outcome.card);
    aged = aged || outcome.aged;
    if (!outcome.rejection) continue;
    if (!where.empty()) outcome.rejection->reason.insert(0, where);
    return std::move(outcome.rejection);
  }
  result.screened = result.screened || !aged;
  return std::nullopt;
}

std::optional<Rejection> Pipeline::energy_gate(Judgement& result, const KernelUnderTest& kernel) {
  for (std::size_t i = 0; i < result.shapes.size(); ++i) {
    ShapeJudgement& on = result.shapes[i];
    if (!on.timing || !on.timing->complete) continue;
    auto answer =
        workers_.energy(kernel, kernel.shapes[i], setup_.energy_s, Workers::Purpose::kJudging);
    on.time_ms += workers_.last_ms();
    if (auto* failure = std::get_if<WorkerFailure>(&answer)) {
      return Rejection{Gate::kTiming, std::move(failure->reason)};
    }
    auto& outcome = std::get<EnergyResult>(answer);
    on.energy = outcome.energy;
    if (outcome.rejection) return std::move(outcome.rejection);
  }
  return std::nullopt;
}

}  // namespace evo
