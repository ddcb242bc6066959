#include "tools/evo_tune_report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace evo {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr const char* kClearLine = "\r\033[K";
constexpr double kPercent = 100;

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

std::string clock_text(double seconds) {
  const auto whole = static_cast<int>(seconds);
  char text[32];
  std::snprintf(text, sizeof text, "%d:%02d", whole / 60, whole % 60);
  return text;
}

/// "1.95 µs", or of several shapes "small 1.95, mission 5.41 µs"; empty while nothing is green.
std::string best_text(const std::vector<RunProgress::Best>& best) {
  std::string text;
  for (const auto& [shape, us] : best) {
    if (us <= 0) continue;
    if (!text.empty()) text += ", ";
    if (best.size() > 1) text += shape + " ";
    text += number(us);
  }
  if (!text.empty()) text += " µs";
  return text;
}

/// Digits, where they fit 64 bits.
std::string count_text(double count) {
  constexpr double kMostDigits = 0x1.0p62;
  return count < kMostDigits ? std::to_string(static_cast<std::int64_t>(count))
                             : Json(count).dump();
}

}  // namespace

TuneReport::TuneReport(const ReportOptions& options)
    : options_(options), terminal_(isatty(STDERR_FILENO) == 1) {}

double TuneReport::share_done(const RunProgress& progress) const {
  if (options_.candidates > 0) {
    return static_cast<double>(progress.evaluated) / static_cast<double>(options_.candidates);
  }
  return static_cast<double>(progress.generation) / progress.generations;
}

std::string TuneReport::position(const RunProgress& progress) const {
  if (options_.candidates > 0) {
    return fmt::format("{}/{} recorded", progress.evaluated, options_.candidates);
  }
  return fmt::format("generation {}/{} · {} evaluated", progress.generation, progress.generations,
                     progress.evaluated);
}

std::string TuneReport::status(const RunProgress& progress) const {
  std::ostringstream line;
  line << position(progress) << " · " << progress.green << " green";
  const char* separator = " · rejected: ";
  for (const auto& [gate, count] : progress.rejected) {
    line << separator << to_string(gate) << " " << count;
    separator = ", ";
  }
  if (progress.duplicates > 0) line << " · " << progress.duplicates << " same kernel";
  if (progress.unjudged > 0) line << " · " << progress.unjudged << " within policy, not judged";
  if (const std::string best = best_text(progress.best); !best.empty()) {
    line << " · best p50 " << best << (options_.kind == TimeKind::kPredicted ? " (predicted)" : "");
  }
  if (options_.candidates > 0 && progress.control_drift) {
    line << fmt::format(" · control {:+.1f} %", *progress.control_drift * kPercent);
  }
  if (progress.elapsed_s > 0 && share_done(progress) > 0) {
    const double left = progress.elapsed_s * (1 / share_done(progress) - 1);
    line << " · " << clock_text(left) << " left";
  }
  return line.str();
}

void TuneReport::on_evaluated(const Evaluated& evaluated, const RunProgress& progress) {
  if (!options_.json && !options_.quiet && terminal_) {
    std::cerr << kClearLine << status(progress) << std::flush;
  }
  if (!options_.json) return;
  const EvaluationRecord& record = *evaluated.shapes.front().record;
  OrderedJson object = {{"event", "evaluated"},
                        {"candidate", evaluated.shapes.front().id},
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
    for (const auto& [shape, id, on_shape] : evaluated.shapes) {
      OrderedJson one = {{"shape", shape}, {"candidate", id}};
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
  } else if (!options_.quiet) {
    std::cerr << (terminal_ ? kClearLine : "") << status(progress) << (terminal_ ? "" : "\n")
              << std::flush;
  }
}

void TuneReport::say(const std::string& line) const {
  if (!options_.quiet && !options_.json) {
    std::cerr << (terminal_ ? kClearLine : "") << line << std::endl;
  }
}

void TuneReport::emit(const OrderedJson& object) const {
  if (options_.json) {
    std::cout << object.dump(-1, ' ', false, OrderedJson::error_handler_t::replace) << std::endl;
  }
}

void describe_run(const Harness& harness, const TuneReport& report,
                  const std::vector<RunId>& runs) {
  const SpaceCount count = harness.space().count();
  std::string shapes = harness.shape().name;
  for (std::size_t at = 1; at < harness.shape_count(); ++at)
    shapes += ", " + harness.shape(at).name;
  const std::string numbers = runs.size() == 1
                                  ? fmt::format("run {}", runs.front())
                                  : fmt::format("runs {} to {}", runs.front(), runs.back());
  report.say(numbers + ": " + harness.space().definition().name + " (" +
             (count.exact ? "" : "about ") + count_text(count.value) + " valid configurations), " +
             (runs.size() == 1 ? "shape " : "shapes ") + shapes + ", " + harness.device().name +
             ", " + harness.arch());
  if (harness.arch() != harness.space().definition().arch) {
    report.say("the space is written for " + harness.space().definition().arch +
               "; compiling for the device, " + harness.arch());
  }
}

void report_speed(const Harness& harness, const RunProgress& progress, const TuneReport& report) {
  const PhaseTimes& times = harness.times();
  const double total_ms = progress.elapsed_s * 1e3;
  const auto evaluated = static_cast<double>(progress.evaluated);
  const double rate = total_ms > 0 ? evaluated / total_ms * 1e3 : 0;
  const double device_ms = times.check_ms + times.time_ms + times.confirm_ms;
  const double engine_ms = std::max(total_ms - device_ms - times.starved_ms, 0.0);
  report.emit({{"event", "speed"},
               {"evaluated", evaluated},
               {"total_ms", total_ms},
               {"variants_per_s", rate},
               {"compile_ms", times.compile_ms},
               {"check_ms", times.check_ms},
               {"time_ms", times.time_ms},
               {"confirm_ms", times.confirm_ms},
               {"starved_ms", times.starved_ms},
               {"engine_ms", engine_ms}});
  char line[256];
  std::snprintf(
      line, sizeof line,
      "%.1f candidates/s; of %.1f s: checking %.1f, timing %.1f, confirming %.1f, waiting "
      "for compilers %.1f, the engine itself %.2f; compilers running %.1f",
      rate, total_ms / 1e3, times.check_ms / 1e3, times.time_ms / 1e3, times.confirm_ms / 1e3,
      times.starved_ms / 1e3, engine_ms / 1e3, times.compile_ms / 1e3);
  report.say(line);
}

}  // namespace evo
