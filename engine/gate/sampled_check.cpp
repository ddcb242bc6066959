#include "engine/gate/sampled_check.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "engine/core/random.hpp"
#include "engine/gate/compare.hpp"

namespace evo {
namespace {

constexpr std::uint64_t kFewestCtas = 8;
constexpr std::size_t kRows = 1024;  ///< that the reference computes
constexpr std::byte kPoison{0xff};   // NaN in every floating-point format

bool is_output(const Argument& argument) { return argument.direction == Direction::kOut; }

/// `count` different numbers below `total`, sorted; the first and the last are among them, because
/// edges are where kernels go wrong.
std::vector<std::uint64_t> draw(std::uint64_t count, std::uint64_t total, std::uint64_t seed) {
  std::vector<std::uint64_t> all(total);
  std::iota(all.begin(), all.end(), 0);
  count = std::min(count, total);
  if (count < 2) count = std::min<std::uint64_t>(total, 2);
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

}  // namespace

/// One launch and what it left behind.
struct SampledCheck::Ran {
  std::uint64_t ctas = 0;
  std::uint64_t of_ctas = 0;
  std::vector<std::vector<std::byte>> outputs;  ///< per argument; empty unless out
  std::vector<std::vector<bool>> written;       ///< per argument and element
  std::optional<Fault> fault;
};

bool SampledCheck::is_possible(const Problem& problem) {
  return problem.reference.cta_of_row.has_value() &&
         std::ranges::any_of(problem.arguments,
                             [](const Argument& a) { return a.row.has_value(); }) &&
         std::ranges::none_of(problem.arguments, [](const Argument& argument) {
           return argument.direction == Direction::kInOut;
         });
}

CorrectnessResult SampledCheck::check(const LoadedKernel& kernel, const Shape& shape,
                                      const Progress& progress) {
  const CheckCase& data = cases_.inputs(shape, 0);
  const std::string place = "shape " + shape.name + ", seed " + std::to_string(data.seed) + ": ";
  progress("checking a part of shape " + shape.name);
  const Ran ran = run(kernel, data, choose_ctas(kernel, data));
  CorrectnessResult result;
  if (ran.fault) {
    result.rejection = {Gate::kCorrectness, place + ran.fault->reason, ran.fault->detail};
    result.device_lost = ran.fault->device_lost;
    return result;
  }
  if (const auto why = unwritten(data, ran)) {
    result.rejection = {Gate::kCorrectness, place + *why};
    return result;
  }
  progress("the reference on a part of shape " + shape.name);
  const std::vector<std::size_t> rows = choose_rows(data, ran);
  (void)cases_.expect_rows(shape, 0, rows);
  std::size_t all_rows = 0;
  for (const Argument& argument : problem_.arguments) {
    const std::size_t length = argument.row_length(data.values);
    if (length > 0) all_rows = argument.bytes(data.values) / size_of(argument.dtype) / length;
  }
  result.checks.push_back({.shape = shape.name,
                           .seed = data.seed,
                           .sampled = share(ran.ctas, ran.of_ctas, "CTAs") + ", " +
                                      share(rows.size(), all_rows, "rows compared")});
  for (std::size_t i = 0; i < problem_.arguments.size(); ++i) {
    if (is_output(problem_.arguments[i])) compare_argument(kernel, data, ran, i, result);
  }
  if (result.rejection) result.rejection->reason = place + result.rejection->reason;
  return result;
}

std::vector<std::uint64_t> SampledCheck::choose_ctas(const LoadedKernel& kernel,
                                                     const CheckCase& data) const {
  const Values values = merged({&kernel.macros, &data.values});
  if (kernel.spec->independent_ctas.evaluate(values) == 0) return {};
  if (device_.sampler()->claims_work(kernel.id)) return {};
  const LaunchConfig config = kernel.launch_for(data);
  const std::uint64_t total = std::uint64_t{config.grid[0]} * config.grid[1] * config.grid[2];
  const double part = flops_ / problem_.flops.evaluate(data.shape->variables);
  const auto count = static_cast<std::uint64_t>(std::ceil(static_cast<double>(total) * part));
  if (std::max(count, kFewestCtas) >= total) return {};
  return draw(std::max(count, kFewestCtas), total, mix_seed(data.seed, total));
}

SampledCheck::Ran SampledCheck::run(const LoadedKernel& kernel, const CheckCase& data,
                                    const std::vector<std::uint64_t>& ctas) {
  GridSampler& sampler = *device_.sampler();
  const Workspace workspace(device_, problem_, kernel, data);
  const std::vector<KernelArgument> arguments = workspace.arguments_of(data);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (is_output(problem_.arguments[i])) sampler.poison(std::get<BufferId>(arguments[i]), kPoison);
  }
  const LaunchConfig config = kernel.launch_for(data);
  Ran ran;
  ran.of_ctas = std::uint64_t{config.grid[0]} * config.grid[1] * config.grid[2];
  ran.ctas = ctas.empty() ? ran.of_ctas : ctas.size();
  sampler.set_cta_sample(ctas);
  ran.fault = device_.launch(kernel.id, config, arguments);
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
    for (std::size_t at = 0; at < bytes.size(); at += size) ran.written.back().push_back(bytes[at]);
  }
  return ran;
}

std::optional<std::string> SampledCheck::unwritten(const CheckCase&, const Ran& ran) const {
  const bool whole = ran.ctas == ran.of_ctas;
  for (std::size_t i = 0; i < ran.written.size(); ++i) {
    const std::vector<bool>& written = ran.written[i];
    if (written.empty()) continue;
    const auto count = std::count(written.begin(), written.end(), true);
    const double needed = static_cast<double>(written.size()) * static_cast<double>(ran.ctas) /
                          static_cast<double>(ran.of_ctas) * (whole ? 1.0 : 0.5);
    if (static_cast<double>(count) >= needed) continue;
    return share(ran.ctas, ran.of_ctas, "CTAs") + " wrote only " + std::to_string(count) +
           " of the " + std::to_string(written.size()) + " elements of '" +
           problem_.arguments[i].name + "'";
  }
  return std::nullopt;
}

/// Among the rows that were written whole, in every output with rows.
std::vector<std::size_t> SampledCheck::choose_rows(const CheckCase& data, const Ran& ran) const {
  std::vector<std::size_t> rows;
  bool first = true;
  for (std::size_t i = 0; i < ran.written.size(); ++i) {
    const std::size_t length = problem_.arguments[i].row_length(data.values);
    if (length == 0) continue;
    const auto whole = [&](std::size_t row) {
      const auto start = ran.written[i].begin() + static_cast<std::ptrdiff_t>(row * length);
      return std::all_of(start, start + static_cast<std::ptrdiff_t>(length),
                         [](bool b) { return b; });
    };
    if (first) {
      for (std::size_t row = 0; row < ran.written[i].size() / length; ++row) {
        if (whole(row)) rows.push_back(row);
      }
    } else {
      std::erase_if(rows, [&](std::size_t row) { return !whole(row); });
    }
    first = false;
  }
  if (rows.size() <= kRows) return rows;
  std::vector<std::size_t> chosen;
  for (const std::uint64_t index : draw(kRows, rows.size(), data.seed)) {
    chosen.push_back(rows[index]);
  }
  return chosen;
}

void SampledCheck::compare_argument(const LoadedKernel& kernel, const CheckCase& data,
                                    const Ran& ran, std::size_t position,
                                    CorrectnessResult& result) const {
  const Argument& argument = problem_.arguments[position];
  const std::size_t size = size_of(argument.dtype);
  const std::size_t row_length = argument.row_length(data.values);
  std::vector<std::size_t> indices;
  std::vector<std::byte> output;
  std::vector<double> expected;
  const auto compared = [&](std::size_t i) {
    return ran.written[position][i] && (data.complete || data.known[position][i]);
  };
  const std::size_t step = std::max<std::size_t>(row_length, 1);
  for (std::size_t start = 0; start < ran.written[position].size(); start += step) {
    bool whole = true;
    for (std::size_t i = start; i < start + step; ++i) whole = whole && compared(i);
    for (std::size_t i = start; whole && i < start + step; ++i) {
      indices.push_back(i);
      const std::byte* from = ran.outputs[position].data() + i * size;
      output.insert(output.end(), from, from + size);
      expected.push_back(data.expected[position][i]);
    }
  }
  const Tolerance tolerance =
      kernel.spec->tolerance.evaluate(merged({&kernel.macros, &data.values}));
  Comparison comparison =
      compare(argument.dtype, output, expected, tolerance.bad_abs_error, row_length);
  add_figures(result.checks.back(), comparison);
  if (!indices.empty()) {
    comparison.worst_index = indices[comparison.worst_index];
    comparison.worst_row_index = indices[comparison.worst_row_index];
  }
  const auto why = violation(comparison, tolerance, argument.name);
  if (why && !result.rejection) result.rejection = Rejection{Gate::kCorrectness, *why};
}

}  // namespace evo
