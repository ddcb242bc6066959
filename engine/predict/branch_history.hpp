#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace evo {

/// The executions of a branch by a warp, in order.
struct BranchHistory {
  /// Successive executions that took the branch.
  struct Run {
    std::uint64_t first = 0;  ///< number of the first of these executions, from 0
    std::uint64_t count = 0;
  };
  /// limit of the number of runs; executions after the last run are not recorded
  static constexpr std::size_t kMostRuns = 4096;

  std::vector<Run> taken;
  std::uint64_t executions = 0;

  void note_taken(std::uint64_t number) {
    if (!taken.empty() && taken.back().first + taken.back().count == number) {
      ++taken.back().count;
    } else if (taken.size() < kMostRuns) {
      taken.push_back({number, 1});
    }
  }
  /// Call this when the warp has ended.
  void end(std::uint64_t all_executions) {
    executions =
        taken.size() < kMostRuns ? all_executions : taken.back().first + taken.back().count;
  }
  /// The share of the executions that took the branch.
  [[nodiscard]] double share() const {
    double sum = 0;
    for (const Run& run : taken) sum += static_cast<double>(run.count);
    return executions > 0 ? sum / static_cast<double>(executions) : 0;
  }
};

/// A position in a BranchHistory.
class BranchReplay {
 public:
  /// Whether the next execution takes the branch. After the last execution, the history repeats.
  bool next(const BranchHistory& history) {
    if (passed_ >= history.executions) *this = {};
    while (run_ < history.taken.size() &&
           history.taken[run_].first + history.taken[run_].count <= passed_)
      ++run_;
    const bool is_taken = run_ < history.taken.size() && history.taken[run_].first <= passed_;
    ++passed_;
    return is_taken;
  }

 private:
  std::uint64_t passed_ = 0;
  std::size_t run_ = 0;
};

}  // namespace evo
