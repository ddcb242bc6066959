#include "tests/agreement/recorder.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <ctime>
#include <map>
#include <set>
#include <thread>

#include "engine/compile/source.hpp"
#include "engine/compile/toolkit.hpp"
#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"
#include "engine/gate/resource.hpp"

namespace evo::agreement {
namespace {

std::string today() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::array<char, 16> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d", &utc);
  return text.data();
}

/// Compiles all requests in parallel, one per core.
std::vector<CompileOutcome> compile_all(Compiler& compiler,
                                        const std::vector<CompileRequest>& requests) {
  std::vector<CompileOutcome> outcomes(requests.size(), Rejection{});
  std::atomic<std::size_t> next{0};
  {
    std::vector<std::jthread> threads;
    for (unsigned t = 0; t < std::max(1U, std::thread::hardware_concurrency()); ++t) {
      threads.emplace_back([&] {
        for (std::size_t i = next++; i < requests.size(); i = next++)
          outcomes[i] = outcome_of(compiler.compile(requests[i]));
      });
    }
  }
  return outcomes;
}

}  // namespace

struct Recorder::Chosen {
  const TemplateRun* run;
  std::string space;
  Candidate candidate;
  std::vector<const Shape*> shapes;
  Compiled kernel;
};

namespace {

using ShapeGroups = std::vector<std::vector<std::string>>;

const ShapeGroups& attention_shapes() {
  // The groups of shapes cover attention without mask, with causal mask, with D = 128, with grouped
  // heads, with one query, and with more queries than keys. Larger shapes occur in fewer groups.
  static const std::vector<std::string> ragged = {"ragged1", "ragged31"};
  static const std::vector<std::string> decode = {"ragged31", "decode"};
  static const ShapeGroups shapes = {
      decode,          {"causal_wide"}, {"ragged31_d128"}, ragged, {"causal_wide"},
      {"causal_tall"}, decode,          {"causal_wide"},   ragged, {"ragged31_d128"},
      {"grouped"},     {"decode"},      {"causal_wide"},   ragged, {"ragged31_d128"},
      {"causal_tall"}, decode,          {"causal_wide"},   ragged, {"causal_tall_d128"}};
  return shapes;
}

}  // namespace

RecordPlan default_plan() {
  const ShapeGroups& shapes = attention_shapes();
  return {
      .candidates = {{"sdpa_fp8_mma_h200.json", 200, shapes, {{"PV_MODE", "f16"}}},
                     {"sdpa_fp8_mma_h200.json", 24, shapes, {{"PV_MODE", "fp8"}}},
                     {"sdpa_fp8_wgmma_h200.json", 24, shapes},
                     {"sdpa_fp8_wmma_h200.json", 16, {{"ragged1", "ragged31"}, {"ragged31_d128"}}},
                     {"row_softmax_h200.json", 10, {{"single", "ragged"}}}}};
}

RecordPlan wgmma_plan() {
  const ShapeGroups& shapes = attention_shapes();
  return {.kernels = false,
          .candidates = {{"sdpa_fp8_wgmma_e4m3_h200.json", 100, shapes},
                         {"sdpa_fp8_wgmma_h200.json", 40, shapes}}};
}

Recorder::Recorder(std::filesystem::path root, Device& device, Compiler& compiler, Save save)
    : root_(std::move(root)), device_(device), compiler_(compiler), save_(std::move(save)) {}

Record Recorder::record(const RecordPlan& plan, std::uint64_t seed) {
  const DeviceInfo& info = device_.info();
  record_ = {info.id, info.name, info.arch, info.driver, compiler_.version(), today()};
  device_lost_ = false;
  if (plan.kernels) record_cases();
  save_(record_);
  for (const CandidatePlan& candidates : plan.candidates) {
    if (!device_lost_) record_plan(candidates, seed++);
  }
  return std::move(record_);
}

void Recorder::note(const std::string& what, const Fault& fault) {
  record_.faults.push_back(what + ": " + fault.reason);
  device_lost_ = fault.device_lost;
}

Recorder::Kernels Recorder::compile_sources(const std::vector<AgreementCase>& cases) {
  std::map<std::string, std::string> sources;  // file → any one of its entries
  for (const AgreementCase& data : cases) sources.emplace(data.source, data.entry);
  std::vector<CompileRequest> requests;
  for (const auto& [file, entry] : sources) {
    KernelSource source = load_source(root_ / file, root_);
    source.name = file;
    requests.push_back({source,
                        {entry},
                        device_.info().arch,
                        with_toolkit({"-default-device"}, source, toolkit_include_folders())});
  }
  const std::vector<CompileOutcome> outcomes = compile_all(compiler_, requests);
  Kernels kernels;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (const auto* failed = std::get_if<Rejection>(&outcomes[i]))
      throw InputError(requests[i].source.name + ": " + failed->reason + "\n" + failed->detail);
    const auto& compiled = std::get<Compiled>(outcomes[i]);
    record_.sources.push_back({requests[i].source.name, compiled.ptx, compiled.ptx_hash});
    kernels[requests[i].source.name] = compiled;
  }
  return kernels;
}

void Recorder::record_cases() {
  const std::vector<AgreementCase> cases = all_cases();
  const Kernels kernels = compile_sources(cases);
  for (const AgreementCase& data : cases) {
    if (device_lost_) return;
    const Compiled& compiled = kernels.at(data.source);
    auto outcome = run_case(device_, data, {compiled.ptx, compiled.cubin, {data.entry}});
    if (const auto* fault = std::get_if<Fault>(&outcome)) {
      note("kernel '" + data.entry + "' of " + data.source, *fault);
    } else {
      record_.cases.push_back(
          {data.entry, data.source, data.inputs_hash(), std::get<Outputs>(std::move(outcome))});
    }
  }
}

std::vector<Recorder::Chosen> Recorder::compiled(std::vector<Chosen> drawn) {
  std::vector<CompileRequest> requests;
  for (const Chosen& one : drawn)
    requests.push_back(one.run->request(one.candidate, *one.shapes[0]));
  const std::vector<CompileOutcome> outcomes = compile_all(compiler_, requests);
  std::vector<Chosen> good;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    const auto* kernel = std::get_if<Compiled>(&outcomes[i]);
    if (kernel == nullptr) continue;
    const AgreementCase data =
        drawn[i].run->make_case(drawn[i].candidate, *drawn[i].shapes[0], device_.info().sm_count);
    // Some candidates exceed the device's shared memory, because shapes with head dimension D = 128
    // need twice as much as the space's constraints assume.
    if (resource_gate(kernel->resources, data.launch, {}, device_.info())) continue;
    drawn[i].kernel = *kernel;
    good.push_back(std::move(drawn[i]));
  }
  return good;
}

std::vector<Recorder::Chosen> Recorder::choose(const CandidatePlan& plan, std::uint64_t seed) {
  constexpr int kRounds = 20;
  auto& run = runs_[plan.space];
  if (!run) run = std::make_unique<TemplateRun>(root_, plan.space);
  Random random(seed);
  std::set<Candidate> seen;
  std::vector<Chosen> chosen;
  for (int round = 0; round < kRounds && chosen.size() < plan.count; ++round) {
    std::vector<Chosen> drawn;
    while (drawn.size() < plan.count - chosen.size()) {
      const Candidate candidate =
          run->space().candidate_from_settings(plan.settings, run->space().sample(random));
      if (!run->space().is_valid(candidate) || !seen.insert(candidate).second) continue;
      std::vector<const Shape*> shapes;
      for (const std::string& name : plan.shape_groups[seen.size() % plan.shape_groups.size()])
        shapes.push_back(&run->problem().shape(name));
      drawn.push_back({run.get(), plan.space, candidate, shapes, {}});
    }
    for (Chosen& good : compiled(std::move(drawn))) chosen.push_back(std::move(good));
  }
  if (chosen.size() < plan.count) {
    throw InputError(plan.space + ": only " + std::to_string(chosen.size()) +
                     " candidates compile and fit the device, but " + std::to_string(plan.count) +
                     " are asked for");
  }
  return chosen;
}

void Recorder::record_plan(const CandidatePlan& plan, std::uint64_t seed) {
  for (const Chosen& chosen : choose(plan, seed)) {
    if (device_lost_) return;
    run_chosen(chosen);
  }
  save_(record_);
}

void Recorder::run_chosen(const Chosen& chosen) {
  RecordedCandidate recorded{
      chosen.space, chosen.run->space().config_json(chosen.candidate), chosen.kernel.ptx_hash, {}};
  for (const Shape* shape : chosen.shapes) {
    const AgreementCase data =
        chosen.run->make_case(chosen.candidate, *shape, device_.info().sm_count);
    auto outcome = run_case(device_, data, {chosen.kernel.ptx, chosen.kernel.cubin, {data.entry}});
    if (const auto* fault = std::get_if<Fault>(&outcome)) {
      note(chosen.space + " " + recorded.config + " on shape " + shape->name, *fault);
      return;
    }
    recorded.runs.push_back(
        {shape->name, data.inputs_hash(), std::get<Outputs>(std::move(outcome))});
  }
  record_.candidates.push_back(std::move(recorded));
}

}  // namespace evo::agreement
