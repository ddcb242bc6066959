#include "engine/run/ncu.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <sstream>

#include "engine/core/environment.hpp"
#include "engine/core/json_reader.hpp"
#include "engine/core/printable.hpp"
#include "engine/core/temporary_folder.hpp"
#include "engine/gate/correctness/run_program.hpp"

namespace evo {
namespace {

constexpr const char* kDuration = "gpu__time_duration.sum";

std::string ncu_program() { return environment_variable("EVO_NCU").value_or("ncu"); }

/// Splits a line of CSV into cells, without their quotes.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else if (c != '\r') {
      cells.back() += c;
    }
  }
  return cells;
}

/// Parses a number such as "1,234.5" in ncu's output; nullopt for other texts, such as "n/a".
std::optional<double> number_in(std::string text) {
  std::erase(text, ',');
  double value = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec != std::errc() || parsed.ptr != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

/// The table in ncu's output: headings, units, and a row for each kernel.
struct NcuTable {
  std::vector<std::string> headings;
  std::vector<std::string> units;
  std::vector<std::vector<std::string>> rows;

  [[nodiscard]] std::optional<std::size_t> column(const std::string& name) const {
    const auto found = std::ranges::find(headings, name);
    if (found == headings.end()) return std::nullopt;
    return static_cast<std::size_t>(found - headings.begin());
  }
};

NcuTable table_in(std::string_view text) {
  NcuTable table;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> cells = cells_of(line);
    if (table.headings.empty()) {
      if (cells.front() == "ID") table.headings = std::move(cells);
    } else if (cells.size() != table.headings.size()) {
      continue;  // a message of ncu
    } else if (table.units.empty()) {
      table.units = std::move(cells);
    } else {
      table.rows.push_back(std::move(cells));
    }
  }
  return table;
}

std::string last_words(const std::string& output) {
  std::istringstream lines(output);
  std::string last;
  for (std::string line; std::getline(lines, line);) {
    if (line.find_first_not_of(" \t\r") != std::string::npos) last = line;
  }
  return printable(last.empty() ? "ncu printed nothing" : last);
}

NcuFailure failure_in(const ProgramEnd& end, const std::string& said) {
  if (end.kind == ProgramEnd::Kind::kNotStarted) {
    return {"Nsight Compute (" + ncu_program() + ") is not on the PATH"};
  }
  if (said.find("ERR_NVGPUCTRPERM") != std::string::npos) {
    return {
        "no permission to read the GPU's performance counters (ERR_NVGPUCTRPERM): run as root, or "
        "set the driver's option NVreg_RestrictProfilingToAdminUsers to 0"};
  }
  if (end.kind == ProgramEnd::Kind::kTooLong) return {"Nsight Compute did not end in time"};
  return {"Nsight Compute measured nothing: " + last_words(said)};
}

}  // namespace

NcuResult read_ncu_csv(std::string_view text, const std::vector<std::string>& metrics) {
  const NcuTable table = table_in(text);
  if (table.rows.empty()) return NcuFailure{"Nsight Compute counted no kernel"};
  const auto duration = table.column(kDuration);
  const auto weight_of = [&](const auto& row) {
    return duration ? number_in(row[*duration]).value_or(1) : 1;
  };
  NcuCounts counts;
  for (const std::string& metric : metrics) {
    const auto column = table.column(metric);
    if (!column) return NcuFailure{"Nsight Compute does not know the metric " + metric};
    double sum = 0;
    double weighed = 0;
    double weights = 0;
    for (const auto& row : table.rows) {
      const auto value = number_in(row[*column]);
      if (!value) {
        return NcuFailure{fmt::format("Nsight Compute has no value of {} on this GPU: '{}'", metric,
                                      printable(row[*column]))};
      }
      sum += *value;
      weighed += weight_of(row) * *value;
      weights += weight_of(row);
    }
    const double mean = weights > 0 ? weighed / weights : 0;
    counts.figures[metric] = {metric.ends_with(".sum") ? sum : mean,
                              printable(table.units[*column])};
  }
  return counts;
}

std::filesystem::path ncu_path() {
  const std::string program = ncu_program();
  if (program.find('/') != std::string::npos) {
    return access(program.c_str(), X_OK) == 0 ? std::filesystem::path(program) : "";
  }
  std::istringstream folders(environment_variable("PATH").value_or(""));
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::filesystem::path file = std::filesystem::path(folder) / program;
    if (access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

std::string ncu_version() {
  const TemporaryFolder folder("evo-ncu");
  const ProgramEnd end = run_program({ncu_program(), "--version"}, folder.path(),
                                     folder.path() / "log", std::chrono::seconds(30), [] {});
  if (end.kind != ProgramEnd::Kind::kExited || end.code != 0) return {};
  constexpr std::string_view kVersion = "Version ";
  const std::size_t at = end.output.find(kVersion);
  if (at == std::string::npos) return "ncu";
  const std::size_t start = at + kVersion.size();
  const std::string version =
      end.output.substr(start, end.output.find_first_of(" \r\n", start) - start);
  return "ncu " + printable(version);
}

NcuResult run_ncu(const std::vector<std::string>& command, const std::filesystem::path& folder,
                  const std::vector<std::string>& metrics, const std::function<void()>& waiting) {
  constexpr std::chrono::seconds kLimit{300};
  const std::filesystem::path table = folder / "ncu.csv";
  std::string wanted = kDuration;
  for (const std::string& metric : metrics) wanted += "," + metric;
  std::vector<std::string> words = {ncu_program(),   "--profile-from-start",
                                    "off",           "--clock-control",
                                    "none",          "--cache-control",
                                    "none",          "--csv",
                                    "--page",        "raw",
                                    "--print-units", "base",
                                    "--log-file",    table.string(),
                                    "--metrics",     wanted};
  words.insert(words.end(), command.begin(), command.end());
  const ProgramEnd end = run_program(words, folder, folder / "ncu.log", kLimit, waiting);
  std::error_code error;
  const std::string written =
      std::filesystem::exists(table, error) ? read_text_file(table) : std::string();
  if (end.kind != ProgramEnd::Kind::kExited || end.code != 0 ||
      written.find("ERR_NVGPUCTRPERM") != std::string::npos) {
    return failure_in(end, written + "\n" + end.output);
  }
  return read_ncu_csv(written, metrics);
}

}  // namespace evo
