#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/run_program.hpp"
#include "tests/db/sample.hpp"

namespace evo {

/// A fake machine in its own folder for the real programs and the real worker: a GPU and its driver
/// (the libraries of tests/fake_driver), NVRTC, and a folder that replaces /.
class FakeMachine {
 public:
  /// The machine has an L4 with driver 580, and NVRTC 13.0.
  FakeMachine();

  /// The keys of tests/fake_driver/fake_machine.hpp; change them before run().
  nlohmann::json& facts() { return facts_; }
  nlohmann::json& card(std::size_t at = 0) { return facts_["cards"][at]; }

  /// The CUDA version whose functions libcuda.so.1 has: "1200", "1204", "1300"; "" for no
  /// libcuda.so.1.
  std::string cuda_library = "1300";
  bool has_nvml = true;
  std::string nvrtc = "13.0";
  std::string environment;  ///< more environment, "NAME=VALUE "

  /// Sets the driver's release, the CUDA version that it supports ("12.4" is 12040), and its
  /// library.
  void set_driver(const std::string& release, int cuda, const std::string& library);

  /// Runs a program in the machine's folder.
  [[nodiscard]] ProgramResult run(const std::string& command) const;
  /// Runs evo-tune doctor --json and returns its output. Asserts that the exit code agrees with the
  /// output.
  [[nodiscard]] nlohmann::json doctor() const;

  [[nodiscard]] std::string path(const std::string& name) const { return folder_.path() / name; }
  [[nodiscard]] std::filesystem::path root() const { return folder_.path() / "root"; }

 private:
  sample::TemporaryFolder folder_;
  nlohmann::json facts_;
};

}  // namespace evo
