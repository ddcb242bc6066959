#pragma once

#include <string>

#include "db/records.hpp"
#include "engine/coordinator/tuner.hpp"

namespace evo {

/// What evo-tune and evo-record show while they run.
struct ReportOptions {
  bool json = false;   ///< one object a line on standard output
  bool quiet = false;  ///< nothing for people
  TimeKind kind = TimeKind::kMeasured;
  std::size_t candidates = 0;  ///< of a recording; 0: a search, that has generations
};

/// A live status line on a terminal, a line a generation elsewhere, or JSON lines.
class TuneReport final : public TunerObserver {
 public:
  explicit TuneReport(const ReportOptions& options);

  void on_evaluated(const Evaluated& evaluated, const RunProgress& progress) override;
  void on_generation(const RunProgress& progress, const std::vector<ShapeElite>& elites) override;

  /// A line for people that must not be overwritten by the status line.
  void say(const std::string& line) const;
  /// The same content as an object, with --json.
  void emit(const nlohmann::ordered_json& object) const;

 private:
  [[nodiscard]] std::string status(const RunProgress& progress) const;
  [[nodiscard]] std::string position(const RunProgress& progress) const;
  [[nodiscard]] double share_done(const RunProgress& progress) const;

  ReportOptions options_;
  bool terminal_;
};

/// The run, its space and its device in a line, and another one where the space is written for
/// another architecture. `runs`: one for each shape.
void describe_run(const Harness& harness, const TuneReport& report, const std::vector<RunId>& runs);

/// Where the time went, and how fast candidates were judged.
void report_speed(const Harness& harness, const RunProgress& progress, const TuneReport& report);

}  // namespace evo
