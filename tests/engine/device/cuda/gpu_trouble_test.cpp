// Tests messages about an unusable GPU. The messages depend on the result of cuInit, on the
// driver's files in /dev, and on the GPUs that NVML lists.

#include "engine/device/cuda/gpu_trouble.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "engine/core/json_reader.hpp"
#include "tests/db/sample.hpp"

namespace evo {
namespace {

using testing::AllOf;
using testing::HasSubstr;

CUresult no_text(CUresult, const char** text) {
  *text = nullptr;
  return CUDA_ERROR_INVALID_VALUE;
}

CudaDriver driver() {
  CudaDriver made;
  made.path = "/usr/lib/libcuda.so.550.54.14";
  made.cuGetErrorName = no_text;
  made.cuGetErrorString = no_text;
  return made;
}

GpuSurroundings with_denied_file() {
  GpuSurroundings around;
  around.files = {{"/dev/nvidia0", false, "crw-rw---- root:video"},
                  {"/dev/nvidiactl", true, "crw-rw-rw- root:root"}};
  return around;
}

TEST(GpuTrouble, AFileThatThisUserMayNotOpenIsTheCauseOfWhatFollows) {
  for (const CUresult result : {CUDA_ERROR_NO_DEVICE, CUDA_ERROR_OPERATING_SYSTEM,
                                CUDA_ERROR_NOT_PERMITTED, CUDA_ERROR_UNKNOWN}) {
    const auto trouble = init_trouble(driver(), result, with_denied_file());
    ASSERT_TRUE(trouble) << result;
    EXPECT_THAT(*trouble, AllOf(HasSubstr("cannot open /dev/nvidia0 (crw-rw---- root:video)"),
                                HasSubstr("\nnext step: add the user to the group")));
    EXPECT_EQ(trouble->find("/dev/nvidiactl"), std::string::npos);
  }
}

TEST(GpuTrouble, WithoutAGpuOrWhereItIsHiddenThereIsNone) {
  EXPECT_EQ(init_trouble(driver(), CUDA_ERROR_NO_DEVICE, {}), std::nullopt);
  EXPECT_EQ(init_trouble(driver(), CUDA_ERROR_STUB_LIBRARY, {}), std::nullopt);
  GpuSurroundings hidden = with_denied_file();
  hidden.visible = "";
  EXPECT_EQ(init_trouble(driver(), CUDA_ERROR_NO_DEVICE, hidden), std::nullopt);
}

TEST(GpuTrouble, OneOfTwoGpusInSlicesIsNoReasonToBlameMig) {
  GpuSurroundings around;
  around.nvml.gpus.resize(2);
  around.nvml.gpus[0].mig = true;
  around.nvml.gpus[1].name = "NVIDIA L4";
  const auto trouble = init_trouble(driver(), CUDA_ERROR_NO_DEVICE, around);
  ASSERT_TRUE(trouble);
  EXPECT_THAT(*trouble, HasSubstr("NVML lists 2 GPU(s)"));
}

class DeviceFiles : public testing::Test {
 protected:
  DeviceFiles() {
    std::filesystem::create_directories(root_.path() / "dev");
    // The user `nobody` must be able to read the folder, because the test OfOthersAreNotUsable
    // reads it as this user if root runs the test.
    chmod(root_.path().c_str(), 0755);
  }
  void add(const char* name, mode_t mode) const {
    const auto file = root_.path() / "dev" / name;
    write_file(file, "");
    chmod(file.c_str(), mode);
  }
  sample::TemporaryFolder root_;
};

TEST_F(DeviceFiles, AreThoseThatCudaNeedsInTheirOrder) {
  for (const char* name : {"nvidiactl", "nvidia1", "nvidia0", "nvidia-uvm", "nvidia-modeset",
                           "nvidia-caps", "nvidia", "null"}) {
    add(name, 0666);
  }
  std::vector<std::string> paths;
  for (const DeviceFile& file : device_files(root_.path())) {
    paths.push_back(file.path);
    EXPECT_TRUE(file.usable) << file.path;
  }
  EXPECT_THAT(paths, testing::ElementsAre("/dev/nvidia-uvm", "/dev/nvidia0", "/dev/nvidia1",
                                          "/dev/nvidiactl"));
  EXPECT_TRUE(device_files("/nowhere").empty());
}

TEST_F(DeviceFiles, OfOthersAreNotUsable) {
  add("nvidia0", 0600);
  add("nvidiactl", 0666);
  const pid_t other = fork();
  if (other == 0) {
    // If the test runs as root, the child process continues as the user `nobody`, because root may
    // open every file.
    constexpr uid_t kNobody = 65534;
    if (geteuid() == 0 && seteuid(kNobody) != 0) _exit(2);
    if (geteuid() != kNobody) chmod((root_.path() / "dev/nvidia0").c_str(), 0);
    const auto files = device_files(root_.path());
    const bool is_right = files.size() == 2 && !files[0].usable && files[1].usable &&
                          files[0].access.find(':') != std::string::npos;
    _exit(is_right ? 0 : 1);
  }
  int status = 0;
  waitpid(other, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace evo
