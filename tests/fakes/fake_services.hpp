#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "db/run_store.hpp"
#include "engine/worker/compile_service.hpp"
#include "engine/worker/device_service.hpp"
#include "tests/fakes/fake_compiler.hpp"
#include "tests/fakes/fake_program.hpp"

namespace evo::fake {

/// An event loop with a simulated clock. The clock stands still while a coroutine runs; when all
/// coroutines wait, it jumps to the next event.
class FakeLoop final : public EventLoop {
 public:
  ~FakeLoop() override { end_all(); }
  [[nodiscard]] SteadyTime now() const override { return now_; }
  Task<> wait(pollfd interest, SteadyTime until) override;
  /// Suspends the calling coroutine for `milliseconds` of the simulated clock.
  Task<> sleep(double milliseconds);

 private:
  void run_one(SteadyTime until) override;

  SteadyTime now_ = SteadyTime(std::chrono::hours(1));
  std::multimap<SteadyTime, asio::steady_timer*> sleepers_;
};

/// A compile service that runs FakeCompiler, for at most `jobs` requests at a time. The service
/// draws the durations from `seed`, so each seed completes the requests in another order.
class FakeCompileService : public CompileService {
 public:
  FakeCompileService(FakeLoop& loop, std::size_t jobs, std::uint64_t seed)
      : loop_(loop), jobs_(jobs), seed_(seed), freed_(loop) {}

  [[nodiscard]] const std::string& version() override { return version_; }
  Task<Finished> compile(CompileRequest request) override;
  [[nodiscard]] std::size_t in_flight() const override { return running_; }

  std::uint64_t longest_ms = 40;  ///< longest time of a compilation

  /// The number of compile requests so far.
  [[nodiscard]] std::size_t submitted() const { return submitted_; }
  /// The largest number of compile requests that were waiting or running at the same time.
  [[nodiscard]] std::size_t most_at_once() const { return most_; }

 private:
  FakeLoop& loop_;
  std::size_t jobs_;
  std::uint64_t seed_;
  Event freed_;
  std::string version_ = "fake 1.0";
  std::size_t running_ = 0;
  std::size_t unfinished_ = 0;
  std::size_t submitted_ = 0;
  std::size_t most_ = 0;
  FakeCompiler compiler_;
};

/// The behaviour of a fake device. Durations are in ms of the simulated clock.
struct DeviceBehaviour {
  double check_ms = 2;
  double time_ms = 3;
  double compare_ms = 4;
  TimeKind kind = TimeKind::kMeasured;
  /// The time of a kernel in µs, by default planted_time_us().
  std::function<double(const Program&)> time_us = {};
  /// The time of a kernel on a shape in µs; if set, it replaces `time_us`.
  std::function<double(const Program&, const std::string& shape)> time_us_on = {};
  /// The energy of one launch of a kernel in mJ; if unset, the device cannot measure energy.
  std::function<double(const Program&)> launch_mj = {};
  std::optional<GpuState> gpu = {};            ///< returned with every timing
  std::map<std::string, double> profile = {};  ///< metrics returned for every kernel
  /// If set, the result of this function replaces `profile`.
  std::function<std::variant<PredictedProfile, WorkerFailure>()> profile_of = {};
  std::function<std::variant<CorrectnessResult, WorkerFailure>(const Program&)> check = {};
  /// The result of a full check; if unset, `check` returns the result of every check.
  std::function<std::variant<CorrectnessResult, WorkerFailure>(const Program&)> full_check = {};
  std::function<std::variant<PairResult, WorkerFailure>(const Program&, const Program&)> compare =
      {};
  /// If true, a check ends early for a kernel that is slower than the limit in the request.
  bool stops_checks = false;
  std::string name = "fake GPU";
  /// Called before every request. If this function throws an exception, the request fails with that
  /// exception.
  std::function<void()> before = {};
};

/// A device service that answers as `behaviour` says. The service records its requests, for example
/// "check CONFIG", "time SHAPE CONFIG" or "compare SHAPE".
class FakeDeviceService final : public DeviceService {
 public:
  FakeDeviceService(FakeLoop& loop, DeviceBehaviour behaviour);

  [[nodiscard]] const DeviceInfo& info() const override { return info_; }
  void set_ranges(std::vector<std::string> ranges) override { ranges_ = std::move(ranges); }
  Task<> set_up(SessionSetup setup) override;
  Task<Reply<CorrectnessResult>> check(const KernelUnderTest& kernel, CheckKind check_kind,
                                       std::vector<double> limits_us) override;
  Task<Reply<TimingResult>> time(const KernelUnderTest& kernel, const std::string& shape,
                                 CheckKind check_kind, double early_stop_us) override;
  Task<Reply<EnergyResult>> energy(const KernelUnderTest& kernel, const std::string& shape,
                                   double window_s) override;
  Task<Reply<PredictedProfile>> profile(const KernelUnderTest& kernel,
                                        const std::string& shape) override;
  Task<Reply<LaunchOutcome>> write_outputs(const KernelUnderTest& kernel, const std::string& shape,
                                           const std::string& folder) override;
  Task<Reply<PairResult>> compare(const KernelUnderTest& first, const KernelUnderTest& second,
                                  const std::string& shape) override;

  [[nodiscard]] const std::vector<std::string>& requests() const { return requests_; }
  [[nodiscard]] const std::vector<std::string>& ranges() const { return ranges_; }
  /// The number of requests that their callers abandoned before the answer.
  [[nodiscard]] std::size_t abandoned() const { return abandoned_; }
  [[nodiscard]] const SessionSetup& setup() const { return setup_; }

 private:
  template <typename Result>
  Task<Reply<Result>> answer(std::string request, double takes_ms, OrFailure<Result> result);
  [[nodiscard]] double time_of(const Program& program, const std::string& shape) const;

  FakeLoop& loop_;
  DeviceBehaviour behaviour_;
  DeviceInfo info_;
  SessionSetup setup_;
  bool is_busy_ = false;
  std::vector<std::string> ranges_;
  std::vector<std::string> requests_;
  std::size_t abandoned_ = 0;
};

/// A RunStore in memory instead of a database. After fail_at(N), the write with number N (1 is the
/// first) and all later writes throw DbError, as if the process had been killed at this moment.
/// After fail_at(0), writes succeed again.
class MemoryStore final : public RunStore {
 public:
  [[nodiscard]] std::vector<CompilationFacts> find_compilation_facts(
      std::string_view request_key) const override;
  [[nodiscard]] CompilationRecord compilation(CompilationId id) const override;
  CompilationId put_compilation(const CompilationRecord& record) override;
  std::vector<CandidateId> record_evaluations(
      const std::vector<EvaluationRecord>& records) override;
  void record_full_checks(CandidateId candidate, const std::vector<CheckResult>& checks) override;
  void record_energy(CandidateId candidate, const Energy& energy) override;
  void record_profile(CandidateId candidate, const ProfileRecord& profile) override;
  void record_generation(RunId run, const GenerationRecord& record) override;
  void record_comparison(RunId run, const ComparisonRecord& record) override;
  [[nodiscard]] std::vector<ComparisonRecord> comparisons(RunId run) const override;
  void record_withdrawal(RunId run, const WithdrawalRecord& record) override;
  [[nodiscard]] std::vector<WithdrawalRecord> withdrawals(RunId run) const override;
  void record_event(RunId run, std::string_view kind, std::string_view text) override;

  [[nodiscard]] std::vector<EvaluationRecord> evaluations(RunId run = 1) const;
  [[nodiscard]] std::vector<StoredGeneration> generations(RunId run = 1) const;
  [[nodiscard]] const std::vector<std::string>& events() const { return events_; }
  /// The evaluation of the candidate `id`; ids start at 1.
  [[nodiscard]] const EvaluationRecord& evaluation(CandidateId id) const {
    return evaluations_.at(static_cast<std::size_t>(id - 1));
  }
  [[nodiscard]] const std::map<CandidateId, Energy>& energies() const { return energies_; }
  [[nodiscard]] const std::map<CandidateId, ProfileRecord>& profiles() const { return profiles_; }
  /// How often compilation() has read a stored compilation.
  [[nodiscard]] std::size_t compilations_read() const { return compilations_read_; }
  [[nodiscard]] std::size_t writes() const { return writes_; }
  void fail_at(std::size_t write) { fails_at_ = write; }

 private:
  void write();

  std::vector<CompilationRecord> compilations_;
  template <typename Record>
  using OfRuns = std::vector<std::pair<RunId, Record>>;

  std::vector<EvaluationRecord> evaluations_;
  OfRuns<GenerationRecord> generations_;
  OfRuns<ComparisonRecord> confirmations_;
  OfRuns<WithdrawalRecord> withdrawals_;
  std::map<CandidateId, Energy> energies_;
  std::map<CandidateId, ProfileRecord> profiles_;
  std::vector<std::string> events_;
  mutable std::size_t compilations_read_ = 0;
  std::size_t writes_ = 0;
  std::size_t fails_at_ = 0;
};

}  // namespace evo::fake
