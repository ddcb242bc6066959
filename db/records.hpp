#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/card_state.hpp"
#include "engine/core/device_info.hpp"
#include "engine/core/measurement.hpp"
#include "engine/core/rejection.hpp"

namespace evo {

using RunId = std::int64_t;
using CandidateId = std::int64_t;
using CompilationId = std::int64_t;

/// An input file as it was when a run started.
struct StoredFile {
  std::string key;   ///< content key of all the run depends on: the file and what it names
  std::string name;  ///< the name inside the file
  std::string text;  ///< the file
};

/// What a run is; does not change after start_run().
struct RunInfo {
  DeviceInfo device;
  StoredFile problem;
  StoredFile space;
  std::string shape;  ///< the timed shape
  std::uint64_t seed = 1;
  std::string strategy;
  int elite_size = 3;
  int children = 8;
  double flops_per_launch = 0;  ///< useful work on that shape; 0 when the problem states none
  double bytes_per_launch = 0;
  std::string options_json = "{}";  ///< whatever else the command line said
  std::string evo_version;
};

enum class RunStatus { kRunning, kFinished, kInterrupted, kFailed };

/// "running", "finished", "interrupted" or "failed".
[[nodiscard]] std::string_view to_string(RunStatus status);
/// The inverse of to_string. Throws InputError for any other text.
[[nodiscard]] RunStatus run_status_from_string(std::string_view text);

struct StoredRun {
  RunId id = 0;
  RunInfo info;
  RunStatus status = RunStatus::kRunning;
  std::string started_at;  ///< UTC, ISO 8601
  std::optional<std::string> finished_at = {};
  std::optional<int> last_generation = {};  ///< the last finished one
  std::int64_t evaluated = 0;
};

/// A file that a compilation looked for in an include path.
struct StoredDependency {
  std::string path;
  std::string content;  ///< its content key; empty: it was not there

  bool operator==(const StoredDependency&) const = default;
};

/// A compilation without its artifacts, which is cheap to read. `key` covers source,
/// headers, options, architecture, the compiler's version and the dependencies.
struct CompilationFacts {
  CompilationId id = 0;  ///< set by the store that gave it
  std::string key;
  std::string request_key = {};  ///< without the dependencies; empty: `key`
  bool ok = false;
  std::string arch;
  std::string compiler;  ///< "NVRTC 13.0"
  std::string options;   ///< blank separated, quoted as in a shell
  std::string error;     ///< one line; empty exactly when ok
  double compile_ms = 0;
  std::string ptx_hash;  ///< set exactly when ok: two kernels with the same hash are one kernel
  Resources resources;
  std::vector<StoredDependency> dependencies = {};  ///< only what searches by request reads them
};

/// What a compiler read and wrote; stored packed.
struct Artifacts {
  std::string log;
  std::string source;  ///< expanded: includes inlined, #defines on top
  std::string ptx;
  std::string cubin;
};

/// What a compiler made of one source. A compilation that was killed by a deadline or failed for
/// want of memory must not be stored.
struct CompilationRecord : CompilationFacts, Artifacts {
  /// PTX and cubin as ZstdFrames, where somebody packed them before they are stored.
  std::string packed_ptx = {};
  std::string packed_cubin = {};
};

/// Where a kernel was timed.
struct TimingPlace {
  std::string host = {};      ///< the name of the machine
  std::string gpu_uuid = {};  ///< "GPU-0a1b…"; empty for a virtual GPU

  bool operator==(const TimingPlace&) const = default;
};

/// One evaluated configuration. Exactly one of these holds: `duplicate_of` is set; `rejection` is
/// set (a timing may stand beside it, when the timing gate stopped it); `timing` alone is set:
/// green; none is set: it built within policy, and without a device nobody judged the rest.
struct EvaluationRecord {
  int generation = 0;
  int position = 0;            ///< within the generation
  std::string key;             ///< content key of the configuration
  std::string config_json;     ///< {"MACRO": value, …}
  std::string origin;          ///< "milestone", "random" or the operator's name
  std::string milestone = {};  ///< its name; empty for others
  std::optional<CompilationId> compilation = {};
  /// What makes two candidates the same kernel: PTX hash and launch geometry on every shape.
  std::string kernel_key = {};
  int dynamic_shared_bytes = 0;  ///< on the timed shape
  std::vector<CheckResult> checks = {};
  std::optional<Timing> timing = {};   ///< on the run's shape
  TimingPlace place = {};              ///< of the timing
  std::optional<CardState> card = {};  ///< while it was timed; beside a timing only
  std::optional<Energy> energy = {};   ///< the same; of a short window
  std::optional<Rejection> rejection = {};
  std::optional<CandidateId> duplicate_of = {};
  std::string manifest_json = {};  ///< how to launch it; empty when it did not get that far
  double compile_ms = 0;
  double check_ms = 0;
  double time_ms = 0;

  /// Its compiler failed for a reason that need not be the kernel's (memory, time, somebody who
  /// killed it): nothing was kept of the compilation, and nothing is learned from the rejection.
  [[nodiscard]] bool is_for_want_of_compiler() const {
    return rejection && rejection->gate == Gate::kBuild && !compilation;
  }
};

/// What a profiler counted, or the time model predicted, of one launch.
struct ProfileMetric {
  std::string name = {};    ///< in the requirement
  std::string metric = {};  ///< the tool's name for it
  double value = 0;
  std::string unit = {};

  bool operator==(const ProfileMetric&) const = default;
};

/// How a candidate fared at the profile gate.
struct ProfileRecord {
  TimeKind kind = TimeKind::kMeasured;
  std::string tool = {};     ///< with its version
  std::string require = {};  ///< the expression over the metrics
  bool passed = false;
  std::vector<ProfileMetric> metrics = {};

  bool operator==(const ProfileRecord&) const = default;
};

/// An evaluation read back. Timing, checks and rejection of a duplicate are those of its first.
struct StoredEvaluation {
  CandidateId id = 0;
  RunId run = 0;
  EvaluationRecord record;
  std::string created_at;
  /// Why it left the elite for good; its record stays as it was. Of a duplicate: its first's.
  std::optional<Rejection> withdrawal = {};
  std::optional<Energy> energy = {};  ///< as it is measured of the elite
  std::optional<ProfileRecord> profile = {};
};

struct EliteEntry {
  CandidateId candidate = 0;
  double p50_us = 0;  ///< when it was ranked
};

struct GenerationRecord {
  int number = 0;
  std::vector<EliteEntry> elite = {};  ///< best first; at most the run's elite size
  double wall_ms = 0;
  std::optional<double> control_p50_us = {};
  std::optional<double> control_drift = {};  ///< control_p50_us / its first value − 1
};

struct StoredGeneration {
  GenerationRecord record;
  std::int64_t evaluated = 0;
  std::int64_t green = 0;     ///< without duplicates and withdrawn ones
  std::int64_t rejected = 0;  ///< without duplicates
  std::int64_t duplicates = 0;
  std::int64_t withdrawn = 0;  ///< since, without duplicates
  std::string finished_at;
};

enum class Verdict { kFaster, kSlower, kTie };

/// "faster", "slower" or "tie".
[[nodiscard]] std::string_view to_string(Verdict verdict);
/// The inverse of to_string. Throws InputError for any other text.
[[nodiscard]] Verdict verdict_from_string(std::string_view text);

/// Two candidates compared by interleaved pairs.
struct ConfirmationRecord {
  int generation = 0;
  CandidateId challenger = 0;
  CandidateId incumbent = 0;
  double ratio = 1;  ///< time of the challenger / time of the incumbent
  double ratio_low = 1;
  double ratio_high = 1;
  int pairs = 0;
  Verdict verdict = Verdict::kTie;
};

/// A green candidate that failed when it was run again, or did not pass the profile gate.
struct WithdrawalRecord {
  CandidateId candidate = 0;
  int generation = 0;
  Rejection why;
};

/// What somebody else's kernel takes for a run's problem on its shape, timed in turn with a
/// candidate of the run.
struct VendorTime {
  std::string name;         ///< with its version: "PyTorch 2.11.0 cudnn"
  std::string starts_from;  ///< what data it takes: "fp16"
  double p50_us = 0;        ///< of one launch, measured
  CandidateId candidate = 0;
  double ratio = 1;  ///< its time / the candidate's
  double ratio_low = 1;
  double ratio_high = 1;
};

/// A macro that a step changes; values as texts.
struct MacroChange {
  std::string macro;
  std::string from;
  std::string to;

  bool operator==(const MacroChange&) const = default;
};

/// One configuration on the way from a start to the winner.
struct WinnerStep {
  std::string config_json;                ///< after the step
  std::vector<MacroChange> changes = {};  ///< empty at the start
  double p50_us = 0;                      ///< measured or predicted by itself
  double ratio = 1;                       ///< time after the step / time before
  double ratio_low = 1;
  double ratio_high = 1;
  int pairs = 0;          ///< interleaved ones; 0: the ratio is that of the p50s
  std::string note = {};  ///< why these macros go together; empty for one macro
};

/// The way from a configuration to the winner of a run, a few macros at a time.
struct WinnerWay {
  std::string start;  ///< "default", or the name of a milestone
  CandidateId winner = 0;
  std::vector<WinnerStep> steps = {};  ///< the start first
};

/// The kind of the event that says why a run has no ways to its winner.
inline constexpr std::string_view kNoWayEvent = "winner not explained";

/// The kind of the event that says what came of executing an elite on a virtual GPU as well.
inline constexpr std::string_view kInterpretedEvent = "interpreted";

struct StoredEvent {
  std::string at;  ///< UTC, ISO 8601
  std::string kind;
  std::string text;
};

}  // namespace evo
