#include "tools/tune/run_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

namespace evo {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr double kPercent = 100;

std::string clock_text(double seconds) {
  const auto whole = static_cast<int>(seconds);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

/// The best time of each shape: "1.95 µs", or for several shapes "small 1.95, mission 5.41 µs";
/// empty until a kernel is green.
std::string best_text(const std::vector<RunProgress::Best>& best) {
  std::string text;
  for (const auto& [shape, us] : best) {
    if (us <= 0) continue;
    if (!text.empty()) text += ", ";
    if (best.size() > 1) text += shape + " ";
    text += fmt::format("{:.2f}", us);
  }
  if (!text.empty()) text += " µs";
  return text;
}

/// The current work of a single device, or "2 of 4 busy" for several devices; empty if the only
/// device is idle.
std::string devices_text(const std::vector<Phase>& devices) {
  if (devices.empty()) return {};
  if (devices.size() == 1) return std::string(to_string(devices.front()));
  const auto idle = std::ranges::count(devices, Phase::kIdle);
  return fmt::format("{} of {} busy", devices.size() - static_cast<std::size_t>(idle),
                     devices.size());
}

/// The text of a count: a whole number below 2^62, otherwise a number with an exponent.
std::string count_text(double count) {
  constexpr double kMostDigits = 0x1.0p62;
  return count < kMostDigits ? std::to_string(static_cast<std::int64_t>(count))
                             : Json(count).dump();
}

}  // namespace

TuneReport::TuneReport(const ReportOptions& options)
    : options_(options), is_terminal_(can_draw_live()), block_(wants_colors()) {}

TuneReport::~TuneReport() {
  if (block_.is_shown()) block_.erase();  // not close(): the Workbench may be destroyed already
}

void TuneReport::watch(Workbench& bench) {
  bench_ = &bench;
  before_ = bench.activity().times;
  started_ = told_ = std::chrono::steady_clock::now();
  if (options_.json || options_.quiet) return;
  bench.loop().when_waiting([this] {
    activity_ = bench_->activity();
    if (is_live()) {
      draw();
    } else {
      tell_of_compilers();
    }
  });
}

/// Without a live view, prints from time to time that the first compilations are still running.
void TuneReport::tell_of_compilers() {
  constexpr std::chrono::seconds kBetween{30};
  const auto now = std::chrono::steady_clock::now();
  if (progress_.evaluated > 0 || activity_.compiling == 0 || now - told_ < kBetween) return;
  told_ = now;
  const std::chrono::duration<double> elapsed = now - started_;
  say(fmt::format("compiling the first candidates, {} at once, for {}", activity_.compiling,
                  clock_text(elapsed.count())));
}

void TuneReport::close() {
  if (bench_ != nullptr) bench_->loop().when_waiting({});
  bench_ = nullptr;
  if (!is_live() || progress_.evaluated == 0) return;
  block_.erase();
  std::cerr << status(progress_) << std::endl;
}

double TuneReport::share_done(const RunProgress& progress, double elapsed_s) {
  const double evaluated = static_cast<double>(progress.evaluated) /
                           static_cast<double>(std::max<std::size_t>(progress.to_evaluate, 1));
  return std::min(std::max(evaluated, elapsed_s / progress.max_seconds), 1.0);
}

std::optional<double> TuneReport::left_s(const RunProgress& progress, double elapsed_s) {
  const double by_time = progress.max_seconds - elapsed_s;
  const auto judged = static_cast<double>(progress.evaluated - progress.recorded);
  if (judged == 0 || elapsed_s <= 0) {
    return std::isfinite(by_time) ? std::optional(std::max(by_time, 0.0)) : std::nullopt;
  }
  const auto rest = static_cast<double>(progress.to_evaluate -
                                        std::min(progress.evaluated, progress.to_evaluate));
  return std::max(std::min(by_time, elapsed_s * rest / judged), 0.0);
}

std::string TuneReport::position(const RunProgress& progress) const {
  const std::string search =
      options_.searches > 1 ? fmt::format("search {}/{} · ", options_.search, options_.searches)
                            : std::string();
  if (progress.evaluated == 0) return search + "compiling the first candidates";
  if (options_.candidates > 0) {
    return fmt::format("{}/{} recorded", progress.evaluated, options_.candidates);
  }
  return fmt::format("{}generation {}/{}", search, progress.generation, progress.generations);
}

/// The parts of the live view's line that counts candidates, the most important part first.
std::vector<std::string> TuneReport::counts(const RunProgress& progress) const {
  std::vector<std::string> parts;
  if (progress.evaluated == 0) return parts;
  if (options_.candidates == 0) parts.push_back(fmt::format("{} evaluated", progress.evaluated));
  parts.push_back(fmt::format("{} green", progress.green));
  std::string rejected;
  for (const auto& [gate, count] : progress.rejected) {
    rejected +=
        fmt::format("{}{} {}", rejected.empty() ? "rejected: " : ", ", to_string(gate), count);
  }
  if (!rejected.empty()) parts.push_back(rejected);
  if (progress.duplicates > 0) parts.push_back(fmt::format("{} same kernel", progress.duplicates));
  if (progress.unjudged > 0) {
    parts.push_back(fmt::format("{} within policy, not judged", progress.unjudged));
  }
  return parts;
}

std::string TuneReport::best(const RunProgress& progress) const {
  const std::string text = best_text(progress.best);
  if (text.empty()) return {};
  return fmt::format("best p50 {}{}", text,
                     options_.kind == TimeKind::kPredicted ? " (predicted)" : "");
}

std::string TuneReport::status(const RunProgress& progress) const {
  std::string line = position(progress);
  const auto add = [&](const std::string& part) {
    if (!part.empty()) line += " · " + part;
  };
  for (const std::string& part : counts(progress)) add(part);
  add(best(progress));
  if (options_.candidates > 0 && progress.control_drift) {
    add(fmt::format("control {:+.1f} %", *progress.control_drift * kPercent));
  }
  if (const auto left = left_s(progress, progress.elapsed_s)) add(clock_text(*left) + " left");
  return line;
}

LiveState TuneReport::live_state() const {
  LiveState state;
  state.position = position(progress_);
  state.counts = counts(progress_);
  state.best = best(progress_);
  state.best_so_far = best_so_far_;
  state.in_flight = progress_.in_flight;
  state.max_in_flight = progress_.max_in_flight;
  state.compiling = activity_.compiling;
  state.compilers = options_.compilers;
  state.device = devices_text(activity_.devices);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - started_;
  if (elapsed.count() > 0) state.rate = static_cast<double>(progress_.evaluated) / elapsed.count();
  state.share_done = share_done(progress_, elapsed.count());
  state.left_s = left_s(progress_, elapsed.count());
  if (bench_ != nullptr && has_device(*bench_)) {
    const PhaseTimes times = bench_->activity().times - before_;
    const double busy_ms = times.check_ms + times.time_ms + times.confirm_ms;
    state.device_share = busy_ms / std::max(busy_ms + times.starved_ms + times.engine_ms, 1.0);
  }
  state.has_device = bench_ == nullptr || has_device(*bench_);
  return state;
}

/// Redraws the live view at most ten times a second. Reads the terminal's width each time, because
/// the user may have resized the terminal.
void TuneReport::draw() {
  constexpr std::chrono::milliseconds kBetween{100};
  const auto now = std::chrono::steady_clock::now();
  if (!is_live() || bench_ == nullptr || now - drawn_ < kBetween) return;
  drawn_ = now;
  // Leaves the last column empty, because many terminals wrap the line when that column is written.
  const std::size_t width = std::max<std::size_t>(terminal_width(), 2);
  block_.draw(live_lines(live_state(), width - 1));
}

void TuneReport::on_evaluated(const Evaluated& evaluated, const RunProgress& progress) {
  progress_ = progress;
  if (const double best = progress.best.front().us; best > 0) best_so_far_.push_back(best);
  draw();
  if (!options_.json) return;
  const EvaluationRecord& record = *evaluated.shapes.front().record;
  OrderedJson object = {{"event", "evaluated"},
                        {"candidate", record.id},
                        {"generation", record.generation},
                        {"position", record.position},
                        {"origin", record.origin},
                        {"config", OrderedJson::parse(record.config_json)}};
  if (!record.milestone.empty()) object["milestone"] = record.milestone;
  if (record.duplicate_of) object["duplicate_of"] = *record.duplicate_of;
  if (record.rejection) {
    object["gate"] = std::string(to_string(record.rejection->gate));
    object["reason"] = record.rejection->reason;
    object["policy_only"] = record.rejection->policy_only;
  } else if (record.timing) {
    object["p50_us"] = record.timing->p50_us;
    object["kind"] = std::string(to_string(record.timing->kind));
  }
  if (progress.best.size() > 1) {
    for (const auto& [shape, on_shape] : evaluated.shapes) {
      OrderedJson one = {{"shape", shape}, {"candidate", on_shape->id}};
      if (on_shape->timing) one["p50_us"] = on_shape->timing->p50_us;
      object["shapes"].push_back(std::move(one));
    }
  }
  object["compile_ms"] = record.compile_ms;
  object["check_ms"] = record.check_ms;
  object["time_ms"] = record.time_ms;
  emit(object);
}

void TuneReport::on_generation(const RunProgress& progress, const std::vector<ShapeElite>& elites) {
  progress_ = progress;
  if (options_.json) {
    const auto members_of = [](const ShapeElite& elite) {
      OrderedJson members = OrderedJson::array();
      for (const EliteMember& member : *elite.members) {
        members.push_back({{"candidate", member.id}, {"p50_us", member.p50_us}});
      }
      return members;
    };
    OrderedJson object = {{"event", "generation"},           {"generation", progress.generation},
                          {"evaluated", progress.evaluated}, {"green", progress.green},
                          {"elapsed_s", progress.elapsed_s}, {"elite", members_of(elites.front())}};
    if (elites.size() > 1) {
      for (const ShapeElite& elite : elites) object["elites"][elite.shape] = members_of(elite);
    }
    if (progress.control_drift) object["control_drift"] = *progress.control_drift;
    emit(object);
  } else if (is_live()) {
    draw();
  } else if (!options_.quiet) {
    std::cerr << status(progress) << '\n' << std::flush;
  }
}

void TuneReport::say(const std::string& line) const {
  if (!options_.quiet && !options_.json) {
    if (block_.is_shown()) block_.erase();
    std::cerr << line << std::endl;
  }
}

void TuneReport::say_stopped(const std::string& reason) const {
  say(reason + "; everything is saved: continue with --resume");
}

void TuneReport::notice(const std::string& text) const {
  if (text.empty()) return;
  say(text);
  emit({{"event", "notice"}, {"text", text}});
}

void TuneReport::emit(OrderedJson object) const {
  if (!options_.json) return;
  if (options_.searches > 1) {
    object["search"] = options_.search;
    object["searches"] = options_.searches;
  }
  std::cout << object.dump(-1, ' ', false, OrderedJson::error_handler_t::replace) << std::endl;
}

void describe_run(const Workbench& bench, const TuneReport& report,
                  const std::vector<RunId>& runs) {
  const SpaceCount count = bench.task().space().count();
  std::string shapes = bench.task().shape().name;
  for (std::size_t at = 1; at < bench.task().shape_count(); ++at)
    shapes += ", " + bench.task().shape(at).name;
  const std::string numbers = runs.size() == 1
                                  ? fmt::format("run {}", runs.front())
                                  : fmt::format("runs {} to {}", runs.front(), runs.back());
  report.say(numbers + ": " + bench.task().space().definition().name + " (" +
             (count.exact ? "" : "about ") + count_text(count.value) + " valid configurations), " +
             (runs.size() == 1 ? "shape " : "shapes ") + shapes + ", " +
             bench.task().device().name + ", " + bench.task().arch());
  if (bench.task().arch() != bench.task().space().definition().arch) {
    report.say("the space is written for " + bench.task().space().definition().arch +
               "; compiling for the device, " + bench.task().arch());
  }
}

PhaseTimes TuneReport::times() const {
  return bench_ != nullptr ? bench_->activity().times - before_ : PhaseTimes{};
}

void report_speed(const PhaseTimes& times, const RunProgress& progress, const TuneReport& report) {
  const double total_ms = progress.elapsed_s * 1e3;
  const auto evaluated = static_cast<double>(progress.evaluated);
  const double rate = total_ms > 0 ? evaluated / total_ms * 1e3 : 0;
  report.emit({{"event", "speed"},
               {"evaluated", evaluated},
               {"total_ms", total_ms},
               {"variants_per_s", rate},
               {"compile_ms", times.compile_ms},
               {"check_ms", times.check_ms},
               {"time_ms", times.time_ms},
               {"confirm_ms", times.confirm_ms},
               {"starved_ms", times.starved_ms},
               {"engine_ms", times.engine_ms}});
  report.say(fmt::format(
      "{:.1f} candidates/s; of {:.1f} s: checking {:.1f}, timing {:.1f}, A/B comparisons {:.1f}, "
      "waiting for compilers {:.1f}, evo-tune's own work {:.2f}; all compilers together {:.1f}",
      rate, total_ms / 1e3, times.check_ms / 1e3, times.time_ms / 1e3, times.confirm_ms / 1e3,
      times.starved_ms / 1e3, times.engine_ms / 1e3, times.compile_ms / 1e3));
}

}  // namespace evo
