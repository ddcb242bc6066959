#include "engine/compile/ptxas_log.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <set>

namespace evo {
namespace {

constexpr std::string_view kInfo = "ptxas info    : ";
constexpr std::string_view kHeadlineText = "Compiling entry function '";
constexpr std::string_view kPropertiesText = "Function properties for ";

/// The integer directly before `marker` in `line`, as in "  160 bytes stack frame".
std::optional<int> number_before(std::string_view line, std::string_view marker) {
  const std::size_t end = line.find(marker);
  if (end == std::string_view::npos || end == 0) return std::nullopt;
  std::size_t start = end;
  while (start > 0 && line[start - 1] >= '0' && line[start - 1] <= '9') --start;
  int value = 0;
  const auto result = std::from_chars(line.data() + start, line.data() + end, value);
  if (result.ec != std::errc() || result.ptr != line.data() + end) return std::nullopt;
  return value;
}

bool contains(std::string_view line, std::string_view text) {
  return line.find(text) != std::string_view::npos;
}

/// Kinds of lines in the log, recognised by words that ptxas -v prints. The source may print the
/// same words, so the form of the line is checked later.
enum class LineKind { kOther, kHeadline, kProperties, kFrame, kUsage };

LineKind kind_of(std::string_view line) {
  if (contains(line, kHeadlineText)) return LineKind::kHeadline;
  if (contains(line, kPropertiesText)) return LineKind::kProperties;
  if (contains(line, "bytes stack frame") || contains(line, "bytes spill")) {
    return LineKind::kFrame;
  }
  return contains(line, "Used ") && contains(line, " registers") ? LineKind::kUsage
                                                                 : LineKind::kOther;
}

/// The kernel that a headline names: "ptxas info    : Compiling entry function 'k' for 'sm_90'".
std::optional<std::string_view> headline_name(std::string_view line) {
  const std::string start = std::string(kInfo) + std::string(kHeadlineText);
  if (!line.starts_with(start)) return std::nullopt;
  const std::string_view rest = line.substr(start.size());
  const std::size_t end = rest.find("' for 'sm_");
  if (end == std::string_view::npos || !rest.ends_with('\'')) return std::nullopt;
  return rest.substr(0, end);
}

struct Frame {
  int stack = 0;
  int stores = 0;
  int loads = 0;
};

/// Parses "[ptxas         . ]    160 bytes stack frame, 24 bytes spill stores, 28 bytes spill
/// loads".
std::optional<Frame> frame_of(std::string_view line) {
  constexpr std::string_view kContinued = "ptxas         . ";
  if (line.starts_with(kContinued)) line.remove_prefix(kContinued.size());
  const auto stack = number_before(line, " bytes stack frame, ");
  const auto stores = number_before(line, " bytes spill stores, ");
  const auto loads = number_before(line, " bytes spill loads");
  if (!stack || !stores || !loads) return std::nullopt;
  const std::string exact = "    " + std::to_string(*stack) + " bytes stack frame, " +
                            std::to_string(*stores) + " bytes spill stores, " +
                            std::to_string(*loads) + " bytes spill loads";
  return line == exact ? std::optional<Frame>({*stack, *stores, *loads}) : std::nullopt;
}

void add(int& sum, int value) {
  sum =
      value > std::numeric_limits<int>::max() - sum ? std::numeric_limits<int>::max() : sum + value;
}

/// Reads the log line by line and remembers the first line that ptxas would not print after the
/// lines before it. result() then returns an error.
class Reader {
 public:
  Reader(std::string_view entry, const std::vector<std::string>& kernels)
      : entry_(entry), kernels_(kernels) {}

  void take(std::string_view line) {
    switch (kind_of(line)) {
      case LineKind::kOther:
        return;
      case LineKind::kHeadline:
        return headline(line);
      case LineKind::kProperties:
        return properties(line);
      case LineKind::kFrame:
        return frame(line);
      case LineKind::kUsage:
        return usage(line);
    }
  }

  [[nodiscard]] std::variant<PtxasReport, std::string> result() {
    if (error_.empty() && frames_due_ > 0) error_ = "a function whose stack frame is missing";
    if (!error_.empty()) {
      return "the report of ptxas contains unexpected text: " + error_ +
             " (does the source print similar text?)";
    }
    if (!has_frame_ || !has_usage_) {
      return "ptxas reported nothing on the entry point '" + std::string(entry_) + "'";
    }
    return report_;
  }

 private:
  void fail(std::string_view line, const std::string& why) {
    if (error_.empty()) error_ = "the log of ptxas has " + why + ": " + std::string(line);
  }

  void headline(std::string_view line) {
    const auto name = headline_name(line);
    if (!name) return fail(line, "a line that ptxas does not print");
    if (std::find(kernels_.begin(), kernels_.end(), *name) == kernels_.end()) {
      return fail(line, "a kernel that the machine code does not have");
    }
    if (!seen_.insert(std::string(*name)).second) return fail(line, "a second report");
    in_entry_ = *name == entry_;
    block_open_ = true;
  }

  void properties(std::string_view line) {
    if (!line.starts_with(std::string(kInfo) + std::string(kPropertiesText))) {
      return fail(line, "a line that ptxas does not print");
    }
    own_frame_ = line.substr(kInfo.size() + kPropertiesText.size()) == entry_;
    ++frames_due_;
  }

  void frame(std::string_view line) {
    const auto found = frame_of(line);
    if (!found || frames_due_ != 1) return fail(line, "a line that ptxas does not print");
    frames_due_ = 0;
    if (!in_entry_) return;
    // ptxas reports the frame of each function that it did not inline. These frames are added to
    // the entry's frame.
    add(report_.resources.stack_bytes, found->stack);
    add(report_.resources.spill_store_bytes, found->stores);
    add(report_.resources.spill_load_bytes, found->loads);
    if (own_frame_) report_.frame_bytes = found->stack;
    has_frame_ = has_frame_ || own_frame_;
  }

  void usage(std::string_view line) {
    const auto registers = number_before(line, " registers");
    if (!line.starts_with(std::string(kInfo) + "Used ") || !registers) {
      return fail(line, "a line that ptxas does not print");
    }
    if (!block_open_) return fail(line, "a second report");
    block_open_ = false;
    if (!in_entry_) return;
    report_.resources.registers = *registers;
    report_.resources.static_shared_bytes = number_before(line, " bytes smem").value_or(0);
    has_usage_ = true;
  }

  std::string_view entry_;
  const std::vector<std::string>& kernels_;
  std::set<std::string> seen_;
  std::string error_;
  PtxasReport report_;
  bool in_entry_ = false;
  bool block_open_ = false;  ///< whether a headline's registers are not reported yet
  bool own_frame_ = false;
  bool has_frame_ = false;
  bool has_usage_ = false;
  int frames_due_ = 0;
};

}  // namespace

std::variant<PtxasReport, std::string> parse_ptxas_log(std::string_view log, std::string_view entry,
                                                       const std::vector<std::string>& kernels) {
  Reader reader(entry, kernels);
  while (!log.empty()) {
    const std::size_t end = log.find('\n');
    reader.take(log.substr(0, end));
    log = end == std::string_view::npos ? std::string_view() : log.substr(end + 1);
  }
  return reader.result();
}

}  // namespace evo
