#include "tools/bundle/kernels.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "db/queries.hpp"
#include "engine/compile/compiler_options.hpp"
#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"

namespace evo {
namespace {

/// Two evaluations with equal identities have the same kernel, even if they are from different
/// runs.
struct Identity {
  std::string code;
  std::string config;

  bool operator<(const Identity& other) const {
    return std::tie(code, config) < std::tie(other.code, other.config);
  }
};

using DeviceKey = std::tuple<std::string, std::string, int, TimeKind>;

DeviceKey key_of(const DeviceInfo& device) {
  return {device.name, device.arch, device.sm_count, device.time_kind};
}

std::string with_sorted_keys(const std::string& config) { return Json::parse(config).dump(); }

/// The default configuration of a stored space.
std::string default_config(const StoredRun& run) {
  const Json space = parse_json(run.info.space.text, run.info.space.name);
  Json config = Json::object();
  for (const Json& parameter : space.value("parameters", Json::array())) {
    const Json& values = parameter.at("values");
    const Json& first = values.is_array() ? values.at(0) : values.at("from");
    config[parameter.at("macro").get<std::string>()] = parameter.value("default", first);
  }
  return config.dump();
}

std::map<std::string, ShapeVariables> shapes_of(const StoredRun& run) {
  const Json problem = parse_json(run.info.problem.text, run.info.problem.name);
  std::map<std::string, ShapeVariables> shapes;
  const Json listed = problem.value("shapes", Json::object());
  for (const auto& [name, shape] : listed.items()) {
    shapes[name] = shape.at("variables").get<ShapeVariables>();
  }
  return shapes;
}

/// The names of the macros that the problem sets for each shape.
std::vector<std::string> shape_macros(const StoredRun& run) {
  std::vector<std::string> names;
  const Json macros =
      parse_json(run.info.problem.text, run.info.problem.name).value("macros", Json::object());
  for (const auto& [name, value] : macros.items()) names.push_back(name);
  return names;
}

/// Whether the profile gate withdrew the kernel. A withdrawal by the profile gate applies only to
/// the shape of the run.
bool is_idle(const EvaluationRecord& evaluation) {
  return evaluation.withdrawal && evaluation.withdrawal->gate == Gate::kProfile;
}

/// The members of a run's elites: they passed a full check, not only a quick check (a shortened
/// check).
std::set<CandidateId> fully_checked(const Store& store, const StoredRun& run) {
  std::set<CandidateId> candidates;
  for (const StoredGeneration& generation : store.generations(run.id)) {
    candidates.insert(generation.record.elite.begin(), generation.record.elite.end());
  }
  return candidates;
}

void add_checked(BundleKernel& kernel, const std::map<std::string, ShapeVariables>& shapes,
                 const std::vector<CheckResult>& checks) {
  for (const CheckResult& check : checks) {
    const auto shape = shapes.find(check.shape);
    if (shape != shapes.end()) kernel.checked_shapes.insert(*shape);
  }
}

/// Collects the kernels that ran on one device model.
class Gathering {
 public:
  explicit Gathering(const std::vector<BundleSource>& sources) : sources_(sources) {}

  /// Adds the kernels of runs on `target.device` to the target.
  void run(const std::vector<std::pair<std::size_t, StoredRun>>& runs, BundleTarget& target) {
    for (const auto& [source, run] : runs) find_kernels(source, run);
    for (const auto& [source, run] : runs) find_winner(source, run);
    for (const auto& [source, run] : runs) find_times(source, run);
    for (const auto& [place, winner] : newest_) {
      const auto [known, is_new] = target.winners.emplace(place.second, winner);
      if (!is_new && winner.p50_us < known->second.p50_us) known->second = winner;
    }
    for (const Identity& withdrawn : withdrawn_) kernels_.erase(withdrawn);
    for (auto& [identity, kernel] : kernels_) {
      if (kernel.times.empty()) continue;
      for (const auto& [shape, time] : kernel.times) target.shapes[shape] = time.run.info.shape;
      target.kernels.push_back(std::move(kernel));
    }
    for (const auto& of_space : defaults_) {
      const bool is_there = std::ranges::any_of(target.kernels, [&](const BundleKernel& kernel) {
        return kernel.config == of_space.first;
      });
      if (!is_there) target.missing_defaults.push_back(of_space.second);
    }
  }

 private:
  [[nodiscard]] const Store& store(std::size_t source) const { return *sources_[source].store; }

  /// Returns BundleKernel::code; empty if the candidate was not compiled. `macros`: shape_macros()
  /// of the run.
  [[nodiscard]] std::string code_of(std::size_t source, const EvaluationRecord& record,
                                    const std::vector<std::string>& macros) const {
    if (!record.compilation) return {};
    const CompilationFacts facts = store(source).compilation_facts(*record.compilation);
    std::string code = facts.ptx_hash;
    for (const std::string& option : split_options(facts.options)) {
      const bool is_of_shape = std::ranges::any_of(
          macros, [&](const std::string& macro) { return option.starts_with("-D" + macro + "="); });
      if (is_of_shape && !code.empty()) code += " " + option;
    }
    return code;
  }

  void find_kernels(std::size_t source, const StoredRun& run) {
    const std::string of_defaults = default_config(run);
    const std::set<CandidateId> checked = fully_checked(store(source), run);
    if (checked.empty()) return;
    defaults_.emplace(of_defaults, run.info.space.name);
    const std::vector<std::string> macros = shape_macros(run);
    for (const CandidateId candidate : checked) {
      const EvaluationRecord evaluation = store(source).evaluation(candidate);
      if (is_idle(evaluation)) continue;
      const Identity identity{code_of(source, evaluation, macros),
                              with_sorted_keys(evaluation.config_json)};
      if (identity.code.empty()) continue;
      configs_.insert(identity.config);
      BundleKernel& kernel = kernels_[identity];
      kernel.code = identity.code;
      kernel.config = identity.config;
      kernel.is_default = kernel.is_default || identity.config == of_defaults;
      kernel.source = source;
      kernel.candidate = candidate;
    }
  }

  void find_winner(std::size_t source, const StoredRun& run) {
    const std::map<std::string, ShapeVariables> shapes = shapes_of(run);
    const auto timed = shapes.find(run.info.shape);
    const std::vector<EliteRow> rows = elite_of_run(store(source), run.id);
    if (timed == shapes.end() || rows.empty()) return;
    const EvaluationRecord record = store(source).evaluation(rows.front().candidate);
    const ShapeWinner winner{run.id, rows.front().candidate,
                             code_of(source, record, shape_macros(run)),
                             with_sorted_keys(record.config_json), rows.front().p50_us};
    winners_[{source, run.id}] = winner;
    newest_[{run.info.space.name, timed->second}] = winner;
  }

  /// Computes KernelTime::ranked_us.
  [[nodiscard]] double ranked_us(std::size_t source, const StoredRun& run, const Identity& kernel,
                                 double p50_us) const {
    constexpr double kBehind = 1 + 1e-9;
    const auto found = winners_.find({source, run.id});
    if (found == winners_.end()) return p50_us;
    const ShapeWinner& winner = found->second;
    const bool is_winner = winner.code == kernel.code && winner.config == kernel.config;
    return is_winner ? p50_us : std::max(p50_us, winner.p50_us * kBehind);
  }

  void find_times(std::size_t source, const StoredRun& run) {
    const std::map<std::string, ShapeVariables> shapes = shapes_of(run);
    const auto timed = shapes.find(run.info.shape);
    if (timed == shapes.end()) return;
    const std::vector<std::string> macros = shape_macros(run);
    store(source).for_each_evaluation(run.id, [&](const EvaluationRecord& evaluation) {
      const std::string config = with_sorted_keys(evaluation.config_json);
      if (!configs_.contains(config)) return;
      const EvaluationRecord own =
          evaluation.duplicate_of ? store(source).evaluation(*evaluation.duplicate_of) : evaluation;
      const Identity identity{code_of(source, own, macros), config};
      const auto found = kernels_.find(identity);
      if (found == kernels_.end()) return;
      if (is_idle(evaluation)) return;
      if (evaluation.withdrawal || own.rejection) {
        withdrawn_.insert(identity);
      } else if (own.timing && own.timing->complete) {
        const double ranked = ranked_us(source, run, identity, own.timing->p50_us);
        add_time(found->second, shapes, timed->second,
                 {run, *own.timing, evaluation.created_at, ranked}, own.checks);
      }
    });
  }

  static void add_time(BundleKernel& kernel, const std::map<std::string, ShapeVariables>& shapes,
                       const ShapeVariables& timed, KernelTime time,
                       const std::vector<CheckResult>& checks) {
    add_checked(kernel, shapes, checks);
    const auto known = kernel.times.find(timed);
    if (known != kernel.times.end() && known->second.measured_at > time.measured_at) return;
    kernel.times.insert_or_assign(timed, std::move(time));
  }

  const std::vector<BundleSource>& sources_;
  std::map<std::string, std::string> defaults_;  ///< configuration → space
  std::set<std::string> configs_;
  std::map<Identity, BundleKernel> kernels_;
  std::set<Identity> withdrawn_;
  std::map<std::pair<std::size_t, RunId>, ShapeWinner> winners_;  ///< by run
  /// The winner of the newest run of each space on each shape.
  std::map<std::pair<std::string, ShapeVariables>, ShapeWinner> newest_;
};

}  // namespace

std::vector<BundleTarget> bundle_targets(const std::vector<BundleSource>& sources) {
  std::map<DeviceKey, std::vector<std::pair<std::size_t, StoredRun>>> runs;
  for (std::size_t source = 0; source < sources.size(); ++source) {
    for (const StoredRun& run : sources[source].runs) {
      runs[key_of(run.info.device)].emplace_back(source, run);
    }
  }
  std::vector<BundleTarget> targets;
  for (const auto& [device, of_device] : runs) {
    BundleTarget target;
    target.device = of_device.back().second.info.device;
    Gathering(sources).run(of_device, target);
    if (!target.kernels.empty()) targets.push_back(std::move(target));
  }
  return targets;
}

BundleTarget target_of(const Store& store, CandidateId candidate) {
  const EvaluationRecord evaluation = store.evaluation(candidate);
  if (evaluation.duplicate_of) return target_of(store, *evaluation.duplicate_of);
  const StoredRun run = store.run(evaluation.run);
  const std::map<std::string, ShapeVariables> shapes = shapes_of(run);
  BundleTarget target;
  target.device = run.info.device;
  BundleKernel& kernel = target.kernels.emplace_back();
  kernel.config = with_sorted_keys(evaluation.config_json);
  kernel.candidate = candidate;
  add_checked(kernel, shapes, evaluation.checks);
  if (!evaluation.timing) {
    throw DbError("candidate " + std::to_string(candidate) + " is not green: it has no time");
  }
  const ShapeVariables& timed = shapes.at(run.info.shape);
  kernel.times[timed] = {run, *evaluation.timing, evaluation.created_at, evaluation.timing->p50_us};
  target.shapes[timed] = run.info.shape;
  return target;
}

}  // namespace evo
