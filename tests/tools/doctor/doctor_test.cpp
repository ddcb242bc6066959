// Tests the findings of `evo-tune doctor` about made-up machines, as text and as JSON.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <sstream>

#include "engine/core/json_reader.hpp"
#include "tests/db/sample.hpp"
#include "tools/doctor/doctor_json.hpp"
#include "tools/doctor/screen.hpp"

namespace evo {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint64_t kGiga = std::uint64_t{1} << 30;

/// A made-up machine with an H200 on which nothing is missing.
Machine whole_machine() {
  Machine machine;
  machine.version = "0.1.0";
  machine.host.cores = machine.host.usable_cores = 16;
  machine.host.memory_bytes = 128 * kGiga;
  machine.host.available_bytes = 100 * kGiga;
  machine.host.folder = {"/home/user", 80 * kGiga, true};
  machine.host.temporary = {"/tmp", 80 * kGiga, true};
  machine.host.counters_for_root = false;
  GpuFacts gpu;
  gpu.name = "NVIDIA H200";
  gpu.uuid = "GPU-0a1b2c3d-1111-2222-3333-444455556666";
  gpu.bus_id = "0000:65:00.0";
  gpu.arch = "sm_90";
  gpu.memory_bytes = 140 * kGiga;
  gpu.free_bytes = 139 * kGiga;
  gpu.compute_mode = ComputeMode::kDefault;
  machine.survey.nvml.gpus = {gpu};
  machine.survey.nvml.driver = "580.65.06";
  CudaGpu seen;
  seen.name = gpu.name;
  seen.uuid = "0a1b2c3d-1111-2222-3333-444455556666";
  seen.bus_id = gpu.bus_id;
  seen.arch = gpu.arch;
  machine.survey.cuda.library = "/usr/lib/x86_64-linux-gnu/libcuda.so.580.65.06";
  machine.survey.cuda.cuda = "13.0";
  machine.survey.cuda.gpus = {seen};
  machine.survey.nvrtc = {
      "/usr/local/cuda/lib64/libnvrtc.so.13.0.88", "", "nvrtc 13.0", {"sm_80", "sm_90"}};
  DeviceInfo device;
  device.id = "cuda:0";
  device.name = gpu.name;
  device.arch = gpu.arch;
  device.driver = "CUDA driver 13.0";
  machine.survey.device = device;
  machine.ncu_path = "/usr/local/cuda/bin/ncu";
  machine.ncu_version = "ncu 2025.3.1.0";
  machine.run.compilers = 16;
  machine.run.compiler_bytes = 4 * kGiga;
  machine.run.space = "/usr/share/evo-tune/search_spaces/sdpa_fp8_wgmma_h200.json";
  return machine;
}

/// The only finding about a machine. Expects that there is exactly one finding.
Finding only_finding(const Machine& machine) {
  const std::vector<Finding> findings = findings_of(machine);
  EXPECT_EQ(findings.size(), 1U) << doctor_screen(machine, findings);
  return findings.size() == 1 ? findings.front() : Finding{};
}

TEST(DoctorFindings, OfAWholeMachineAreNone) {
  EXPECT_THAT(findings_of(whole_machine()), IsEmpty());
  EXPECT_THAT(doctor_screen(whole_machine(), {}),
              AllOf(HasSubstr("Nothing is missing."), HasSubstr("A default run works here.")));
}

TEST(DoctorFindings, AFullDiskStopsADefaultRunAndNamesTheFolder) {
  Machine machine = whole_machine();
  machine.host.folder.free_bytes = std::uint64_t{5} << 20;
  const Finding finding = only_finding(machine);
  EXPECT_TRUE(finding.stops_run);
  EXPECT_THAT(finding.what, AllOf(HasSubstr("5 MB free"), HasSubstr("/home/user")));
  EXPECT_THAT(finding.step, HasSubstr("--db"));
  machine.host.folder.free_bytes = std::uint64_t{100} << 20;
  EXPECT_FALSE(only_finding(machine).stops_run);
}

TEST(DoctorFindings, AFolderThatCannotBeWrittenToStopsADefaultRun) {
  Machine machine = whole_machine();
  machine.host.folder.writable = false;
  EXPECT_TRUE(only_finding(machine).stops_run);
  EXPECT_THAT(only_finding(machine).what, HasSubstr("/home/user cannot be written to"));
}

TEST(DoctorFindings, AFolderForTemporaryFilesThatIsFullOrNoneStopsProfilesOnly) {
  Machine machine = whole_machine();
  machine.host.temporary.free_bytes = 0;
  EXPECT_FALSE(only_finding(machine).stops_run);
  EXPECT_THAT(only_finding(machine).what, HasSubstr("/tmp is almost full"));
  machine.host.temporary.failure = "TMPDIR: '/nowhere' is no folder";
  EXPECT_EQ(only_finding(machine).what, "TMPDIR: '/nowhere' is no folder");
  EXPECT_THAT(only_finding(machine).step, HasSubstr("TMPDIR"));
}

TEST(DoctorFindings, CountersForRootOnlyMatterToOthers) {
  Machine machine = whole_machine();
  machine.host.counters_for_root = true;
  EXPECT_EQ(only_finding(machine).prevents, "--profile");
  EXPECT_THAT(only_finding(machine).step, HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
  machine.host.is_root = true;
  EXPECT_THAT(findings_of(machine), IsEmpty());
}

TEST(DoctorFindings, AGpuForOneProcessHasNoneForAProfiler) {
  Machine machine = whole_machine();
  machine.survey.cuda.gpus.front().compute_mode = ComputeMode::kExclusiveProcess;
  EXPECT_THAT(only_finding(machine).prevents, HasSubstr("--profile"));
  EXPECT_EQ(only_finding(machine).step,
            "sudo nvidia-smi -i GPU-0a1b2c3d-1111-2222-3333-444455556666 -c DEFAULT");
}

TEST(DoctorFindings, LessThanTheCompilersWantIsNamedWithTheirNumber) {
  Machine machine = whole_machine();
  machine.host.core_limit = 2.5;
  EXPECT_THAT(only_finding(machine).what, HasSubstr("grants 2.5 cores to 16 compilers"));
  EXPECT_EQ(only_finding(machine).step, "--jobs 2");
  machine = whole_machine();
  machine.host.memory_limit = 3 * kGiga;
  EXPECT_EQ(only_finding(machine).step, "--jobs 3");
}

TEST(DoctorFindings, WhatStopsARunComesFirst) {
  Machine machine = whole_machine();
  machine.ncu_path.clear();
  machine.run.no_space = "no shipped spaces";
  const std::vector<Finding> findings = findings_of(machine);
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_TRUE(findings[0].stops_run);
  EXPECT_FALSE(run_would_work(findings));
}

TEST(DoctorScreen, HasLinesOf80ColumnsAtMost) {
  Machine machine = whole_machine();
  machine.host.folder.path = std::string(200, '/') + "far/away";
  machine.host.folder.writable = false;
  machine.survey.nvml.gpus.front().processes = {"4711 (python3)", "4712 (python3)",
                                                "4713 (a_long_name)", "4714 (python3)"};
  machine.survey.nvml.gpus.resize(8, machine.survey.nvml.gpus.front());
  const std::string screen = doctor_screen(machine, findings_of(machine));
  std::istringstream lines(screen);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    // The line with the long path may exceed 80 columns, because a path is not broken.
    if (line.find("/far/away") != std::string::npos) continue;
    EXPECT_LE(line.size(), 80U) << line;
  }
  EXPECT_GT(count, 8 * 3);
}

TEST(DoctorScreen, OfAWholeMachineFitsATerminal) {
  const std::string screen = doctor_screen(whole_machine(), {});
  EXPECT_LE(std::count(screen.begin(), screen.end(), '\n'), 24) << screen;
}

TEST(DoctorJson, HasNullForWhatIsNotTold) {
  const auto json = doctor_json(whole_machine(), {});
  EXPECT_EQ(json.at("format"), "evo-tune doctor 1");
  EXPECT_EQ(json.at("gpus").at(0).at("sm_clock_mhz"), nullptr);
  EXPECT_EQ(json.at("gpus").at(0).at("mig"), nullptr);
  EXPECT_EQ(json.at("gpus").at(0).at("compute_mode"), "default");
  EXPECT_EQ(json.at("host").at("core_limit"), nullptr);
  EXPECT_EQ(json.at("run").at("works"), true);
  EXPECT_EQ(json.at("missing").size(), 0U);
}

void collect_keys(const nlohmann::ordered_json& json, std::set<std::string>& keys) {
  for (const auto& [key, value] : json.items()) {
    if (json.is_object()) keys.insert(key);
    if (value.is_structured()) collect_keys(value, keys);
  }
}

TEST(DoctorJson, HasNoKeyThatItsDocumentDoesNotName) {
  Machine machine = whole_machine();
  machine.survey.nvml.gpus.front().slices = {{"MIG 1g.5gb", "MIG-1"}};
  machine.files = {{"/dev/nvidia0", true, "crw-rw-rw- root:root"}};
  std::set<std::string> keys;
  collect_keys(doctor_json(machine, {Finding{"a", "b", "c"}}), keys);
  EXPECT_GT(keys.size(), 50U);
  const std::string text = read_text_file(std::filesystem::path(EVO_SOURCE_DIR) / "docs/doctor.md");
  for (const std::string& key : keys) EXPECT_THAT(text, HasSubstr("`" + key + "`"));
}

/// A fixture with a temporary folder that stands in for the root folder / of the file system.
class HostFactsTest : public testing::Test {
 protected:
  void add(const std::string& name, const std::string& content) const {
    std::filesystem::create_directories((root_.path() / name).parent_path());
    write_file(root_.path() / name, content);
  }
  [[nodiscard]] HostFacts read() const { return read_host_facts(root_.path()); }
  sample::TemporaryFolder root_;
};

TEST_F(HostFactsTest, TakesTheLeastLimitOnTheWayToTheRoot) {
  add("proc/meminfo", "MemTotal:       32768 kB\nMemFree: 1 kB\nMemAvailable:   16384 kB\n");
  add("proc/self/cgroup", "0::/job/step\n");
  add("sys/fs/cgroup/job/step/cpu.max", "max 100000\n");
  add("sys/fs/cgroup/job/cpu.max", "150000 100000\n");
  add("sys/fs/cgroup/cpu.max", "400000 100000\n");
  add("sys/fs/cgroup/job/step/memory.max", "max\n");
  add("sys/fs/cgroup/job/memory.max", "8388608\n");
  const HostFacts facts = read();
  EXPECT_EQ(facts.core_limit, 1.5);
  EXPECT_EQ(facts.memory_limit, 8388608U);
  EXPECT_EQ(facts.memory_bytes, 32768U << 10);
  EXPECT_EQ(facts.available_bytes, 16384U << 10);
  EXPECT_GE(facts.usable_cores, 1U);
}

TEST_F(HostFactsTest, ReadsControlGroupsOfTheFirstVersion) {
  add("proc/meminfo", "MemTotal: 32768 kB\n");
  add("proc/self/cgroup", "4:memory:/box\n3:cpu,cpuacct:/box\n");
  add("sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", "50000\n");
  add("sys/fs/cgroup/cpu/box/cpu.cfs_period_us", "100000\n");
  add("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  add("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  add("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "9223372036854771712\n");
  const HostFacts facts = read();
  EXPECT_EQ(facts.core_limit, 0.5);
  EXPECT_EQ(facts.memory_limit, std::nullopt)
      << "a limit above all memory of the machine is no limit";
}

TEST_F(HostFactsTest, TellTheVersionOfEitherKernelModule) {
  add("proc/driver/nvidia/version",
      "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12 19:39:15 UTC 2024\n");
  EXPECT_EQ(read().kernel_module, "535.183.01");
  add("proc/driver/nvidia/version",
      "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build\n");
  EXPECT_EQ(read().kernel_module, "580.159.04");
}

TEST_F(HostFactsTest, OfAnEmptyMachineAreMissing) {
  const HostFacts facts = read();
  EXPECT_EQ(facts.core_limit, std::nullopt);
  EXPECT_EQ(facts.memory_limit, std::nullopt);
  EXPECT_EQ(facts.counters_for_root, std::nullopt);
  EXPECT_FALSE(facts.mps_runs);
  EXPECT_EQ(facts.kernel_module, "");
  EXPECT_EQ(facts.pci_gpus, 0U);
}

}  // namespace
}  // namespace evo
