#include "tests/agreement/replay.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"
#include "engine/ptx/code_hash.hpp"
#include "tests/engine/device/virtual/nvrtc.hpp"

namespace evo::agreement {
namespace {

// If P, the attention's softmax, is stored in e4m3 (3 fraction bits), a difference in the last bit
// of an exponential may change an element of P by up to 1/8, so only the L2 error is limited.
constexpr CandidateBound kHalf{"P in f16", 1e-3, 0};
constexpr CandidateBound kByte{"P in e4m3", 0, 4e-3};
constexpr CandidateBound kSoftmax{"row_softmax", 0, 1e-6};

CandidateBound bound_of(const TemplateRun& run, const Candidate& candidate) {
  if (run.problem().name == "row_softmax") return kSoftmax;
  const Values values = run.space().values(candidate);
  const auto mode = values.find("PV_MODE");
  const bool bytes = mode != values.end() && mode->second == values.at("PV_MODE_FP8");
  return bytes ? kByte : kHalf;
}

/// The recorded configuration. Macros that the recording lacks have their defaults.
Candidate candidate_of(const Space& space, const std::string& config) {
  std::vector<std::pair<std::string, std::string>> settings;
  const Json json = parse_json(config, "recorded configuration");
  for (const auto& [macro, value] : json.items()) {
    settings.emplace_back(macro, value.is_string() ? value.get<std::string>() : value.dump());
  }
  return space.candidate_from_settings(settings, space.defaults());
}

/// Compiles a request to PTX for the virtual architecture of its device architecture, such as
/// compute_90 for sm_90.
std::string ptx_of(const CompileRequest& request) {
  constexpr std::string_view kReal = "sm_";
  return test::compile_to_ptx(request.source.expanded(),
                              "compute_" + request.arch.substr(kReal.size()), request.options);
}

void judge(const RunComparison& run, const std::string& shape, CandidateReplay& result) {
  const CandidateBound& bound = result.bound;
  const bool too_far = bound.max_over_rms > 0 && !(run.max_over_rms <= bound.max_over_rms);
  const bool too_much = bound.relative_l2 > 0 && !(run.relative_l2 <= bound.relative_l2);
  if (!too_far && !too_much) return;
  std::ostringstream text;
  text << "shape " << shape << ": largest difference " << run.max_over_rms << " of the rms ("
       << run.worst_steps << " steps), relative L2 " << run.relative_l2;
  result.failure = text.str();
}

}  // namespace

Replay::Replay(std::filesystem::path root, const Record& record, int threads)
    : root_(std::move(root)),
      record_(record),
      device_(open_virtual_device("virtual:h200", {.threads = threads})) {}

const TemplateRun& Replay::run_of(const std::string& space) {
  auto& run = runs_[space];
  if (!run) run = std::make_unique<TemplateRun>(root_, space);
  return *run;
}

Outputs Replay::run(const AgreementCase& data, const std::string& ptx) {
  auto outcome = run_case(*device_, data, {ptx, {}, {data.entry}});
  if (const auto* fault = std::get_if<Fault>(&outcome))
    throw std::runtime_error(fault->reason + "\n" + fault->detail);
  return std::get<Outputs>(std::move(outcome));
}

std::optional<CaseComparison> Replay::replay(const AgreementCase& data) {
  for (const RecordedCase& recorded : record_.cases) {
    if (recorded.entry != data.entry || recorded.source != data.source) continue;
    if (recorded.inputs_hash != data.inputs_hash())
      throw InputError("kernel '" + data.entry + "' was recorded with other inputs");
    return compare_case(data, recorded.outputs, run(data, record_.source_of(data.source).ptx));
  }
  return std::nullopt;
}

void Replay::compare(const AgreementCase& data, const RecordedRun& recorded, const std::string& ptx,
                     CandidateReplay& result) {
  if (recorded.inputs_hash != data.inputs_hash()) {
    result.failure = "shape " + recorded.shape + " was recorded with other inputs";
    return;
  }
  result.runs.push_back(compare_run(data, recorded.outputs, run(data, ptx)));
  judge(result.runs.back(), recorded.shape, result);
}

CandidateReplay Replay::replay(const RecordedCandidate& candidate) {
  CandidateReplay result;
  try {
    const TemplateRun& run = run_of(candidate.space);
    const Candidate configuration = candidate_of(run.space(), candidate.config);
    result.bound = bound_of(run, configuration);
    const Shape& first = run.problem().shape(candidate.runs.at(0).shape);
    const std::string ptx = ptx_of(run.request(configuration, first));
    result.same_ptx = hash_ptx(ptx) == candidate.ptx_hash;
    for (const RecordedRun& recorded : candidate.runs) {
      const Shape& shape = run.problem().shape(recorded.shape);
      compare(run.make_case(configuration, shape, device_->info().sm_count), recorded, ptx, result);
      if (!result.failure.empty()) break;
    }
  } catch (const std::exception& error) {
    // If the template no longer compiles with this configuration, or the kernel does not run, the
    // replay has failed.
    result.failure = error.what();
  }
  if (!result.failure.empty()) result.failure += "\n" + candidate.space + " " + candidate.config;
  return result;
}

void KindSummary::add(const CandidateReplay& replay) {
  ++candidates;
  same_ptx += replay.same_ptx ? 1 : 0;
  failures += replay.failure.empty() ? 0 : 1;
  for (const RunComparison& run : replay.runs) {
    elements += run.elements;
    identical += run.identical;
    max_over_rms = std::max(max_over_rms, run.max_over_rms);
    relative_l2 = std::max(relative_l2, run.relative_l2);
    worst_steps = std::max(worst_steps, run.worst_steps);
  }
}

std::string KindSummary::text() const {
  std::ostringstream out;
  out << candidates << " candidates, " << failures << " outside the bound; " << same_ptx
      << " have the PTX that was recorded; "
      << 100.0 * static_cast<double>(identical) /
             static_cast<double>(std::max<std::size_t>(1, elements))
      << " % of " << elements << " elements identical; largest difference " << max_over_rms
      << " of the rms (" << worst_steps << " steps), relative L2 " << relative_l2;
  return out.str();
}

}  // namespace evo::agreement
