#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "db/records.hpp"
#include "engine/evaluate/workbench.hpp"
#include "engine/run/elite.hpp"

namespace evo {

/// A configuration that a way begins at.
struct WayStart {
  std::string name;  ///< "default", or that of a milestone
  Candidate candidate;
};

/// The times that a run knows, by configuration; nothing where one is not green.
using KnownTimes = std::map<Candidate, std::optional<double>>;

/// A way, or why there is none.
struct FoundWay {
  std::optional<WinnerWay> way = {};
  std::string why_not = {};  ///< a line for people
};

/// Finds ways to a winner: which of the macros in which it differs from a start made it how much
/// faster. One of a shape; it keeps what it learned from one way to the next.
///
///   1. An option is a macro that still has the start's value, set to the winner's. Where a
///      constraint forbids that, the macros of the constraint change together.
///   2. The options at the present configuration are compiled side by side and timed, and the one
///      that gains most is taken. When a third of the time is used, later options are taken by the
///      gains that were seen last.
///      An option that fails a gate is passed over; where all fail, all macros that are left change
///      together.
///   3. Where times are measured, the configurations before and after a step are timed in
///      interleaved pairs.
///   4. The kernels on the way are checked as candidates are screened. Where one is wrong, the way
///      is walked once more without it.
/// When the time is over, all macros that are left change in one last step, and kernels that were
/// not checked are noted.
class WayFinder {
 public:
  /// All references must outlive this. `at`: the shape.
  WayFinder(Workbench& bench, const EliteMember& winner, const KnownTimes& known, std::size_t at);

  /// The way from `start`, within these seconds. Throws Interrupted when somebody asked for it.
  [[nodiscard]] FoundWay find(const WayStart& start, double seconds);

 private:
  /// A configuration on the way: its build, its time, its verdict.
  struct Node {
    bool is_started = false;                     ///< its compilation
    std::optional<KernelUnderTest> kernel = {};  ///< once it is built
    std::optional<double> p50_us = {};
    bool is_checked = false;
    bool has_failed = false;
  };
  /// Macros that change together, and why they do.
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
  std::vector<Candidate> path_;          ///< of the way that is walked, the start first
  std::map<std::size_t, double> gains_;  ///< ln of the time's factor, by an option's first macro
};

}  // namespace evo
