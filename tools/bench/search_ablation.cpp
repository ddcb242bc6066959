// search-ablation: replays recorded spaces by the strategy `full` with changed settings, to measure
// the contribution of each part of the strategy.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/core/error.hpp"
#include "engine/evolve/full_strategy.hpp"
#include "tools/cli/argument_text.hpp"
#include "tools/cli/tool_main.hpp"
#include "tools/replay/replay.hpp"

namespace {

using evo::FullSettings;
using Setter = std::function<void(FullSettings&, double)>;

std::size_t whole(double value) { return static_cast<std::size_t>(value); }

const std::map<std::string, Setter>& knobs() {
  static const std::map<std::string, Setter> map = {
      {"initial", [](FullSettings& s, double v) { s.initial = whole(v); }},
      {"initial_draws", [](FullSettings& s, double v) { s.initial_draws = whole(v); }},
      {"max_training", [](FullSettings& s, double v) { s.max_training = whole(v); }},
      {"clip", [](FullSettings& s, double v) { s.clip = v; }},
      {"beta_low", [](FullSettings& s, double v) { s.beta_low = v; }},
      {"beta_high", [](FullSettings& s, double v) { s.beta_high = v; }},
      {"runners_up", [](FullSettings& s, double v) { s.runners_up = whole(v); }},
      {"learns_kernel", [](FullSettings& s, double v) { s.learns_kernel = v != 0; }},
      {"failure.penalty", [](FullSettings& s, double v) { s.failure.penalty = v; }},
      {"failure.least_penalty", [](FullSettings& s, double v) { s.failure.least_penalty = v; }},
      {"failure.relevance", [](FullSettings& s, double v) { s.failure.prior.shape.relevance = v; }},
      {"failure.length", [](FullSettings& s, double v) { s.failure.prior.shape.length = v; }},
      {"failure.noise", [](FullSettings& s, double v) { s.failure.prior.noise = v; }},
      {"pool.neighbours", [](FullSettings& s, double v) { s.pool.neighbours = whole(v); }},
      {"pool.mutants", [](FullSettings& s, double v) { s.pool.mutants = whole(v); }},
      {"pool.crossovers", [](FullSettings& s, double v) { s.pool.crossovers = whole(v); }},
      {"pool.randoms", [](FullSettings& s, double v) { s.pool.randoms = whole(v); }},
      {"pool.climbers", [](FullSettings& s, double v) { s.pool.climbers = whole(v); }},
      {"prior.relevance", [](FullSettings& s, double v) { s.prior.shape.relevance = v; }},
      {"prior.length", [](FullSettings& s, double v) { s.prior.shape.length = v; }},
      {"prior.noise", [](FullSettings& s, double v) { s.prior.noise = v; }},
  };
  return map;
}

/// Sets the setting of the strategy that `text` names ("pool.mutants=0"), or the size of the elite
/// ("elite=3").
void apply(const std::string& text, FullSettings& settings, std::size_t& elite) {
  const auto named = evo::named_in(text);
  const auto value = named ? evo::number_in<double>(named->second) : std::nullopt;
  const auto found = named ? knobs().find(named->first) : knobs().end();
  const bool is_elite = named && named->first == "elite";
  if (!value || (found == knobs().end() && !is_elite)) {
    std::string allowed = "elite";
    for (const auto& [known, unused] : knobs()) allowed += ", " + known;
    throw evo::InputError("--set " + text + ": allowed: NAME=NUMBER with one of " + allowed);
  }
  if (is_elite) {
    elite = whole(*value);
  } else {
    found->second(settings, *value);
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Replays recorded spaces by the strategy full with changed settings",
               "search-ablation");
  std::vector<std::string> recorded;
  std::vector<std::string> sets;
  evo::StudyOptions study;
  bool json = false;
  app.add_option("--recorded", recorded, "recorded spaces")->required();
  app.add_option("--set", sets, "change a setting of the strategy: NAME=NUMBER; may be repeated");
  evo::declare_study(app, study);
  app.add_flag("--json", json);
  return evo::tool_main("search-ablation", [&] {
    if (const auto done = evo::parse_command_line(app, argc, argv)) return *done;
    FullSettings settings;
    std::size_t elite = evo::StrategyOptions{}.elite_size;
    for (const std::string& text : sets) apply(text, settings, elite);
    const evo::StrategyMaker make = [&](const evo::CandidateSpace& space,
                                        evo::StrategyOptions options) {
      options.elite_size = elite;
      return evo::make_full(space, options, settings);
    };
    std::vector<evo::StudyResult> results;
    for (const std::string& file : recorded) {
      results.push_back(evo::run_study(evo::RecordedSpace(evo::read_recording(file)), make, study));
      if (json) std::puts(evo::study_json(results.back()).c_str());
    }
    if (!json) std::fputs(evo::study_table(results).c_str(), stdout);
    return evo::ExitCode::kGreen;
  });
}
