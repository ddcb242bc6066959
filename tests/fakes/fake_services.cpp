#include "tests/fakes/fake_services.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/core/at_end.hpp"
#include "engine/core/error.hpp"
#include "engine/core/random.hpp"
#include "tests/fakes/planted_kernels.hpp"

namespace evo::fake {
namespace {

std::string text_of(const Program& program) {
  std::string text;
  for (const auto& [macro, value] : program.defines) text += macro + "=" + value + " ";
  return text;
}

template <typename Record>
std::vector<Record> records_of(const std::vector<std::pair<RunId, Record>>& all, RunId run) {
  std::vector<Record> records;
  for (const auto& [of, record] : all) {
    if (of == run) records.push_back(record);
  }
  return records;
}

Timing rough(double us) {
  return {.p50_us = us, .p90_us = us, .p99_us = us, .mean_us = us, .samples = 2, .complete = false};
}

}  // namespace

Task<> FakeLoop::wait(pollfd interest, SteadyTime until) {
  (void)interest;
  asio::steady_timer timer(context_, SteadyTime::max());
  const auto place = sleepers_.emplace(until, &timer);
  const AtEnd leave([&] { sleepers_.erase(place); });
  co_await suspend(timer);
}

Task<> FakeLoop::sleep(double milliseconds) {
  const SteadyTime until =
      now_ + std::chrono::microseconds(static_cast<std::int64_t>(milliseconds * 1e3));
  while (now_ < until) co_await wait({}, until);
}

void FakeLoop::run_one(SteadyTime until) {
  context_.restart();
  if (context_.poll_one() > 0) return;
  if (!sleepers_.empty()) until = std::min(until, sleepers_.begin()->first);
  begin_waiting();
  now_ = std::max(now_, until);
  end_waiting();
  for (const auto& [time, timer] : sleepers_) {
    if (time <= now_) timer->cancel();
  }
}

Task<CompileService::Finished> FakeCompileService::compile(CompileRequest request) {
  const std::size_t number = submitted_++;
  most_ = std::max(most_, ++unfinished_);
  const AtEnd over([this] { --unfinished_; });
  while (running_ >= jobs_) co_await freed_.wait();
  ++running_;
  const AtEnd freed([this] {
    --running_;
    freed_.notify();
  });
  co_await loop_.sleep(1.0 + static_cast<double>(mix_seed(seed_, number) % longest_ms));
  CompileAnswer answer = compiler_.compile(request);
  Finished done;
  if (auto* compiled = std::get_if<Compiled>(&answer)) done.outcome = std::move(*compiled);
  if (auto* rejection = std::get_if<Rejection>(&answer)) done.outcome = std::move(*rejection);
  if (auto* failure = std::get_if<CompilerFailure>(&answer)) {
    done.outcome = outcome_of(std::move(*failure));
    done.reproducible = false;
  }
  co_return done;
}

FakeDeviceService::FakeDeviceService(FakeLoop& loop, DeviceBehaviour behaviour)
    : loop_(loop), behaviour_(std::move(behaviour)) {
  info_.id = "fake:services";
  info_.name = behaviour_.name;
  info_.arch = "sm_90";
  info_.time_kind = behaviour_.kind;
  info_.sm_count = 4;
  info_.max_shared_bytes_per_cta = 65536;
  info_.counts_energy = static_cast<bool>(behaviour_.launch_mj);
}

Task<> FakeDeviceService::set_up(SessionSetup setup) {
  setup_ = std::move(setup);
  co_await loop_.sleep(0);
}

template <typename Result>
Task<Reply<Result>> FakeDeviceService::answer(std::string request, double takes_ms,
                                              OrFailure<Result> result) {
  if (is_busy_) throw InputError("the device is asked twice at once");
  is_busy_ = true;
  bool is_over = false;
  const AtEnd idle([&] {
    is_busy_ = false;
    if (!is_over) ++abandoned_;
  });
  requests_.push_back(std::move(request));
  if (behaviour_.before) behaviour_.before();
  co_await loop_.sleep(takes_ms);
  is_over = true;
  co_return Reply<Result>{std::move(result), takes_ms};
}

double FakeDeviceService::time_of(const Program& program, const std::string& shape) const {
  if (behaviour_.time_us_on) return behaviour_.time_us_on(program, shape);
  return behaviour_.time_us ? behaviour_.time_us(program) : planted_time_us(program, 0);
}

Task<Reply<CorrectnessResult>> FakeDeviceService::check(const KernelUnderTest& kernel,
                                                        CheckKind check_kind,
                                                        std::vector<double> limits_us) {
  const Program program = from_ptx(kernel.image.ptx);
  CorrectnessResult passed{.checks = {CheckResult{"mission", 1}}};
  for (std::size_t i = 0; i < limits_us.size() && behaviour_.stops_checks; ++i) {
    const double us = time_of(program, kernel.shapes[i]);
    if (us <= limits_us[i]) continue;
    passed.complete = false;
    passed.times.push_back({kernel.shapes[i], us, false, rough(us)});
  }
  OrFailure<CorrectnessResult> result = std::move(passed);
  const bool full = check_kind != CheckKind::kQuick && behaviour_.full_check;
  const auto& check = full ? behaviour_.full_check : behaviour_.check;
  if (check) result = check(program);
  const std::string what = check_kind != CheckKind::kQuick ? "full check " : "check ";
  return answer<CorrectnessResult>(what + text_of(program), behaviour_.check_ms, std::move(result));
}

Task<Reply<TimingResult>> FakeDeviceService::time(const KernelUnderTest& kernel,
                                                  const std::string& shape,
                                                  CheckKind /*check_kind*/, double early_stop_us) {
  const Program program = from_ptx(kernel.image.ptx);
  Timing timing;
  timing.kind = behaviour_.kind;
  timing.p50_us = timing.p90_us = timing.p99_us = timing.mean_us = time_of(program, shape);
  timing.samples = behaviour_.kind == TimeKind::kMeasured ? 100 : 1;
  timing.complete = behaviour_.kind != TimeKind::kMeasured || timing.p50_us <= early_stop_us;
  TimingResult result;
  result.timing = timing;
  result.gpu = behaviour_.gpu;
  return answer<TimingResult>("time " + shape + " " + text_of(program), behaviour_.time_ms,
                              std::move(result));
}

Task<Reply<EnergyResult>> FakeDeviceService::energy(const KernelUnderTest& kernel,
                                                    const std::string& shape, double window_s) {
  (void)shape;
  const Program program = from_ptx(kernel.image.ptx);
  EnergyResult result;
  if (behaviour_.launch_mj) {
    result.energy = Energy{behaviour_.launch_mj(program), 100, window_s, 1000};
  } else {
    result.not_supported = "energy is not supported on fake GPU";
  }
  return answer<EnergyResult>(fmt::format("energy {} s {}", window_s, text_of(program)),
                              window_s * 1e3, std::move(result));
}

Task<Reply<PredictedProfile>> FakeDeviceService::profile(const KernelUnderTest& kernel,
                                                         const std::string& shape) {
  (void)shape;
  OrFailure<PredictedProfile> result = PredictedProfile{.percent = behaviour_.profile};
  if (behaviour_.profile_of) result = behaviour_.profile_of();
  return answer<PredictedProfile>("profile " + text_of(from_ptx(kernel.image.ptx)),
                                  behaviour_.time_ms, std::move(result));
}

Task<Reply<LaunchOutcome>> FakeDeviceService::write_outputs(const KernelUnderTest& kernel,
                                                            const std::string& shape,
                                                            const std::string& /*folder*/) {
  return answer<LaunchOutcome>("outputs " + shape + " " + text_of(from_ptx(kernel.image.ptx)),
                               behaviour_.time_ms, LaunchOutcome{});
}

Task<Reply<PairResult>> FakeDeviceService::compare(const KernelUnderTest& first,
                                                   const KernelUnderTest& second,
                                                   const std::string& shape) {
  const Program a = from_ptx(first.image.ptx);
  const Program b = from_ptx(second.image.ptx);
  PairResult pair;
  pair.first_us = time_of(a, shape);
  pair.second_us = time_of(b, shape);
  pair.ratio = pair.first_us / pair.second_us;
  pair.interval = {pair.ratio * 0.999, pair.ratio * 1.001};
  pair.pairs = 40;
  OrFailure<PairResult> result = pair;
  if (behaviour_.compare) result = behaviour_.compare(a, b);
  return answer<PairResult>("compare " + shape, behaviour_.compare_ms, std::move(result));
}

void MemoryStore::write() {
  ++writes_;
  if (fails_at_ > 0 && writes_ >= fails_at_) throw DbError("planted: the database is gone");
}

std::vector<CompilationFacts> MemoryStore::find_compilation_facts(
    std::string_view request_key) const {
  std::vector<CompilationFacts> found;
  for (const CompilationRecord& record : compilations_) {
    if (record.request_key == request_key) found.push_back(record);
  }
  return found;
}

CompilationRecord MemoryStore::compilation(CompilationId id) const {
  ++compilations_read_;
  return compilations_.at(static_cast<std::size_t>(id - 1));
}

CompilationId MemoryStore::put_compilation(const CompilationRecord& record) {
  for (const CompilationRecord& known : compilations_) {
    if (known.key == record.key) return known.id.value();
  }
  write();
  compilations_.push_back(record);
  compilations_.back().id = static_cast<CompilationId>(compilations_.size());
  return compilations_.back().id.value();
}

std::vector<CandidateId> MemoryStore::record_evaluations(
    const std::vector<EvaluationRecord>& records) {
  write();
  std::vector<CandidateId> ids;
  for (const EvaluationRecord& record : records) {
    evaluations_.push_back(record);
    ids.push_back(static_cast<CandidateId>(evaluations_.size()));
    evaluations_.back().id = ids.back();
  }
  return ids;
}

void MemoryStore::record_full_checks(CandidateId candidate,
                                     const std::vector<CheckResult>& checks) {
  write();
  evaluations_.at(static_cast<std::size_t>(candidate - 1)).checks = checks;
}

void MemoryStore::record_energy(CandidateId candidate, const Energy& energy) {
  write();
  energies_[candidate] = energy;
}

void MemoryStore::record_profile(CandidateId candidate, const ProfileRecord& profile) {
  write();
  profiles_[candidate] = profile;
}

void MemoryStore::record_generation(RunId run, const GenerationRecord& record) {
  write();
  std::erase_if(generations_, [&](const auto& known) {
    return known.first == run && known.second.number == record.number;
  });
  generations_.emplace_back(run, record);
}

void MemoryStore::record_comparison(RunId run, const ComparisonRecord& record) {
  write();
  confirmations_.emplace_back(run, record);
}

std::vector<ComparisonRecord> MemoryStore::comparisons(RunId run) const {
  return records_of(confirmations_, run);
}

void MemoryStore::record_withdrawal(RunId run, const WithdrawalRecord& record) {
  write();
  withdrawals_.emplace_back(run, record);
}

std::vector<WithdrawalRecord> MemoryStore::withdrawals(RunId run) const {
  return records_of(withdrawals_, run);
}

void MemoryStore::record_event(RunId run, std::string_view kind, std::string_view text) {
  (void)run;
  events_.push_back(std::string(kind) + ": " + std::string(text));
}

std::vector<EvaluationRecord> MemoryStore::evaluations(RunId run) const {
  std::vector<EvaluationRecord> stored;
  for (EvaluationRecord evaluation : evaluations_) {
    if (evaluation.run != run) continue;
    const auto energy = energies_.find(evaluation.id);
    if (energy != energies_.end()) evaluation.elite_energy = energy->second;
    // A duplicate candidate gets the outcome of the first candidate with the same kernel, as in the
    // database.
    if (const auto first = evaluation.duplicate_of) {
      const EvaluationRecord& record = this->evaluation(*first);
      evaluation.timing = record.timing;
      evaluation.rejection = record.rejection;
    }
    stored.push_back(std::move(evaluation));
  }
  return stored;
}

std::vector<StoredGeneration> MemoryStore::generations(RunId run) const {
  std::vector<StoredGeneration> stored;
  for (const GenerationRecord& record : records_of(generations_, run)) {
    stored.push_back({});
    stored.back().record = record;
  }
  return stored;
}

}  // namespace evo::fake
