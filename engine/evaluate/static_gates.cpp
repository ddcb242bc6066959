#include "engine/evaluate/static_gates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "engine/core/error.hpp"
#include "engine/evaluate/kernel_key.hpp"
#include "engine/ptx/parameters.hpp"
#include "engine/ptx/variables.hpp"

namespace evo {

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
  bool is_constant = true;  // whether all variables in `list` are __constant__
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
         ": the kernel reads a variable that nothing sets, so it is zero; " +
         (is_constant ? "set the variable by an argument of \"kind\": \"constant\""
                      : "pass the variable's content as an argument of direction \"in\"") +
         "; if zero is intended, name the variable in \"unset_constants\" of problem.json";
}

namespace {

/// Says why `arguments` do not match the parameters of an entry; empty if they match.
std::string misfit_of(const std::vector<PtxParameter>& parameters,
                      const std::vector<const Argument*>& arguments) {
  constexpr std::string_view kOrder = "; allowed: arguments in the order of the parameters";
  if (parameters.size() != arguments.size()) {
    return fmt::format("the kernel has {} parameters, the launch gives {} arguments{}",
                       parameters.size(), arguments.size(), kOrder);
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Argument& argument = *arguments[i];
    const PtxParameter& parameter = parameters[i];
    if (parameter.bytes != argument.parameter_bytes()) {
      return fmt::format("parameter {} has {} bytes, the argument '{}' has {}{}", i,
                         parameter.bytes, argument.name, argument.parameter_bytes(), kOrder);
    }
    if (argument.direction != Direction::kScalar || !argument.fields.empty()) continue;
    const bool takes_float = parameter.type.starts_with(".f");
    const bool takes_integer = parameter.type.starts_with(".u") || parameter.type.starts_with(".s");
    if (!takes_float && !takes_integer) continue;
    // Types of less than 32 bits are not examined, because a kernel may take the bits of such a
    // float as an integer, for example of an f16 as an unsigned short.
    if (size_of(argument.dtype) < sizeof(float)) continue;
    if (takes_float != is_floating(argument.dtype)) {
      return fmt::format("parameter {} is {}, the argument '{}' is {}{}", i,
                         takes_float ? "a floating-point number" : "an integer", argument.name,
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

std::optional<Rejection> build_gate(const TuningTask& task, const Evaluation& evaluation) {
  const CompilationRecord& compilation = evaluation.compilation;
  if (!compilation.ok) return Rejection{Gate::kBuild, compilation.error, compilation.log};
  const KernelImage image = image_of(task.problem(), task.kernel(), compilation);
  std::string why = parameters_text(task.problem(), task.kernel(), image);
  if (why.empty()) why = unset_constants_text(task.problem(), image);
  if (why.empty()) return std::nullopt;
  return Rejection{Gate::kBuild, task.kernel().source.filename().string() + ": " + why, {}};
}

std::optional<Rejection> resource_gate(const TuningTask& task, const ResourcePolicy& policy,
                                       Evaluation& evaluation) {
  const CompilationRecord& record = evaluation.compilation;
  const Values macros = task.space().values(evaluation.candidate);
  try {
    evaluation.entries = entries_of(task.kernel(), record);
    std::vector<const Shape*> timed;
    for (ShapeEvaluation& on : evaluation.shapes) {
      timed.push_back(&task.shape(on.shape));
      const Values values =
          task.problem().values_for(*timed.back(), task.device().sm_count, macros);
      on.launch = task.kernel().launch(values);
      const std::int64_t dynamic = largest_shared_bytes(evaluation.entries, on.launch) -
                                   record.resources.static_shared_bytes;
      // `dynamic` is negative if no step runs the entry with the most static shared memory.
      on.dynamic_shared_bytes = static_cast<int>(std::max<std::int64_t>(dynamic, 0));
    }
    evaluation.kernel_key = kernel_key(record.ptx_hash, evaluation.entries, task.problem(),
                                       task.kernel(), timed, macros, task.device());
  } catch (const InputError& error) {
    // The candidate is rejected, because an expression of the problem has no valid value for its
    // configuration.
    return Rejection{Gate::kResource, error.what()};
  }
  for (const ShapeEvaluation& on : evaluation.shapes) {
    auto rejection = resource_gate(evaluation.entries, task.kernel().entries(), on.launch, policy,
                                   task.device());
    if (rejection) return rejection;
  }
  return std::nullopt;
}

KernelUnderTest kernel_under_test(const TuningTask& task, const Candidate& candidate,
                                  const CompilationRecord& compilation,
                                  const std::string& kernel_key,
                                  const std::vector<std::size_t>& shapes) {
  KernelUnderTest kernel{kernel_key,
                         image_of(task.problem(), task.kernel(), compilation),
                         task.space().values(candidate),
                         {}};
  for (const std::size_t shape : shapes) kernel.shapes.push_back(task.shape(shape).name);
  return kernel;
}

KernelUnderTest kernel_under_test(const TuningTask& task, const Evaluation& evaluation) {
  std::vector<std::size_t> shapes;
  for (const ShapeEvaluation& on : evaluation.shapes) shapes.push_back(on.shape);
  return kernel_under_test(task, evaluation.candidate, evaluation.compilation,
                           evaluation.kernel_key, shapes);
}

}  // namespace evo
