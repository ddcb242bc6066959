#include "engine/device/virtual/virtual_prediction.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "engine/core/hash.hpp"
#include "engine/core/random.hpp"
#include "engine/device/virtual/decode/branch_origins.hpp"
#include "engine/device/virtual/decode/control_flow.hpp"
#include "engine/device/virtual/decode/store_slice.hpp"
#include "engine/device/virtual/execute/cta_team.hpp"
#include "engine/device/virtual/timing/grid_sample.hpp"
#include "engine/device/virtual/timing/grid_survey.hpp"

namespace evo::ptx {
namespace {

/// Facts about a grid that are found before any CTA is executed.
struct Foreknowledge {
  /// null if no branch depends only on the CTA's index and known loads, or if no slice could be
  /// executed
  std::shared_ptr<const GridSurvey> survey;
  /// the paths of all CTAs are known from `survey` or are equal, and BranchOrigins::by_data is
  /// false
  bool is_certain = false;
};

/// A seed that depends on the kernel, so that the author of a kernel cannot predict which CTAs are
/// executed.
std::uint64_t seed_of(const StepToPredict& step) {
  constexpr std::size_t kDigits = 16;
  const std::string key = content_key(step.entry.cubin + step.entry.program->entry);
  return mix_seed(step.seed, std::stoull(key.substr(0, kDigits), nullptr, 16));
}

/// Finds the paths of the CTAs by executing a slice of the kernel, which computes the conditions of
/// branches.
Foreknowledge look_ahead(const StepToPredict& step, const ExecutePart& execute) {
  const Program& program = *step.entry.program;
  const int warps = static_cast<int>((step.config.threads() + kWarpSize - 1) / kWarpSize);
  for (const bool loads_are_known : {true, false}) {
    const auto origins = find_branch_origins(program, loads_are_known);
    if (!origins) break;
    if (std::ranges::none_of(origins->by_place, std::identity()))
      return {.survey = nullptr, .is_certain = !origins->by_data};
    auto slice = slice_of(program, origins->by_place);
    if (!std::holds_alternative<Program>(slice)) continue;
    LoadedEntry sliced = step.entry;
    sliced.program = std::make_shared<Program>(std::get<Program>(std::move(slice)));
    auto survey =
        survey_grid(step.config.ctas(), seed_of(step), warps, [&](std::vector<std::uint64_t> ctas) {
          return execute(sliced, {.ctas = std::move(ctas), .is_slice = true});
        });
    if (!survey) continue;
    const bool is_certain = !origins->by_data && survey->ctas() == step.config.ctas();
    return {.survey = std::make_shared<const GridSurvey>(*std::move(survey)),
            .is_certain = is_certain};
  }
  return {};
}

/// Executes a sample of the clusters of a grid.
std::variant<ExecutedGrid, Fault> execute_clusters(const StepToPredict& step,
                                                   const ExecutePart& execute) {
  const Program& program = *step.entry.program;
  const auto execute_drawn = [&](std::vector<std::uint64_t> clusters) {
    for (std::uint64_t& cluster : clusters) {
      cluster = linear_cta(step.config.grid, first_cta(step.config.grid, program.cluster, cluster));
    }
    return execute(step.entry, {.ctas = std::move(clusters)});
  };
  auto executed = execute_sample({.ctas = step.config.ctas() / program.cluster_ctas(),
                                  .seed = seed_of(step),
                                  .execute = execute_drawn,
                                  .survey = nullptr});
  if (auto* grid = std::get_if<ExecutedGrid>(&executed)) {
    grid->ctas = step.config.ctas();
    grid->is_certain = grid->counts.ctas == grid->ctas;
  }
  return executed;
}

std::variant<ExecutedGrid, Fault> execute_enough(const StepToPredict& step,
                                                 const ExecutePart& execute) {
  const Program& program = *step.entry.program;
  const std::uint64_t ctas = step.config.ctas();
  if (program.claims_work || program.cooperative || !step.is_last) {
    auto executed = execute(step.entry, {});
    if (auto* fault = std::get_if<Fault>(&executed)) return std::move(*fault);
    ExecutedGrid grid{
        .counts = std::get<GridCounts>(std::move(executed)), .ctas = ctas, .is_certain = true};
    if (program.claims_work && !program.cooperative) {
      const auto origins = find_branch_origins(program, true);
      grid.by_arrival = origins && origins->by_data;
    }
    return grid;
  }
  if (program.cluster_ctas() > 1) return execute_clusters(step, execute);
  const Foreknowledge known = ctas > 1 ? look_ahead(step, execute) : Foreknowledge{};
  auto executed = execute_sample({.ctas = ctas,
                                  .seed = seed_of(step),
                                  .execute =
                                      [&](std::vector<std::uint64_t> sample) {
                                        return execute(step.entry, {.ctas = std::move(sample)});
                                      },
                                  .survey = known.survey});
  if (auto* grid = std::get_if<ExecutedGrid>(&executed))
    grid->is_certain = known.is_certain || grid->counts.ctas == ctas;
  return executed;
}

/// The effects on a kernel's time that the time model does not take into account.
std::vector<std::string> gaps_of(const Program& program, const ExecutedGrid& grid) {
  // The difference between the number of loops around an instruction and around the previous
  // instruction.
  std::vector<int> deeper(program.code.size() + 1, 0);
  for (std::size_t pc = 0; pc < program.code.size(); ++pc) {
    const auto* branch = std::get_if<BranchOperands>(&program.code[pc].operands);
    if (branch == nullptr || branch->target > pc) continue;
    ++deeper[branch->target];
    --deeper[pc + 1];
  }
  bool textures = false;
  bool clocks = false;
  bool others = program.cooperative;
  bool prints = false;
  bool sleeps = false;
  int loops = 0;
  for (std::size_t pc = 0; pc < program.code.size(); ++pc) {
    const Instr& in = program.code[pc];
    loops += deeper[pc];
    textures = textures || is_any<TextureOperands>(in);
    prints = prints || in.fn == exec_print;
    sleeps = sleeps || is_any<SleepOperands>(in);
    if (loops == 0) continue;
    clocks = clocks || is_any<ClockOperands>(in);
    const auto* access = std::get_if<AccessOperands>(&in.operands);
    const auto* atomic = std::get_if<AtomicOperands>(&in.operands);
    others = others || (access != nullptr && access->order.strong) ||
             (atomic != nullptr && atomic->dst != kNoRegister);
  }
  std::vector<std::string> gaps;
  if (textures) gaps.emplace_back("texture cache");
  if (clocks) gaps.emplace_back("loops that wait for a clock");
  if (others) gaps.emplace_back("CTAs that wait for each other or claim work from memory");
  if (sleeps) gaps.emplace_back("nanosleep beyond the requested time");
  if (prints) gaps.emplace_back("printf, except an assumed cost per call");
  if (program.cluster_ctas() > 1) {
    gaps.emplace_back(
        "CTAs of a cluster that wait for each other or access each other's shared "
        "memory (they are timed as independent CTAs)");
  }
  if (program.waits_for_grid) gaps.emplace_back("overlap with the previous kernel of the stream");
  if (!grid.is_certain) {
    gaps.push_back("CTAs that were not executed (" + std::to_string(grid.counts.ctas) + " of " +
                   std::to_string(grid.ctas) +
                   " were; the time of a CTA may depend on computed data)");
  }
  return gaps;
}

}  // namespace

std::variant<PredictedLaunch, Fault> predict_step(const DeviceModel& model,
                                                  const StepToPredict& step,
                                                  const ExecutePart& execute) {
  auto executed = execute_enough(step, execute);
  if (auto* fault = std::get_if<Fault>(&executed)) return std::move(*fault);
  const auto& grid = std::get<ExecutedGrid>(executed);
  const LoadedEntry& entry = step.entry;
  PredictedLaunch launch =
      predict_launch(model, {.program = *entry.program,
                             .grid = grid,
                             .cubin = entry.cubin,
                             .version_line = entry.version_line,
                             .registers = entry.registers_at_launch(),
                             .threads = static_cast<int>(step.config.threads()),
                             .shared_bytes = static_cast<int>(entry.program->dynamic_shared_offset +
                                                              step.config.dynamic_shared_bytes),
                             .footprint_bytes = step.footprint_bytes,
                             .fresh_bytes = step.fresh_bytes,
                             .rotation_bytes = step.rotation_bytes});
  launch.not_modelled = gaps_of(*entry.program, grid);
  if (!launch.is_simulated) {
    launch.not_modelled.emplace_back(
        "the machine code, which is missing, has no PTX lines or does not match the executed PTX "
        "(the time comes from counts of instructions; do not compare it with times from machine "
        "code)");
  }
  return launch;
}

std::string gaps_text(const std::vector<PredictedLaunch>& launches) {
  std::string text;
  for (const PredictedLaunch& launch : launches) {
    for (const std::string& gap : launch.not_modelled) {
      if (text.find(gap) == std::string::npos) text += (text.empty() ? "" : "; ") + gap;
    }
  }
  return text;
}

}  // namespace evo::ptx
