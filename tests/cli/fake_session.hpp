#pragma once

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "db/store.hpp"
#include "tests/cli/run_program.hpp"
#include "tests/db/sample.hpp"

namespace evo {

/// A temporary folder in which the real programs run with the fake worker
/// (tests/fakes/fake_worker.cpp), which needs neither GPU nor NVRTC.
class FakeSession {
 public:
  /// The environment variable, as shell text, that makes the programs start the fake worker.
  [[nodiscard]] std::string environment() const {
    return "EVO_WORKER=" + (program_folder() / "fake-worker").string();
  }
  [[nodiscard]] ProgramResult run(const std::string& command) const {
    return run_program(command, folder_.path(), environment());
  }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_.path() / name; }
  [[nodiscard]] std::string folder() const { return folder_.path(); }
  [[nodiscard]] Store store(const std::string& name = "evo.db") const {
    return Store::open_read_only(folder_.path() / name);
  }

  /// A space file whose macro BUG selects a defect of the kernel; with the value none, the kernel
  /// is correct.
  [[nodiscard]] static std::string faults_space() {
    return source_folder() / "tests/planted/search_spaces/planted_faults.json";
  }
  /// Writes a problem with a macro IS_TINY, which is 1 for the shape "single" and 0 for "mission"
  /// and "ragged", and a space without defects, in the folder two_builds/. Returns options for
  /// evo-tune: the space, and all shapes.
  [[nodiscard]] std::string all_of_two_builds() const {
    const std::filesystem::path project = folder_.path() / "two_builds";
    std::filesystem::copy(source_folder() / "tests/planted", project,
                          std::filesystem::copy_options::recursive);
    const std::filesystem::path file = project / "kernel_templates/planted/problem.json";
    nlohmann::json problem = nlohmann::json::parse(std::ifstream(file));
    problem["macros"] = {{"IS_TINY", "N < 10"}};
    std::ofstream(file) << problem.dump();
    return "--space " + (project / "search_spaces/wide.json").string() + " --shape all ";
  }
  /// The value of --timeout in seconds: short, because tests wait this long for each hanging
  /// kernel, but longer if a sanitizer slows the programs down.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  static constexpr const char* kStepSeconds = "4";
#else
  static constexpr const char* kStepSeconds = "0.4";
#endif
  /// The command line of an evo-tune run on faults_space() and the fake device, with the options
  /// `more`.
  [[nodiscard]] static std::string tune(const std::string& more) {
    return "evo-tune --space " + faults_space() + " --device fake:measured --timeout " +
           kStepSeconds + " --jobs 2 " + more;
  }
  [[nodiscard]] static std::string judge(const std::string& more) {
    return "evo-judge --space " + faults_space() + " --device fake:measured --timeout " +
           kStepSeconds + " --jobs 1 " + more;
  }

 private:
  sample::TemporaryFolder folder_;
};

[[nodiscard]] inline std::vector<nlohmann::json> json_lines(const std::string& text) {
  std::vector<nlohmann::json> objects;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    objects.push_back(nlohmann::json::parse(text.substr(start, end - start)));
    start = end + 1;
  }
  return objects;
}

}  // namespace evo
