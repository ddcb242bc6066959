// report-database: adds a made-up run to a database, to test the speed and the content of
// evo-report without a device. The run has many candidates: green, withdrawn, duplicates, and
// rejected by the gates build, resources, correctness and timing.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "db/store.hpp"
#include "engine/core/hash.hpp"
#include "engine/core/random.hpp"
#include "engine/space/space.hpp"
#include "tools/cli/data_folder.hpp"
#include "tools/cli/number_options.hpp"
#include "tools/cli/tool_main.hpp"

namespace evo {
namespace {

struct Arguments {
  std::string db;
  std::string space = "search_spaces/sdpa_fp8_mma_h200.json";
  int candidates = 10000;
  int a_generation = 100;
  std::uint64_t seed = 1;
};

// A text that would end the report's <script> element of data if evo-report did not escape it.
constexpr const char* kHostile =
    "</script><script>window.hacked = true</script><!-- <img src=x onerror=window.hacked=true>";

RunInfo made_up_run(const Space& space, const Arguments& arguments) {
  const SpaceDefinition& definition = space.definition();
  return {.device = {.id = "cuda:0",
                     .name = "made-up GPU",
                     .arch = "sm_90",
                     .time_kind = TimeKind::kMeasured,
                     .sm_count = 132,
                     .clock_mhz = 1980,
                     .max_shared_bytes_per_cta = 232448,
                     .l2_bytes = 62914560,
                     .peak_tflops = 1979,
                     .peak_bandwidth_gbs = 4800,
                     .driver = "made up"},
          .problem = {content_key("made up"), definition.problem, "{}"},
          .space = {space.content_key(), definition.name, definition.text},
          .shape = definition.shape,
          .seed = arguments.seed,
          .strategy = "full",
          .offspring = arguments.a_generation,
          .flops_per_launch = 1.07e9,
          .bytes_per_launch = 2.6e6,
          .options_json = R"({"generations":100,"max_in_flight":32,"check_seed":7,"cold":false})",
          .evo_version = EVO_VERSION};
}

/// Made-up times: a random factor for each value of each macro, a constant factor for one pair of
/// values, and noise.
class MadeUpTimes {
 public:
  MadeUpTimes(const Space& space, Random random) {
    constexpr double kSpread = 0.12;
    for (std::size_t p = 0; p < space.parameter_count(); ++p) {
      for (std::size_t v = 0; v < space.value_count(p); ++v) {
        effects_.emplace(std::pair(p, v), kSpread * random.normal() / (1.0 + 0.2 * double(p)));
      }
    }
  }

  double us(const Candidate& candidate, Random& random) const {
    constexpr double kTypical = 9;
    constexpr double kNoise = 0.01;
    constexpr double kTogether = 0.4;
    double log_factor = kNoise * random.normal();
    for (std::size_t p = 0; p < candidate.choice.size(); ++p) {
      log_factor += effects_.at({p, candidate.choice[p]});
    }
    if (candidate.choice[0] == 0 && candidate.choice[1] == 0) log_factor += kTogether;
    return kTypical * std::exp(log_factor);
  }

 private:
  std::map<std::pair<std::size_t, std::size_t>, double> effects_;
};

/// Records a made-up run in a database, candidate by candidate.
class MadeUpRun {
 public:
  MadeUpRun(Store& store, const Space& space, const Arguments& arguments)
      : store_(&store),
        space_(&space),
        random_(arguments.seed),
        times_(space, random_.split()),
        run_(store.start_run(made_up_run(space, arguments))) {}

  void record(const Arguments& arguments) {
    std::vector<std::pair<Candidate, std::string>> first = {{space_->defaults(), ""}};
    for (const Milestone& milestone : space_->definition().milestones) {
      first.emplace_back(milestone.candidate, milestone.name);
    }
    int generation = 0;
    int position = 0;
    for (int i = 0; i < arguments.candidates; ++i) {
      const auto at = static_cast<std::size_t>(i);
      EvaluationRecord record = at < first.size() ? evaluation(first[at].first, first[at].second)
                                                  : evaluation(next(), "");
      record.generation = generation;
      record.position = position++;
      judge(record, at < first.size());
      if (position < arguments.a_generation && i + 1 < arguments.candidates) continue;
      finish_generation(generation++);
      position = 0;
    }
    finish();
  }

 private:
  /// The next candidate: with a probability of 1/2 the best candidate with another value of one
  /// macro, if the space allows this change, and otherwise a random candidate.
  Candidate next() {
    if (best_ && random_.below(2) == 0) {
      Candidate changed = *best_;
      const auto parameter = static_cast<std::size_t>(random_.below(changed.choice.size()));
      changed.choice[parameter] =
          static_cast<std::uint16_t>(random_.below(space_->value_count(parameter)));
      if (changed != *best_ && space_->is_valid(changed)) return changed;
    }
    return space_->sample(random_);
  }

  EvaluationRecord evaluation(const Candidate& candidate, const std::string& milestone) {
    EvaluationRecord record;
    record.config_json = space_->config_json(candidate);
    record.key = content_key(record.config_json);
    record.origin = milestone.empty() ? "full" : "milestone";
    record.milestone = milestone;
    record.timing = Timing{};
    record.timing->p50_us = times_.us(candidate, random_);
    record.compilation = compile(candidate);
    record.kernel_key = "kernel " + std::to_string(*record.compilation);
    record.dynamic_shared_bytes = static_cast<int>(1024 * (8 + random_.below(150)));
    return record;
  }

  CompilationId compile(const Candidate& candidate) {
    CompilationRecord record;
    for (const auto& [macro, value] : space_->macros(candidate)) {
      record.options += fmt::format("{}-D{}={}", record.options.empty() ? "" : " ", macro, value);
    }
    record.key = content_key(record.options);
    if (const auto known = store_->compilation_id(record.key)) return *known;
    record.ok = true;
    record.arch = "sm_90";
    record.compiler = "made up";
    record.ptx_hash = record.key;
    record.resources.registers = static_cast<int>(40 + random_.below(210));
    record.source = "extern \"C\" __global__ void made_up() {}\n";
    record.ptx =
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry made_up()\n{\nret;\n}\n";
    record.cubin = "made up";
    return store_->put_compilation(record);
  }

  /// Stores a candidate with a random outcome: green, a duplicate, or rejected at a random gate.
  /// With `must_pass` (default configuration and milestones), the candidate is green.
  void judge(EvaluationRecord& record, bool must_pass) {
    const double draw = must_pass ? 1 : random_.uniform();
    if (draw < 0.05 && !elite_.empty()) {
      record.duplicate_of = elite_.front();
      record.timing.reset();
    } else if (draw < 0.23) {
      reject(record, draw);
    } else {
      pass(record);
      return;
    }
    store_->record_evaluation(run_, record);
  }

  void reject(EvaluationRecord& record, double draw) {
    record.timing.reset();
    if (draw < 0.07) {
      record.rejection = Rejection{Gate::kBuild, std::string("error: ") + kHostile};
    } else if (draw < 0.19) {
      record.rejection = Rejection{
          .gate = Gate::kResource, .reason = "spill bytes 64 > 0 (policy)", .policy_only = true};
    } else if (draw < 0.22) {
      record.rejection = Rejection{Gate::kCorrectness, "max_abs_error 0.3 > 0.06 on ragged31"};
    } else {
      record.rejection = Rejection{Gate::kTiming, "no progress message for 10 s"};
    }
  }

  void pass(EvaluationRecord& record) {
    Timing& timing = *record.timing;
    timing = {.p50_us = timing.p50_us,
              .p90_us = timing.p50_us * 1.02,
              .p99_us = timing.p50_us * 1.05,
              .mean_us = timing.p50_us * 1.005,
              .std_us = timing.p50_us * 0.01,
              .cv = 0.01,
              .samples = 200};
    for (const char* shape : {"small", "ragged31", "mission"}) {
      record.checks.push_back({.shape = shape,
                               .seed = random_.bits(),
                               .max_abs_error = 0.03 * random_.uniform(),
                               .bad_share = 0.001 * random_.uniform(),
                               .relative_l2 = 0.001 * random_.uniform(),
                               .max_row_error = 0.01 * random_.uniform()});
    }
    record.manifest_json = fmt::format(
        R"({{"entry":"made_up","shape":{{"name":"mission"}},"arguments":[],"launch":{{"grid":[{{"value":8}}],"block":[{{"value":{}}}]}},"tolerance":{{"max_abs_error":0.06,"bad_share":0.01,"relative_l2":0.002,"max_row_error":0.02}}}})",
        32 * (1 + random_.below(12)));
    const CandidateId id = store_->record_evaluation(run_, record);
    constexpr double kTie = 1.02;
    if (elite_.empty() || timing.p50_us < best_us_) {
      if (!elite_.empty()) compare(id, timing.p50_us, record.generation, Verdict::kFaster);
      elite_.insert(elite_.begin(), id);
      best_us_ = timing.p50_us;
      if (elite_.size() > 3) elite_.pop_back();
      best_ = space_->candidate_from_json(record.config_json);
    } else if (timing.p50_us < kTie * best_us_) {
      compare(id, timing.p50_us, record.generation, Verdict::kTie);
    } else if (withdrawn_ == 0 && record.generation > 0) {
      withdrawn_ = id;
      store_->record_withdrawal(run_,
                                {.candidate = id,
                                 .generation = record.generation,
                                 .why = {Gate::kCorrectness, "failed when it was run again"}});
    }
  }

  void compare(CandidateId challenger, double us, int generation, Verdict verdict) {
    const double ratio = us / best_us_;
    store_->record_comparison(run_, {.generation = generation,
                                     .challenger = challenger,
                                     .incumbent = elite_.front(),
                                     .ratio = ratio,
                                     .ratio_low = ratio - 0.004,
                                     .ratio_high = ratio + 0.003,
                                     .pairs = 60,
                                     .verdict = verdict});
  }

  void finish_generation(int number) {
    const double drift = 0.004 * std::sin(0.3 * number);
    store_->record_generation(run_, {.number = number,
                                     .elite = elite_,
                                     .wall_ms = 1000,
                                     .control_p50_us = 9 * (1 + drift),
                                     .control_drift = drift});
  }

  /// The path from the default configuration, which is the first step, to the winner. Each later
  /// step changes one macro.
  WinnerWay way() {
    Candidate at = space_->defaults();
    WinnerWay way{.start = "default", .winner = elite_.front()};
    double before_us = times_.us(at, random_);
    way.steps.push_back({.config_json = space_->config_json(at), .p50_us = before_us});
    for (std::size_t p = 0; p < at.choice.size(); ++p) {
      if (at.choice[p] == best_->choice[p]) continue;
      WinnerStep step;
      step.changes = {{std::string(space_->parameter_name(p)), space_->value_text(p, at.choice[p]),
                       space_->value_text(p, best_->choice[p])}};
      at.choice[p] = best_->choice[p];
      step.config_json = space_->config_json(at);
      step.p50_us = times_.us(at, random_);
      step.ratio = step.p50_us / before_us;
      step.ratio_low = step.ratio - 0.01;
      step.ratio_high = step.ratio + 0.01;
      step.pairs = 60;
      before_us = step.p50_us;
      way.steps.push_back(std::move(step));
    }
    return way;
  }

  void finish() {
    if (best_) {
      store_->record_winner_ways(run_, {way()});
      store_->record_winner_units(
          run_, elite_.front(),
          {{"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", 21},
           {"sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active", 71}});
    }
    store_->record_event(run_, "policy cost",
                         "policy cost: 5.00 µs (best under policy) vs 4.80 µs (best without)");
    store_->record_event(run_, "warning", kHostile);
    store_->finish_run(run_, RunStatus::kFinished);
  }

  Store* store_;
  const Space* space_;
  Random random_;
  MadeUpTimes times_;
  RunId run_;
  std::vector<CandidateId> elite_;
  double best_us_ = 0;  ///< the time of the first of `elite_`
  std::optional<Candidate> best_ = {};
  CandidateId withdrawn_ = 0;
};

ExitCode run(int argc, char** argv) {
  Arguments arguments;
  CLI::App app(
      "report-database: adds a made-up run to a database, for trying evo-report without a device.\n"
      "The device is called \"made-up GPU\", and its times mean nothing.");
  app.add_option("--db", arguments.db, "database file")->required();
  app.add_option("--space", arguments.space, "search space")->capture_default_str();
  app.add_option("--candidates", arguments.candidates, "number of candidates")
      ->capture_default_str()
      ->transform(whole_number(1, 1000000));
  app.add_option("--generation", arguments.a_generation, "candidates of a generation")
      ->capture_default_str()
      ->transform(whole_number(1, 1000000));
  app.add_option("--seed", arguments.seed, "seed of the random draw")
      ->capture_default_str()
      ->transform(seed_number());
  if (const auto done = parse_command_line(app, argc, argv)) return *done;
  const Space space(read_space_file(find_space(arguments.space)));
  Store store = Store::open(arguments.db);
  MadeUpRun(store, space, arguments).record(arguments);
  std::cout << arguments.db << '\n';
  return ExitCode::kGreen;
}

}  // namespace
}  // namespace evo

int main(int argc, char** argv) {
  return evo::tool_main("report-database", [&] { return evo::run(argc, argv); });
}
