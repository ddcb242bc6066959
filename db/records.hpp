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

/// An input file at the start of a run.
struct StoredFile {
  /// hash of everything on which the run depends: the file and the files that it names
  std::string key;
  std::string name;  ///< the name given in the file
  std::string text;  ///< content of the file
};

/// The description of a run, which does not change after start_run().
struct RunInfo {
  DeviceInfo device;
  StoredFile problem;
  StoredFile space;
  std::string shape;  ///< the timed shape
  std::uint64_t seed = 1;
  std::string strategy;
  int elite_size = 3;
  int children = 8;
  double flops_per_launch = 0;  ///< useful work on that shape; 0 if the problem does not specify it
  double bytes_per_launch = 0;
  std::string options_json = "{}";  ///< the other command-line options
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
  std::optional<int> last_generation = {};  ///< the last finished generation
  std::int64_t evaluated = 0;
};

/// A file that a compilation looked for in an include path.
struct StoredDependency {
  std::string path;
  std::string content;  ///< its content key; empty: the file did not exist

  bool operator==(const StoredDependency&) const = default;
};

/// A compilation without its artifacts. Reading it is cheap. `key` covers source, headers, options,
/// architecture, the compiler's version and the dependencies.
struct CompilationFacts {
  CompilationId id = 0;  ///< set by the store that assigned it
  std::string key;
  std::string request_key = {};  ///< key without the dependencies; empty: `key`
  bool ok = false;
  std::string arch;
  std::string compiler;  ///< "NVRTC 13.0"
  std::string options;   ///< separated by spaces, quoted as in a shell
  std::string error;     ///< one line; empty exactly when ok
  double compile_ms = 0;
  std::string ptx_hash;  ///< set exactly if ok; two kernels with the same hash are the same kernel
  Resources resources;
  std::vector<StoredDependency> dependencies = {};  ///< read only by queries by request
};

/// The input and output of a compilation; the database stores them compressed.
struct Artifacts {
  std::string log;
  std::string source;  ///< expanded: includes inserted, #defines at the top
  std::string ptx;
  std::string cubin;
};

/// The result of compiling one source. A compilation that a deadline killed or that ran out of
/// memory must not be stored.
struct CompilationRecord : CompilationFacts, Artifacts {
  /// PTX and cubin as ZstdFrames, if the worker compressed them already.
  std::string packed_ptx = {};
  std::string packed_cubin = {};
};

/// The place where a kernel was timed.
struct TimingPlace {
  std::string host = {};      ///< the name of the host
  std::string gpu_uuid = {};  ///< "GPU-0a1b…"; empty for a virtual GPU

  bool operator==(const TimingPlace&) const = default;
};

/// One evaluated configuration, in exactly one of four states. Duplicate: `duplicate_of` is set.
/// Rejected: `rejection` is set (and `timing` if the timing gate rejected the kernel). Green: only
/// `timing` is set. Unjudged: none is set; the kernel passed the resource gate, but there was no
/// device.
struct EvaluationRecord {
  int generation = 0;
  int position = 0;            ///< within the generation
  std::string key;             ///< content key of the configuration
  std::string config_json;     ///< {"MACRO": value, …}
  std::string origin;          ///< "milestone", "random" or the name of the operator
  std::string milestone = {};  ///< name of the milestone; otherwise empty
  std::optional<CompilationId> compilation = {};
  /// A key that is equal for candidates with the same kernel: PTX hash and launch geometry on every
  /// shape.
  std::string kernel_key = {};
  int dynamic_shared_bytes = 0;  ///< on the timed shape
  std::vector<CheckResult> checks = {};
  std::optional<Timing> timing = {};   ///< on the run's shape
  TimingPlace place = {};              ///< place of the timing
  std::optional<CardState> card = {};  ///< state during the timing; only with a timing
  /// energy per launch, from a short measurement; set only if `timing` is set
  std::optional<Energy> energy = {};
  std::optional<Rejection> rejection = {};
  std::optional<CandidateId> duplicate_of = {};
  std::string manifest_json =
      {};  ///< description of the launch; empty if the candidate failed before
  double compile_ms = 0;
  double check_ms = 0;
  double time_ms = 0;

  /// True if the compiler failed for a reason that may not be the kernel's fault (memory, time, a
  /// kill). Such a compilation is not stored, and the strategy does not learn from the rejection.
  [[nodiscard]] bool is_for_want_of_compiler() const {
    return rejection && rejection->gate == Gate::kBuild && !compilation;
  }
};

/// One metric of a launch, measured by a profiler or predicted by the time model.
struct ProfileMetric {
  std::string name = {};    ///< the metric's name in the expression `require`
  std::string metric = {};  ///< the profiler's name of the metric
  double value = 0;
  std::string unit = {};

  bool operator==(const ProfileMetric&) const = default;
};

/// A kernel's result at the profile gate.
struct ProfileRecord {
  TimeKind kind = TimeKind::kMeasured;
  std::string tool = {};     ///< name and version of the profiler
  std::string require = {};  ///< the expression over the metrics
  bool passed = false;
  std::vector<ProfileMetric> metrics = {};

  bool operator==(const ProfileRecord&) const = default;
};

/// An evaluation read from the database. A duplicate has the timing, checks and rejection of its
/// first candidate.
struct StoredEvaluation {
  CandidateId id = 0;
  RunId run = 0;
  EvaluationRecord record;
  std::string created_at;
  /// Why the candidate was permanently removed from the elite; `record` does not change. A
  /// duplicate has the withdrawal of its first candidate.
  std::optional<Rejection> withdrawal = {};
  std::optional<Energy> energy = {};  ///< from a long measurement, as for the elite
  std::optional<ProfileRecord> profile = {};
};

struct EliteEntry {
  CandidateId candidate = 0;
  double p50_us = 0;  ///< the time by which the kernel is ranked
};

struct GenerationRecord {
  int number = 0;
  std::vector<EliteEntry> elite = {};  ///< best first; at most the run's elite size
  double wall_ms = 0;
  std::optional<double> control_p50_us = {};
  std::optional<double> control_drift =
      {};  ///< control_p50_us / (control_p50_us of the first generation) − 1
};

struct StoredGeneration {
  GenerationRecord record;
  std::int64_t evaluated = 0;
  std::int64_t green = 0;     ///< without duplicates and withdrawn candidates
  std::int64_t rejected = 0;  ///< without duplicates
  std::int64_t duplicates = 0;
  std::int64_t withdrawn = 0;  ///< since the last improvement, without duplicates
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

/// A green candidate that failed in a later run, or did not pass the profile gate.
struct WithdrawalRecord {
  CandidateId candidate = 0;
  int generation = 0;
  Rejection why;
};

/// The time of another implementation on a run's problem and shape, measured in turn with a
/// candidate of the run.
struct VendorTime {
  std::string name;         ///< name and version: "PyTorch 2.11.0 cudnn"
  std::string starts_from;  ///< data type of its inputs: "fp16"
  double p50_us = 0;        ///< for one launch, measured
  CandidateId candidate = 0;
  double ratio = 1;  ///< the implementation's time / the candidate's time
  double ratio_low = 1;
  double ratio_high = 1;
};

/// A macro that a step changes, with its values as texts.
struct MacroChange {
  std::string macro;
  std::string from;
  std::string to;

  bool operator==(const MacroChange&) const = default;
};

/// One configuration on the path from a start to the winner.
struct WinnerStep {
  std::string config_json;                ///< configuration after the step
  std::vector<MacroChange> changes = {};  ///< empty for the start
  double p50_us = 0;                      ///< measured or predicted by itself, without pairs
  double ratio = 1;                       ///< time after the step / time before
  double ratio_low = 1;
  double ratio_high = 1;
  int pairs = 0;          ///< number of interleaved pairs; 0: the ratio is that of the p50s
  std::string note = {};  ///< why these macros change together; empty for one macro
};

/// The path from a configuration to the winner of a run; each step changes a few macros.
struct WinnerWay {
  std::string start;  ///< "default", or the name of a milestone
  CandidateId winner = 0;
  std::vector<WinnerStep> steps = {};  ///< the start, then the steps in order
};

/// The kind of the event that records why a run has no path to its winner.
inline constexpr std::string_view kNoWayEvent = "winner not explained";

/// The kind of the event that records the result of executing an elite on a virtual GPU as well.
inline constexpr std::string_view kInterpretedEvent = "interpreted";

struct StoredEvent {
  std::string at;  ///< UTC, ISO 8601
  std::string kind;
  std::string text;
};

}  // namespace evo
