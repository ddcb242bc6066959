#include "engine/gate/correctness/element_sample.hpp"

#include <algorithm>
#include <cstring>

#include "engine/gate/correctness/chosen_elements.hpp"
#include "engine/gate/correctness/grid_part.hpp"
#include "engine/gate/correctness/poison.hpp"

namespace evo {
namespace {

bool differ(const std::vector<std::byte>& a, const std::vector<std::byte>& b, std::size_t at,
            std::size_t size) {
  return std::memcmp(a.data() + at, b.data() + at, size) != 0;
}

}  // namespace

bool ElementSample::is_possible(const Problem& problem, const KernelSpec& kernel) {
  return problem.reference.is_data() && problem.check_program.empty() &&
         !kernel.tolerance.max_row_error &&
         std::ranges::all_of(problem.arguments, &Argument::is_compared_whole);
}

/// Poisons outputs and restores inout arguments.
std::vector<ElementSample::Output> ElementSample::outputs_of(
    const CheckCase& data, const std::vector<KernelArgument>& arguments) const {
  std::vector<Output> outputs;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Argument& argument = problem_.arguments[i];
    if (!argument.is_output() || !data.expected[i]) continue;
    Output output{.position = i, .buffer = std::get<BufferId>(arguments[i])};
    output.expected = work_.kept().content(*data.expected[i]);
    if (argument.direction == Direction::kInOut) {
      output.before = work_.kept().content(*data.inputs[i]);
      work_.kept().put_back(output.buffer, *data.inputs[i]);
    } else {
      device_.memory().poison(output.buffer,
                              poison_pattern(Poison::kNan, argument.dtype, data.seed));
    }
    outputs.push_back(std::move(output));
  }
  return outputs;
}

/// Whether every element that has to be written is written by a CTA.
bool ElementSample::covers(const GridCover& cover, const Output& output) const {
  const std::size_t size = size_of(problem_.arguments[output.position].dtype);
  const std::vector<std::uint32_t>& owners = cover.owners(output.position);
  for (std::size_t i = 0; i < owners.size(); ++i) {
    const bool changes =
        output.before.empty() || differ(output.before, output.expected, i * size, size);
    if (changes && owners[i] == 0) return false;
  }
  return true;
}

/// Whether the launch wrote all elements of the sampled CTAs and no others.
bool ElementSample::wrote_what_it_owns(const Output& output,
                                       const std::vector<std::byte>& content) const {
  const std::size_t size = size_of(problem_.arguments[output.position].dtype);
  if (!output.before.empty()) {
    for (std::size_t i = 0; i < output.owned.size(); ++i) {
      if (!output.owned[i] && differ(output.before, content, i * size, size)) return false;
    }
    return true;
  }
  const std::vector<bool> bytes = device_.interpreting()->written(output.buffer);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    if (bytes[at] != output.owned[at / size]) return false;
  }
  return true;
}

std::optional<CorrectnessResult> ElementSample::check(const LoadedKernel& kernel,
                                                      const Shape& shape,
                                                      const Workspace& workspace) {
  const CheckCase& data = cases_.get(shape, 0);
  const double share = flops_ / problem_.flops.evaluate(shape.variables);
  const std::vector<std::uint64_t> ctas = draw_part(kernel, data, share);
  if (ctas.empty()) return std::nullopt;
  const std::vector<KernelArgument> arguments = workspace.arguments_of(data);
  const auto proof = GridCover::prove(device_, problem_, kernel, data, arguments);
  if (!std::holds_alternative<GridCover>(proof)) return std::nullopt;
  const auto& cover = std::get<GridCover>(proof);
  std::vector<Output> outputs = outputs_of(data, arguments);
  for (Output& output : outputs) {
    if (!covers(cover, output)) return std::nullopt;
    output.owned = cover.written_by(ctas, output.position);
  }
  const LaunchPlan plan = kernel.launch_for(data);
  const std::string where = "shape " + shape.name + ", seed " + std::to_string(data.seed) + ": ";
  CorrectnessResult result;
  device_.interpreting()->set_cta_sample(ctas);
  const auto fault = device_.launch(kernel.id, plan, arguments);
  device_.interpreting()->set_cta_sample({});
  if (fault) {
    result.reject(where, *fault);
    return result;
  }
  result.checks.push_back({.shape = shape.name, .seed = data.seed});
  std::uint64_t compared = 0;
  std::uint64_t elements = 0;
  for (const Output& output : outputs) {
    std::vector<std::byte> content(output.expected.size());
    device_.memory().download(output.buffer, content);
    if (!wrote_what_it_owns(output, content)) return std::nullopt;
    compare(kernel, data, output, content, result);
    compared += static_cast<std::uint64_t>(std::ranges::count(output.owned, true));
    elements += output.owned.size();
  }
  if (compared == 0) return std::nullopt;
  result.checks.back().sampled =
      std::to_string(ctas.size()) + " of " + std::to_string(plan.ctas()) + " CTAs, " +
      std::to_string(compared) + " of " + std::to_string(elements) + " elements compared";
  if (result.rejection) result.rejection->reason = where + result.rejection->reason;
  return result;
}

void ElementSample::compare(const LoadedKernel& kernel, const CheckCase& data, const Output& output,
                            const std::vector<std::byte>& content,
                            CorrectnessResult& result) const {
  const Argument& argument = problem_.arguments[output.position];
  std::vector<std::size_t> elements;
  for (std::size_t i = 0; i < output.owned.size(); ++i) {
    if (output.owned[i]) elements.push_back(i);
  }
  if (elements.empty()) return;
  compare_chosen(result, kernel, data, argument, content, elements,
                 {argument.dtype, gathered(output.expected, elements, size_of(argument.dtype))}, 0);
}

}  // namespace evo
