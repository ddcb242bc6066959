#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace evo {

/// What a live view shows of a run.
struct LiveState {
  std::string position;   ///< "generation 3/20"
  double share_done = 0;  ///< 0 to 1
  double rate = 0;        ///< candidates a second; 0: not known yet
  std::optional<double> left_s = {};
  std::vector<std::string> counts;  ///< "19 evaluated", "17 green", …; the first ones matter most
  std::size_t in_flight = 0;        ///< candidates that are proposed and not judged
  std::size_t window = 0;           ///< as many may be
  std::size_t compiling = 0;
  std::size_t compilers = 0;
  std::string device;  ///< "timing", or empty: it waits; see has_device
  bool has_device = true;
  double device_share = 0;          ///< of the time so far in which it was busy
  std::string best;                 ///< "best p50 10.27 µs"; empty: none yet
  std::vector<double> best_so_far;  ///< after each evaluation since the first best
};

/// The lines of a live view, none wider than `width` columns: what does not fit is left out, the
/// least important first.
[[nodiscard]] std::vector<std::string> live_lines(const LiveState& state, std::size_t width);

/// A falling curve in `width` characters of eight heights; empty for no values. The last value is
/// the last character.
[[nodiscard]] std::string spark_line(const std::vector<double>& values, std::size_t width);

/// A block of lines at the bottom of a terminal, drawn again in place, on standard error.
class LiveBlock {
 public:
  /// `colored`: escape sequences for colors beside those that move the cursor.
  explicit LiveBlock(bool colored) : colored_(colored) {}

  /// In place of what is there.
  void draw(const std::vector<std::string>& lines);
  /// Nothing is left of it.
  void erase();
  [[nodiscard]] bool is_shown() const { return !shown_.empty(); }

 private:
  [[nodiscard]] std::string erasing() const;

  bool colored_;
  std::vector<std::string> shown_;
};

/// Whether standard error is a terminal that a block can be drawn on: not with TERM=dumb.
[[nodiscard]] bool can_draw_live();
/// Whether colors are welcome: not where NO_COLOR is set (no-color.org).
[[nodiscard]] bool wants_colors();
/// Columns of the terminal at standard error, now.
[[nodiscard]] std::size_t terminal_width();

}  // namespace evo
