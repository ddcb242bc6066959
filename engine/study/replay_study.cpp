#include "engine/study/replay_study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "engine/core/parallel.hpp"
#include "engine/core/statistics.hpp"

namespace evo {
namespace {

/// StudyResult::failed_share_after_50 does not count failures in this number of first evaluations,
/// because a strategy cannot predict failures yet.
constexpr std::size_t kLearningPhase = 50;

struct Repeat {
  std::array<double, kReportedBudgets.size()> fraction{};
  double score = 0;
  std::size_t failed_late = 0;
  std::size_t late = 0;
  std::size_t evaluations = 0;
};

Repeat run_repeat(const RecordedSpace& space, const RandomBaseline& baseline,
                  const StrategyMaker& make, const StudyOptions& options, std::size_t index) {
  const auto strategy = make(space, {.elite_size = 3, .seed = mix_seed(options.seed, index)});
  const std::size_t budget =
      options.to_cutoff ? std::max(options.budget, baseline.cutoff()) : options.budget;
  const ReplayTrace trace = replay(space, *strategy, budget, options.max_in_flight);
  Repeat repeat;
  for (std::size_t i = 0; i < kReportedBudgets.size(); ++i) {
    repeat.fraction[i] = fraction_of_optimum(trace, baseline, kReportedBudgets[i]);
  }
  repeat.score = methodology_score(trace, baseline);
  repeat.evaluations = trace.failed.size();
  for (std::size_t n = kLearningPhase; n < std::min(options.budget, trace.failed.size()); ++n) {
    ++repeat.late;
    repeat.failed_late += trace.failed[n] ? 1 : 0;
  }
  return repeat;
}

std::vector<Repeat> run_repeats(const RecordedSpace& space, const RandomBaseline& baseline,
                                const StrategyMaker& make, const StudyOptions& options) {
  std::vector<Repeat> repeats(options.repeats);
  in_parallel(options.jobs, repeats.size(), [&](const auto& next) {
    while (const auto i = next()) repeats[*i] = run_repeat(space, baseline, make, options, *i);
  });
  return repeats;
}

Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {mean(values), standard_deviation(values), quantile(values, 0.1), quantile(values, 0.9)};
}

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

}  // namespace

StudyResult run_study(const RecordedSpace& space, const StrategyMaker& make,
                      const StudyOptions& options) {
  const RandomBaseline baseline(space);
  const auto start = std::chrono::steady_clock::now();
  const std::vector<Repeat> repeats = run_repeats(space, baseline, make, options);
  StudyResult result;
  result.space = space.name();
  result.cutoff = baseline.cutoff();
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::vector<double> values(repeats.size());
  for (std::size_t i = 0; i < kReportedBudgets.size(); ++i) {
    for (std::size_t r = 0; r < repeats.size(); ++r) values[r] = repeats[r].fraction[i];
    result.fraction[i] = spread_of(values);
    result.random_fraction[i] = baseline.expected_fraction(kReportedBudgets[i]);
  }
  double failed = 0;
  double late = 0;
  for (std::size_t r = 0; r < repeats.size(); ++r) {
    values[r] = repeats[r].score;
    failed += static_cast<double>(repeats[r].failed_late);
    late += static_cast<double>(repeats[r].late);
    result.evaluations += repeats[r].evaluations;
  }
  result.score = spread_of(values);
  result.failed_share_after_50 = late > 0 ? failed / late : 0;
  result.recorded_failed_share = 1 - static_cast<double>(space.sorted_times_ms().size()) /
                                         static_cast<double>(space.rank_count());
  return result;
}

std::string study_table(const std::vector<StudyResult>& results) {
  constexpr std::size_t kName = 26;
  std::string table = padded("fraction of optimum after", kName);
  for (const std::size_t n : kReportedBudgets)
    table += fmt::format("{:8.0f}      ", static_cast<double>(n));
  table += "  score P      failed after 50\n";
  std::array<double, kReportedBudgets.size()> sums{};
  std::array<double, kReportedBudgets.size()> random_sums{};
  double score = 0;
  for (const StudyResult& result : results) {
    table += padded(result.space, kName);
    for (std::size_t i = 0; i < kReportedBudgets.size(); ++i) {
      table += fmt::format("{:8.3f}", result.fraction[i].mean) +
               fmt::format(" ±{:.3f}", result.fraction[i].deviation);
      sums[i] += result.fraction[i].mean;
      random_sums[i] += result.random_fraction[i];
    }
    table += fmt::format("{:8.3f}", result.score.mean) +
             fmt::format(" ±{:.3f}", result.score.deviation) +
             fmt::format("   {:5.1f} %", 100 * result.failed_share_after_50) +
             fmt::format(" of {:.1f} %\n", 100 * result.recorded_failed_share);
    score += result.score.mean;
  }
  const auto n = static_cast<double>(results.size());
  table += padded("mean", kName);
  for (const double sum : sums) table += fmt::format("{:8.4f}      ", sum / n);
  table += fmt::format("{:8.3f}\n", score / n) + padded("random, exact expectation", kName);
  for (const double sum : random_sums) table += fmt::format("{:8.4f}      ", sum / n);
  return table + "   0\n";
}

std::string study_json(const StudyResult& result) {
  nlohmann::ordered_json json;
  json["space"] = result.space;
  json["cutoff"] = result.cutoff;
  const auto object = [](const Spread& spread) {
    return nlohmann::ordered_json{{"mean", spread.mean},
                                  {"deviation", spread.deviation},
                                  {"p10", spread.p10},
                                  {"p90", spread.p90}};
  };
  for (std::size_t i = 0; i < kReportedBudgets.size(); ++i) {
    const std::string budget = std::to_string(kReportedBudgets[i]);
    json["fraction"][budget] = object(result.fraction[i]);
    json["random_fraction"][budget] = result.random_fraction[i];
  }
  json["score"] = object(result.score);
  json["failed_share_after_50"] = result.failed_share_after_50;
  json["recorded_failed_share"] = result.recorded_failed_share;
  json["evaluations"] = result.evaluations;
  json["seconds"] = result.seconds;
  return json.dump();
}

}  // namespace evo
