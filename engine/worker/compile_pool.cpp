#include "engine/worker/compile_pool.hpp"

#include <algorithm>
#include <ranges>

#include "engine/core/at_end.hpp"
#include "engine/core/error.hpp"
#include "engine/worker/memory_aborts.hpp"
#include "engine/worker/messages.hpp"

namespace evo {
namespace {

/// A compiler process is replaced after this number of compilations, because compilers leak memory.
constexpr int kCompilationsPerProcess = 1000;

/// A compilation that runs alone gets this multiple of the usual memory limit.
constexpr std::uint64_t kMoreAlone = 2;

/// Time limit for the rest of an answer whose beginning has arrived.
constexpr std::chrono::seconds kRestOfAnswer{5};

/// The reason in `reply` why a compiler process cannot compile, such as a missing folder; empty if
/// there is none.
std::string complaint_in(const nlohmann::json& reply) {
  if (reply.contains("missing_folder")) {
    return "it has no folder " + reply.at("missing_folder").get<std::string>() +
           ", from which the kernel includes files";
  }
  return reply.value("error", std::string());
}

}  // namespace

/// Gives a slot that take_slot() has reserved back to the pool when the scope ends.
class CompilePool::Taken {
 public:
  Taken(CompilePool& pool, Slot& slot) : pool_(pool), slot_(slot) {}
  ~Taken() { pool_.give_back(slot_); }
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;

 private:
  CompilePool& pool_;
  Slot& slot_;
};

CompilePool::CompilePool(EventLoop& loop, std::filesystem::path program, CompilePoolOptions options)
    : loop_(loop), options_(std::move(options)) {
  if (options_.memory_bytes == 0) options_.memory_bytes = compiler_memory_bytes(options_.jobs);
  const auto host = std::make_shared<LocalHost>(std::move(program));
  for (std::size_t i = 0; i < options_.jobs; ++i) {
    slots_.push_back({.host = host, .memory_bytes = options_.memory_bytes});
  }
}

void CompilePool::tell(const std::string& kind, const std::string& text) const {
  if (options_.on_event) options_.on_event(kind, text);
}

const std::string& CompilePool::version() {
  constexpr int kAttempts = 3;  // another process may kill the compiler process
  constexpr std::chrono::milliseconds kStartLimit{60000};  // to start and to open NVRTC
  for (int attempt = 1; version_.empty(); ++attempt) {
    Slot& slot = slots_.front();
    prepare(slot, true, false);
    std::optional<nlohmann::json> reply;
    if (slot.process->send({{"op", "version"}})) reply = slot.process->wait(kStartLimit);
    if (!reply) {
      const Ending ending = slot.process->kill();
      slot.process.reset();
      if (ending.killed_from_outside && attempt < kAttempts) continue;
      throw MissingError("the compiler process does not answer: " + ending.text +
                         "\nnext step: evo-tune doctor shows whether NVRTC works");
    }
    if (reply->contains("error")) {
      slot.process.reset();
      throw MissingError(reply->at("error").get<std::string>());
    }
    version_ = reply->at("version").get<std::string>();
  }
  return version_;
}

/// Says why the compiler on another host cannot be used, according to its reply; empty if it can.
std::string CompilePool::refusal_of(const Slot& slot, const nlohmann::json& reply) const {
  if (reply.contains("error")) return reply.at("error").get<std::string>();
  const auto theirs = reply.value("version", std::string("none"));
  if (theirs == version_) return {};
  return slot.host->name() + " compiles with " + theirs + ", this machine with " + version_ +
         "; results would differ, so install the same version on both hosts";
}

Task<> CompilePool::add(std::shared_ptr<WorkerHost> host, std::uint64_t memory_bytes) {
  (void)version();
  Slot slot{.host = std::move(host), .memory_bytes = memory_bytes};
  std::string refusal = "it ended";
  try {
    prepare(slot, true, false);
    (void)slot.process->send({{"op", "version"}});
    const SteadyTime deadline = loop_.now() + options_.limit;
    std::optional<nlohmann::json> reply = slot.process->poll();
    while (!reply && slot.process->is_open() && loop_.now() < deadline) {
      co_await loop_.wait(slot.process->interest(), deadline);
      reply = slot.process->poll();
    }
    if (reply) refusal = refusal_of(slot, *reply);
  } catch (const Error& error) {
    refusal = error.what();
  } catch (const nlohmann::json::exception& error) {
    refusal = std::string("it sent an invalid message: ") + error.what();
  }
  if (!refusal.empty()) {
    send_away(slot, refusal);
    co_return;
  }
  slots_.push_back(std::move(slot));
  wake_next();
}

/// Disconnects the host of `slot`. The slot must not have a running compilation.
void CompilePool::send_away(const Slot& slot, const std::string& why) const {
  tell("worker refused", "compile worker on " + slot.host->name() + ": " + why);
  slot.host->leave();
}

std::size_t CompilePool::in_flight() const {
  return static_cast<std::size_t>(std::ranges::count(slots_, true, &Slot::is_taken));
}

/// Compiles a kernel. If a host is lost during the compilation, tries another host. Fails if
/// kMostHosts hosts were lost.
Task<std::variant<CompilePool::Finished, CompilePool::Failed>> CompilePool::attempt_anywhere(
    const CompileRequest& request, bool retried, Needs needs) {
  constexpr int kMostHosts = 5;
  for (int hosts = 1;; ++hosts) {
    std::variant<Finished, Failed> result = co_await attempt(request, retried, needs);
    const auto* failed = std::get_if<Failed>(&result);
    if (failed == nullptr || !failed->lost_host || hosts == kMostHosts) co_return result;
    tell("compilation repeated",
         failed->failure.reason + "; the kernel is compiled on another host");
    retried = true;
  }
}

Task<CompilePool::Finished> CompilePool::compile(CompileRequest request) {
  std::variant<Finished, Failed> result = co_await attempt_anywhere(request, false, {});
  if (auto* finished = std::get_if<Finished>(&result)) co_return std::move(*finished);
  const Failed first = std::get<Failed>(std::move(result));
  tell("compilation repeated", first.failure.reason + "; the kernel is compiled once more");
  const Needs needs{true, first.needs_all};
  result = co_await attempt_anywhere(request, true, needs);
  if (auto* finished = std::get_if<Finished>(&result)) co_return std::move(*finished);
  CompilerFailure failure = std::get<Failed>(std::move(result)).failure;
  if (failure.kind == CompilerFailure::Kind::kOutOfMemory) {
    failure.reason = out_of_memory_text(failure.reason);
  }
  co_return Finished{outcome_of(std::move(failure)), false};
}

/// A free slot, on this machine if possible; null if there is none that meets `needs`.
/// `spares_home`: use other hosts only, because an earlier job waits for a slot on this machine.
CompilePool::Slot* CompilePool::slot_for(const Needs& needs, bool spares_home) {
  const auto home = slots_ | std::views::take(static_cast<std::ptrdiff_t>(options_.jobs));
  const bool home_is_taken = std::ranges::any_of(home, &Slot::is_taken);
  const bool one_is_alone =
      std::ranges::any_of(home, [](const Slot& slot) { return slot.is_taken && slot.is_alone; });
  if (!spares_home && !one_is_alone && (!needs.alone || !home_is_taken)) {
    const auto found = std::ranges::find_if(home, &Slot::is_free);
    if (found != home.end()) return &*found;
  }
  if (needs.at_home) return nullptr;
  const auto others = slots_ | std::views::drop(static_cast<std::ptrdiff_t>(options_.jobs));
  const auto found = std::ranges::find_if(others, &Slot::is_free);
  return found != others.end() ? &*found : nullptr;
}

/// The first job in the queue that can run, and a slot for it. While a job waits for a slot on this
/// machine, later jobs may run on other hosts.
std::pair<Event*, CompilePool::Slot*> CompilePool::next_in_queue() {
  bool spares_home = false;
  for (const Waiting& one : queue_) {
    if (Slot* slot = slot_for(one.needs, spares_home)) return {one.turn, slot};
    if (!one.needs.at_home) break;
    spares_home = true;
  }
  return {nullptr, nullptr};
}

Task<CompilePool::Slot*> CompilePool::take_slot(Needs needs, bool first) {
  Slot* slot = queue_.empty() ? slot_for(needs, false) : nullptr;
  if (slot == nullptr) {
    Event turn(loop_);
    const auto place = first ? queue_.begin() : queue_.end();
    queue_.insert(place, {needs, &turn});
    const AtEnd leave(
        [&] { std::erase_if(queue_, [&](const Waiting& one) { return one.turn == &turn; }); });
    while (slot == nullptr) {
      const auto [whose, free] = next_in_queue();
      if (whose == &turn) {
        slot = free;
      } else {
        if (whose != nullptr) whose->notify();  // the job of `whose` can run first
        co_await turn.wait();
      }
    }
  }
  slot->is_taken = true;
  slot->is_alone = needs.alone;
  co_return slot;
}

void CompilePool::give_back(Slot& slot) {
  slot.is_taken = false;
  wake_next();
}

void CompilePool::wake_next() {
  if (Event* turn = next_in_queue().first) turn->notify();
}

void CompilePool::prepare(Slot& slot, bool afresh, bool alone) {
  if (slot.compiled >= kCompilationsPerProcess || afresh || slot.has_more) slot.process.reset();
  slot.has_more = alone;
  if (!slot.process) {
    const std::uint64_t memory_bytes = slot.memory_bytes * (alone ? kMoreAlone : 1);
    // The compiler gets a lower CPU priority than the device worker, which measures times.
    slot.process = slot.host->start({"compile"}, {memory_bytes, false, true});
    slot.compiled = 0;
    slot.source.reset();
  }
  ++slot.compiled;
}

/// Sends a compile request. The request contains the source only if it has changed, because the
/// process keeps the last source, and all candidates of a run share one source.
bool CompilePool::send(Slot& slot, const CompileRequest& request) {
  nlohmann::json message = {{"op", "compile"},
                            {"entries", request.entries},
                            {"arch", request.arch},
                            {"options", request.options}};
  if (slot.source != request.source) message["source"] = request.source;
  slot.source = request.source;
  if (!slot.host->name().empty()) message["needs_folders"] = true;
  return slot.process->send(std::move(message));
}

Task<std::variant<CompilePool::Finished, CompilePool::Failed>> CompilePool::attempt(
    const CompileRequest& request, bool retried, Needs needs) {
  Slot& slot = *co_await take_slot(needs, retried);
  const Taken taken(*this, slot);
  wake_next();
  Attempt attempt{loop_.now()};
  attempt.deadline = attempt.started + options_.limit;
  bool is_answered = false;  // false: the process is still busy
  const AtEnd abandon([&] {
    if (!is_answered) slot.process.reset();
  });
  try {
    prepare(slot, retried, needs.alone);
  } catch (const MissingError& error) {
    if (!slot.host->is_gone()) throw;
    co_return Failed{{CompilerFailure::Kind::kInternal, error.what()}, false, true};
  }
  // If the process has already ended, look_at() reports the end.
  (void)send(slot, request);
  while (true) {
    if (auto result = look_at(slot, attempt)) {
      is_answered = std::holds_alternative<Finished>(*result);
      if (auto* finished = std::get_if<Finished>(&*result)) {
        finished->wall_ms = milliseconds_between(attempt.started, loop_.now());
      }
      co_return std::move(*result);
    }
    co_await loop_.wait(slot.process->interest(), attempt.deadline);
  }
}

/// True if the compilation exceeds its time limit. Extends the deadline of a compiler that works
/// but gets little CPU time.
bool CompilePool::is_late(Slot& slot, Attempt& attempt) const {
  constexpr int kMostByTheClock = 10;  // multiple of `limit` to which elapsed time is limited
  // A process counts as hanging if its CPU time is less than 1 / kLeastOfAProcessor of the elapsed
  // time.
  constexpr int kLeastOfAProcessor = 20;
  constexpr std::chrono::milliseconds kLeastWait{100};
  const SteadyTime now = loop_.now();
  if (now < attempt.deadline) return false;
  const std::chrono::nanoseconds used = slot.process->processor_time();
  const std::chrono::nanoseconds rest = options_.limit - used;
  const bool works = kLeastOfAProcessor * used > now - attempt.started;
  if (!works || rest <= rest.zero() || now >= attempt.started + kMostByTheClock * options_.limit) {
    return true;
  }
  attempt.deadline = now + std::max<std::chrono::nanoseconds>(rest, kLeastWait);
  return false;
}

std::optional<std::variant<CompilePool::Finished, CompilePool::Failed>> CompilePool::look_at(
    Slot& slot, Attempt& attempt) {
  const bool late = is_late(slot, attempt);
  try {
    auto reply = slot.process->poll();
    // If the beginning of the answer has arrived, the compilation is finished, so the rest is read
    // in spite of the time limit.
    if (!reply && late && slot.process->is_answering()) reply = slot.process->wait(kRestOfAnswer);
    if (reply) return result_of(slot, *reply);
  } catch (const MissingError&) {
    throw;
  } catch (const std::exception& error) {
    return Failed{{CompilerFailure::Kind::kInternal, error.what()}};
  }
  if (slot.process->is_open() && !late) return std::nullopt;
  return ending_of(slot, late);
}

std::variant<CompilePool::Finished, CompilePool::Failed> CompilePool::result_of(
    Slot& slot, const nlohmann::json& reply) {
  if (const std::string why = complaint_in(reply); !why.empty()) {
    if (slot.host->name().empty()) throw MissingError(why);
    send_away(slot, why);  // the other compilers may still work
    return Failed{{CompilerFailure::Kind::kInternal,
                   "the compile worker on " + slot.host->name() + " cannot work: " + why},
                  false,
                  true};
  }
  if (reply.contains("out_of_memory")) {
    return Failed{{CompilerFailure::Kind::kOutOfMemory, "no memory was left"}, true};
  }
  if (reply.contains("failure")) {
    Failed failed{reply.at("failure").get<CompilerFailure>()};
    failed.needs_all = failed.failure.kind == CompilerFailure::Kind::kOutOfMemory;
    return failed;
  }
  Finished finished;
  if (reply.contains("compiled")) {
    finished.outcome = reply.at("compiled").get<Compiled>();
  } else {
    finished.outcome = reply.at("rejection").get<Rejection>();
  }
  reply.at("dependencies").get_to(finished.dependencies);
  return finished;
}

std::variant<CompilePool::Finished, CompilePool::Failed> CompilePool::ending_of(Slot& slot,
                                                                                bool late) const {
  const Ending ending = slot.process->kill();
  slot.process.reset();
  if (late && !ending.killed_from_outside) {
    return Finished{Rejection{Gate::kBuild, "the compiler took longer than " +
                                                seconds_text(options_.limit) + " and was killed"},
                    false};
  }
  if (ending.exit_code == kOutOfMemoryExit) {
    return Failed{{CompilerFailure::Kind::kOutOfMemory, "the compiler ended itself"}, true};
  }
  const std::string what = ending.killed_from_outside ? "was killed" : "crashed";
  return Failed{{CompilerFailure::Kind::kInternal, "the compiler " + what + ": " + ending.text},
                !ending.killed_from_outside,
                slot.host->is_gone()};
}

/// The rejection's text for a kernel with which the compiler ran out of memory.
std::string CompilePool::out_of_memory_text(const std::string& why) const {
  const std::uint64_t bytes = options_.memory_bytes;
  return "the compiler ran out of memory with " + memory_text(bytes) + ", and alone with " +
         memory_text(kMoreAlone * bytes) + " (" + why +
         "); the kernel may be correct; --compiler-gb GB gives compilers more memory";
}

}  // namespace evo
