#pragma once

#include <optional>
#include <string>
#include <vector>

namespace evo {

/// The content of a run's live view.
struct LiveState {
  std::string position;   ///< "generation 3/20"
  double share_done = 0;  ///< 0 to 1
  double rate = 0;        ///< candidates per second; 0: unknown
  std::optional<double> left_s = {};
  /// "19 evaluated", "17 green", …; the most important texts come first
  std::vector<std::string> counts;
  std::size_t in_flight = 0;      ///< candidates that were proposed and are not judged yet
  std::size_t max_in_flight = 0;  ///< limit of candidates in flight
  std::size_t compiling = 0;
  std::size_t compilers = 0;
  std::string device;  ///< "timing"; empty if the device waits or there is none
  bool has_device = true;
  double device_share = 0;          ///< fraction of the time in which a device was busy
  std::string best;                 ///< "best p50 10.27 µs"; empty: none yet
  std::vector<double> best_so_far;  ///< best time after each evaluation since the first green one
};

/// The lines of a live view, none wider than `width` columns. Omits the least important parts of a
/// line if the line would be too wide.
[[nodiscard]] std::vector<std::string> live_lines(const LiveState& state, std::size_t width);

/// A curve of at most `width` block characters with eight heights; empty without values. The last
/// character shows the last value.
[[nodiscard]] std::string spark_line(const std::vector<double>& values, std::size_t width);

/// A block of lines at the bottom of the terminal on standard error, which is redrawn in place.
class LiveBlock {
 public:
  /// `colored`: uses escape sequences for colors as well as for cursor movement.
  explicit LiveBlock(bool colored) : colored_(colored) {}

  /// Replaces the lines of the block on the terminal by `lines`.
  void draw(const std::vector<std::string>& lines);
  /// Erases the block.
  void erase();
  [[nodiscard]] bool is_shown() const { return !shown_.empty(); }

 private:
  [[nodiscard]] std::string erasing() const;

  bool colored_;
  std::vector<std::string> shown_;
};

/// Whether standard error is a terminal that supports a live view (TERM is set and not "dumb").
[[nodiscard]] bool can_draw_live();
/// Whether colors are allowed: false if NO_COLOR is set and not empty (no-color.org).
[[nodiscard]] bool wants_colors();
/// The current number of columns of the terminal on standard error; 80 if it is unknown.
[[nodiscard]] std::size_t terminal_width();

}  // namespace evo
