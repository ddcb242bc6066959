#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace evo {

/// A file through which programs access the NVIDIA driver, such as /dev/nvidia0.
struct DeviceFile {
  std::string path;     ///< without the folder `root` of device_files()
  bool usable = false;  ///< whether this user may read and write it
  std::string access;   ///< such as "crw-rw---- root:video"
};

/// The files nvidiactl, nvidia-uvm and nvidia0, nvidia1, … in the folder dev of `root` ("/" except
/// in tests), sorted by name. Empty without the NVIDIA kernel module, in a container without a GPU,
/// and under WSL.
[[nodiscard]] std::vector<DeviceFile> device_files(const std::filesystem::path& root);

}  // namespace evo
