#include "tests/cli/fake_machine.hpp"

#include <gtest/gtest.h>

#include "engine/core/json_reader.hpp"

namespace evo {

namespace fs = std::filesystem;

FakeMachine::FakeMachine() {
  facts_ = {{"cuda", 13000},
            {"driver", "580.65.06"},
            {"gpus",
             {{{"name", "NVIDIA L4"},
               {"uuid", "GPU-0a1b2c3d-1111-2222-3333-444455556666"},
               {"bus", 0x65},
               {"arch", 89},
               {"sm_count", 58},
               {"memory_mib", 23034},
               {"free_mib", 22500},
               {"sm_mhz", 210},
               {"most_sm_mhz", 2040},
               {"application_mhz", 2040},
               {"default_application_mhz", 2040}}}}};
  fs::create_directories(root() / "dev");
  for (const char* name : {"nvidia0", "nvidiactl", "nvidia-uvm"}) {
    write_file(root() / "dev" / name, "");
  }
  fs::create_directories(root() / "proc/driver/nvidia");
  write_file(root() / "proc/meminfo", "MemTotal: 32000000 kB\nMemAvailable: 30000000 kB\n");
  write_file(root() / "proc/driver/nvidia/params",
             "ResmanDebugLevel: 1\nRmProfilingAdminOnly: 0\n");
}

void FakeMachine::set_driver(const std::string& release, int cuda, const std::string& library) {
  facts_["driver"] = release;
  facts_["cuda"] = cuda;
  cuda_library = library;
}

ProgramResult FakeMachine::run(const std::string& command) const {
  const fs::path libraries = EVO_FAKE_DRIVER_FOLDER;
  const std::string cuda = cuda_library.empty() ? "no-cuda" : "cuda-" + cuda_library;
  write_file(path("machine.json"), facts_.dump());
  return run_program(
      command, folder_.path(),
      "env -u CUDA_VISIBLE_DEVICES EVO_NCU=/nowhere/ncu EVO_FAKE_MACHINE=" + path("machine.json") +
          " EVO_FAKE_NVRTC=" + nvrtc + " EVO_NVRTC=" +
          (libraries / "nvrtc/libnvrtc.so.1").string() + " EVO_SYSTEM_ROOT=" + root().string() +
          " LD_LIBRARY_PATH=" + (libraries / cuda).string() + ":" +
          (libraries / (has_nvml ? "nvml" : "no-nvml")).string() + " " + environment);
}

nlohmann::json FakeMachine::doctor() const {
  const ProgramResult result = run("evo-tune doctor --json");
  const auto facts = nlohmann::json::parse(result.out, nullptr, false);
  EXPECT_TRUE(facts.is_object()) << result.out << result.err;
  if (!facts.is_object()) return nlohmann::json::object();
  EXPECT_EQ(result.exit_code, facts.at("run").at("works").get<bool>() ? 0 : 3) << result.out;
  return facts;
}

}  // namespace evo
