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

/// The known times of a run by configuration; nullopt for a configuration that is not green.
using KnownTimes = std::map<Candidate, std::optional<double>>;

/// A path, or the reason why there is none.
struct FoundWay {
  std::optional<WinnerWay> way = {};
  std::string why_not = {};  ///< why there is no path, as a line for users
};

/// Finds paths to a winner. A path shows how much each macro whose value differs between start and
/// winner contributed to the speed-up. Use one object per shape, because it reuses measurements for
/// later paths.
///
///   1. An option changes a macro that still has the start's value to the winner's value. If a
///      constraint forbids this change, the macros of the constraint change together.
///   2. Compile the options at the current configuration in parallel and time them. Take the option
///      with the largest gain. After a third of the time, choose options by their last measured
///      gains. Skip options that fail a gate; if all options fail, change all remaining macros
///      together.
///   3. If times are measured, time the configurations before and after each step in interleaved
///      pairs.
///   4. Check the kernels on the path as in a screening. If a kernel is wrong, search a path
///      without it.
/// When the time is over, all remaining macros change in one last step, and unchecked kernels are
/// marked.
class WayFinder {
 public:
  /// All references must outlive this object. `at`: index of the shape.
  WayFinder(Workbench& bench, const EliteMember& winner, const KnownTimes& known, std::size_t at);

  /// Finds the path from `start`, within `seconds`. Throws Interrupted if a stop is requested.
  [[nodiscard]] FoundWay find(const WayStart& start, double seconds);

 private:
  /// A configuration on the path, with its build, time and verdict.
  struct Node {
    bool is_started = false;                     ///< whether its compilation was started
    std::optional<KernelUnderTest> kernel = {};  ///< set when the kernel is built
    std::optional<double> p50_us = {};
    bool is_checked = false;
    bool has_failed = false;
  };
  /// Macros that change together, and the reason why they do.
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
  std::map<std::size_t, double> gains_;  ///< ln of time ratios, by the first macro of the option
};

}  // namespace evo
