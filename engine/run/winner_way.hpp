#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "db/records.hpp"
#include "engine/evaluate/workbench.hpp"
#include "engine/run/elite.hpp"

namespace evo {

/// A configuration at which a path to the winner begins.
struct WayStart {
  std::string name;  ///< "default", or the name of a milestone
  Candidate candidate;
};

/// The stored times of a run in microseconds, by candidate; nullopt for candidates that are not
/// green.
using KnownTimes = std::map<Candidate, std::optional<double>>;

/// A path to the winner, or the reason why there is none.
struct FoundWay {
  std::optional<WinnerWay> way = {};
  std::string why_not = {};  ///< why there is no path, as a line for users
};

/// Finds paths from other configurations to the winner of a run. A path changes macros step by step
/// from the start's to the winner's value, and shows how much each change contributes to the
/// speed-up. Use one WayFinder for all paths to a winner, because it reuses measurements:
///
///   1. At the current configuration, list the options for the next step: each changes one macro to
///      the winner's value. If a constraint forbids the change of one macro alone, the macros of
///      the constraint change together.
///   2. Compile the options in parallel and time them. Take the option with the largest gain. After
///      a third of the time limit, choose by earlier gains instead of timing. Skip options that
///      fail a gate; if all options fail, change all remaining macros together.
///   3. If times are measured, compare the kernels before and after each step by an A/B comparison,
///      unless they are the same kernel.
///   4. Check the kernels on the path that were not checked before, by a quick check. If a kernel
///      fails, find another path without it.
/// At the time limit, one last step changes all remaining macros, and a note marks each step whose
/// kernel was not checked.
class WayFinder {
 public:
  /// All references must outlive this object. `at`: index of the shape in the task.
  WayFinder(Workbench& bench, const EliteMember& winner, const KnownTimes& known, std::size_t at);

  /// Finds a path from `start` to the winner within `seconds`. Throws Interrupted if a stop is
  /// requested.
  [[nodiscard]] FoundWay find(const WayStart& start, double seconds);

 private:
  /// The state of a configuration that is a candidate for the path: its kernel, time and verdict.
  struct Node {
    bool is_started = false;                     ///< whether its compilation was started
    std::optional<KernelUnderTest> kernel = {};  ///< set when the kernel is built
    std::optional<double> p50_us = {};
    bool is_checked = false;
    bool has_failed = false;
  };
  /// A possible next step: macros that change together, and the reason why they do.
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
  std::map<std::size_t, double> gains_;  ///< by an option's first macro: ln(time after / before)
};

}  // namespace evo
