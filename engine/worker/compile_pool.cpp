#include "engine/worker/compile_pool.hpp"

#include <algorithm>

#include "engine/core/error.hpp"
#include "engine/worker/messages.hpp"

namespace evo {
namespace {

/// A process is replaced after so many compilations: whatever the compiler leaks stays bounded.
constexpr int kCompilationsPerProcess = 1000;

double milliseconds_since(SteadyTime start) {
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;
  return elapsed.count();
}

}  // namespace

CompilePool::CompilePool(std::filesystem::path program, std::size_t jobs,
                         std::chrono::milliseconds limit)
    : program_(std::move(program)), limit_(limit), slots_(jobs) {}

const std::string& CompilePool::version() {
  if (version_.empty()) {
    WorkerProcess process(program_, {"compile"});
    std::optional<nlohmann::json> reply;
    if (process.send({{"op", "version"}})) reply = process.wait(limit_);
    if (!reply) throw MissingError("the compiler worker does not answer: " + process.kill());
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
      slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.ticket.has_value(); }));
}

std::vector<int> CompilePool::descriptors() const {
  std::vector<int> descriptors;
  for (const Slot& slot : slots_) {
    if (slot.ticket) descriptors.push_back(slot.process->descriptor());
  }
  return descriptors;
}

SteadyTime CompilePool::next_deadline() const {
  SteadyTime first = SteadyTime::max();
  for (const Slot& slot : slots_) {
    if (slot.ticket) first = std::min(first, slot.started + limit_);
  }
  return first;
}

void CompilePool::start_queued() {
  for (Slot& slot : slots_) {
    if (queue_.empty()) return;
    if (slot.ticket) continue;
    const Job job = std::move(queue_.front());
    queue_.pop_front();
    start(slot, job);
  }
}

void CompilePool::start(Slot& slot, const Job& job) {
  if (slot.compiled >= kCompilationsPerProcess) slot.process.reset();
  if (!slot.process) {
    slot.process.emplace(program_, std::vector<std::string>{"compile"});
    slot.compiled = 0;
  }
  slot.ticket = job.ticket;
  slot.started = std::chrono::steady_clock::now();
  ++slot.compiled;
  // When the process is already gone, look_at() finds it closed and reports the job.
  (void)slot.process->send({{"op", "compile"}, {"request", job.request}});
}

std::optional<CompilePool::Finished> CompilePool::look_at(Slot& slot) {
  const auto reply = slot.process->poll();
  Finished finished{*slot.ticket, Rejection{}, true, milliseconds_since(slot.started)};
  if (reply) {
    if (reply->contains("error")) throw MissingError(reply->at("error").get<std::string>());
    if (reply->contains("compiled")) {
      finished.outcome = reply->at("compiled").get<Compiled>();
    } else {
      finished.outcome = reply->at("rejection").get<Rejection>();
    }
    slot.ticket.reset();
    return finished;
  }
  const bool late = std::chrono::steady_clock::now() >= slot.started + limit_;
  if (slot.process->is_open() && !late) return std::nullopt;
  const std::string ending = slot.process->kill();
  finished.reproducible = false;
  finished.outcome = Rejection{Gate::kBuild, late ? "the compiler took longer than " +
                                                        seconds_text(limit_) + " and was killed"
                                                  : "the compiler crashed: " + ending};
  slot.process.reset();
  slot.ticket.reset();
  return finished;
}

std::vector<CompilePool::Finished> CompilePool::collect() {
  std::vector<Finished> finished;
  for (Slot& slot : slots_) {
    if (!slot.ticket) continue;
    if (auto done = look_at(slot)) finished.push_back(std::move(*done));
  }
  start_queued();
  return finished;
}

}  // namespace evo
