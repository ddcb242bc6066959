#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/run_program.hpp"
#include "tests/db/sample.hpp"

namespace evo {

/// A folder that imitates a machine, so that the real programs and the real worker find a fake GPU,
/// a fake driver (the libraries of tests/fake_driver), a fake NVRTC, and a folder in place of /.
class FakeMachine {
 public:
  /// Makes a machine with an L4, driver 580 and NVRTC 13.0.
  FakeMachine();

  /// The JSON object that describes the machine to the fake libraries; its keys are the members of
  /// fake_driver::Machine. Tests may change this object before they call run().
  nlohmann::json& facts() { return facts_; }
  nlohmann::json& gpu(std::size_t at = 0) { return facts_["gpus"][at]; }

  /// The CUDA version whose functions the fake libcuda.so.1 has: "1200", "1204" or "1300"; "" if
  /// the machine has no libcuda.so.1.
  std::string cuda_library = "1300";
  bool has_nvml = true;
  std::string nvrtc = "13.0";
  std::string environment;  ///< more environment variables, "NAME=VALUE "

  /// Sets the driver's release, the CUDA version that the driver supports (12040 for 12.4), and
  /// `cuda_library`.
  void set_driver(const std::string& release, int cuda, const std::string& library);

  /// Runs a program of the project in the machine's folder.
  [[nodiscard]] ProgramResult run(const std::string& command) const;
  /// Runs `evo-tune doctor --json` and returns its output. Expects that the exit code agrees with
  /// the output.
  [[nodiscard]] nlohmann::json doctor() const;

  [[nodiscard]] std::string path(const std::string& name) const { return folder_.path() / name; }
  [[nodiscard]] std::filesystem::path root() const { return folder_.path() / "root"; }

 private:
  sample::TemporaryFolder folder_;
  nlohmann::json facts_;
};

}  // namespace evo
