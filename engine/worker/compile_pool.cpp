#include "engine/worker/compile_pool.hpp"

#include <algorithm>

#include "engine/core/error.hpp"
#include "engine/worker/memory_aborts.hpp"
#include "engine/worker/messages.hpp"

namespace evo {
namespace {

/// A process is replaced after so many compilations: whatever the compiler leaks stays bounded.
constexpr int kCompilationsPerProcess = 1000;

/// How many times the memory of a process a job gets that runs alone.
constexpr std::uint64_t kMoreAlone = 2;

/// For the rest of an answer whose beginning is there.
constexpr std::chrono::seconds kRestOfAnswer{5};

double milliseconds_since(SteadyTime start) {
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;
  return elapsed.count();
}

}  // namespace

CompilePool::CompilePool(std::filesystem::path program, CompilePoolOptions options)
    : program_(std::move(program)), options_(std::move(options)), slots_(options_.jobs) {
  if (options_.memory_bytes == 0) options_.memory_bytes = compiler_memory_bytes(options_.jobs);
}

const std::string& CompilePool::version() {
  constexpr int kAttempts = 2;  // one may be killed by somebody else
  for (int attempt = 1; version_.empty(); ++attempt) {
    WorkerProcess process(program_, {"compile"}, {options_.memory_bytes, false, true});
    std::optional<nlohmann::json> reply;
    if (process.send({{"op", "version"}})) reply = process.wait(options_.limit);
    if (!reply) {
      const Ending ending = process.kill();
      if (ending.killed_from_outside && attempt < kAttempts) continue;
      throw MissingError("the compiler worker does not answer: " + ending.text);
    }
    if (reply->contains("error")) throw MissingError(reply->at("error").get<std::string>());
    version_ = reply->at("version").get<std::string>();
    slots_.front().process = std::move(process);
  }
  return version_;
}

void CompilePool::submit(std::size_t ticket, CompileRequest request) {
  queue_.push_back({ticket, std::move(request)});
  start_queued();
}

std::size_t CompilePool::in_flight() const {
  return static_cast<std::size_t>(std::count_if(
      slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.job.has_value(); }));
}

std::vector<pollfd> CompilePool::interests() const {
  std::vector<pollfd> interests;
  for (const Slot& slot : slots_) {
    if (slot.job) interests.push_back(slot.process->interest());
  }
  return interests;
}

SteadyTime CompilePool::next_deadline() const {
  SteadyTime first = SteadyTime::max();
  for (const Slot& slot : slots_) {
    if (slot.job) first = std::min(first, slot.deadline);
  }
  return first;
}

bool CompilePool::may_start(const Job& job) const {
  const bool one_is_alone = std::any_of(
      slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.job && slot.job->alone; });
  return !one_is_alone && (!job.alone || in_flight() == 0);
}

void CompilePool::start_queued() {
  for (Slot& slot : slots_) {
    std::deque<Job>& source = retries_.empty() ? queue_ : retries_;
    if (source.empty() || !may_start(source.front())) return;
    if (slot.job) continue;
    Job job = std::move(source.front());
    source.pop_front();
    start(slot, std::move(job));
  }
}

void CompilePool::start(Slot& slot, Job job) {
  if (slot.compiled >= kCompilationsPerProcess || job.retried || slot.has_more) {
    slot.process.reset();
  }
  slot.has_more = job.alone;
  if (!slot.process) {
    slot.process.emplace(program_, std::vector<std::string>{"compile"},
                         WorkerLimits{options_.memory_bytes * (job.alone ? kMoreAlone : 1), false,
                                      true});  // the device's worker goes first
    slot.compiled = 0;
  }
  slot.started = std::chrono::steady_clock::now();
  slot.deadline = slot.started + options_.limit;
  slot.processor_time = slot.process->processor_time();
  slot.used = {};
  ++slot.compiled;
  // When the process is already gone, look_at() finds it closed and reports the job.
  (void)slot.process->send({{"op", "compile"}, {"request", job.request}});
  slot.job = std::move(job);
}

CompilePool::Finished CompilePool::finish(Slot& slot, CompileOutcome outcome,
                                          bool reproducible) const {
  Finished finished{slot.job->ticket, std::move(outcome), reproducible};
  finished.wall_ms = milliseconds_since(slot.started);
  slot.job.reset();
  return finished;
}

/// Past its limit. A compiler that works, but seldom gets a processor, has more time.
bool CompilePool::is_late(Slot& slot) const {
  constexpr int kMostByTheClock = 10;     // times the limit
  constexpr int kLeastOfAProcessor = 20;  // a twentieth; less is no work, but a hang
  constexpr std::chrono::milliseconds kLeastWait{100};
  const SteadyTime now = std::chrono::steady_clock::now();
  if (now < slot.deadline) return false;
  const std::chrono::nanoseconds since = slot.process->processor_time() - slot.processor_time;
  slot.used += since;
  slot.processor_time += since;
  const std::chrono::nanoseconds rest = options_.limit - slot.used;
  const bool works = kLeastOfAProcessor * slot.used > now - slot.started;
  if (!works || rest <= rest.zero() || now >= slot.started + kMostByTheClock * options_.limit) {
    return true;
  }
  slot.deadline = now + std::max<std::chrono::nanoseconds>(rest, kLeastWait);
  return false;
}

std::optional<CompilePool::Finished> CompilePool::look_at(Slot& slot) {
  const bool late = is_late(slot);
  try {
    auto reply = slot.process->poll();
    // It is done, and waits for somebody to read what it found.
    if (!reply && late && slot.process->is_answering()) reply = slot.process->wait(kRestOfAnswer);
    if (reply) return take_reply(slot, *reply);
  } catch (const MissingError&) {
    throw;
  } catch (const std::exception& error) {
    // No message, or none that can be read.
    return try_again(slot, {CompilerFailure::Kind::kInternal, error.what()});
  }
  if (slot.process->is_open() && !late) return std::nullopt;
  return take_ending(slot, late);
}

std::optional<CompilePool::Finished> CompilePool::take_reply(Slot& slot,
                                                             const nlohmann::json& reply) {
  if (reply.contains("error")) throw MissingError(reply.at("error").get<std::string>());
  if (reply.contains("out_of_memory")) {
    return try_again(slot, {CompilerFailure::Kind::kOutOfMemory, "no memory left"});
  }
  if (reply.contains("failure")) {
    return try_again(slot, reply.at("failure").get<CompilerFailure>());
  }
  Finished finished = reply.contains("compiled")
                          ? finish(slot, reply.at("compiled").get<Compiled>(), true)
                          : finish(slot, reply.at("rejection").get<Rejection>(), true);
  reply.at("dependencies").get_to(finished.dependencies);
  return finished;
}

std::optional<CompilePool::Finished> CompilePool::take_ending(Slot& slot, bool late) {
  const Ending ending = slot.process->kill();
  slot.process.reset();
  if (late && !ending.killed_from_outside) {
    return finish(slot,
                  Rejection{Gate::kBuild, "the compiler took longer than " +
                                              seconds_text(options_.limit) + " and was killed"},
                  false);
  }
  if (ending.exit_code == kOutOfMemoryExit)
    return try_again(slot, {CompilerFailure::Kind::kOutOfMemory, "it ended itself"});
  const std::string what = ending.killed_from_outside ? "was killed" : "crashed";
  slot.job->alone = slot.job->alone || !ending.killed_from_outside;
  return try_again(slot,
                   {CompilerFailure::Kind::kInternal, "the compiler " + what + ": " + ending.text});
}

/// It says nothing of the kernel.
std::string CompilePool::out_of_memory_text(const std::string& why) const {
  const std::uint64_t bytes = options_.memory_bytes;
  return "the compiler ran out of memory: with its " + memory_text(bytes) + ", and alone with " +
         memory_text(kMoreAlone * bytes) + " (" + why +
         "); --compiler-gb GB gives it more; the kernel itself may be right";
}

/// The job once more in a fresh process; a rejection when that was the second time.
std::optional<CompilePool::Finished> CompilePool::try_again(Slot& slot, CompilerFailure failure) {
  const bool memory = failure.kind == CompilerFailure::Kind::kOutOfMemory;
  slot.process.reset();
  if (slot.job->retried) {
    if (memory) failure.reason = out_of_memory_text(failure.reason);
    return finish(slot, outcome_of(std::move(failure)), false);
  }
  if (options_.on_event) {
    options_.on_event("compilation repeated", failure.reason + "; tried once more");
  }
  slot.job->retried = true;
  slot.job->alone = slot.job->alone || memory;
  retries_.push_back(std::move(*slot.job));
  slot.job.reset();
  return std::nullopt;
}

std::vector<CompilePool::Finished> CompilePool::collect() {
  std::vector<Finished> finished;
  for (Slot& slot : slots_) {
    if (!slot.job) continue;
    if (auto done = look_at(slot)) finished.push_back(std::move(*done));
  }
  start_queued();
  return finished;
}

}  // namespace evo
