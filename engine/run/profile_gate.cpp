#include "engine/run/profile_gate.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <map>

#include "engine/core/error.hpp"
#include "engine/core/temporary_folder.hpp"
#include "engine/run/ncu.hpp"
#include "engine/worker/process.hpp"
#include "engine/worker/profile_request.hpp"

namespace evo {
namespace {

/// Evaluates the condition of the problem's "profile" on the measured or predicted figures, and
/// adds the figures and the verdict to `record`.
Profiled held_against(const ProfileSpec& spec, ProfileRecord record,
                      const std::map<std::string, NcuCounts::Figure>& figures) {
  std::map<std::string, double> values;
  for (const auto& [name, metric] : spec.metrics) {
    const auto found = figures.find(metric);
    if (found == figures.end()) {
      return {.left_out = "the time model does not predict the metric " + metric};
    }
    values[name] = found->second.value;
    record.metrics.push_back({name, metric, found->second.value, found->second.unit});
  }
  record.require = spec.require.text();
  record.passed = spec.require.evaluate(values) != 0;
  return {.record = std::move(record)};
}

Profiled predicted(Workbench& bench, const KernelUnderTest& kernel, const ProfileSpec& spec,
                   std::size_t at) {
  auto answer = bench.wait(bench.take_home().predicted_profile(kernel, at));
  if (auto* failure = std::get_if<WorkerFailure>(&answer)) return {.left_out = failure->reason};
  const auto& result = std::get<PredictedProfile>(answer);
  if (result.rejection) return {.left_out = result.rejection->reason};
  if (result.percent.empty()) {
    return {.left_out = "the time model does not predict the utilisation of units for this kernel"};
  }
  std::map<std::string, NcuCounts::Figure> figures;
  for (const auto& [metric, percent] : result.percent) figures[metric] = {percent, "%"};
  return held_against(spec, {TimeKind::kPredicted, "time model", {}}, figures);
}

Profiled counted(Workbench& bench, KernelUnderTest kernel, const ProfileSpec& spec,
                 std::size_t at) {
  kernel.shapes = {bench.task().shape(at).name};
  const std::string version = ncu_version();
  if (version.empty()) {
    return {.left_out = "Nsight Compute (ncu) is not on the PATH, or does not start"};
  }
  const TemporaryFolder folder("evo-profile");
  const std::filesystem::path request = folder.path() / "request";
  write_profile_request(request, {bench.setup(), kernel});
  std::vector<std::string> metrics;
  for (const auto& [name, metric] : spec.metrics) metrics.push_back(metric);
  const NcuResult result =
      run_ncu({worker_program().string(), "profile", bench.task().device().id, request.string()},
              folder.path(), metrics, [] {});
  if (const auto* failure = std::get_if<NcuFailure>(&result)) return {.left_out = failure->reason};
  return held_against(spec, {.kind = TimeKind::kMeasured, .tool = version},
                      std::get<NcuCounts>(result).figures);
}

}  // namespace

void require_profile(const Workbench& bench) {
  if (!has_device(bench)) {
    throw InputError("--profile: not supported with --device none, because no kernel runs");
  }
  if (!bench.task().problem().profile) {
    throw InputError("--profile: " + (bench.task().problem().folder / "problem.json").string() +
                     " has no \"profile\", which lists the metrics and the condition");
  }
}

Profiled profile_gate(Workbench& bench, const KernelUnderTest& kernel, std::size_t at) {
  require_profile(bench);
  const ProfileSpec& spec = *bench.task().problem().profile;
  return bench.task().device().time_kind == TimeKind::kPredicted
             ? predicted(bench, kernel, spec, at)
             : counted(bench, kernel, spec, at);
}

std::optional<Rejection> rejection_of(const ProfileRecord& record) {
  if (record.passed) return std::nullopt;
  return Rejection{
      Gate::kProfile,
      fmt::format("{} is false: {} ({}{})", record.require, metrics_text(record), record.tool,
                  record.kind == TimeKind::kPredicted ? ", predicted" : "")};
}

std::string metrics_text(const ProfileRecord& record) {
  std::string text;
  for (const ProfileMetric& metric : record.metrics) {
    text += fmt::format("{}{} {:.4g}{}{}", text.empty() ? "" : ", ", metric.name, metric.value,
                        metric.unit.empty() ? "" : " ", metric.unit);
  }
  return text;
}

}  // namespace evo
