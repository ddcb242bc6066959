#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "db/records.hpp"
#include "engine/run/tuner.hpp"
#include "tools/tune/live_view.hpp"

namespace evo {

/// What evo-tune and evo-record show while they run.
struct ReportOptions {
  bool json = false;   ///< one object a line on standard output
  bool quiet = false;  ///< nothing for people
  TimeKind kind = TimeKind::kMeasured;
  std::size_t candidates = 0;  ///< of a recording; 0: a search, that has generations
  std::size_t compilers = 0;   ///< processes
};

/// A live view on a terminal, a line a generation elsewhere, or JSON lines.
class TuneReport final : public TunerObserver {
 public:
  explicit TuneReport(const ReportOptions& options);
  ~TuneReport() override;
  TuneReport(const TuneReport&) = delete;
  TuneReport& operator=(const TuneReport&) = delete;

  /// From here on the view shows what the workers do, until close(). It must live so
  /// long.
  void watch(Workbench& bench);
  /// Where the time went since watch(); nothing after close().
  [[nodiscard]] PhaseTimes times() const;
  /// The end of the view: a line with where the run stands remains.
  void close();

  void on_evaluated(const Evaluated& evaluated, const RunProgress& progress) override;
  void on_generation(const RunProgress& progress, const std::vector<ShapeElite>& elites) override;

  /// A line for people that must not be overwritten by the view.
  void say(const std::string& line) const;
  /// The same content as an object, with --json.
  void emit(const nlohmann::ordered_json& object) const;

 private:
  [[nodiscard]] std::string status(const RunProgress& progress) const;
  [[nodiscard]] std::string position(const RunProgress& progress) const;
  [[nodiscard]] static double share_done(const RunProgress& progress, double elapsed_s);
  /// Until it ends by its evaluations or its time; nothing while too little is known.
  [[nodiscard]] static std::optional<double> left_s(const RunProgress& progress, double elapsed_s);
  [[nodiscard]] std::vector<std::string> counts(const RunProgress& progress) const;
  [[nodiscard]] std::string best(const RunProgress& progress) const;
  [[nodiscard]] LiveState live_state() const;
  [[nodiscard]] bool is_live() const { return is_terminal_ && !options_.json && !options_.quiet; }
  void draw();
  void tell_of_compilers();

  ReportOptions options_;
  bool is_terminal_;
  mutable LiveBlock block_;  ///< a line that is said goes above it
  Workbench* bench_ = nullptr;
  PhaseTimes before_;  ///< the view began
  RunProgress progress_;
  Activity activity_;
  std::vector<double> best_so_far_;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point drawn_ = {};
  std::chrono::steady_clock::time_point told_ = {};  ///< of the compilers
};

/// The run, its space and its device in a line, and another one where the space is written for
/// another architecture. `runs`: one for each shape.
void describe_run(const Workbench& bench, const TuneReport& report, const std::vector<RunId>& runs);

/// Where the time went, and how fast candidates were judged.
void report_speed(const PhaseTimes& times, const RunProgress& progress, const TuneReport& report);

}  // namespace evo
