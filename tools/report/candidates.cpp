#include "tools/report/candidates.hpp"

#include <fmt/format.h>

#include <cmath>
#include <ctime>
#include <map>

#include "engine/core/error.hpp"
#include "engine/device/virtual/timing/device_model.hpp"
#include "tools/answers/or_null.hpp"
#include "tools/answers/outcome.hpp"

namespace evo {
namespace {

using Ordered = nlohmann::ordered_json;

constexpr int kWarp = 32;

/// A column of texts for the report's JSON, which stores each distinct text once.
class WordColumn {
 public:
  /// Adds a text; an empty text becomes null.
  void add(std::string_view word) {
    if (word.empty()) return values_.push_back(nullptr);
    const auto [place, is_new] = places_.emplace(word, words_.size());
    if (is_new) words_.emplace_back(word);
    values_.push_back(place->second);
  }

  [[nodiscard]] Ordered json() const { return {{"words", words_}, {"values", values_}}; }

 private:
  std::map<std::string, std::size_t> places_;
  std::vector<std::string> words_;
  Ordered values_ = Ordered::array();
};

/// A virtual GPU of an architecture, which has the SM limits; null if there is none.
const ptx::DeviceModel* model_of(const std::string& arch) {
  for (const char* id : {"virtual:l4", "virtual:a100", "virtual:h200"}) {
    const ptx::DeviceModel& model = ptx::device_model(id);
    if (model.info.arch == arch) return &model;
  }
  return nullptr;
}

/// The number of threads per CTA ("/launch/block") or of CTAs ("/launch/grid") of a launch, from
/// the manifest; nullopt for a kernel of several steps or without a manifest.
std::optional<std::int64_t> size_of(const Ordered& manifest, const char* what) {
  const Ordered::json_pointer place(what);
  if (!manifest.contains(place) || !manifest.at(place).is_array()) return std::nullopt;
  std::int64_t size = 1;
  for (const Ordered& dimension : manifest.at(place)) {
    size *= dimension.value("value", std::int64_t{1});
  }
  return size;
}

/// Collects the data of candidates in columns, one for each property and macro.
class Columns {
 public:
  Columns(const Store& store, const StoredRun& run)
      : store_(&store), run_(&run), model_(model_of(run.info.device.arch)) {
    for (const char* name :
         {"id", "generation", "seconds", "duplicate_of", "p50_us", "p90_us", "compile_ms",
          "check_ms", "time_ms", "policy_only", "registers", "shared_bytes", "spill_bytes",
          "threads", "occupancy_percent", "ctas", "ctas_per_sm"}) {
      numbers_[name] = Ordered::array();
    }
    for (const char* name : {"origin", "outcome", "milestone", "gate", "reason", "limit"}) {
      words_[name];
    }
  }

  void add(const EvaluationRecord& evaluation) {
    const bool green = is_green(evaluation);
    const double seconds = seconds_between(run_->started_at, evaluation.created_at);
    number("id", evaluation.id);
    number("generation", evaluation.generation);
    number("seconds", seconds);
    number("duplicate_of", or_null(evaluation.duplicate_of));
    words_["origin"].add(evaluation.origin);
    words_["outcome"].add(outcome_word(evaluation));
    words_["milestone"].add(evaluation.milestone);
    add_failure(evaluation);
    number("p50_us", green ? Ordered(evaluation.timing->p50_us) : Ordered());
    number("p90_us", green ? Ordered(evaluation.timing->p90_us) : Ordered());
    number("compile_ms", evaluation.compile_ms);
    number("check_ms", evaluation.check_ms);
    number("time_ms", evaluation.time_ms);
    add_resources(evaluation);
    add_knobs(evaluation);
    count(evaluation);
    ++evaluated_;
    if (green) improve(evaluation, seconds);
  }

  [[nodiscard]] Ordered json() const {
    Ordered columns = numbers_;
    for (const auto& [name, column] : words_) columns[name] = column.json();
    Ordered knobs = Ordered::object();
    for (const std::string& name : knob_order_) knobs[name] = knobs_.at(name).json();
    Ordered generations = Ordered::array();
    for (const auto& [number, counts] : generations_) {
      Ordered row = {{"generation", number}};
      row.update(counts);
      generations.push_back(std::move(row));
    }
    return {{"count", evaluated_},
            {"columns", columns},
            {"knobs", knobs},
            {"best", best_},
            {"generations", generations},
            {"occupancy", model_ != nullptr ? Ordered(model_->info.arch) : Ordered()}};
  }

 private:
  void number(const char* name, Ordered value) { numbers_.at(name).push_back(std::move(value)); }

  void add_failure(const EvaluationRecord& evaluation) {
    const Rejection* failure = failure_of(evaluation);
    words_["gate"].add(failure != nullptr ? to_string(failure->gate) : "");
    words_["reason"].add(failure != nullptr ? failure->reason : "");
    number("policy_only", failure != nullptr && failure->policy_only);
  }

  void add_resources(const EvaluationRecord& record) {
    Ordered registers;
    Ordered shared;
    Ordered spills;
    Ordered occupied;
    Ordered ctas_per_sm;
    const Ordered manifest = Ordered::parse(record.manifest_json, nullptr, false);
    const std::optional<std::int64_t> threads = size_of(manifest, "/launch/block");
    const std::optional<std::int64_t> ctas = size_of(manifest, "/launch/grid");
    std::string limit;
    const std::optional<Resources> resources = resources_of(record);
    if (resources) {
      const int shared_bytes = resources->static_shared_bytes + record.dynamic_shared_bytes;
      registers = resources->registers;
      shared = shared_bytes;
      spills = resources->spill_store_bytes + resources->spill_load_bytes;
      if (threads && *threads > 0 && model_ != nullptr) {
        const ptx::Occupancy found =
            ptx::occupancy(*model_, resources->registers, static_cast<int>(*threads), shared_bytes);
        const auto warps = found.ctas_per_sm * ((*threads + kWarp - 1) / kWarp);
        occupied = 100.0 * static_cast<double>(warps) / model_->max_warps_per_sm;
        ctas_per_sm = found.ctas_per_sm;
        limit = std::string(found.limit);
      }
    }
    number("registers", registers);
    number("shared_bytes", shared);
    number("spill_bytes", spills);
    number("threads", or_null(threads));
    number("occupancy_percent", occupied);
    number("ctas", or_null(ctas));
    number("ctas_per_sm", ctas_per_sm);
    words_["limit"].add(limit);
  }

  /// The resources of a candidate's kernel; nullopt if the candidate was not compiled or does not
  /// compile.
  std::optional<Resources> resources_of(const EvaluationRecord& record) {
    if (!record.compilation) return std::nullopt;
    const auto known = compilations_.find(*record.compilation);
    if (known != compilations_.end()) return known->second;
    const CompilationFacts facts = store_->compilation_facts(*record.compilation);
    std::optional<Resources> resources;
    if (facts.ok) resources = facts.resources;
    return compilations_.emplace(*record.compilation, resources).first->second;
  }

  void add_knobs(const EvaluationRecord& record) {
    const Ordered config = Ordered::parse(record.config_json);
    for (const auto& [name, value] : config.items()) {
      if (!knobs_.contains(name)) {
        knob_order_.push_back(name);
        for (std::size_t i = 0; i < evaluated_; ++i) knobs_[name].add("");
      }
      knobs_[name].add(value.is_string() ? value.get<std::string>() : value.dump());
    }
    // Fills missing values, because another program may have written configurations with fewer
    // macros.
    for (const std::string& name : knob_order_) {
      if (!config.contains(name)) knobs_[name].add("");
    }
  }

  void count(const EvaluationRecord& evaluation) {
    Ordered& counts = generations_[evaluation.generation];
    if (counts.is_null()) {
      for (const char* end : {"green", "duplicate"}) counts[end] = 0;
      for (const std::string_view gate : kGateNames) counts[std::string(gate)] = 0;
      for (const char* end : {"withdrawn", "unjudged"}) counts[end] = 0;
    }
    std::string end(outcome_word(evaluation));
    if (end == "rejected") end = std::string(to_string(evaluation.rejection->gate));
    if (evaluation.duplicate_of) end = "duplicate";
    counts[end] = counts[end].get<int>() + 1;
  }

  void improve(const EvaluationRecord& evaluation, double seconds) {
    const double p50_us = evaluation.timing->p50_us;
    if (!best_.empty() && best_.back()[2].get<double>() <= p50_us) return;
    best_.push_back({evaluated_, seconds, p50_us, evaluation.id});
  }

  const Store* store_;
  const StoredRun* run_;
  const ptx::DeviceModel* model_;
  std::size_t evaluated_ = 0;
  Ordered numbers_ = Ordered::object();
  std::map<std::string, WordColumn> words_;
  std::vector<std::string> knob_order_;
  std::map<std::string, WordColumn> knobs_;
  std::map<CompilationId, std::optional<Resources>> compilations_;
  std::map<int, Ordered> generations_;
  Ordered best_ = Ordered::array();
};

/// The seconds since 1970 of a time in the database.
double seconds_of(const std::string& text) {
  std::tm day = {};
  double seconds = 0;
  constexpr int kParts = 6;
  const int read = std::sscanf(text.c_str(), "%d-%d-%dT%d:%d:%lfZ", &day.tm_year, &day.tm_mon,
                               &day.tm_mday, &day.tm_hour, &day.tm_min, &seconds);
  if (read != kParts) {
    throw DbError(fmt::format(
        "the database has the time '{}' instead of one of the form YYYY-MM-DDTHH:MM:SS.mmmZ",
        text));
  }
  constexpr int kFirstYear = 1900;
  day.tm_year -= kFirstYear;
  day.tm_mon -= 1;
  return static_cast<double>(timegm(&day)) + seconds;
}

}  // namespace

double seconds_between(const std::string& from, const std::string& to) {
  constexpr double kMilli = 1e3;  // the database stores no more digits
  return std::round((seconds_of(to) - seconds_of(from)) * kMilli) / kMilli;
}

Ordered candidates_of_run(const Store& store, const StoredRun& run) {
  Columns columns(store, run);
  store.for_each_evaluation(run.id,
                            [&](const EvaluationRecord& evaluation) { columns.add(evaluation); });
  return columns.json();
}

}  // namespace evo
