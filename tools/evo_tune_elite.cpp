#include "tools/evo_tune_elite.hpp"

#include <fmt/format.h>

#include "db/queries.hpp"
#include "engine/coordinator/elite_energy.hpp"
#include "engine/coordinator/profile_gate.hpp"

namespace evo {
namespace {

void notice(const TuneReport& report, const std::string& text) {
  report.say(text);
  report.emit({{"event", "notice"}, {"text", text}});
}

void measure_energy(Harness& harness, Store& store, const EliteOfRun& elite,
                    const TuneReport& report) {
  if (!harness.has_device() || !harness.device().counts_energy) {
    notice(report, "--energy: not supported on " +
                       (harness.has_device() ? harness.device().name : "--device none") +
                       ", which does not count energy");
    return;
  }
  std::vector<CandidateId> known;
  for (const EliteRow& row : elite_of_run(store, elite.run)) {
    if (row.launch_mj) known.push_back(row.candidate);
  }
  const std::string why = measure_elite_energy(harness, store, elite.members, known, elite.shape);
  if (!why.empty()) notice(report, why);
}

Profiled profile_of(Harness& harness, const EliteMember& member, std::size_t shape) {
  try {
    return profile_gate(harness, member.kernel, shape);
  } catch (const Interrupted&) {
    return {.left_out = "interrupted"};
  }
}

void profile(Harness& harness, Store& store, const EliteOfRun& elite, const TuneReport& report) {
  for (std::size_t rank = 0; rank < elite.members.size(); ++rank) {
    const EliteMember& member = elite.members[rank];
    const Profiled profiled = profile_of(harness, member, elite.shape);
    if (!profiled.record) {
      notice(report, "the profile gate is left out: " + profiled.left_out);
      return;
    }
    store.record_profile(member.id, *profiled.record);
    const ProfileRecord& record = *profiled.record;
    const std::string line =
        fmt::format("profile gate: rank {}, candidate {}, {}: {} ({}{})", rank + 1, member.id,
                    record.passed ? "passed" : "REJECTED", metrics_text(record), record.tool,
                    record.kind == TimeKind::kPredicted ? ", PREDICTED" : "");
    report.say(record.passed ? line : line + "; asked is " + record.require);
    report.emit({{"event", "profile"},
                 {"candidate", member.id},
                 {"kind", to_string(record.kind)},
                 {"passed", record.passed}});
  }
}

}  // namespace

void look_at_elite(Harness& harness, Store& store, const EliteOfRun& elite, const EliteLook& look,
                   const TuneReport& report) {
  if (look.energy) measure_energy(harness, store, elite, report);
  if (look.profile) profile(harness, store, elite, report);
}

}  // namespace evo
