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

/// The candidates of a run that only the space's policy forbids.
struct PolicyRejects {
  /// One of them.
  struct Reject {
    CandidateId id = 0;
    Candidate candidate;
    std::vector<PolicyMiss> misses;
    int registers = 0;
    double excess = 0;  ///< excess over the limit that it exceeds most
  };

  std::vector<Reject> rejects;  ///< different kernels, in the order of the run
  /// "registers > 120" → number of kernels that exceed it
  std::map<std::string, std::size_t> broken;
  std::optional<std::filesystem::path> wider_space;

  /// The one with the smallest excess, or null.
  [[nodiscard]] const Reject* nearest() const;
};

[[nodiscard]] PolicyRejects policy_rejects(const Workbench& bench, const Store& store, RunId run,
                                           std::size_t shape = 0);

/// The cost of the policy: some of these rejects are judged by the other gates and timed.
struct PolicyCost {
  std::size_t judged = 0;
  std::size_t green = 0;
  const PolicyRejects::Reject* best = nullptr;  ///< the fastest green one; null if there is none
  double with_us = 0;                           ///< the winner under the policy
  double without_us = 0;                        ///< the best without it
  std::optional<PairResult> pair = {};  ///< A/B comparison winner / best, if times are measured
};

/// Judges up to `count` of the rejects: first those whose configuration is most similar to the
/// winner's and, among equals, those with the smaller excess. The elite does not change. `rejects`
/// must outlive the result.
[[nodiscard]] PolicyCost policy_cost(Workbench& bench, const PolicyRejects& rejects,
                                     const EliteMember& winner, std::size_t count,
                                     std::size_t shape = 0);

}  // namespace evo
