#include "tools/tune/against_stored.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "db/queries.hpp"
#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"
#include "tools/bundle/index.hpp"
#include "tools/loader/evo_tune_index.hpp"

namespace evo {
namespace {

namespace fs = std::filesystem;

/// Compares architectures without the suffix "a" or "f": "sm_90a" equals "sm_90", because code for
/// sm_90a runs on devices of sm_90.
bool is_same_arch(std::string_view a, std::string_view b) {
  const auto base = [](std::string_view arch) {
    return arch.ends_with('a') || arch.ends_with('f') ? arch.substr(0, arch.size() - 1) : arch;
  };
  return base(a) == base(b);
}

std::string wanted(const Workbench& bench) {
  return fmt::format("template {} of problem {} on shape {}, measured on {}",
                     bench.task().kernel().name, bench.task().problem().name,
                     bench.task().shape().name, bench.task().arch());
}

StoredWinner winner_of_database(const std::string& path, const Workbench& bench) {
  const Store store = Store::open_read_only(path);
  std::string there;
  std::vector<RunElite> found = elites(store, {});
  std::ranges::stable_sort(found, std::ranges::greater{},
                           [](const RunElite& elite) { return elite.run.id; });
  for (const RunElite& elite : found) {
    const RunInfo& info = elite.run.info;
    const std::string of_template =
        parse_json(info.space.text, "space").value("template", std::string());
    there += fmt::format("{}template {} of {} on {}, {} on {}", there.empty() ? "" : "; ",
                         of_template, info.problem.name, info.shape,
                         to_string(info.device.time_kind), info.device.arch);
    const bool fits = info.problem.name == bench.task().problem().name &&
                      of_template == bench.task().kernel().name &&
                      info.shape == bench.task().shape().name &&
                      info.device.time_kind == TimeKind::kMeasured &&
                      is_same_arch(info.device.arch, bench.task().arch());
    if (!fits || elite.rows.empty()) continue;
    const EliteRow& row = elite.rows.front();
    const EvaluationRecord evaluation = store.evaluation(row.candidate);
    return {fmt::format("candidate {} of run {} in {}", row.candidate, elite.run.id, path),
            row.config_json, store.compilation(evaluation.compilation.value()), row.p50_us};
  }
  throw InputError(fmt::format("--baseline {}: no winner for {}; available: {}", path,
                               wanted(bench), there.empty() ? "no green kernel" : there));
}

bool is_shape(const Json& variables, const Shape& shape) {
  return std::ranges::all_of(shape.variables, [&](const auto& variable) {
    return variables.contains(variable.first) &&
           variables.at(variable.first).template get<double>() == variable.second;
  });
}

/// The name and the time in µs of the kernel that a bundle has for the timed shape on this
/// architecture; an empty name if there is none.
std::pair<std::string, double> served(const Json& index, const Workbench& bench) {
  for (const Json& target : index.at("targets")) {
    if (target.at("kind") != "measured" ||
        !is_same_arch(target.at("arch").get<std::string>(), bench.task().arch())) {
      continue;
    }
    for (const Json& one : target.at("serves")) {
      if (!is_shape(one.at("variables"), bench.task().shape())) continue;
      return {one.at("kernel").get<std::string>(), one.at("p50_us").get<double>()};
    }
  }
  return {};
}

/// Reads the cubin or PTX of a bundle's kernel, and verifies its hash.
std::string code_of(const fs::path& folder, const Json& kernel, const char* key) {
  const fs::path file = folder / kernel.at(key);
  std::string code = read_text_file(file);
  if (evo_tune::detail::sha256(code) == kernel.at("sha256").at(key).get<std::string>()) return code;
  throw InputError(file.string() + ": is not the file that was exported: export the bundle again");
}

StoredWinner winner_of_bundle(const std::string& path, const Workbench& bench) {
  const fs::path file = fs::path(path) / kBundleIndexFile;
  const std::string text = read_text_file(file, kLargestJson);
  try {
    evo_tune::detail::require_unchanged(text);
    const Json index = parse_json(text, file.string());
    const auto [name, p50_us] = served(index, bench);
    for (const Json& kernel : index.at("kernels")) {
      if (kernel.at("name") != name || kernel.at("template") != bench.task().kernel().name)
        continue;
      StoredWinner winner{fmt::format("kernel {} in bundle {}", name, path),
                          kernel.at("config").dump(),
                          {},
                          p50_us};
      winner.compilation.ok = true;
      winner.compilation.ptx = code_of(path, kernel, "ptx");
      winner.compilation.cubin = code_of(path, kernel, "cubin");
      return winner;
    }
  } catch (const Json::exception& error) {
    throw InputError(file.string() + ": is not a bundle of this version: " + error.what());
  } catch (const evo_tune::Error& error) {
    throw InputError(file.string() + ": " + error.what());
  }
  throw InputError(fmt::format("--baseline {}: no kernel serves {}", path, wanted(bench)));
}

}  // namespace

StoredWinner find_winner(const std::string& path, const Workbench& bench) {
  std::error_code unknown;
  return fs::is_directory(path, unknown) ? winner_of_bundle(path, bench)
                                         : winner_of_database(path, bench);
}

AgainstStored compare_with(Workbench& bench, StoredWinner winner, const Evaluation& today) {
  AgainstStored against{std::move(winner)};
  if (today.compilation.cubin == against.winner.compilation.cubin) {
    against.same_code = true;
    return against;
  }
  const Candidate then = bench.task().space().candidate_from_json(against.winner.config_json);
  const KernelUnderTest stored = kernel_under_test(bench.task(), then, against.winner.compilation,
                                                   "stored " + today.kernel_key, {0});
  HomeDevice home = bench.take_home();
  if (const auto why = bench.wait(home.judge_alone(stored))) {
    throw InputError(
        fmt::format("--baseline: {} gives wrong results for the current problem and launch: {}",
                    against.winner.origin, why->reason));
  }
  const KernelUnderTest now = kernel_under_test(bench.task(), today);
  against.pair = bench.wait(home.compare_pair(now, stored));
  if (against.pair->rejection) {
    throw InputError("--baseline: the two kernels cannot be timed in turn: " +
                     against.pair->rejection->reason);
  }
  return against;
}

std::string against_text(const AgainstStored& against) {
  const std::string with = fmt::format("against      {}, stored time {:.3f} µs\n",
                                       against.winner.origin, against.winner.p50_us);
  if (against.same_code) return with + "             the machine code is the same: NOT SLOWER\n";
  const PairResult& pair = *against.pair;
  const char* verdict = pair.verdict() > 0   ? "SLOWER (certain)"
                        : pair.verdict() < 0 ? "NOT SLOWER: faster (certain)"
                                             : "NOT SLOWER: a tie";
  return with + fmt::format(
                    "             {} A/B pairs: this kernel {:.3f} µs, stored kernel {:.3f} µs; "
                    "ratio {:.4f} ({:.4f} to {:.4f}): {}\n",
                    pair.pairs, pair.first_us, pair.second_us, pair.ratio, pair.interval.low,
                    pair.interval.high, verdict);
}

nlohmann::ordered_json against_json(const AgainstStored& against) {
  nlohmann::ordered_json json = {{"winner", against.winner.origin},
                                 {"stored_p50_us", against.winner.p50_us},
                                 {"same_code", against.same_code},
                                 {"slower", against.is_slower()}};
  if (against.pair) {
    json["ratio"] = against.pair->ratio;
    json["low"] = against.pair->interval.low;
    json["high"] = against.pair->interval.high;
    json["pairs"] = against.pair->pairs;
  }
  return json;
}

}  // namespace evo
