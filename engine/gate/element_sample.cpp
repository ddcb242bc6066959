#include "engine/gate/element_sample.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <map>

#include "engine/core/random.hpp"
#include "engine/gate/compare.hpp"
#include "engine/gate/grid_part.hpp"
#include "engine/gate/poison.hpp"

namespace evo {
namespace {

/// First, between or last.
std::uint32_t place_in(std::uint64_t at, std::uint32_t size) {
  if (at == 0) return 0;
  return at + 1 == size ? 2 : 1;
}

bool differ(const std::vector<std::byte>& a, const std::vector<std::byte>& b, std::size_t at,
            std::size_t size) {
  return std::memcmp(a.data() + at, b.data() + at, size) != 0;
}

}  // namespace

bool ElementSample::is_possible(const Problem& problem, const KernelSpec& kernel) {
  return problem.reference.is_data() && problem.check_program.empty() &&
         !kernel.tolerance.max_row_error;
}

std::vector<ElementSample::Place> ElementSample::places_of(const LoadedKernel& kernel,
                                                           const CheckCase& data) const {
  const auto part = grid_part(device_, problem_, kernel, data, flops_);
  if (!part) return {};
  const std::uint64_t total = part->ctas;
  const std::uint64_t wanted = std::max(part->of_work, GridPart::kFewestCtas);
  if (wanted >= total) return {};
  const LaunchConfig config = kernel.launch_for(data).steps.front().config;
  std::map<std::array<std::uint32_t, 3>, std::vector<std::uint64_t>> all;
  for (std::uint64_t cta = 0; cta < total; ++cta) {
    const std::uint64_t row = cta / config.grid[0];
    all[{place_in(cta % config.grid[0], config.grid[0]),
         place_in(row % config.grid[1], config.grid[1]),
         place_in(row / config.grid[1], config.grid[2])}]
        .push_back(cta);
  }
  Random random(mix_seed(data.seed, total));
  const std::vector<std::uint64_t> twins = twins_of_first(config);
  std::vector<Place> places;
  for (auto& [where, ctas] : all) {
    std::vector<std::uint64_t> own_twins;
    std::ranges::set_intersection(ctas, twins, std::back_inserter(own_twins));
    const double share =
        static_cast<double>(wanted) * static_cast<double>(ctas.size()) / static_cast<double>(total);
    const auto count =
        std::min(std::max<std::size_t>(static_cast<std::size_t>(share), 1), ctas.size());
    Place place{ctas.size(), {}};
    for (std::size_t i = 0; i < count; ++i) {
      std::swap(ctas[i], ctas[i + random.below(ctas.size() - i)]);
    }
    ctas.resize(count);
    place.drawn = with_twins(ctas, std::move(own_twins), {}, random);
    places.push_back(std::move(place));
  }
  return places;
}

std::vector<ElementSample::Output> ElementSample::outputs_of(
    const CheckCase& data, const std::vector<KernelArgument>& arguments) {
  std::vector<Output> outputs;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Argument& argument = problem_.arguments[i];
    if (!argument.is_output() || !data.expected[i]) continue;
    Output output{.position = i, .buffer = std::get<BufferId>(arguments[i])};
    output.expected = work_.content(*data.expected[i]);
    if (argument.direction == Direction::kInOut) {
      output.before = work_.content(*data.inputs[i]);
      work_.put_back(output.buffer, *data.inputs[i]);
    } else {
      device_.poison(output.buffer, poison_pattern(Poison::kNan, argument.dtype, data.seed));
    }
    output.content.resize(output.expected.size());
    outputs.push_back(std::move(output));
  }
  return outputs;
}

/// What was written until now.
void ElementSample::look(Output& output) const {
  const std::size_t size = size_of(problem_.arguments[output.position].dtype);
  device_.download(output.buffer, output.content);
  output.written.assign(output.content.size() / size, false);
  const bool is_inout = !output.before.empty();
  const std::vector<bool> bytes =
      is_inout ? std::vector<bool>() : device_.sampler()->written(output.buffer);
  output.count = 0;
  for (std::size_t i = 0; i < output.written.size(); ++i) {
    bool written = is_inout && differ(output.before, output.content, i * size, size);
    if (!is_inout) {
      const auto from = bytes.begin() + static_cast<std::ptrdiff_t>(i * size);
      written = std::all_of(from, from + static_cast<std::ptrdiff_t>(size), std::identity());
    }
    output.written[i] = written;
    output.count += written ? 1 : 0;
  }
}

std::uint64_t ElementSample::expected_count(const Output& output) const {
  const std::size_t size = size_of(problem_.arguments[output.position].dtype);
  if (output.before.empty()) return output.expected.size() / size;
  std::uint64_t count = 0;
  for (std::size_t at = 0; at < output.expected.size(); at += size) {
    count += differ(output.before, output.expected, at, size) ? 1 : 0;
  }
  return count;
}

std::optional<CorrectnessResult> ElementSample::check(const LoadedKernel& kernel,
                                                      const Shape& shape,
                                                      const Workspace& workspace) {
  const CheckCase& data = cases_.get(shape, 0);
  const std::vector<Place> places = places_of(kernel, data);
  if (places.empty()) return std::nullopt;
  const std::vector<KernelArgument> arguments = workspace.arguments_of(data);
  const LaunchPlan plan = kernel.launch_for(data);
  const std::string where = "shape " + shape.name + ", seed " + std::to_string(data.seed) + ": ";
  std::vector<Output> outputs = outputs_of(data, arguments);
  GridSampler& sampler = *device_.sampler();
  const std::string state = state_of_part(device_, kernel, workspace);
  CorrectnessResult result;
  std::uint64_t drawn = 0;
  for (const Place& place : places) {
    sampler.set_cta_sample(place.drawn);
    const auto fault = device_.launch(kernel.id, plan, arguments);
    sampler.set_cta_sample({});
    if (fault) {
      result.rejection = Rejection{Gate::kCorrectness, where + fault->reason, fault->detail};
      result.device_lost = fault->device_lost;
      return result;
    }
    drawn += place.drawn.size();
    for (Output& output : outputs) {
      const std::uint64_t before = output.count;
      look(output);
      const std::uint64_t of_place = (output.count - before) * place.ctas;
      if (of_place % place.drawn.size() != 0) return std::nullopt;
      output.of_all_places += of_place / place.drawn.size();
    }
  }
  if (state_of_part(device_, kernel, workspace) != state) return std::nullopt;
  std::uint64_t compared = 0;
  std::uint64_t elements = 0;
  for (const Output& output : outputs) {
    if (output.of_all_places != expected_count(output)) return std::nullopt;
    compared += output.count;
    elements += output.written.size();
  }
  if (compared == 0) return std::nullopt;
  const std::uint64_t total = plan.ctas();
  result.checks.push_back({.shape = shape.name,
                           .seed = data.seed,
                           .sampled = std::to_string(drawn) + " of " + std::to_string(total) +
                                      " CTAs, " + std::to_string(compared) + " of " +
                                      std::to_string(elements) + " elements compared"});
  for (const Output& output : outputs) compare(kernel, data, output, result);
  if (result.rejection) result.rejection->reason = where + result.rejection->reason;
  return result;
}

void ElementSample::compare(const LoadedKernel& kernel, const CheckCase& data, const Output& output,
                            CorrectnessResult& result) const {
  const Argument& argument = problem_.arguments[output.position];
  const Tolerance tolerance =
      kernel.spec->tolerance.evaluate(merged({&kernel.macros, &data.values}));
  const std::size_t size = size_of(argument.dtype);
  std::vector<std::size_t> elements;
  std::vector<std::byte> content;
  std::vector<std::byte> expected;
  elements.reserve(output.count);
  content.reserve(output.count * size);
  expected.reserve(output.count * size);
  const auto append = [size](std::vector<std::byte>& to, const std::vector<std::byte>& from,
                             std::size_t element) {
    const auto at = from.begin() + static_cast<std::ptrdiff_t>(element * size);
    to.insert(to.end(), at, at + static_cast<std::ptrdiff_t>(size));
  };
  for (std::size_t i = 0; i < output.written.size(); ++i) {
    if (!output.written[i]) continue;
    elements.push_back(i);
    append(content, output.content, i);
    append(expected, output.expected, i);
  }
  if (elements.empty()) return;
  Comparison comparison =
      evo::compare(content, {argument.dtype, std::move(expected)}, tolerance.bad_abs_error, 0);
  add_figures(result.checks.back(), comparison);
  comparison.worst_index = elements[comparison.worst_index];
  const auto why = violation(comparison, tolerance, argument.name);
  if (why && !result.rejection) result.rejection = Rejection{Gate::kCorrectness, *why};
}

}  // namespace evo
