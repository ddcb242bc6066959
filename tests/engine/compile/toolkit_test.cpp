// Tests that NVRTC and its headers are found in Python packages, or by EVO_NVRTC.

#include "engine/compile/toolkit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "engine/compile/nvrtc.hpp"
#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"
#include "tests/db/sample.hpp"

namespace evo {
namespace {

/// Sets or removes an environment variable until the destructor restores it.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const std::optional<std::string>& value) : name_(name) {
    if (const char* was = std::getenv(name)) was_ = was;
    put(value);
  }
  ~ScopedVariable() { put(was_); }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  void put(const std::optional<std::string>& value) const {
    value ? setenv(name_, value->c_str(), 1) : unsetenv(name_);
  }

  const char* name_;
  std::optional<std::string> was_;
};

TEST(NvrtcLibrary, OfPackagesForPythonIsFoundInTheActiveEnvironment) {
  const sample::TemporaryFolder environment;
  const auto packages = environment.path() / "lib" / "python3.11" / "site-packages" / "nvidia";
  const auto put = [&](const std::string& name) {
    std::filesystem::create_directories((packages / name).parent_path());
    write_file(packages / name, "");
    return (packages / name).string();
  };
  const std::string library = put("cuda_nvrtc/lib/libnvrtc.so.12");
  put("cuda_runtime/include/cuda_fp16.h");
  const ScopedVariable active("VIRTUAL_ENV", environment.path());
  const ScopedVariable unnamed("EVO_NVRTC", std::nullopt);
  EXPECT_THAT(nvrtc_libraries(), testing::Contains(library));
  {
    const ScopedVariable named("EVO_NVRTC", library);
    EXPECT_THAT(
        toolkit_include_folders(),
        testing::ElementsAre(std::filesystem::canonical(packages / "cuda_runtime/include")));
  }
  const std::string newer = put("cu13/lib/libnvrtc.so.13");
  const std::vector<std::string> found = nvrtc_libraries();
  EXPECT_LT(std::ranges::find(found, newer), std::ranges::find(found, library));
  EXPECT_LT(std::ranges::find(found, library), std::ranges::find(found, "libnvrtc.so.13"));
}

TEST(NvrtcLibrary, ThatIsNotThereIsMissing) {
  const ScopedVariable named("EVO_NVRTC", "/nonexistent/libnvrtc.so");
  EXPECT_THROW((void)open_nvrtc(), MissingError);
}

}  // namespace
}  // namespace evo
