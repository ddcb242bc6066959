#include "engine/gate/correctness/sampled_check.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "engine/core/error.hpp"
#include "engine/core/random.hpp"
#include "engine/gate/correctness/chosen_elements.hpp"
#include "engine/gate/correctness/grid_cover.hpp"
#include "engine/gate/correctness/grid_part.hpp"
#include "engine/gate/correctness/poison.hpp"

namespace evo {
namespace {

constexpr std::size_t kRows = 2048;  ///< approximate limit of the rows that the reference computes

bool is_output(const Argument& argument) { return argument.direction == Direction::kOut; }

/// `count` different numbers below `total`, sorted. The numbers include 0 and `total` - 1, because
/// errors often occur at edges.
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

/// Number of rows of each output on a shape; 0 if an output with elements is not divided into rows,
/// or if two outputs have different numbers of rows.
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

/// One launch and its results.
struct SampledCheck::Ran {
  std::uint64_t ctas = 0;                       ///< number of CTAs that ran
  std::uint64_t of_ctas = 0;                    ///< number of CTAs in the grid
  std::vector<std::vector<std::byte>> outputs;  ///< contents of out arguments, by argument
  std::vector<std::vector<bool>> written;       ///< by argument: whether each element was written
  std::vector<std::size_t> rows;                ///< rows to compare
  std::optional<Fault> fault;
};

bool SampledCheck::is_possible(const Problem& problem, const Values& values) {
  if (!problem.check_program.empty()) return false;
  const auto& kernel = problem.reference.kernel;
  if (!kernel || !kernel->cta_of_row) return false;
  for (const Argument& argument : problem.arguments) {
    if (argument.direction == Direction::kInOut || !argument.is_compared_whole()) return false;
  }
  return rows_of(problem, values) > 0;
}

CorrectnessResult SampledCheck::check(const LoadedKernel& kernel, const Shape& shape,
                                      const Workspace& workspace, const Progress& progress) {
  const CheckCase& data = cases_.inputs(shape, 0);
  const std::string place = "shape " + shape.name + ", seed " + std::to_string(data.seed) + ": ";
  const std::vector<KernelArgument> arguments = workspace.arguments_of(data);
  progress("checking a part of shape " + shape.name);
  auto sample = run_sample(kernel, data, arguments);
  if (const auto* why = std::get_if<std::string>(&sample)) {
    progress("checking all of shape " + shape.name + "; no part represents it: " + *why);
    workspace.clear();
    sample = run_whole(kernel, data, arguments);
  }
  const Ran& ran = std::get<Ran>(sample);
  CorrectnessResult result;
  if (ran.fault) {
    result.reject(place, *ran.fault);
    return result;
  }
  progress("running the reference on a part of shape " + shape.name);
  (void)cases_.expect_rows(shape, 0, ran.rows);
  if (const auto blind = tolerances_.blind_spot_in(ran.rows, kernel, shape)) {
    result.rejection = {Gate::kCorrectness, *blind};
    return result;
  }
  result.checks.push_back(
      {.shape = shape.name,
       .seed = data.seed,
       .sampled = share(ran.ctas, ran.of_ctas, "CTAs") + ", " +
                  share(ran.rows.size(), rows_of(problem_, data.values), "rows compared")});
  compare_rows(kernel, data, ran, result);
  if (result.rejection) result.rejection->reason = place + result.rejection->reason;
  return result;
}

/// Launches the CTAs `ctas`, or all CTAs if `ctas` is empty.
SampledCheck::Ran SampledCheck::run(const LoadedKernel& kernel, const CheckCase& data,
                                    const std::vector<KernelArgument>& arguments,
                                    const std::vector<std::uint64_t>& ctas) {
  Interpreting& sampler = *device_.interpreting();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Argument& argument = problem_.arguments[i];
    if (!is_output(argument)) continue;
    device_.memory().poison(std::get<BufferId>(arguments[i]),
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
    device_.memory().download(std::get<BufferId>(arguments[i]), ran.outputs.back());
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

/// Runs a random sample of CTAs that represents the grid, or returns why no sample represents it.
std::variant<SampledCheck::Ran, std::string> SampledCheck::run_sample(
    const LoadedKernel& kernel, const CheckCase& data,
    const std::vector<KernelArgument>& arguments) {
  // Limits the share of CTAs, so that the kernel computes about `flops_` operations at most, and
  // the reference computes about kRows rows at most.
  const auto rows = static_cast<double>(rows_of(problem_, data.values));
  const double of_work = flops_ / problem_.flops.evaluate(data.shape->variables);
  const double part = std::min(of_work, static_cast<double>(kRows) / rows);
  const std::vector<std::uint64_t> ctas = draw_part(kernel, data, part);
  if (ctas.empty()) {
    return std::string("the CTAs are too few or not independent, or the launch has several steps");
  }
  auto proof = GridCover::prove(device_, problem_, kernel, data, arguments);
  if (auto* why = std::get_if<std::string>(&proof)) return std::move(*why);
  const auto& cover = std::get<GridCover>(proof);
  if (!cover.is_whole()) return std::string("some elements are written by no CTA");
  Ran ran = run(kernel, data, arguments, ctas);
  if (ran.fault) return ran;
  for (std::size_t i = 0; i < ran.written.size(); ++i) {
    if (!ran.written[i].empty() && ran.written[i] != cover.written_by(ctas, i))
      return std::string("the CTAs write other elements than in the traced launch");
  }
  ran.rows = written_rows(ran, rows_of(problem_, data.values));
  if (ran.rows.empty()) return std::string("the CTAs write no whole rows");
  return ran;
}

SampledCheck::Ran SampledCheck::run_whole(const LoadedKernel& kernel, const CheckCase& data,
                                          const std::vector<KernelArgument>& arguments) {
  Ran ran = run(kernel, data, arguments, {});
  if (!ran.fault) ran.fault = unwritten(ran);
  for (const std::uint64_t row : draw(kRows, rows_of(problem_, data.values), data.seed))
    ran.rows.push_back(row);
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

/// The rows of which all elements were written; empty if a row was written only in part.
std::vector<std::size_t> SampledCheck::written_rows(const Ran& ran, std::size_t all) const {
  std::vector<std::size_t> rows;
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
    if (written > 0 && written < elements) return {};
    if (written > 0) rows.push_back(row);
  }
  return rows;
}

void SampledCheck::compare_rows(const LoadedKernel& kernel, const CheckCase& data, const Ran& ran,
                                CorrectnessResult& result) const {
  for (std::size_t i = 0; i < ran.outputs.size(); ++i) {
    if (ran.outputs[i].empty()) continue;
    const Argument& argument = problem_.arguments[i];
    const std::size_t length = argument.row_length(data.values);
    std::vector<std::size_t> elements;
    for (const std::size_t row : ran.rows) {
      for (std::size_t at = row * length; at < (row + 1) * length; ++at) elements.push_back(at);
    }
    compare_chosen(result, kernel, data, argument, ran.outputs[i], elements,
                   data.expectation_of(i, argument.dtype, elements), length);
  }
  if (result.rejection || !ran.rows.empty()) return;
  result.rejection = Rejection{Gate::kCorrectness, "no row was compared"};
}

}  // namespace evo
