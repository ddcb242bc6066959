#pragma once

#include <string>
#include <vector>

#include "db/queries.hpp"
#include "tools/cli/table.hpp"

namespace evo {

/// The output of evo-elite for one query. JSON and CSV contain only the table.
struct Answer {
  std::string title;  ///< the line above the table
  Table table;
  std::string notes = {};  ///< lines below the table
};

/// Configurations as text: the macros that have one value in all configurations, and the other
/// macros of each configuration.
struct SplitConfigs {
  std::string common;  ///< "TILE=64 SWIZZLE=xor"
  std::vector<std::string> each;
};
[[nodiscard]] SplitConfigs split_configs(const std::vector<nlohmann::ordered_json>& configs);

[[nodiscard]] Answer elite_answer(const RunElite& elite);
/// A line about the fastest of the given times of other implementations; empty if there are none.
[[nodiscard]] std::string vendor_line(const std::vector<VendorTime>& fastest_first);
[[nodiscard]] Answer milestones_answer(const StoredRun& run,
                                       const std::vector<MilestoneResult>& results);
[[nodiscard]] Answer rejections_answer(const StoredRun& run, const RejectionSummary& summary);
[[nodiscard]] Answer runs_answer(const std::vector<StoredRun>& runs);

/// Compares the results of two candidates, and lists the macros in which they differ. Gives no
/// ratio of times if a candidate is not green, if one time was measured and the other predicted, or
/// if the devices, problems or shapes differ.
[[nodiscard]] Answer compare_answer(const Store& store, CandidateId a, CandidateId b);

/// The stored results of one candidate, without source, PTX and machine code, as one JSON object.
[[nodiscard]] nlohmann::ordered_json candidate_json(const Store& store, CandidateId candidate);

/// The stored results of one candidate, without source, PTX and machine code, as readable text.
[[nodiscard]] std::string candidate_text(const Store& store, CandidateId candidate);

/// The source of a run's times: "measured times", "PREDICTED times, nothing was measured", or
/// "nothing was run" for a run without a device.
[[nodiscard]] std::string kind_label(const DeviceInfo& device);

}  // namespace evo
