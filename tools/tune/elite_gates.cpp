#include "tools/tune/elite_gates.hpp"

#include <fmt/format.h>

#include <set>

#include "db/queries.hpp"
#include "engine/run/elite_energy.hpp"
#include "engine/run/profile_gate.hpp"
#include "engine/worker/interrupted.hpp"
#include "tools/cli/stop_signals.hpp"

namespace evo {
namespace {

/// The number of kernels that the profile gate rejected, and the fastest of these kernels.
struct Rejected {
  std::size_t count = 0;
  CandidateId candidate = 0;
  double p50_us = 0;
  std::string reason;

  void take(const EliteMember& member, const Rejection& why) {
    if (count++ > 0 && member.p50_us >= p50_us) return;
    candidate = member.id;
    p50_us = member.p50_us;
    reason = why.reason;
  }
};

void tell(const EliteMember& member, std::size_t rank, const ProfileRecord& record,
          const TuneReport& report) {
  const std::string line =
      fmt::format("profile gate: rank {}, candidate {}, {}: {} ({}{})", rank + 1, member.id,
                  record.passed ? "passed" : "REJECTED", metrics_text(record), record.tool,
                  record.kind == TimeKind::kPredicted ? ", PREDICTED" : "");
  report.say(record.passed ? line : line + "; required: " + record.require);
  report.emit({{"event", "profile"},
               {"candidate", member.id},
               {"kind", to_string(record.kind)},
               {"passed", record.passed}});
}

/// Counts the virtual GPU's verdicts on elite kernels, for the line at the end of the run.
struct Interpreted {
  std::size_t passed = 0;
  std::size_t rejected = 0;
  std::size_t left_out = 0;
  std::set<std::string> shapes;

  [[nodiscard]] std::string text(const std::string& device) const {
    std::string names;
    for (const std::string& name : shapes) names += (names.empty() ? "" : ", ") + name;
    std::string line = "executed on " + device + " as well: ";
    line += passed == 0
                ? "no kernel"
                : fmt::format("{} kernel{} on {}: no race, no stray or uninitialised access",
                              passed, passed == 1 ? "" : "s", names);
    if (rejected > 0) line += fmt::format("; {} withdrawn", rejected);
    if (left_out > 0) line += fmt::format("; {} without a verdict", left_out);
    return line;
  }
};

void tell(const EliteMember& member, std::size_t rank, const InterpretedCheck& check,
          const std::string& device, const TuneReport& report) {
  const bool is_known = check.left_out.empty();
  report.emit({{"event", "interpreted"},
               {"device", device},
               {"candidate", member.id},
               {"passed", is_known && !check.rejection},
               {"left_out", check.left_out},
               {"rejection", check.rejection ? check.rejection->reason : ""}});
  if (check.rejection) {
    report.say(fmt::format("rank {}, candidate {}, is withdrawn: on {} {}", rank + 1, member.id,
                           device, check.rejection->reason));
  } else if (!is_known) {
    report.say(fmt::format("rank {}, candidate {}, was not executed on {}: {}", rank + 1, member.id,
                           device, check.left_out));
  }
}

}  // namespace

bool interpret_elite(Workbench& bench, Store& store, Tuner& tuner, RunId run, std::size_t shape,
                     const TuneReport& report) {
  const std::string device = bench.interpreted().device_id();
  Interpreted counts;
  const auto judge = [&](std::size_t rank,
                         const EliteMember& member) -> std::optional<LastVerdict> {
    InterpretedCheck check = bench.wait(bench.interpreted().check(member.kernel));
    tell(member, rank, check, device, report);
    if (!check.left_out.empty()) {
      ++counts.left_out;
    } else if (check.rejection) {
      ++counts.rejected;
      check.rejection->reason = "executed on " + device + ": " + check.rejection->reason;
    } else {
      ++counts.passed;
      for (const CheckResult& one : check.checks) counts.shapes.insert(one.shape);
    }
    return LastVerdict{std::move(check.rejection)};
  };
  try {
    tuner.hold_elite(shape, {Gate::kCorrectness, judge});
  } catch (const Interrupted&) {
    report.notice("interrupted before the whole elite was executed on " + device);
    return false;
  }
  if (counts.rejected > 0) {
    report.say("evo-judge --device " + device +
               " with the configuration of a withdrawn kernel shows the source line of the defect");
  }
  if (counts.passed + counts.rejected + counts.left_out > 0) {
    store.record_event(run, kInterpretedEvent, counts.text(device));
  }
  return true;
}

bool profile_elite(Workbench& bench, Store& store, Tuner& tuner, RunId run, std::size_t shape,
                   const TuneReport& report) {
  Rejected rejected;
  const auto gate = [&](std::size_t rank, const EliteMember& member) -> std::optional<LastVerdict> {
    const Profiled profiled = profile_gate(bench, member.kernel, shape);
    if (stop_requested()) throw Interrupted(false);
    if (!profiled.record) {
      report.notice("the profile gate is skipped: " + profiled.left_out);
      return std::nullopt;
    }
    store.record_profile(member.id, *profiled.record);
    tell(member, rank, *profiled.record, report);
    LastVerdict verdict{rejection_of(*profiled.record)};
    if (verdict.rejection) rejected.take(member, *verdict.rejection);
    return verdict;
  };
  try {
    tuner.hold_elite(shape, {Gate::kProfile, gate});
  } catch (const Interrupted&) {
    report.notice("interrupted before the whole elite was profiled");
    return false;
  }
  if (rejected.count > 0 && tuner.elite(shape).members().empty()) {
    const std::string text = fmt::format(
        "none of {} kernels passed: the elite is empty. The fastest, candidate {}, {:.2f} µs: {}",
        rejected.count, rejected.candidate, rejected.p50_us, rejected.reason);
    report.notice("profile gate: " + text);
    store.record_event(run, "profile gate", text);
  }
  return true;
}

void measure_energy(Workbench& bench, Store& store, const EliteOfRun& elite,
                    const TuneReport& report) {
  if (!has_device(bench) || !bench.task().device().counts_energy) {
    report.notice("--energy: not supported on " +
                  (has_device(bench) ? bench.task().device().name : "--device none") +
                  ", which does not count energy");
    return;
  }
  std::vector<CandidateId> known;
  for (const EliteRow& row : elite_of_run(store, elite.run)) {
    if (row.launch_mj) known.push_back(row.candidate);
  }
  const std::string why = measure_elite_energy(bench, store, elite.members, known, elite.shape);
  if (!why.empty()) report.notice(why);
}

}  // namespace evo
