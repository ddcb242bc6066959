#pragma once

#include <string>
#include <vector>

#include "db/queries.hpp"
#include "engine/core/error.hpp"

namespace evo {

/// The queries that evo-elite answers.
enum class Question {
  kElite,
  kShow,
  kMilestones,
  kOverall,
  kRejections,
  kCompare,
  kInsight,
  kRuns
};

/// The command line of evo-elite.
struct EliteOptions {
  std::string db = "evo.db";
  RunFilter filter;
  bool json = false;
  bool csv = false;
  Question question = Question::kElite;
  CandidateId show = 0;
  std::vector<CandidateId> compare;
  std::vector<std::string> weights = {};
};

/// Answers a query of evo-elite and prints the answer. For the query kElite, returns kNothingGreen
/// if no matching run has a green kernel.
[[nodiscard]] ExitCode print_answer(const EliteOptions& options);

}  // namespace evo
