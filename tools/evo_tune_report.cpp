#include "tools/evo_tune_report.hpp"

#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace evo {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr const char* kClearLine = "\r\033[K";

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

}  // namespace

TuneReport::TuneReport(const ReportOptions& options)
    : options_(options), terminal_(isatty(STDERR_FILENO) == 1) {}

std::string TuneReport::status(const RunProgress& progress) const {
  std::ostringstream line;
  line << "generation " << progress.generation << "/" << progress.generations << " · "
       << progress.evaluated << " evaluated · " << progress.green << " green";
  const char* separator = " · rejected: ";
  for (const auto& [gate, count] : progress.rejected) {
    line << separator << to_string(gate) << " " << count;
    separator = ", ";
  }
  if (progress.duplicates > 0) line << " · " << progress.duplicates << " same kernel";
  if (progress.unjudged > 0) line << " · " << progress.unjudged << " within policy, not judged";
  if (progress.best_us > 0) {
    line << " · best p50 " << number(progress.best_us) << " µs"
         << (options_.kind == TimeKind::kPredicted ? " (predicted)" : "");
  }
  if (progress.elapsed_s > 0 && progress.generation > 0) {
    const double left =
        progress.elapsed_s / progress.generation * (progress.generations - progress.generation);
    line << " · " << clock_text(left) << " left";
  }
  return line.str();
}

void TuneReport::on_evaluated(const Evaluated& evaluated, const RunProgress& progress) {
  if (!options_.json && !options_.quiet && terminal_) {
    std::cerr << kClearLine << status(progress) << std::flush;
  }
  if (!options_.json) return;
  const EvaluationRecord& record = *evaluated.record;
  OrderedJson object = {{"event", "evaluated"},
                        {"candidate", evaluated.id},
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
  object["compile_ms"] = record.compile_ms;
  object["check_ms"] = record.check_ms;
  object["time_ms"] = record.time_ms;
  emit(object);
}

void TuneReport::on_generation(const RunProgress& progress, const std::vector<EliteMember>& elite) {
  if (options_.json) {
    OrderedJson members = OrderedJson::array();
    for (const EliteMember& member : elite) {
      members.push_back({{"candidate", member.id}, {"p50_us", member.p50_us}});
    }
    emit({{"event", "generation"},
          {"generation", progress.generation},
          {"evaluated", progress.evaluated},
          {"green", progress.green},
          {"elapsed_s", progress.elapsed_s},
          {"elite", members}});
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

}  // namespace evo
