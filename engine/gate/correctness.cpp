#include "engine/gate/correctness.hpp"

#include <algorithm>
#include <iterator>

#include "engine/gate/compare.hpp"
#include "engine/gate/sampled_check.hpp"

namespace evo {
namespace {

constexpr std::byte kPoison{0xff};        // NaN in every floating-point format
constexpr std::byte kSecondPoison{0x5b};  // another value: an element nobody writes shows it

bool is_output(const Argument& argument) {
  return argument.direction == Direction::kOut || argument.direction == Direction::kInOut;
}

std::string place(const CheckCase& data) {
  return "shape " + data.shape->name + ", seed " + std::to_string(data.seed) + ": ";
}

Rejection wrong(const CheckCase& data, const std::string& reason, std::string detail = {}) {
  return {Gate::kCorrectness, place(data) + reason, std::move(detail)};
}

void append(CorrectnessResult& total, CorrectnessResult part) {
  std::move(part.checks.begin(), part.checks.end(), std::back_inserter(total.checks));
  total.rejection = std::move(part.rejection);
  total.device_lost = part.device_lost;
}

}  // namespace

/// One launch and what it left behind.
struct CorrectnessGate::Ran {
  Outputs outputs;  ///< per argument; empty unless out or inout
  std::optional<Rejection> rejection = {};
  bool device_lost = false;
};

CorrectnessResult CorrectnessGate::check(const LoadedKernel& kernel,
                                         std::vector<const Shape*> shapes,
                                         const Progress& progress) {
  const auto work = [&](const Shape* shape) { return problem_.flops.evaluate(shape->variables); };
  std::stable_sort(shapes.begin(), shapes.end(),
                   [&](const Shape* a, const Shape* b) { return work(a) < work(b); });
  CorrectnessResult total;
  for (const Shape* shape : shapes) {
    append(total, check_shape(kernel, *shape, progress));
    if (total.rejection) break;
  }
  return total;
}

std::size_t CorrectnessGate::seeds_for(const Shape& shape) const {
  return problem_.flops.evaluate(shape.variables) > options_.flops_for_all_seeds ? 1
                                                                                 : options_.seeds;
}

bool CorrectnessGate::is_sampled(const Shape& shape) const {
  return device_.sampler() != nullptr && SampledCheck::is_possible(problem_) &&
         problem_.flops.evaluate(shape.variables) > options_.flops_of_whole_grids;
}

CorrectnessResult CorrectnessGate::check_shape(const LoadedKernel& kernel, const Shape& shape,
                                               const Progress& progress) {
  if (is_sampled(shape)) {
    return SampledCheck(device_, problem_, cases_, options_.flops_of_whole_grids)
        .check(kernel, shape, progress);
  }
  CorrectnessResult total;
  const Workspace workspace(device_, problem_, kernel, cases_.get(shape, 0));
  for (std::size_t index = 0; index < seeds_for(shape) && !total.rejection; ++index) {
    const CheckCase& data = cases_.get(shape, index);
    progress("checking shape " + shape.name + ", seed " + std::to_string(index + 1));
    const Ran ran = run(kernel, data, workspace, kPoison);
    append(total, judge(kernel, data, ran));
    if (index == 0 && seeds_for(shape) > 1 && !total.rejection) {
      progress("repeating shape " + shape.name);
      total.rejection = repeat(kernel, data, workspace, ran.outputs);
    }
  }
  return total;
}

CorrectnessResult CorrectnessGate::check_case(const LoadedKernel& kernel, const Shape& shape,
                                              std::size_t index, const Progress& progress) {
  const CheckCase& data = cases_.get(shape, index);
  const Workspace workspace(device_, problem_, kernel, data);
  progress("checking shape " + shape.name + ", fresh seed");
  return judge(kernel, data, run(kernel, data, workspace, kPoison));
}

CorrectnessGate::Ran CorrectnessGate::run(const LoadedKernel& kernel, const CheckCase& data,
                                          const Workspace& workspace, std::byte poison) {
  const std::vector<KernelArgument> arguments = workspace.arguments_of(data);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Direction direction = problem_.arguments[i].direction;
    if (direction == Direction::kOut) device_.fill(std::get<BufferId>(arguments[i]), poison);
    if (direction == Direction::kInOut) {
      device_.upload(std::get<BufferId>(arguments[i]), data.inputs[i]);
    }
  }
  Ran ran;
  if (const auto fault = device_.launch(kernel.id, kernel.launch_for(data), arguments)) {
    ran.rejection = wrong(data, fault->reason, fault->detail);
    ran.device_lost = fault->device_lost;
    return ran;
  }
  if (const auto what = damage(arguments, data)) {
    ran.rejection = wrong(data, *what);
    cases_.restore_inputs(data);
    return ran;
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    ran.outputs.emplace_back();
    if (!is_output(problem_.arguments[i])) continue;
    ran.outputs.back().resize(problem_.arguments[i].bytes(data.values));
    device_.download(std::get<BufferId>(arguments[i]), ran.outputs.back());
  }
  return ran;
}

std::optional<std::string> CorrectnessGate::damage(const std::vector<KernelArgument>& arguments,
                                                   const CheckCase& data) {
  std::optional<std::string> first;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto* buffer = std::get_if<BufferId>(&arguments[i]);
    if (buffer == nullptr) continue;
    // Every buffer is looked at, because looking also repairs.
    const std::optional<std::string> found = device_.guard_violation(*buffer);
    if (found && !first) first = found;
    if (problem_.arguments[i].direction != Direction::kIn) continue;
    std::vector<std::byte> now(data.inputs[i].size());
    device_.download(*buffer, now);
    if (now == data.inputs[i] || first) continue;
    const auto changed = std::mismatch(now.begin(), now.end(), data.inputs[i].begin()).first;
    first = "changed its input '" + problem_.arguments[i].name + "', first at byte " +
            std::to_string(changed - now.begin());
  }
  return first;
}

CorrectnessResult CorrectnessGate::judge(const LoadedKernel& kernel, const CheckCase& data,
                                         const Ran& ran) const {
  CorrectnessResult result;
  result.rejection = ran.rejection;
  result.device_lost = ran.device_lost;
  if (ran.rejection) return result;
  const Tolerance tolerance =
      kernel.spec->tolerance.evaluate(merged({&kernel.macros, &data.values}));
  CheckResult figures{data.shape->name, data.seed};
  for (std::size_t i = 0; i < ran.outputs.size(); ++i) {
    const Argument& argument = problem_.arguments[i];
    if (!is_output(argument)) continue;
    const Comparison comparison =
        compare(argument.dtype, ran.outputs[i], data.expected[i], tolerance.bad_abs_error,
                argument.row_length(data.values));
    add_figures(figures, comparison);
    const auto why = violation(comparison, tolerance, argument.name);
    if (why && !result.rejection) result.rejection = wrong(data, *why);
  }
  result.checks.push_back(figures);
  return result;
}

std::optional<Rejection> CorrectnessGate::repeat(const LoadedKernel& kernel, const CheckCase& data,
                                                 const Workspace& workspace, const Outputs& first) {
  const Ran again = run(kernel, data, workspace, kSecondPoison);
  if (again.rejection) return again.rejection;
  if (!kernel.spec->deterministic) return judge(kernel, data, again).rejection;
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (again.outputs[i] == first[i]) continue;
    const auto differs =
        std::mismatch(first[i].begin(), first[i].end(), again.outputs[i].begin()).first;
    const auto element =
        static_cast<std::size_t>(differs - first[i].begin()) / size_of(problem_.arguments[i].dtype);
    return wrong(data,
                 "a second run on the same input gave another result (a race, or an element "
                 "that is never written), first at " +
                     problem_.arguments[i].name + "[" + std::to_string(element) + "]");
  }
  return std::nullopt;
}

}  // namespace evo
