#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/core/json_reader.hpp"
#include "engine/run/tuner.hpp"
#include "tests/db/sample.hpp"
#include "tests/fakes/fake_services.hpp"

namespace evo {

inline constexpr RunId kRun = 1;

class SilentObserver final : public TunerObserver {
 public:
  void on_evaluated(const Evaluated& evaluated, const RunProgress& progress) override {
    (void)evaluated;
    (void)progress;
    ++evaluated_;
  }
  void on_generation(const RunProgress& progress, const std::vector<ShapeElite>& elites) override {
    (void)progress;
    (void)elites;
    ++generations_;
  }
  int evaluated_ = 0;
  int generations_ = 0;
};

/// Copies tests/planted to `folder` and writes the spaces wide, distinct and by_shape there. Their
/// configurations have so few neighbours that strategies are fast, but the spaces have enough
/// configurations for every test.
inline void write_space(const std::filesystem::path& folder) {
  std::filesystem::copy(std::filesystem::path(EVO_SOURCE_DIR) / "tests/planted", folder,
                        std::filesystem::copy_options::recursive);
  Json space = read_json_file(folder / "search_spaces/wide.json");
  Json alias = Json::array();
  for (int i = 0; i < 12; ++i) alias.push_back(i);
  space["parameters"][3]["values"] = alias;
  write_file(folder / "search_spaces/wide.json", space.dump());
  // The macro OTHER changes the code, so every candidate is a different kernel.
  space["parameters"][3]["macro"] = "OTHER";
  write_file(folder / "search_spaces/distinct.json", space.dump());
  space["constraints"].push_back(
      {{"expression", "N > 2000 || ITEMS <= 2"}, {"why", "small shapes have few elements"}});
  write_file(folder / "search_spaces/by_shape.json", space.dump());
}

/// A device that reports every first check as a quick check. The time of a kernel depends on
/// THREADS, ITEMS and OTHER.
inline fake::DeviceBehaviour quickly_checked_kernels() {
  fake::DeviceBehaviour behaviour;
  behaviour.time_us = [](const fake::Program& program) {
    return 10 + program.number("THREADS", 0) / 100 + program.number("ITEMS", 0) +
           program.number("OTHER", 0);
  };
  behaviour.check = [](const fake::Program&) {
    CorrectnessResult result{{CheckResult{"mission", 1}}};
    result.complete = false;
    return result;
  };
  behaviour.full_check = [](const fake::Program&) {
    return CorrectnessResult{{CheckResult{"mission", 1}, CheckResult{"mission", 2}}};
  };
  return behaviour;
}

/// Options of a World.
struct WorldOptions {
  std::uint64_t compiler_seed = 1;
  std::string space = "wide";
  std::string shapes = {};
  double energy_s = 0;
  bool compiles_initial_population = false;
  std::size_t compilers = 4;
  std::size_t devices = 1;
  std::optional<fake::DeviceBehaviour> interprets = {};
};

/// A Workbench (a tuning task with its compilers and devices) whose workers are fake, for one run.
struct World {
  explicit World(fake::MemoryStore& store, fake::DeviceBehaviour behaviour = {},
                 const WorldOptions& how = {}) {
    auto own_loop = std::make_unique<fake::FakeLoop>();
    loop = own_loop.get();
    auto own_compilers =
        std::make_unique<fake::FakeCompileService>(*loop, how.compilers, how.compiler_seed);
    compilers = own_compilers.get();
    write_space(folder.path() / "project");
    Services services{std::move(own_loop), store, std::move(own_compilers)};
    for (std::size_t i = 0; i < how.devices; ++i) {
      auto own = std::make_unique<fake::FakeDeviceService>(*loop, behaviour);
      devices.push_back(own.get());
      services.devices.push_back(std::move(own));
    }
    device = devices.front();
    if (how.interprets) {
      auto own = std::make_unique<fake::FakeDeviceService>(*loop, *how.interprets);
      interpreter = own.get();
      services.interpreter = std::move(own);
    }
    services.on_event = [this](const std::string& kind, const std::string&) {
      events.push_back(kind);
    };
    WorkbenchOptions options;
    options.space_file = folder.path() / "project/search_spaces" / (how.space + ".json");
    options.shape = how.shapes;
    options.energy_s = how.energy_s;
    options.compiles_initial_population = how.compiles_initial_population;
    bench = std::make_unique<Workbench>(options, std::move(services));
  }

  [[nodiscard]] const TuningTask& task() const { return bench->task(); }

  sample::TemporaryFolder folder;
  std::vector<std::string> events;
  fake::FakeLoop* loop;
  fake::FakeCompileService* compilers;
  fake::FakeDeviceService* device;  ///< the first of `devices`, which makes the comparisons
  std::vector<fake::FakeDeviceService*> devices;
  fake::FakeDeviceService* interpreter = nullptr;
  std::unique_ptr<Workbench> bench;
};

inline TunerOptions options_for(int generations, std::size_t max_in_flight) {
  TunerOptions options;
  options.generations = generations;
  options.offspring = 6;
  options.max_in_flight = max_in_flight;
  options.seed = 7;
  return options;
}

inline TunerEnd run_all(World& world, fake::MemoryStore& store, const TunerOptions& options) {
  SilentObserver observer;
  std::vector<RunId> runs;
  std::vector<RunHistory> histories;
  for (std::size_t shape = 0; shape < world.task().shape_count(); ++shape) {
    runs.push_back(kRun + static_cast<RunId>(shape));
    histories.emplace_back(store.evaluations(runs.back()), store.generations(runs.back()));
  }
  Tuner tuner(*world.bench, store, runs, options, observer);
  static const std::atomic<bool> never{false};
  return tuner.run(std::move(histories), never);
}

inline Json read_json(const std::string& text) { return parse_json(text, "text"); }

/// The outcome of every candidate and every elite of a run, as lines of text. The lines name
/// candidates by their configurations, because their ids depend on the order in which runs over
/// several shapes store them.
inline std::vector<std::string> outcomes(const fake::MemoryStore& store, RunId run) {
  std::vector<std::string> lines;
  for (const EvaluationRecord& stored : store.evaluations(run)) {
    lines.push_back(std::to_string(stored.generation) + "." + std::to_string(stored.position) +
                    " " + stored.config_json + " " +
                    (stored.timing ? std::to_string(stored.timing->p50_us) : "no time"));
  }
  for (const StoredGeneration& stored : store.generations(run)) {
    lines.push_back("elite of " + std::to_string(stored.record.number));
    for (const CandidateId entry : stored.record.elite) {
      lines.push_back(store.evaluation(entry).config_json);
    }
  }
  return lines;
}

/// The outcome of every candidate of a run and the elite of every generation, as lines of text.
/// Unlike outcomes(), the lines also contain duplicates, rejections and the ids of elite members.
inline std::vector<std::string> story(const fake::MemoryStore& store, RunId run = kRun) {
  std::vector<std::string> lines;
  for (const EvaluationRecord& stored : store.evaluations(run)) {
    std::string line = std::to_string(stored.generation) + "." + std::to_string(stored.position) +
                       " " + stored.config_json;
    if (stored.duplicate_of) line += " duplicate of " + std::to_string(*stored.duplicate_of);
    if (stored.rejection) line += " " + stored.rejection->reason;
    if (stored.timing) line += " " + std::to_string(stored.timing->p50_us);
    if (stored.timing && !stored.timing->complete) line += " given up";
    lines.push_back(line);
  }
  for (const StoredGeneration& stored : store.generations(run)) {
    std::string line = "elite of " + std::to_string(stored.record.number);
    for (const CandidateId entry : stored.record.elite) {
      line += " " + std::to_string(entry);
    }
    lines.push_back(line);
  }
  return lines;
}

}  // namespace evo
