#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/dependency.hpp"
#include "engine/core/device_info.hpp"
#include "engine/core/gpu_state.hpp"
#include "engine/core/measurement.hpp"
#include "engine/core/rejection.hpp"

namespace evo {

using RunId = std::int64_t;
using CandidateId = std::int64_t;
using CompilationId = std::int64_t;

/// A file of the user (problem or space), with its content when the run started.
struct StoredFile {
  /// hash of the file and of the files that it names, as far as the run depends on them
  std::string key;
  std::string name;  ///< the problem's or the space's name, which the file states
  std::string text;  ///< content of the file
};

/// The description of a run. RunTable::start_run() stores it.
struct RunInfo {
  DeviceInfo device;
  StoredFile problem;
  StoredFile space;
  std::string shape;  ///< the timed shape
  std::uint64_t seed = 1;
  std::string strategy;
  int elite_size = 3;
  int offspring = 8;
  double flops_per_launch = 0;  ///< useful floating-point operations on `shape`
  double bytes_per_launch = 0;
  std::string options_json = "{}";  ///< the other command-line options, as a JSON object
  std::string evo_version;
};

/// Whether evo-record made the run: it recorded times and has no elite.
[[nodiscard]] bool is_recording(const RunInfo& run);

enum class RunStatus { kRunning, kFinished, kInterrupted, kFailed };

/// Returns "running", "finished", "interrupted" or "failed".
[[nodiscard]] std::string_view to_string(RunStatus status);
/// The inverse of to_string(). Throws InputError if `text` names no status.
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

/// A compilation without its artifacts, because reading the artifacts takes much longer. `key` is a
/// hash of the source, headers, options, architecture, the compiler's version and the dependencies.
struct CompilationFacts {
  std::optional<CompilationId> id = {};  ///< set if the database has the compilation
  std::string key;
  /// Like `key`, but without the dependencies. If it is empty, the database stores `key` in its
  /// place. Only find_compilation_facts() reads it.
  std::string request_key = {};
  bool ok = false;
  std::string arch;
  std::string compiler;  ///< "NVRTC 13.0"
  std::string options;   ///< separated by spaces, quoted as in a shell
  std::string error;     ///< one line; empty exactly when ok
  double compile_ms = 0;
  std::string ptx_hash;  ///< set exactly if ok; equal for compilations with the same PTX
  Resources resources;
  std::vector<Dependency> dependencies = {};  ///< set only by find_compilation_facts()
};

/// The input and output of a compilation; the database stores them compressed.
struct Artifacts {
  std::string log;
  std::string source;  ///< KernelSource::expanded(); `options` of the compilation define macros
  std::string ptx;
  std::string cubin;
};

/// The result of compiling one source. Do not store a compilation that a deadline killed or that
/// ran out of memory, because it may succeed later.
struct CompilationRecord : CompilationFacts, Artifacts {
  /// PTX and cubin as Zstandard frames, if the compiling process has compressed them already.
  std::string packed_ptx = {};
  std::string packed_cubin = {};
  /// Wall time of the compilation; 0 if the database had the compilation already, or if it was made
  /// for another candidate. It is stored with the candidate.
  double wall_ms = 0;
};

/// The machine and the GPU on which a kernel was timed.
struct TimingPlace {
  std::string host = {};      ///< the name of the host
  std::string gpu_uuid = {};  ///< "GPU-0a1b…"; empty for a virtual GPU

  bool operator==(const TimingPlace&) const = default;
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

/// One evaluated configuration on the shape of a run, in exactly one of four states. Duplicate:
/// `duplicate_of` names an earlier candidate with the same kernel. Rejected: `rejection` is set
/// (and `timing` if the kernel was timed before it was rejected). Green: `timing` is set without a
/// `rejection`. Unjudged: neither `duplicate_of`, `rejection` nor `timing` is set, because the
/// kernel passed the resource gate, but there was no device to run it.
///
/// Read from the database, a duplicate has the timing, checks, rejection, withdrawal and profile of
/// the first candidate with the same kernel.
struct EvaluationRecord {
  CandidateId id = 0;  ///< assigned by the database
  RunId run = 0;
  int generation = 0;
  int position = 0;            ///< within the generation
  std::string key;             ///< hash of the configuration
  std::string config_json;     ///< {"MACRO": value, …}
  std::string origin;          ///< "milestone", "default", "warm start" or the strategy's name
  std::string milestone = {};  ///< name of the milestone; otherwise empty
  std::optional<CompilationId> compilation = {};
  /// A hash of the PTX and of all else that affects the outcome, such as the launch geometry on
  /// every shape. Candidates with equal keys have the same kernel.
  std::string kernel_key = {};
  int dynamic_shared_bytes = 0;  ///< on the timed shape
  std::vector<CheckResult> checks = {};
  std::optional<Timing> timing = {};  ///< on the run's shape
  TimingPlace place = {};             ///< where the kernel was timed
  std::optional<GpuState> gpu = {};   ///< state of the GPU during `timing`
  /// energy per launch, from a short measurement; set only if `timing` is set
  std::optional<Energy> energy = {};
  std::optional<Rejection> rejection = {};
  std::optional<CandidateId> duplicate_of = {};
  std::string manifest_json = {};  ///< the manifest; empty for duplicates and untimed kernels
  double compile_ms = 0;
  double check_ms = 0;
  double time_ms = 0;
  std::string created_at = {};  ///< UTC, ISO 8601; assigned by the database

  // The members that the database gets later, from separate methods of RunStore.

  /// Why the candidate was withdrawn, that is, permanently removed from the elite.
  std::optional<Rejection> withdrawal = {};
  std::optional<Energy> elite_energy = {};  ///< from the long measurement, which the elite gets
  std::optional<ProfileRecord> profile = {};

  /// True if the build was rejected because the compiler ran out of memory or time or was killed.
  /// The kernel is not necessarily the cause, so the compilation is not stored, and the strategy
  /// does not learn from the rejection.
  [[nodiscard]] bool is_for_want_of_compiler() const {
    return rejection && rejection->gate == Gate::kBuild && !compilation;
  }
};

struct GenerationRecord {
  int number = 0;
  std::vector<CandidateId> elite = {};  ///< best first; at most the run's elite size
  double wall_ms = 0;
  /// p50 of the control (the best kernel of the first generation), timed again after this
  /// generation; nullopt if it was not timed
  std::optional<double> control_p50_us = {};
  std::optional<double> control_drift =
      {};  ///< control_p50_us / (control_p50_us of the first generation) − 1
};

struct StoredGeneration {
  GenerationRecord record;
  std::int64_t evaluated = 0;
  std::int64_t rejected = 0;  ///< without duplicates
  std::int64_t duplicates = 0;
  std::int64_t withdrawn = 0;  ///< this generation's candidates that were withdrawn at any time
  std::string finished_at;
};

enum class Verdict { kFaster, kSlower, kTie };

/// "faster", "slower" or "tie".
[[nodiscard]] std::string_view to_string(Verdict verdict);
/// The inverse of to_string(). Throws InputError if `text` names no verdict.
[[nodiscard]] Verdict verdict_from_string(std::string_view text);

/// The result of an A/B comparison of two candidates.
struct ComparisonRecord {
  int generation = 0;
  CandidateId challenger = 0;
  CandidateId incumbent = 0;
  double ratio = 1;      ///< time of the challenger / time of the incumbent
  double ratio_low = 1;  ///< ends of the confidence interval of `ratio`
  double ratio_high = 1;
  int pairs = 0;
  Verdict verdict = Verdict::kTie;
};

/// A candidate that was green, but failed when it ran again or did not pass the profile gate.
struct WithdrawalRecord {
  CandidateId candidate = 0;
  int generation = 0;
  Rejection why;
};

/// The time of another implementation, such as a library, on a run's problem and shape. The other
/// implementation was measured in turn with a candidate of the run.
struct VendorTime {
  std::string name;         ///< name and version: "PyTorch 2.11.0 cudnn"
  std::string starts_from;  ///< data type of its inputs: "fp16"
  double p50_us = 0;        ///< measured median time of one launch
  CandidateId candidate = 0;
  double ratio = 1;      ///< the implementation's time / the candidate's time
  double ratio_low = 1;  ///< ends of the confidence interval of `ratio`
  double ratio_high = 1;
};

/// A macro whose value a step changes, with its values before and after as texts.
struct MacroChange {
  std::string macro;
  std::string from;
  std::string to;

  bool operator==(const MacroChange&) const = default;
};

/// One step on the path from a configuration to the winner of a run.
struct WinnerStep {
  std::string config_json;                ///< configuration after the step
  std::vector<MacroChange> changes = {};  ///< empty for the start
  double p50_us = 0;                      ///< measured or predicted separately, not in pairs
  double ratio = 1;                       ///< time after the step / time before the step
  double ratio_low = 1;                   ///< ends of the confidence interval of `ratio`
  double ratio_high = 1;
  /// number of timed pairs; 0: `ratio` is the ratio of the p50_us, or 1 if the kernel stays the
  /// same
  int pairs = 0;
  /// why several macros change together, that the kernel stays the same, or why a check was left
  /// out
  std::string note = {};
};

/// The path from a configuration to the winner of a run; each step changes one or more macros.
struct WinnerWay {
  std::string start;  ///< "default", or the name of a milestone
  CandidateId winner = 0;
  std::vector<WinnerStep> steps = {};  ///< the start, then the steps in order
};

/// The kind of a StoredEvent that says why a run has no path to its winner.
inline constexpr std::string_view kNoWayEvent = "winner not explained";

/// The kind of a StoredEvent that says whether the elite also gives right results on a virtual GPU.
inline constexpr std::string_view kInterpretedEvent = "interpreted";

struct StoredEvent {
  std::string at;  ///< UTC, ISO 8601
  std::string kind;
  std::string text;
};

}  // namespace evo
