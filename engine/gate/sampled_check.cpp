#include "engine/gate/sampled_check.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "engine/core/error.hpp"
#include "engine/core/random.hpp"
#include "engine/gate/compare.hpp"
#include "engine/gate/grid_part.hpp"
#include "engine/gate/poison.hpp"

namespace evo {
namespace {

constexpr std::size_t kRows = 2048;  ///< that the reference computes

bool is_output(const Argument& argument) { return argument.direction == Direction::kOut; }

/// `count` different numbers below `total`, sorted; the first and the last are among them, because
/// edges are where kernels go wrong.
std::vector<std::uint64_t> draw(std::uint64_t count, std::uint64_t total, std::uint64_t seed) {
  std::vector<std::uint64_t> all(total);
  std::iota(all.begin(), all.end(), 0);
  count = std::min(count, total);
  std::swap(all[total - 1], all[std::min<std::uint64_t>(1, total - 1)]);
  Random random(seed);
  for (std::uint64_t i = 2; i < count; ++i) std::swap(all[i], all[i + random.below(total - i)]);
  all.resize(count);
  std::sort(all.begin(), all.end());
  return all;
}

std::string share(std::uint64_t part, std::uint64_t whole, const std::string& what) {
  if (part == whole) return "all " + std::to_string(whole) + " " + what;
  return std::to_string(part) + " of " + std::to_string(whole) + " " + what;
}

/// Rows of the outputs on a shape: the same number in all that have elements; 0 when one has none
/// or another number.
std::size_t rows_of(const Problem& problem, const Values& values) {
  std::size_t rows = 0;
  for (const Argument& argument : problem.arguments) {
    if (!is_output(argument) || argument.bytes(values) == 0) continue;
    const std::size_t length = argument.row_length(values);
    if (length == 0) return 0;
    const std::size_t own = argument.bytes(values) / size_of(argument.dtype) / length;
    if (rows != 0 && own != rows) return 0;
    rows = own;
  }
  return rows;
}

}  // namespace

/// One launch and what it left behind.
struct SampledCheck::Ran {
  std::uint64_t ctas = 0;
  std::uint64_t of_ctas = 0;
  std::vector<std::vector<std::byte>> outputs;  ///< per argument; empty unless out
  std::vector<std::vector<bool>> written;       ///< per argument and element
  std::optional<Fault> fault;
  bool overlaps = false;  ///< CTAs do the work of one another, or tell one another

  [[nodiscard]] bool is_whole() const { return ctas == of_ctas; }
  /// What other CTAs of the same grid wrote.
  void take(const Ran& other, const Problem& problem);
};

void SampledCheck::Ran::take(const Ran& other, const Problem& problem) {
  for (std::size_t i = 0; i < written.size(); ++i) {
    const std::size_t size = size_of(problem.arguments[i].dtype);
    for (std::size_t element = 0; element < written[i].size(); ++element) {
      if (!other.written[i][element]) continue;
      overlaps = overlaps || written[i][element];
      written[i][element] = true;
      const auto from = other.outputs[i].begin() + static_cast<std::ptrdiff_t>(element * size);
      std::copy_n(from, size, outputs[i].begin() + static_cast<std::ptrdiff_t>(element * size));
    }
  }
}

bool SampledCheck::is_possible(const Problem& problem, const Values& values) {
  if (!problem.check_program.empty()) return false;
  const auto& kernel = problem.reference.kernel;
  if (!kernel || !kernel->cta_of_row) return false;
  for (const Argument& argument : problem.arguments) {
    if (argument.direction == Direction::kInOut) return false;
  }
  return rows_of(problem, values) > 0;
}

CorrectnessResult SampledCheck::check(const LoadedKernel& kernel, const Shape& shape,
                                      const Workspace& workspace, const Progress& progress) {
  const CheckCase& data = cases_.inputs(shape, 0);
  const std::string place = "shape " + shape.name + ", seed " + std::to_string(data.seed) + ": ";
  progress("checking a part of shape " + shape.name);
  Ran ran = run(kernel, data, workspace, choose_ctas(kernel, data));
  std::vector<std::size_t> rows = rows_to_compare(data, ran);
  if (!ran.fault && rows.empty() && !ran.is_whole()) {
    progress("checking all of shape " + shape.name);
    workspace.clear();
    ran = run(kernel, data, workspace, {});
    rows = rows_to_compare(data, ran);
  }
  CorrectnessResult result;
  if (ran.fault) {
    result.rejection = {Gate::kCorrectness, place + ran.fault->reason, ran.fault->detail};
    result.device_lost = ran.fault->device_lost;
    return result;
  }
  progress("the reference on a part of shape " + shape.name);
  (void)cases_.expect_rows(shape, 0, rows);
  result.checks.push_back(
      {.shape = shape.name,
       .seed = data.seed,
       .sampled = share(ran.ctas, ran.of_ctas, "CTAs") + ", " +
                  share(rows.size(), rows_of(problem_, data.values), "rows compared")});
  compare_rows(kernel, data, ran, rows, result);
  if (result.rejection) result.rejection->reason = place + result.rejection->reason;
  return result;
}

std::vector<std::uint64_t> SampledCheck::choose_ctas(const LoadedKernel& kernel,
                                                     const CheckCase& data) const {
  const auto part = grid_part(device_, problem_, kernel, data, flops_);
  if (!part) return {};
  // No more of them than there are rows to be compared, so that all that they write is.
  const auto of_rows =
      static_cast<std::uint64_t>(static_cast<double>(part->ctas) * static_cast<double>(kRows) /
                                 static_cast<double>(rows_of(problem_, data.values)));
  const std::uint64_t count = std::max(std::min(part->of_work, of_rows), GridPart::kFewestCtas);
  if (count >= part->ctas) return {};
  const std::uint64_t seed = mix_seed(data.seed, part->ctas);
  Random random(mix_seed(seed, count));
  return with_twins(draw(count, part->ctas, seed),
                    twins_of_first(kernel.launch_for(data).steps.front().config),
                    {0, part->ctas - 1}, random);
}

/// One launch of some CTAs, or of all.
SampledCheck::Ran SampledCheck::run_part(const LoadedKernel& kernel, const CheckCase& data,
                                         const std::vector<KernelArgument>& arguments,
                                         const std::vector<std::uint64_t>& ctas) {
  GridSampler& sampler = *device_.sampler();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Argument& argument = problem_.arguments[i];
    if (!is_output(argument)) continue;
    device_.poison(std::get<BufferId>(arguments[i]),
                   poison_pattern(Poison::kNan, argument.dtype, data.seed));
  }
  const LaunchPlan plan = kernel.launch_for(data);
  Ran ran;
  ran.of_ctas = plan.ctas();
  ran.ctas = ctas.empty() ? ran.of_ctas : ctas.size();
  sampler.set_cta_sample(ctas);
  ran.fault = device_.launch(kernel.id, plan, arguments);
  sampler.set_cta_sample({});
  if (ran.fault) return ran;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    ran.outputs.emplace_back();
    ran.written.emplace_back();
    const Argument& argument = problem_.arguments[i];
    if (!is_output(argument)) continue;
    ran.outputs.back().resize(argument.bytes(data.values));
    device_.download(std::get<BufferId>(arguments[i]), ran.outputs.back());
    const std::vector<bool> bytes = sampler.written(std::get<BufferId>(arguments[i]));
    const std::size_t size = size_of(argument.dtype);
    for (std::size_t at = 0; at < bytes.size(); at += size) {
      const auto element = bytes.begin() + static_cast<std::ptrdiff_t>(at);
      ran.written.back().push_back(std::all_of(element, element + static_cast<std::ptrdiff_t>(size),
                                               [](bool byte) { return byte; }));
    }
  }
  return ran;
}

/// Of a part the first CTA runs alone, so that what another one writes of its share is seen.
SampledCheck::Ran SampledCheck::run(const LoadedKernel& kernel, const CheckCase& data,
                                    const Workspace& workspace,
                                    const std::vector<std::uint64_t>& ctas) {
  const std::vector<KernelArgument> arguments = workspace.arguments_of(data);
  if (ctas.size() < 2) {
    Ran ran = run_part(kernel, data, arguments, ctas);
    if (!ran.fault && ran.is_whole()) ran.fault = unwritten(ran);
    return ran;
  }
  const std::string state = state_of_part(device_, kernel, workspace);
  const Ran first = run_part(kernel, data, arguments, {ctas.front()});
  if (first.fault) return first;
  Ran ran = run_part(kernel, data, arguments, {ctas.begin() + 1, ctas.end()});
  ran.ctas = ctas.size();
  if (!ran.fault) ran.take(first, problem_);
  ran.overlaps = ran.overlaps || state_of_part(device_, kernel, workspace) != state;
  return ran;
}

std::optional<Fault> SampledCheck::unwritten(const Ran& ran) const {
  for (std::size_t i = 0; i < ran.written.size(); ++i) {
    const auto missing = std::ranges::find(ran.written[i], false);
    if (missing == ran.written[i].end()) continue;
    return Fault{problem_.arguments[i].name + "[" +
                 std::to_string(missing - ran.written[i].begin()) + "] was never written"};
  }
  return std::nullopt;
}

/// Of a whole grid some rows, drawn. Of a part of it all rows that it wrote; none when it wrote a
/// part of a row, or less than half of its share, so that it cannot stand for all.
std::vector<std::size_t> SampledCheck::rows_to_compare(const CheckCase& data,
                                                       const Ran& ran) const {
  if (ran.fault || ran.overlaps) return {};
  const std::size_t all = rows_of(problem_, data.values);
  std::vector<std::size_t> rows;
  if (ran.is_whole()) {
    for (const std::uint64_t row : draw(kRows, all, data.seed)) rows.push_back(row);
    return rows;
  }
  for (std::size_t row = 0; row < all; ++row) {
    std::size_t elements = 0;
    std::size_t written = 0;
    for (const std::vector<bool>& marks : ran.written) {
      const std::size_t length = marks.size() / all;
      const auto start = marks.begin() + static_cast<std::ptrdiff_t>(row * length);
      elements += length;
      written += static_cast<std::size_t>(
          std::count(start, start + static_cast<std::ptrdiff_t>(length), true));
    }
    if (written == elements) {
      rows.push_back(row);
    } else if (written > 0) {
      return {};
    }
  }
  const double share_of_rows =
      static_cast<double>(all) * static_cast<double>(ran.ctas) / static_cast<double>(ran.of_ctas);
  if (static_cast<double>(rows.size()) < share_of_rows / 2) return {};
  return rows;
}

void SampledCheck::compare_rows(const LoadedKernel& kernel, const CheckCase& data, const Ran& ran,
                                const std::vector<std::size_t>& rows,
                                CorrectnessResult& result) const {
  const Tolerance tolerance =
      kernel.spec->tolerance.evaluate(merged({&kernel.macros, &data.values}));
  for (std::size_t i = 0; i < ran.outputs.size(); ++i) {
    if (ran.outputs[i].empty()) continue;
    const Argument& argument = problem_.arguments[i];
    const std::size_t size = size_of(argument.dtype);
    const std::size_t length = argument.row_length(data.values);
    std::vector<std::size_t> elements;
    std::vector<std::byte> output;
    for (const std::size_t row : rows) {
      for (std::size_t at = row * length; at < (row + 1) * length; ++at) elements.push_back(at);
      const std::byte* from = ran.outputs[i].data() + row * length * size;
      output.insert(output.end(), from, from + length * size);
    }
    Comparison comparison = compare(output, data.expectation_of(i, argument.dtype, elements),
                                    tolerance.bad_abs_error, length);
    add_figures(result.checks.back(), comparison);
    if (!elements.empty()) {
      comparison.worst_index = elements[comparison.worst_index];
      comparison.worst_row_index = elements[comparison.worst_row_index];
    }
    const auto why = violation(comparison, tolerance, argument.name);
    if (why && !result.rejection) result.rejection = Rejection{Gate::kCorrectness, *why};
  }
  if (result.rejection || !rows.empty()) return;
  result.rejection = Rejection{Gate::kCorrectness, "no row was compared"};
}

}  // namespace evo
