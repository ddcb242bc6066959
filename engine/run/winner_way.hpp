#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "db/records.hpp"
#include "engine/evaluate/workbench.hpp"
#include "engine/run/elite.hpp"

namespace evo {

/// A configuration at which a path begins.
struct WayStart {
  std::string name;  ///< "default", or the name of a milestone
  Candidate candidate;
};

/// The known times of a run by configuration; nullopt for one that is not green.
using KnownTimes = std::map<Candidate, std::optional<double>>;

/// A path, or why there is none.
struct FoundWay {
  std::optional<WinnerWay> way = {};
  std::string why_not = {};  ///< a line for users
};

/// Finds paths to a winner: how much each macro in which it differs from a start contributed to the
/// speed-up. One object per shape; it reuses measurements for later paths.
///
///   1. An option is a macro that still has the start's value and is set to the winner's. If a
///      constraint forbids that, the macros of the constraint change together.
///   2. Compile the options at the present configuration in parallel and time them. Take the one
///      with the largest gain. After a third of the time, choose later options by their last
///      measured gains. Skip options that fail a gate; if all fail, all remaining macros change
///      together.
///   3. If times are measured, time the configurations before and after each step in interleaved
///      pairs.
///   4. Check the kernels on the path as in a screening. If one is wrong, repeat without it.
/// When the time is over, all remaining macros change in one last step, and unchecked kernels are
/// marked.
class WayFinder {
 public:
  /// All references must outlive this object. `at`: the shape.
  WayFinder(Workbench& bench, const EliteMember& winner, const KnownTimes& known, std::size_t at);

  /// The path from `start`, within this many seconds. Throws Interrupted on request.
  [[nodiscard]] FoundWay find(const WayStart& start, double seconds);

 private:
  /// A configuration on the path: its build, its time, its verdict.
  struct Node {
    bool is_started = false;                     ///< its compilation
    std::optional<KernelUnderTest> kernel = {};  ///< once it is built
    std::optional<double> p50_us = {};
    bool is_checked = false;
    bool has_failed = false;
  };
  /// Macros that change together, and the reason.
  struct Option {
    std::vector<std::size_t> parameters;
    Candidate candidate = {};
    std::string note = {};
  };

  [[nodiscard]] Node& node(const Candidate& candidate);
  void start_building(const Candidate& candidate);
  bool build(const Candidate& candidate);
  bool time(const Candidate& candidate);
  bool check(const Candidate& candidate);
  [[nodiscard]] std::vector<std::size_t> differing(const Candidate& candidate) const;
  [[nodiscard]] Option option_for(const Candidate& from, std::size_t parameter) const;
  [[nodiscard]] std::vector<Option> options_at(const Candidate& from) const;
  [[nodiscard]] Option all_at_once(const Candidate& from, std::string note) const;
  void rank(const Candidate& from, const std::vector<Option>& options, SteadyTime until);
  void sort_by_gain(std::vector<Option>& options) const;
  void build_ahead(Candidate from);
  [[nodiscard]] std::optional<WinnerStep> step_to(const Candidate& from, const Option& option);
  [[nodiscard]] WinnerStep next_step(Candidate& current, SteadyTime rank_until);
  void walk(WinnerWay& way, SteadyTime rank_until);
  [[nodiscard]] bool passes_checks();
  void note_unchecked(WinnerWay& way);
  [[nodiscard]] WinnerStep described(const Candidate& from, const Option& option);

  Workbench& bench_;
  const EliteMember& winner_;
  std::size_t at_;
  std::map<Candidate, Node> nodes_;
  std::vector<Candidate> path_;          ///< configurations on the current path, the start first
  std::map<std::size_t, double> gains_;  ///< ln of time ratios; key: first macro of the option
};

}  // namespace evo
