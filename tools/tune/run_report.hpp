#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "db/records.hpp"
#include "engine/run/tuner.hpp"
#include "tools/tune/live_view.hpp"

namespace evo {

/// Settings of the output of evo-tune and evo-record during a run.
struct ReportOptions {
  bool json = false;   ///< JSON lines on standard output
  bool quiet = false;  ///< no readable output
  TimeKind kind = TimeKind::kMeasured;
  std::size_t candidates = 0;  ///< candidates of a recording; 0: a search, which has generations
  std::size_t compilers = 0;   ///< number of compiler processes
  std::size_t search = 1;      ///< number of the search that the report is about
  std::size_t searches = 1;    ///< number of searches of the command
};

/// Prints the progress of a run: a live view on a terminal, otherwise one line per generation, or
/// JSON lines.
class TuneReport final : public TunerObserver {
 public:
  explicit TuneReport(const ReportOptions& options);
  ~TuneReport() override;
  TuneReport(const TuneReport&) = delete;
  TuneReport& operator=(const TuneReport&) = delete;

  /// Shows the work of `bench`, which must stay alive, in the live view until close().
  void watch(Workbench& bench);
  /// The time of each phase (compiling, checking, timing, …) since watch(); all times are 0 after
  /// close().
  [[nodiscard]] PhaseTimes times() const;
  /// Ends the live view, and leaves a line with the run's progress on the terminal.
  void close();
  /// Says that the run stopped for this reason, and how to continue it.
  void say_stopped(const std::string& reason) const;

  void on_evaluated(const Evaluated& evaluated, const RunProgress& progress) override;
  void on_generation(const RunProgress& progress, const std::vector<ShapeElite>& elites) override;

  /// Prints a line, which the live view does not overwrite; nothing with --quiet or --json.
  void say(const std::string& line) const;
  /// Prints a line, and with --json an event "notice". An empty text prints nothing.
  void notice(const std::string& text) const;
  /// With --json, prints a JSON object, to which it adds the number of the search if the command
  /// makes several.
  void emit(nlohmann::ordered_json object) const;

 private:
  [[nodiscard]] std::string status(const RunProgress& progress) const;
  [[nodiscard]] std::string position(const RunProgress& progress) const;
  [[nodiscard]] static double share_done(const RunProgress& progress, double elapsed_s);
  /// Estimated time until the last evaluation or the time limit; nullopt if too little is known.
  [[nodiscard]] static std::optional<double> left_s(const RunProgress& progress, double elapsed_s);
  [[nodiscard]] std::vector<std::string> counts(const RunProgress& progress) const;
  [[nodiscard]] std::string best(const RunProgress& progress) const;
  [[nodiscard]] LiveState live_state() const;
  [[nodiscard]] bool is_live() const { return is_terminal_ && !options_.json && !options_.quiet; }
  void draw();
  void tell_of_compilers();

  ReportOptions options_;
  bool is_terminal_;
  mutable LiveBlock block_;  ///< the live view; other lines are printed above it
  Workbench* bench_ = nullptr;
  PhaseTimes before_;  ///< times of the phases when watch() was called
  RunProgress progress_;
  Activity activity_;
  std::vector<double> best_so_far_;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point drawn_ = {};
  std::chrono::steady_clock::time_point told_ = {};  ///< last message about compilations
};

/// Prints a line with the run, its space and its device, and a note if the space is for another
/// architecture. `runs`: one run for each shape.
void describe_run(const Workbench& bench, const TuneReport& report, const std::vector<RunId>& runs);

/// Prints the time of each phase, and the number of candidates judged per second.
void report_speed(const PhaseTimes& times, const RunProgress& progress, const TuneReport& report);

}  // namespace evo
