#include "tools/tune/live_view.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <iostream>

#include "engine/core/utf8.hpp"

namespace evo {
namespace {

constexpr std::string_view kBetween = " · ";
constexpr std::array<std::string_view, 8> kHeights = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

/// Joins the first `parts`, as many as fit into `width` columns.
std::string joined(const std::vector<std::string>& parts, std::size_t width) {
  std::string line;
  for (const std::string& part : parts) {
    if (part.empty()) continue;
    std::string longer = line.empty() ? part : line + std::string(kBetween) + part;
    if (columns_of(longer) > width) break;
    line = std::move(longer);
  }
  return line;
}

std::string cut(std::string text, std::size_t width) {
  while (columns_of(text) > width) {
    // Removes the last character with its UTF-8 continuation bytes.
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0U) == 0x80U) {
      text.pop_back();
    }
    if (!text.empty()) text.pop_back();
  }
  return text;
}

std::string clock_of(double seconds) {
  const auto whole = static_cast<long long>(seconds);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

std::string bar(double share, std::size_t width) {
  const double filled = std::clamp(share, 0.0, 1.0) * static_cast<double>(width);
  const auto full = static_cast<std::size_t>(filled);
  std::string text;
  for (std::size_t i = 0; i < width; ++i) text += i < full ? "█" : "░";
  return text;
}

std::string progress_line(const LiveState& state, std::size_t width) {
  constexpr std::size_t kLeastBar = 6;
  constexpr std::size_t kMostBar = 40;
  const std::string percent = fmt::format("{:3.0f} %", std::floor(state.share_done * 100));
  const std::size_t fixed = columns_of(state.position) + columns_of(percent) + 2;
  if (fixed + kLeastBar > width) return cut(state.position, width);
  std::vector<std::string> rest;
  if (state.left_s) rest.push_back(clock_of(*state.left_s) + " left");
  if (state.rate > 0) rest.push_back(fmt::format("{:.1f}/s", state.rate));
  const std::size_t room = width - fixed - kLeastBar;
  const std::string tail =
      room > kBetween.size() ? joined(rest, room - columns_of(kBetween)) : std::string();
  const std::size_t taken = tail.empty() ? 0 : columns_of(tail) + columns_of(kBetween);
  const std::size_t bar_width = std::min(kMostBar, width - fixed - taken);
  return state.position + " " + bar(state.share_done, bar_width) + " " + percent +
         (tail.empty() ? "" : std::string(kBetween) + tail);
}

std::string workers_line(const LiveState& state, std::size_t width) {
  std::vector<std::string> parts;
  if (state.has_device) {
    parts.push_back("device " + (state.device.empty() ? "waiting" : state.device));
  }
  parts.push_back(fmt::format("compilers {}/{}", state.compiling, state.compilers));
  parts.push_back(fmt::format("in flight {}/{}", state.in_flight, state.max_in_flight));
  if (state.has_device)
    parts.push_back(fmt::format("device busy {:.0f} %", 100 * state.device_share));
  return joined(parts, width);
}

std::string best_line(const LiveState& state, std::size_t width) {
  constexpr std::size_t kMostSpark = 60;
  if (state.best.empty()) return {};
  const std::string best = cut(state.best, width);
  const std::size_t left = width - columns_of(best);
  if (left < 4) return best;
  return best + " " + spark_line(state.best_so_far, std::min(left - 1, kMostSpark));
}

}  // namespace

std::string spark_line(const std::vector<double>& values, std::size_t width) {
  if (values.empty() || width == 0) return {};
  const auto [low, high] = std::ranges::minmax(values);
  const std::size_t count = std::min(width, values.size());
  std::string line;
  for (std::size_t i = 0; i < count; ++i) {
    // If there are more values than characters, each character shows the last of several values.
    const double value = values[(i + 1) * values.size() / count - 1];
    const double share = high > low ? (value - low) / (high - low) : 0;
    line += kHeights[static_cast<std::size_t>(std::lround(share * (kHeights.size() - 1)))];
  }
  return line;
}

std::vector<std::string> live_lines(const LiveState& state, std::size_t width) {
  std::vector<std::string> lines;
  for (std::string line : {progress_line(state, width), joined(state.counts, width),
                           workers_line(state, width), best_line(state, width)}) {
    if (!line.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

/// Escape sequences that move the cursor to the block's first line and erase the rest of the
/// screen. If the terminal became narrower and wrapped lines of the block, some rows above are not
/// erased.
std::string LiveBlock::erasing() const {
  if (shown_.empty()) return {};
  std::string text = "\r";
  if (shown_.size() > 1) text += fmt::format("\033[{}A", shown_.size() - 1);
  return text + "\033[J";
}

void LiveBlock::draw(const std::vector<std::string>& lines) {
  if (lines == shown_) return;
  std::string text = erasing();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool in_color = colored_ && i == 0;
    text += (i > 0 ? "\n" : "") + (in_color ? "\033[36m" + lines[i] + "\033[0m" : lines[i]);
  }
  shown_ = lines;
  std::cerr << text << std::flush;
}

void LiveBlock::erase() {
  std::cerr << erasing() << std::flush;
  shown_.clear();
}

bool can_draw_live() {
  const char* term = std::getenv("TERM");
  const std::string_view name = term == nullptr ? "" : term;
  return isatty(STDERR_FILENO) == 1 && !name.empty() && name != "dumb";
}

bool wants_colors() {
  const char* no_color = std::getenv("NO_COLOR");
  return no_color == nullptr || *no_color == '\0';
}

std::size_t terminal_width() {
  constexpr std::size_t kUsual = 80;
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsual;
  return size.ws_col;
}

}  // namespace evo
