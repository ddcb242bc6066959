// Tests the real programs on fake machines with an old or a new driver, with a driver that refuses
// calls, and with a damaged installation. On an unusable machine, each program must end before it
// compiles anything, and its message must name the cause and the next step; evo-tune doctor must
// report the same. The fake NVRTC aborts if a program compiles.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/cli/fake_machine.hpp"

namespace evo {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const json kSlice = {{"name", "NVIDIA A100-SXM4-40GB MIG 1g.5gb"},
                     {"uuid", "MIG-bbbbbbbb-1111-2222-3333-444455556666"},
                     {"memory_mib", 4864}};

json a100() {
  return {{"name", "NVIDIA A100-SXM4-40GB"},
          {"uuid", "GPU-aaaaaaaa-1111-2222-3333-444455556666"},
          {"bus", 7},
          {"arch", 80},
          {"sm_count", 108},
          {"memory_mib", 40960},
          {"sm_mhz", 1095},
          {"most_sm_mhz", 1410},
          {"mig", false}};
}

/// The value of `key` in the first finding of the doctor.
std::string first_missing(const json& facts, const char* key = "what") {
  return facts.at("missing").at(0).at(key);
}

struct Refusal {
  std::string name;
  std::function<void(FakeMachine&)> change;
  std::string cause;
  std::string step;
};

void PrintTo(const Refusal& refusal, std::ostream* stream) { *stream << refusal.name; }

void init(FakeMachine& machine, int cuda, int nvml = 0) {
  machine.facts()["cuda_init"] = cuda;
  machine.facts()["nvml_init"] = nvml;
}

std::vector<Refusal> refusals() {
  return {
      {"Driver525", [](FakeMachine& machine) { machine.set_driver("525.147.05", 12000, "1200"); },
       "CUDA driver 12.0 of NVIDIA L4 refuses the code of nvrtc 13.0",
       "nvidia-cuda-nvrtc-cu12==12.6.*"},
      {"Driver535", [](FakeMachine& machine) { machine.set_driver("535.183.01", 12020, "1200"); },
       "CUDA driver 12.2 of NVIDIA L4 refuses the code of nvrtc 13.0",
       "nvidia-cuda-nvrtc-cu12==12.6.*"},
      {"Driver550", [](FakeMachine& machine) { machine.set_driver("550.54.14", 12040, "1204"); },
       "CUDA driver 12.4 of NVIDIA L4 refuses the code of nvrtc 13.0", "./quickstart.sh"},
      {"Driver570", [](FakeMachine& machine) { machine.set_driver("570.86.15", 12080, "1300"); },
       "CUDA driver 12.8 of NVIDIA L4 refuses the code of nvrtc 13.0", "EVO_NVRTC"},
      {"Driver570OnBlackwell",
       [](FakeMachine& machine) {
         machine.set_driver("570.86.15", 12080, "1300");
         machine.gpu()["arch"] = 100;
       },
       "refuses the code of nvrtc 13.0", "nvidia-cuda-nvrtc-cu12==12.9.*"},
      {"Driver470", [](FakeMachine& machine) { machine.set_driver("470.223.02", 11040, "1200"); },
       "CUDA driver 11.4 of NVIDIA L4 refuses the code of nvrtc 13.0", "update the driver to 525"},
      {"ExclusiveAndTaken",
       [](FakeMachine& machine) {
         machine.gpu()["compute_mode"] = 3;
         machine.gpu()["context"] = 46;
         machine.gpu()["processes"] = json::array({4200000});
       },
       "cuda:0 (NVIDIA L4) is in use by 4200000, and its compute mode (exclusive process)",
       "sudo nvidia-smi -i GPU-0a1b2c3d-1111-2222-3333-444455556666 -c DEFAULT"},
      {"ExclusiveAndTakenWithoutNvml",
       [](FakeMachine& machine) {
         machine.has_nvml = false;
         machine.gpu()["compute_mode"] = 3;
         machine.gpu()["context"] = 46;
       },
       "cuda:0 (NVIDIA L4) is in use by another process, and its compute mode (exclusive process)",
       "sudo nvidia-smi -i GPU-0a1b2c3d-1111-2222-3333-444455556666 -c DEFAULT"},
      {"Prohibited",
       [](FakeMachine& machine) {
         machine.gpu()["compute_mode"] = 2;
         machine.gpu()["context"] = 46;
       },
       "its compute mode is prohibited", "-c DEFAULT"},
      {"FullOfOthers",
       [](FakeMachine& machine) {
         machine.gpu()["context"] = 2;
         machine.gpu()["processes"] = json::array({4200000});
       },
       "no memory left for a context; it is used by 4200000", "--device cuda:N"},
      {"MigWithoutAnInstance",
       [](FakeMachine& machine) {
         machine.facts()["gpus"] = json::array({a100()});
         machine.gpu()["mig"] = true;
       },
       "MIG is enabled on NVIDIA A100-SXM4-40GB but has no instance", "nvidia-smi mig -i 0 -cgi 0"},
      {"ALibraryWithoutCompute", [](FakeMachine& machine) { init(machine, 100); },
       "NVML lists 1 GPU(s) (the first is NVIDIA L4), but the CUDA driver sees none", "--gpus all"},
      {"TheSystemRefuses", [](FakeMachine& machine) { init(machine, 304, 4); },
       "CUDA_ERROR_OPERATING_SYSTEM", "ls -l /dev/nvidia*"},
      {"NotPermitted", [](FakeMachine& machine) { init(machine, 800, 4); },
       "Insufficient Permissions", "ls -l /dev/nvidia*"},
      {"UpdatedWithoutARestart", [](FakeMachine& machine) { init(machine, 803, 18); },
       "the loaded kernel module are of different versions", "restart the machine"},
      {"UpdatedWithoutARestartNorNvml",
       [](FakeMachine& machine) {
         init(machine, 803);
         machine.has_nvml = false;
       },
       "the loaded kernel module are of different versions", "restart the machine"},
      {"ForwardCompatibility", [](FakeMachine& machine) { init(machine, 804); },
       "forward compatibility package", "LD_LIBRARY_PATH"},
      {"Unknown", [](FakeMachine& machine) { init(machine, 999, 999); }, "CUDA_ERROR_UNKNOWN",
       "modprobe -r nvidia_uvm"},
      {"WithoutItsFabricManager", [](FakeMachine& machine) { init(machine, 802); },
       "fabric manager", "systemctl start nvidia-fabricmanager"},
      {"TheStub", [](FakeMachine& machine) { init(machine, 34); },
       "a stub library of the CUDA toolkit", "LD_LIBRARY_PATH"},
      {"MpsIsGone", [](FakeMachine& machine) { init(machine, 805); }, "multi-process service (MPS)",
       "nvidia-cuda-mps-control -d"},
      {"ResultsThatNobodyKnows", [](FakeMachine& machine) { init(machine, 777); }, "code 777",
       "nvidia-smi"},
      {"TheDriverCrashes", [](FakeMachine& machine) { machine.facts()["cuda_does"] = "crash"; },
       "signal 6", "nvidia-smi"},
  };
}

class Machines : public testing::TestWithParam<Refusal> {};

TEST_P(Machines, AreRefusedBeforeAnythingIsCompiledWithTheNextStep) {
  FakeMachine machine;
  GetParam().change(machine);
  for (const char* command :
       {"evo-judge", "evo-judge --device cuda:0", "evo-tune --generations 1 --db run.db"}) {
    const ProgramResult result = machine.run(command);
    EXPECT_EQ(result.exit_code, 3) << command << result.err;
    EXPECT_THAT(result.err, AllOf(HasSubstr(GetParam().cause), HasSubstr("\nnext step: "),
                                  HasSubstr(GetParam().step)))
        << command;
    EXPECT_THAT(result.err + result.out, Not(HasSubstr("the compiler crashed"))) << command;
    EXPECT_THAT(result.err + result.out, Not(HasSubstr("NO GPU"))) << command;
  }
}

TEST_P(Machines, AreToldOfByTheDoctorAlike) {
  FakeMachine machine;
  GetParam().change(machine);
  const json facts = machine.doctor();
  EXPECT_FALSE(facts.at("run").at("works").get<bool>());
  EXPECT_TRUE(facts.at("missing").at(0).at("stops_run").get<bool>());
  EXPECT_THAT(first_missing(facts), HasSubstr(GetParam().cause));
  EXPECT_THAT(first_missing(facts, "step"), HasSubstr(GetParam().step));
  const ProgramResult screen = machine.run("evo-tune doctor");
  EXPECT_EQ(screen.exit_code, 3);
  EXPECT_THAT(screen.out, HasSubstr("does NOT work here (exit code 3)"));
}

INSTANTIATE_TEST_SUITE_P(ThatCannotBeUsed, Machines, testing::ValuesIn(refusals()),
                         [](const auto& one) { return one.param.name; });

TEST(FittingDrivers, From525OnAreTakenWithACompilerOfTheirMajorVersion) {
  struct Fit {
    std::string release;
    int cuda;
    std::string library;
    std::string nvrtc;
  };
  for (const Fit& fit : std::vector<Fit>{{"525.147.05", 12000, "1200", "12.4"},
                                         {"535.183.01", 12020, "1200", "12.9"},
                                         {"550.54.14", 12040, "1204", "12.6"},
                                         {"570.86.15", 12080, "1300", "12.8"},
                                         {"580.65.06", 13000, "1300", "12.4"},
                                         {"580.65.06", 13000, "1300", "13.0"}}) {
    FakeMachine machine;
    machine.set_driver(fit.release, fit.cuda, fit.library);
    machine.nvrtc = fit.nvrtc;
    const json facts = machine.doctor();
    EXPECT_TRUE(facts.at("run").at("works").get<bool>()) << fit.release << facts.dump(1);
    EXPECT_EQ(facts.at("run").at("device"), "cuda:0") << fit.release;
    EXPECT_EQ(facts.at("run").at("times"), "measured");
    EXPECT_EQ(facts.at("nvml").at("driver"), fit.release);
    EXPECT_EQ(facts.at("nvrtc").at("misfit"), nullptr);
  }
}

TEST(FittingDrivers, TwoModelsAreToldApartAndTheFirstOfThemIsUsed) {
  FakeMachine machine;
  machine.facts()["gpus"].insert(machine.facts()["gpus"].begin(), a100());
  machine.gpu(1)["application_mhz"] = 1005;
  machine.gpu(1)["held"] = true;
  const json facts = machine.doctor();
  EXPECT_EQ(facts.at("run").at("device_name"), "NVIDIA A100-SXM4-40GB");
  EXPECT_EQ(facts.at("run").at("arch"), "sm_80");
  EXPECT_EQ(facts.at("gpus").size(), 2U);
  EXPECT_EQ(facts.at("gpus").at(1).at("free_bytes"), 22500ULL << 20);
  EXPECT_EQ(facts.at("gpus").at(1).at("held_at_application_clock"), true);
  EXPECT_EQ(facts.at("cuda").at("devices").at(1).at("uuid"),
            "0a1b2c3d-1111-2222-3333-444455556666");
  const std::string screen = machine.run("evo-tune doctor").out;
  EXPECT_THAT(
      screen,
      AllOf(HasSubstr("cuda:0: NVIDIA A100-SXM4-40GB, sm_80, GPU-aaaaaaaa, 42.9 of 42.9 GB"),
            HasSubstr("cuda:1: NVIDIA L4, sm_89, GPU-0a1b2c3d, 23.6 of 24.2 GB"),
            HasSubstr("application clock 1005, in effect")));
  // The doctor does not advise nvidia-smi -rac for a GPU that no run would use.
  EXPECT_THAT(screen, Not(HasSubstr("-rac")));
}

TEST(FittingDrivers, ASliceIsUsedAndNamed) {
  FakeMachine machine;
  json gpu = a100();
  gpu["mig"] = true;
  gpu["slices"] = json::array({kSlice, kSlice});
  gpu["slices"][1]["uuid"] = "MIG-cccccccc-1111-2222-3333-444455556666";
  machine.facts()["gpus"] = json::array({gpu});
  const json facts = machine.doctor();
  EXPECT_TRUE(facts.at("run").at("works").get<bool>());
  EXPECT_EQ(facts.at("run").at("device_name"), "NVIDIA A100-SXM4-40GB MIG 1g.5gb");
  EXPECT_EQ(facts.at("gpus").at(0).at("slices").size(), 2U);
  EXPECT_THAT(machine.run("evo-tune doctor").out,
              AllOf(HasSubstr("cuda:0: NVIDIA A100-SXM4-40GB MIG 1g.5gb, MIG-bbbbbbbb"),
                    HasSubstr("MIG on, 2 slice(s)")));
}

TEST(FittingDrivers, OthersOnTheGpuAndALowClockAreFindingsThatStopNothing) {
  FakeMachine machine;
  machine.gpu()["processes"] = json::array({4200000});
  machine.gpu()["application_mhz"] = 1005;
  const json facts = machine.doctor();
  EXPECT_TRUE(facts.at("run").at("works").get<bool>());
  const std::string missing = facts.at("missing").dump();
  EXPECT_THAT(missing, AllOf(HasSubstr("other processes use cuda:0: 4200000"), HasSubstr("-rac"),
                             HasSubstr("is not on the PATH")));
}

TEST(FittingDrivers, WithoutNvmlARunWorksAndTheDoctorSaysWhatIsLost) {
  FakeMachine machine;
  machine.has_nvml = false;
  const json facts = machine.doctor();
  EXPECT_TRUE(facts.at("run").at("works").get<bool>());
  EXPECT_EQ(facts.at("run").at("device"), "cuda:0");
  EXPECT_EQ(facts.at("gpus"), json::array());
  EXPECT_THAT(first_missing(facts, "prevents"), HasSubstr("--energy"));
  EXPECT_THAT(machine.run("evo-tune doctor").out,
              HasSubstr("cuda:0: NVIDIA L4, sm_89, 0a1b2c3d, 24.2 GB, default mode"));
}

TEST(FittingDrivers, NvmlThatCrashesOrIsOlderThanTheModuleStopsNoDoctor) {
  FakeMachine machine;
  machine.facts()["nvml_init"] = 18;
  EXPECT_THAT(machine.doctor().at("nvml").at("failure").get<std::string>(),
              HasSubstr("Driver/library version mismatch"));
  machine.facts()["nvml_does"] = "crash";
  EXPECT_THAT(machine.doctor().at("nvml").at("failure").get<std::string>(),
              HasSubstr("NVML ended its process: signal 6"));
}

TEST(NoGpu, WithoutADriverTimesArePredictedAndThatWorks) {
  FakeMachine machine;
  machine.cuda_library.clear();
  machine.has_nvml = false;
  const json facts = machine.doctor();
  EXPECT_TRUE(facts.at("run").at("works").get<bool>());
  EXPECT_EQ(facts.at("run").at("device"), "virtual:l4");
  EXPECT_EQ(facts.at("run").at("times"), "predicted");
  EXPECT_THAT(first_missing(facts), HasSubstr("there is no GPU"));
  const ProgramResult judged = machine.run("evo-judge --device cuda:0");
  EXPECT_EQ(judged.exit_code, 3);
  EXPECT_THAT(judged.err, AllOf(HasSubstr("no CUDA driver (libcuda.so.1)"),
                                HasSubstr("next step: "), HasSubstr("--device virtual:l4")));
}

TEST(NoGpu, AGpuOnTheBusWithoutADriverIsNamed) {
  FakeMachine machine;
  machine.cuda_library.clear();
  machine.has_nvml = false;
  const auto device = machine.root() / "sys/bus/pci/devices/0000:65:00.0";
  std::filesystem::create_directories(device);
  write_file(device / "vendor", "0x10de\n");
  write_file(device / "class", "0x030200\n");
  EXPECT_THAT(first_missing(machine.doctor()),
              HasSubstr("1 NVIDIA GPU(s) on the PCI bus without a driver"));
}

TEST(NoGpu, HiddenOnesArePredictedAsTheUserWants) {
  FakeMachine machine;
  machine.environment = "CUDA_VISIBLE_DEVICES=-1 ";
  const json facts = machine.doctor();
  EXPECT_TRUE(facts.at("run").at("works").get<bool>());
  EXPECT_EQ(facts.at("run").at("device"), "virtual:l4");
  EXPECT_THAT(first_missing(facts, "step"), HasSubstr("unset CUDA_VISIBLE_DEVICES"));
  const ProgramResult judged = machine.run("evo-judge --device cuda:0");
  EXPECT_EQ(judged.exit_code, 3);
  EXPECT_THAT(judged.err, HasSubstr("CUDA_VISIBLE_DEVICES is '-1'"));
}

TEST(NoCompiler, IsToldByTheDoctorAndBeforeARun) {
  FakeMachine machine;
  machine.environment = "EVO_NVRTC=/nowhere/libnvrtc.so ";
  const json facts = machine.doctor();
  EXPECT_FALSE(facts.at("run").at("works").get<bool>());
  EXPECT_THAT(first_missing(facts), HasSubstr("/nowhere/libnvrtc.so"));
  EXPECT_THAT(first_missing(facts, "step"), HasSubstr("EVO_NVRTC"));
  const ProgramResult judged = machine.run("evo-judge");
  EXPECT_EQ(judged.exit_code, 3);
  EXPECT_THAT(judged.err, AllOf(HasSubstr("NVRTC is missing"), HasSubstr("next step: ")));
}

TEST(NoCompiler, OneThatIsTooOldOrDoesNotKnowTheGpuStopsARun) {
  FakeMachine machine;
  machine.nvrtc = "12.2";
  EXPECT_THAT(first_missing(machine.doctor()), HasSubstr("NVRTC 12.2"));
  machine.nvrtc = "13.0";
  machine.gpu()["arch"] = 120;
  const json facts = machine.doctor();
  EXPECT_FALSE(facts.at("run").at("works").get<bool>());
  EXPECT_THAT(first_missing(facts), HasSubstr("nvrtc 13.0 does not compile for sm_120"));
}

TEST(Doctor, NamesWhatFilesAndParametersOfTheDriverSay) {
  FakeMachine machine;
  write_file(machine.root() / "proc/driver/nvidia/params", "RmProfilingAdminOnly: 1\n");
  write_file(machine.root() / "proc/driver/nvidia/version",
             "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Sun Jul 20 2025\n");
  std::filesystem::create_directories(machine.root() / "proc/4711");
  write_file(machine.root() / "proc/4711/comm", "nvidia-cuda-mps\n");
  std::filesystem::remove(machine.root() / "dev/nvidia-uvm");
  const json facts = machine.doctor();
  EXPECT_EQ(facts.at("ncu").at("counters_for_root_only"), true);
  EXPECT_EQ(facts.at("host").at("nvidia_kernel_module"), "580.65.06");
  EXPECT_EQ(facts.at("mps_runs"), true);
  EXPECT_EQ(facts.at("device_files").size(), 2U);
  EXPECT_EQ(facts.at("device_files").at(1).at("path"), "/dev/nvidiactl");
}

TEST(Doctor, WithoutTheWorkerSaysThatItIsMissing) {
  FakeMachine machine;
  machine.environment = "EVO_WORKER=/nowhere/evo-worker ";
  const json facts = machine.doctor();
  EXPECT_FALSE(facts.at("run").at("works").get<bool>());
  EXPECT_THAT(first_missing(facts), HasSubstr("evo-worker is missing at /nowhere/evo-worker"));
}

TEST(Doctor, ThatCannotSayAllFails) {
  const FakeMachine machine;
  for (const char* command : {"evo-tune doctor >/dev/full", "evo-tune doctor --json >/dev/full"}) {
    const ProgramResult result = machine.run(command);
    EXPECT_EQ(result.exit_code, 2) << command;
    EXPECT_THAT(result.err, HasSubstr("No space left on device")) << command;
  }
}

TEST(Doctor, IsHelpedByHelpAndRefusesWhatItDoesNotKnow) {
  const FakeMachine machine;
  const ProgramResult help = machine.run("evo-tune doctor --help");
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.out, AllOf(HasSubstr("--json"), HasSubstr("Exit codes:\n  0")));
  EXPECT_THAT(machine.run("evo-tune --help").out, HasSubstr("doctor"));
  const ProgramResult unknown = machine.run("evo-tune doctor --jsno");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean --json?"));
  const ProgramResult misspelt = machine.run("evo-tune docter");
  EXPECT_EQ(misspelt.exit_code, 2);
  EXPECT_THAT(misspelt.err, HasSubstr("did you mean 'doctor'?"));
}

}  // namespace
}  // namespace evo
