#include "engine/compile/toolkit.hpp"

#include <algorithm>
#include <optional>

#include "engine/compile/compiler_options.hpp"
#include "engine/core/environment.hpp"

namespace evo {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> roots_in_environment() {
  std::vector<std::string> roots;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (auto root = environment_variable(variable)) roots.push_back(*std::move(root));
  }
  return roots;
}

/// Folders of Python packages, in the Python environment in which this program is installed and in
/// the active virtual environment.
std::vector<fs::path> python_packages() {
  std::error_code ignored;
  std::vector<fs::path> roots = {
      fs::read_symlink("/proc/self/exe", ignored).parent_path().parent_path()};
  if (auto active = environment_variable("VIRTUAL_ENV")) roots.emplace_back(*std::move(active));
  std::vector<fs::path> folders;
  for (const fs::path& root : roots) {
    for (const auto& python : fs::directory_iterator(root / "lib", ignored)) {
      if (!python.path().filename().string().starts_with("python")) continue;
      for (const char* name : {"site-packages", "dist-packages"}) {
        if (fs::is_directory(python.path() / name, ignored))
          folders.push_back(python.path() / name);
      }
    }
  }
  return folders;
}

/// The NVRTC libraries in the folders of python_packages(). In each folder, the library of CUDA 13
/// comes before that of CUDA 12.
std::vector<std::string> nvrtc_of_python() {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const fs::path& packages : python_packages()) {
    for (const char* name :
         {"nvidia/cu13/lib/libnvrtc.so.13", "nvidia/cuda_nvrtc/lib/libnvrtc.so.12"}) {
      if (fs::exists(packages / name, ignored)) names.push_back((packages / name).string());
    }
  }
  return names;
}

/// Whether `folder` contains cuda_fp16.h, which every toolkit has, even a toolkit of only NVRTC and
/// headers.
bool has_headers(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(folder / "cuda_fp16.h", ignored);
}

/// Finds ROOT/include for ROOT/lib64/libnvrtc.so or ROOT/targets/x86_64-linux/lib/libnvrtc.so.
std::optional<fs::path> headers_beside(const fs::path& library) {
  std::error_code error;
  for (const fs::path& name : {library, fs::canonical(library, error)}) {
    fs::path folder = name.parent_path();
    for (int level = 0; level < 3 && folder.has_relative_path(); ++level) {
      folder = folder.parent_path();
      // CUDA 12's Python packages keep headers and libraries in separate folders.
      for (const char* include : {"include", "cuda_runtime/include"}) {
        if (has_headers(folder / include)) return folder / include;
      }
    }
  }
  return std::nullopt;
}

std::optional<fs::path> headers() {
  std::error_code ignored;
  for (const std::string& library : nvrtc_libraries()) {
    if (!fs::path(library).is_absolute() || !fs::exists(library, ignored)) continue;
    if (auto found = headers_beside(library)) return found;
    break;  // this library will be opened, and headers of other toolkits do not match it
  }
  std::vector<fs::path> folders;
  for (const std::string& root : roots_in_environment())
    folders.push_back(fs::path(root) / "include");
#ifdef EVO_CUDA_INCLUDE_DIR
  folders.emplace_back(EVO_CUDA_INCLUDE_DIR);
#endif
  folders.emplace_back("/usr/local/cuda/include");
  const auto found = std::find_if(folders.begin(), folders.end(), has_headers);
  return found == folders.end() ? std::nullopt : std::optional<fs::path>(*found);
}

}  // namespace

std::vector<std::string> nvrtc_libraries() {
  if (auto chosen = environment_variable("EVO_NVRTC")) return {*std::move(chosen)};
  std::vector<std::string> names;
#ifdef EVO_NVRTC_LIBRARY
  names.emplace_back(EVO_NVRTC_LIBRARY);
#endif
  for (const std::string& root : roots_in_environment()) {
    names.push_back(root + "/lib64/libnvrtc.so");
  }
  for (std::string& name : nvrtc_of_python()) names.push_back(std::move(name));
  for (const char* name :
       {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so"}) {
    names.emplace_back(name);
  }
  return names;
}

std::vector<fs::path> toolkit_include_folders() {
  const std::optional<fs::path> folder = headers();
  if (!folder) return {};
  std::vector<fs::path> folders = {fs::canonical(*folder)};
  std::error_code error;
  const fs::path cccl = fs::canonical(*folder / "cccl", error);
  if (!error && fs::is_directory(cccl)) folders.push_back(cccl);
  return folders;
}

std::vector<std::string> with_toolkit(std::vector<std::string> options, const KernelSource& source,
                                      const std::vector<fs::path>& toolkit) {
  const std::vector<fs::path> given = include_folders(options);
  const auto lies_in = [](const std::vector<fs::path>& folders, const std::string& name) {
    std::error_code ignored;
    return std::any_of(folders.begin(), folders.end(), [&](const fs::path& folder) {
      return fs::is_regular_file(folder / name, ignored);
    });
  };
  const bool is_needed = std::any_of(
      source.outside.begin(), source.outside.end(),
      [&](const std::string& name) { return !lies_in(given, name) && lies_in(toolkit, name); });
  if (!is_needed) return options;
  for (const fs::path& folder : toolkit) {
    const std::string option = "-I" + folder.string();
    if (std::find(options.begin(), options.end(), option) == options.end()) {
      options.push_back(option);
    }
  }
  return options;
}

}  // namespace evo
