#include "engine/device/device_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>

namespace evo {
namespace {

/// True for the names of device files that CUDA needs; false for others, such as nvidia-modeset and
/// nvidia-caps.
bool is_needed(const std::string& name) {
  constexpr std::string_view kGpu = "nvidia";
  if (name == "nvidiactl" || name == "nvidia-uvm") return true;
  return name.size() > kGpu.size() && name.starts_with(kGpu) &&
         std::all_of(name.begin() + kGpu.size(), name.end(),
                     [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// The access rights and the owner of a file, such as "crw-rw---- root:video".
std::string access_text(const struct stat& status) {
  constexpr std::string_view kLetters = "rwxrwxrwx";
  std::string text(1, S_ISCHR(status.st_mode) ? 'c' : '-');
  for (std::size_t i = 0; i < kLetters.size(); ++i) {
    const bool is_set = (status.st_mode >> (kLetters.size() - 1 - i) & 1U) != 0;
    text += is_set ? kLetters[i] : '-';
  }
  const passwd* user = getpwuid(status.st_uid);
  const group* owner = getgrgid(status.st_gid);
  return fmt::format("{} {}:{}", text,
                     user != nullptr ? user->pw_name : std::to_string(status.st_uid),
                     owner != nullptr ? owner->gr_name : std::to_string(status.st_gid));
}

}  // namespace

std::vector<DeviceFile> device_files(const std::filesystem::path& root) {
  std::vector<DeviceFile> files;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(root / "dev", ignored)) {
    const std::string name = entry.path().filename();
    if (!is_needed(name)) continue;
    struct stat status = {};
    if (stat(entry.path().c_str(), &status) != 0) continue;
    const bool usable = faccessat(AT_FDCWD, entry.path().c_str(), R_OK | W_OK, AT_EACCESS) == 0;
    files.push_back({"/dev/" + name, usable, access_text(status)});
  }
  std::ranges::sort(files, {}, &DeviceFile::path);
  return files;
}

}  // namespace evo
