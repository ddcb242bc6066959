#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace evo {

/// A file through which programs reach the driver, such as /dev/nvidia0.
struct DeviceFile {
  std::string path;     ///< the path on the machine, without `root`
  bool usable = false;  ///< this user may read and write it
  std::string access;   ///< "crw-rw---- root:video"
};

/// nvidiactl, nvidia-uvm and nvidia0, nvidia1, … in /dev, in the order of their names. Without the
/// kernel module, in a container without a GPU, and under WSL there are none.
[[nodiscard]] std::vector<DeviceFile> device_files(const std::filesystem::path& root);

}  // namespace evo
