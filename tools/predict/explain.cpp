// evo-predict explain: shows why the warps of a candidate's kernel wait, by source line.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "engine/core/error.hpp"
#include "engine/cubin/machine_code.hpp"
#include "engine/predict/sm_simulation.hpp"
#include "tools/cli/data_folder.hpp"
#include "tools/predict/predict.hpp"
#include "tools/predict/space_on_device.hpp"

namespace evo {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr double kPercent = 100;

struct SourceLine {
  std::string file;  ///< empty: the machine code has no line here
  int line = 0;
  WaitClocks clocks{};
};

double sum_of(const WaitClocks& clocks) {
  return std::accumulate(clocks.begin(), clocks.end(), 0.0);
}

/// The source lines, each with the clocks that warps spend there by wait reason, the slowest line
/// first.
std::vector<SourceLine> lines_of(const LaunchProfile& profile, const SmActivity& activity) {
  const auto code = read_machine_code(profile.cubin, profile.entry);
  std::map<std::pair<int, int>, SourceLine> lines;
  for (std::size_t i = 0; i < code.size(); ++i) {
    std::pair<int, int> place;
    const auto found = profile.lines.find(code[i].ptx_line);
    if (found != profile.lines.end()) place = {found->second.file, found->second.source_line};
    SourceLine& line = lines[place];
    const auto file = profile.files.find(place.first);
    if (file != profile.files.end()) line.file = file->second;
    line.line = place.second;
    for (std::size_t w = 0; w < kWaits; ++w) line.clocks[w] += activity.waits[i][w];
  }
  std::vector<SourceLine> result;
  for (auto& [place, line] : lines) {
    if (sum_of(line.clocks) > 0) result.push_back(std::move(line));
  }
  std::ranges::stable_sort(result, [](const SourceLine& a, const SourceLine& b) {
    return sum_of(a.clocks) > sum_of(b.clocks);
  });
  return result;
}

WaitClocks total_of(const std::vector<SourceLine>& lines) {
  WaitClocks total{};
  for (const SourceLine& line : lines) {
    for (std::size_t w = 0; w < kWaits; ++w) total[w] += line.clocks[w];
  }
  return total;
}

/// The largest wait reason and the others with at least a tenth of the clocks, largest first, at
/// most `most`: "barrier 61 %, issued 20 %".
std::string reasons(const WaitClocks& clocks, std::size_t most) {
  constexpr double kLeast = 0.1;
  std::vector<std::size_t> order(kWaits);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order,
                           [&](std::size_t a, std::size_t b) { return clocks[a] > clocks[b]; });
  const double sum = sum_of(clocks);
  std::string text;
  for (std::size_t i = 0; i < most; ++i) {
    const double share = clocks[order[i]] / sum;
    if (i > 0 && share < kLeast) break;
    text += fmt::format("{}{} {:.0f} %", i > 0 ? ", " : "", kWaitNames[order[i]], kPercent * share);
  }
  return text;
}

/// The first 70 characters of a line of a source file, without leading spaces; empty if the file is
/// missing.
std::string text_of(const SpaceOnDevice& on, const SourceLine& line) {
  std::ifstream file(on.source_file(line.file));
  std::string text;
  for (int i = 0; i < line.line; ++i) {
    if (!std::getline(file, text)) return {};
  }
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return {};
  constexpr std::size_t kLongest = 70;
  return text.substr(first, kLongest);
}

std::vector<std::pair<std::string, double>> units_of(const SmActivity& activity) {
  const auto busy = [&](Unit unit) { return activity.busy[static_cast<std::size_t>(unit)]; };
  return {{"tensor cores", busy(Unit::kTensor) + busy(Unit::kGmma)},
          {"shared memory and L1", activity.memory_busy},
          {"f32", busy(Unit::kFma)},
          {"integers", busy(Unit::kAlu) + busy(Unit::kFmaHeavy)},
          {"MUFU and conversions", busy(Unit::kTransform) + busy(Unit::kPack)}};
}

OrderedJson waits_json(const WaitClocks& clocks, double all) {
  OrderedJson json = OrderedJson::object();
  for (std::size_t w = 0; w < kWaits; ++w) {
    if (clocks[w] > 0) json[std::string(kWaitNames[w])] = clocks[w] / all;
  }
  return json;
}

/// One launch of a kernel as JSON: predicted time, occupancy, busy units, wait reasons, slowest
/// lines.
OrderedJson launch_json(const ptx::PredictedLaunch& launch, const SmActivity& activity,
                        const std::vector<SourceLine>& lines, std::size_t most) {
  OrderedJson json = {{"entry", launch.profile.entry},
                      {"predicted_us", launch.us},
                      {"from", launch.is_simulated ? "machine code" : "counts"},
                      {"ctas", launch.profile.ctas},
                      {"ctas_per_sm", launch.occupancy.ctas_per_sm},
                      {"limited_by", launch.occupancy.limit}};
  if (!launch.is_simulated) return json;
  const WaitClocks total = total_of(lines);
  const double all = sum_of(total);
  for (const auto& [name, share] : units_of(activity)) json["busy"][name] = share;
  json["waits"] = waits_json(total, all);
  json["lines"] = OrderedJson::array();
  for (std::size_t i = 0; i < std::min(most, lines.size()); ++i) {
    json["lines"].push_back({{"file", lines[i].file},
                             {"line", lines[i].line},
                             {"share", sum_of(lines[i].clocks) / all},
                             {"waits", waits_json(lines[i].clocks, all)}});
  }
  return json;
}

void print_launch(const ptx::PredictedLaunch& launch, const SmActivity& activity,
                  const std::vector<SourceLine>& lines, const SpaceOnDevice& on, std::size_t most) {
  fmt::print("{}: PREDICTED {:.2f} µs; {} CTAs, up to {} at a time on each SM (limited by {})\n",
             launch.profile.entry, launch.us, launch.profile.ctas, launch.occupancy.ctas_per_sm,
             launch.occupancy.limit);
  if (!launch.is_simulated) {
    fmt::print(
        "  predicted from counts of instructions, because the machine "
        "code does not match what the virtual GPU executed, so there are no waits to show\n");
    return;
  }
  std::string busy;
  for (const auto& [name, share] : units_of(activity))
    busy += fmt::format("{}{} {:.0f} %", busy.empty() ? "" : ", ", name, kPercent * share);
  fmt::print("busy: {}\n", busy);
  const WaitClocks total = total_of(lines);
  const double all = sum_of(total);
  constexpr std::size_t kReasons = 3;
  fmt::print("warps: {}\n", reasons(total, kWaits));
  for (std::size_t i = 0; i < std::min(most, lines.size()); ++i) {
    const SourceLine& line = lines[i];
    fmt::print("{:5.1f} %  {}  {}\n         {}\n", kPercent * sum_of(line.clocks) / all,
               line.file.empty() ? "(no line)" : fmt::format("{}:{}", line.file, line.line),
               text_of(on, line), reasons(line.clocks, kReasons));
  }
}

}  // namespace

void explain(const ExplainArguments& arguments) {
  SpaceOnDevice on(find_space(arguments.space).string(), arguments.shape, arguments.device);
  const Candidate candidate = arguments.candidate.candidate(on.space());
  const CompileOutcome outcome = on.compile(candidate);
  if (const auto* rejection = std::get_if<Rejection>(&outcome))
    throw InputError("this configuration does not compile: " + rejection->reason);
  const auto loaded = on.load(candidate, std::get<Compiled>(outcome));
  if (const auto* fault = std::get_if<Fault>(&loaded)) throw InputError(fault->reason);
  const auto& kernel = std::get<LoadedKernel>(loaded);
  const auto made = on.workspace_of(kernel);
  if (const auto* fault = std::get_if<Fault>(&made)) throw DeviceMemoryError(fault->reason);
  const CheckCase& data = on.data();
  const auto us = on.device().predicting()->predict_us(
      kernel.id, kernel.launch_for(data), std::get<Workspace>(made).arguments_of(data));
  if (const auto* fault = std::get_if<Fault>(&us)) throw InputError(fault->reason);
  OrderedJson launches = OrderedJson::array();
  for (const ptx::PredictedLaunch& launch : on.device().predictions()) {
    SmActivity activity;
    (void)simulate_sm(launch.rates, launch.profile, launch.occupancy.ctas_per_sm, &activity);
    const std::vector<SourceLine> lines = lines_of(launch.profile, activity);
    if (arguments.json) {
      launches.push_back(launch_json(launch, activity, lines, arguments.lines));
    } else {
      print_launch(launch, activity, lines, on, arguments.lines);
    }
  }
  if (arguments.json) {
    const OrderedJson json = {{"space", on.space().definition().name},
                              {"device", arguments.device},
                              {"shape", on.shape().name},
                              {"config", OrderedJson::parse(on.space().config_json(candidate))},
                              {"launches", launches}};
    fmt::print("{}\n", json.dump(1));
  }
}

}  // namespace evo
