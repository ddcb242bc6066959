#pragma once

#include <string>

#include "engine/coordinator/tuner.hpp"

namespace evo {

/// What evo-tune shows while it runs.
struct ReportOptions {
  bool json = false;   ///< one object a line on standard output
  bool quiet = false;  ///< nothing for people
  TimeKind kind = TimeKind::kMeasured;
};

/// A live status line on a terminal, a line a generation elsewhere, or JSON lines.
class TuneReport final : public TunerObserver {
 public:
  explicit TuneReport(const ReportOptions& options);

  void on_evaluated(const Evaluated& evaluated, const RunProgress& progress) override;
  void on_generation(const RunProgress& progress, const std::vector<EliteMember>& elite) override;

  /// A line for people that must not be overwritten by the status line.
  void say(const std::string& line) const;
  /// The same content as an object, with --json.
  void emit(const nlohmann::ordered_json& object) const;

 private:
  [[nodiscard]] std::string status(const RunProgress& progress) const;

  ReportOptions options_;
  bool terminal_;
};

}  // namespace evo
