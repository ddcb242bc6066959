#pragma once

#include <string>
#include <vector>

#include "db/queries.hpp"
#include "tools/cli/table.hpp"

namespace evo {

/// What evo-elite prints about one question. JSON and CSV are the table alone.
struct Answer {
  std::string title;  ///< the line above the table
  Table table;
  std::string notes = {};  ///< lines below it
};

/// Configurations for people: what all have in common once, the rest for each.
struct SplitConfigs {
  std::string common;  ///< "TILE=64 SWIZZLE=xor"
  std::vector<std::string> each;
};
[[nodiscard]] SplitConfigs split_configs(const std::vector<nlohmann::ordered_json>& configs);

[[nodiscard]] Answer elite_answer(const RunElite& elite);
/// A line on the fastest of them; empty without any.
[[nodiscard]] std::string vendor_line(const std::vector<VendorTime>& fastest_first);
[[nodiscard]] Answer ladder_answer(const StoredRun& run, const std::vector<Rung>& rungs);
[[nodiscard]] Answer rejections_answer(const StoredRun& run, const RejectionSummary& summary);
[[nodiscard]] Answer runs_answer(const std::vector<StoredRun>& runs);

/// Two candidates, figure by figure, with the macros in which they differ. Without a ratio of times
/// when one is measured and the other predicted, or the shapes differ.
[[nodiscard]] Answer compare_answer(const Store& store, CandidateId a, CandidateId b);

/// All that is known of one candidate, as one JSON object.
[[nodiscard]] nlohmann::ordered_json candidate_json(const Store& store, CandidateId candidate);

/// The same for people.
[[nodiscard]] std::string candidate_text(const Store& store, CandidateId candidate);

/// "measured times", "PREDICTED times, nothing was measured", or without a device "nothing was
/// run".
[[nodiscard]] std::string kind_label(const DeviceInfo& device);

}  // namespace evo
