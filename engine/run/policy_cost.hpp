#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "db/store.hpp"
#include "engine/evaluate/workbench.hpp"
#include "engine/run/elite.hpp"

namespace evo {

/// The candidates of a run that the resource gate rejected only because they exceed the space's
/// policy, although the device could run them.
struct PolicyRejects {
  /// A candidate that was rejected only because of the policy.
  struct Reject {
    CandidateId id = 0;
    Candidate candidate;
    std::vector<PolicyMiss> misses;
    int registers = 0;
    double excess = 0;  ///< PolicyMiss::excess() of the limit that is exceeded most
  };

  std::vector<Reject> rejects;  ///< different kernels, in the order of the run
  /// number of kernels that exceed each limit, by texts such as "registers > 120"
  std::map<std::string, std::size_t> broken;
  std::optional<std::filesystem::path> wider_space;

  /// The rejected candidate with the smallest excess; null if there is none.
  [[nodiscard]] const Reject* nearest() const;
};

[[nodiscard]] PolicyRejects policy_rejects(const Workbench& bench, const Store& store, RunId run,
                                           std::size_t shape);

/// The time that the policy costs, found by judging some of the rejected candidates by the other
/// gates and timing them.
struct PolicyCost {
  std::size_t judged = 0;
  std::size_t green = 0;
  const PolicyRejects::Reject* best = nullptr;  ///< the fastest green reject; null if there is none
  double with_us = 0;                           ///< time of the winner under the policy
  double without_us = 0;                        ///< time of `best`; 0 if there is none
  std::optional<PairResult> pair = {};          ///< A/B comparison of winner and best, if times are
                                                ///< measured
};

/// Judges up to `count` of the candidates in `rejects`: first those whose configurations differ
/// from the winner's in the fewest macros and, among equals, those with the smaller excess. Does
/// not change the elite. `rejects` must outlive the result.
[[nodiscard]] PolicyCost policy_cost(Workbench& bench, const PolicyRejects& rejects,
                                     const EliteMember& winner, std::size_t count,
                                     std::size_t shape);

}  // namespace evo
