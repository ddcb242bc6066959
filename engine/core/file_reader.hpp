#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace evo {

/// Reads a file in parts, so that the host needs no copy of the whole file.
class FileReader {
 public:
  /// Throws InputError if the file cannot be read, or is a folder, a pipe, a socket or a device.
  explicit FileReader(std::filesystem::path file);

  /// The size that the operating system reports; 0 if it reports none, as for files of /proc.
  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// The next part of the content, valid until the next call; empty at the end of the file. Throws
  /// InputError if reading fails.
  [[nodiscard]] std::string_view next();

 private:
  std::filesystem::path file_;
  std::ifstream stream_;
  std::uint64_t size_ = 0;
  std::string part_;
};

}  // namespace evo
