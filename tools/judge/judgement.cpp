#include "tools/judge/judgement.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "engine/gate/correctness/coverage.hpp"
#include "engine/run/gpu_text.hpp"
#include "engine/run/profile_gate.hpp"
#include "engine/worker/messages.hpp"
#include "tools/answers/profile_json.hpp"

namespace evo {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// The launches: "launch" for a plain kernel (KernelSpec::is_plain()) or if the resources of the
/// steps are unknown, else "steps", the steps that run on the timed shape.
OrderedJson launches_json(const KernelSpec& kernel, const Evaluation& evaluation) {
  const std::vector<LaunchStep>& launches = evaluation.shapes.front().launch.steps;
  if (kernel.is_plain() || evaluation.entries.empty()) {
    const LaunchConfig& launch = launches.front().config;
    return {{"launch", {{"grid", launch.grid}, {"block", launch.block}}}};
  }
  const std::vector<std::string> names = kernel.entries();
  OrderedJson steps = OrderedJson::array();
  for (const LaunchStep& step : launches) {
    const Resources& resources = evaluation.entries[step.entry].resources;
    steps.push_back({{"entry", names[step.entry]},
                     {"grid", step.config.grid},
                     {"block", step.config.block},
                     {"dynamic_shared_bytes", step.config.dynamic_shared_bytes},
                     {"registers", resources.registers},
                     {"static_shared_bytes", resources.static_shared_bytes}});
  }
  return {{"steps", std::move(steps)}};
}

std::string_view verdict_of(const Judgement& found) {
  const bool is_timed = found.evaluation.timing().has_value();
  if (found.is_rejected()) return "rejected";
  if (found.evaluation.was_run && !is_timed) return "launched, not judged";
  return is_timed ? "green" : "within policy";
}

std::string launches_text(const TuningTask& task, const Evaluation& evaluation) {
  const bool has_steps = !task.kernel().is_plain() && !evaluation.entries.empty();
  std::string text;
  for (const LaunchStep& step : evaluation.shapes.front().launch.steps) {
    const std::string launch =
        fmt::format("grid {}, block {} on shape {}", fmt::join(step.config.grid, " × "),
                    fmt::join(step.config.block, " × "), task.shape().name);
    if (!has_steps) {
      text += fmt::format("launch       {}\n", launch);
      continue;
    }
    const Resources& resources = evaluation.entries[step.entry].resources;
    text += fmt::format("step         {}: {}; {} registers, {} + {} shared bytes\n",
                        task.kernel().entries()[step.entry], launch, resources.registers,
                        resources.static_shared_bytes, step.config.dynamic_shared_bytes);
  }
  return text;
}

std::string build_text(const TuningTask& task, const Evaluation& evaluation) {
  const CompilationRecord& record = evaluation.compilation;
  if (!record.ok) return {};
  const Resources& resources = record.resources;
  return fmt::format(
             "build        {:.0f} ms, {} for {}\n"
             "registers    {} per thread\n"
             "shared       {} static + {} dynamic bytes per CTA\n"
             "spills       {} bytes stores, {} bytes loads, stack frame {} bytes\n",
             evaluation.compilation.wall_ms, record.compiler, task.arch(), resources.registers,
             resources.static_shared_bytes, evaluation.shapes.front().dynamic_shared_bytes,
             resources.spill_store_bytes, resources.spill_load_bytes, resources.stack_bytes) +
         launches_text(task, evaluation);
}

std::string checks_text(const TuningTask& task, const std::vector<CheckResult>& checks) {
  if (checks.empty()) return {};
  const bool has_rows = std::ranges::any_of(
      task.problem().arguments, [](const Argument& one) { return one.row.has_value(); });
  std::string text =
      fmt::format("{:<20} {:>20} {:>14} {:>10} {:>12}{}\n", "checked shape", "seed",
                  "max abs error", "bad", "relative L2", has_rows ? "    row error" : "");
  for (const CheckResult& check : checks) {
    text += fmt::format("{:<20} {:>20} {:>14.3g} {:>9.3f}% {:>12.3g}{}\n", check.shape, check.seed,
                        check.max_abs_error, check.bad_share * 100, check.relative_l2,
                        has_rows ? fmt::format(" {:12.3g}", check.max_row_error) : "");
  }
  return text + fmt::format("checked      {}\n", coverage_text(checks));
}

std::string timing_text(const TuningTask& task, const Timing& timing) {
  const double flops = task.problem().flops.evaluate(task.shape().variables);
  return fmt::format(
             "time         p50 {:.3f} µs, "
             "p90 {:.3f}, p99 {:.3f}, mean {:.3f}, std {:.3f}, CV {:.2f} %, {} samples ({}); "
             "{:.1f} TFLOP/s\n",
             timing.p50_us, timing.p90_us, timing.p99_us, timing.mean_us, timing.std_us,
             timing.cv * 100, timing.samples, to_string(timing.kind), flops / timing.p50_us / 1e6) +
         (timing.not_modelled.empty() ? "" : "not modelled " + timing.not_modelled + "\n");
}

std::string measurements_text(const TuningTask& task, const Judgement& found) {
  const ShapeEvaluation& on = found.evaluation.shapes.front();
  std::string text;
  if (on.timing) text += timing_text(task, *on.timing);
  if (on.gpu) text += fmt::format("GPU         {}\n", gpu_text(*on.gpu));
  if (on.energy) {
    text += fmt::format("energy       {:.4g} mJ a launch, {:.0f} W ({} launches in {:.2f} s)\n",
                        on.energy->launch_mj, on.energy->power_w, on.energy->launches,
                        on.energy->window_s);
  }
  if (found.profile) {
    text += fmt::format("profile      {} ({}, {})\n", metrics_text(*found.profile),
                        found.profile->tool, to_string(found.profile->kind));
  }
  return text;
}

std::string verdict_text(const Judgement& found) {
  const Evaluation& evaluation = found.evaluation;
  if (evaluation.rejection) {
    const std::string_view detail = further_detail(*evaluation.rejection);
    return fmt::format("REJECTED at the {} gate: {}\n{}{}", to_string(evaluation.rejection->gate),
                       evaluation.rejection->reason, detail, detail.empty() ? "" : "\n");
  }
  if (found.is_rejected()) {
    return fmt::format("REJECTED at the profile gate: {} is false\n", found.profile->require);
  }
  if (evaluation.timing()) return "GREEN\n";
  return evaluation.was_run ? "LAUNCHED ONCE (not judged)\n" : "WITHIN POLICY (not run)\n";
}

}  // namespace

OrderedJson judgement_json(const TuningTask& task, const Judgement& found) {
  // The conversions in messages.hpp are for the type nlohmann::json.
  const auto plain = [](const auto& value) { return OrderedJson(nlohmann::json(value)); };
  const Evaluation& evaluation = found.evaluation;
  const CompilationRecord& built = evaluation.compilation;
  const ShapeEvaluation& on = evaluation.shapes.front();
  OrderedJson json = {
      {"space", task.space().definition().name},
      {"device", task.device().id},
      {"arch", task.arch()},
      {"shape", task.shape().name},
      {"config", OrderedJson::parse(task.space().config_json(evaluation.candidate))},
      {"verdict", verdict_of(found)}};
  if (built.ok) {
    json.update({{"registers", built.resources.registers},
                 {"static_shared_bytes", built.resources.static_shared_bytes},
                 {"dynamic_shared_bytes", on.dynamic_shared_bytes},
                 {"spill_store_bytes", built.resources.spill_store_bytes},
                 {"spill_load_bytes", built.resources.spill_load_bytes},
                 {"stack_bytes", built.resources.stack_bytes},
                 {"ptx_hash", built.ptx_hash}});
    json.update(launches_json(task.kernel(), evaluation));
  }
  json["checks"] = plain(evaluation.checks);
  json["checked"] = coverage_text(evaluation.checks);
  if (on.timing) json["timing"] = plain(*on.timing);
  if (on.gpu) json["gpu"] = plain(*on.gpu);
  if (on.energy) json["energy"] = plain(*on.energy);
  if (found.profile) json["profile"] = profile_json(*found.profile);
  if (evaluation.rejection) json["rejection"] = plain(*evaluation.rejection);
  json["compile_ms"] = evaluation.compilation.wall_ms;
  json["check_ms"] = evaluation.check_ms;
  json["time_ms"] = on.time_ms;
  if (found.against) json["against"] = against_json(*found.against);
  return json;
}

std::string judgement_text(const TuningTask& task, const Judgement& found) {
  return task.space().config_json(found.evaluation.candidate) + "\n" +
         build_text(task, found.evaluation) + checks_text(task, found.evaluation.checks) +
         measurements_text(task, found) + verdict_text(found);
}

}  // namespace evo
