#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "engine/core/content_parts.hpp"
#include "engine/device/device.hpp"

namespace evo {

/// Identifies a copy of data that is hidden from kernels, for example an expected output, or data
/// for restoring a buffer.
using KeptId = std::uint32_t;

/// Stores copies of data, each identified by a KeptId, on the host or on the device.
class KeptContents {
 public:
  KeptContents() = default;
  virtual ~KeptContents() = default;
  KeptContents(const KeptContents&) = delete;
  KeptContents& operator=(const KeptContents&) = delete;

  /// Allocates memory for a copy of `bytes` bytes. Throws DeviceMemoryError if the memory is too
  /// small.
  [[nodiscard]] virtual KeptId reserve(const std::string& name, std::size_t bytes) = 0;
  /// Fills the copy `to` with `content`, which must have the reserved size.
  virtual void keep(KeptId to, const ContentParts& content) = 0;
  void keep(KeptId to, std::span<const std::byte> content) {
    keep(to, [content](const TakePart& take) { take(content); });
  }
  /// Fills the copy `to` from the start of the buffer `from`, which must be at least as large.
  virtual void keep(KeptId to, BufferId from) = 0;
  /// Writes the data of the copy `from` to the start of the buffer `to`.
  virtual void put_back(BufferId to, KeptId from) = 0;
  /// Like put_back(), but if the copy is in device memory, a kernel writes the data after a delay,
  /// and lets the next launch start at once (programmatic dependent launch). If the launch does not
  /// wait (griddepcontrol.wait), it reads the previous content of the buffer.
  virtual void put_back_late(BufferId to, KeptId from) { put_back(to, from); }
  /// Returns the bytes of the copy `kept`. Waits for the device.
  [[nodiscard]] std::vector<std::byte> content(KeptId kept) {
    return first_bytes(kept, std::numeric_limits<std::size_t>::max());
  }
  /// Returns the bytes of the copy `kept`, at most the first `most`. Waits for the device.
  [[nodiscard]] virtual std::vector<std::byte> first_bytes(KeptId kept, std::size_t most) = 0;
  /// Records a fingerprint of the copy. Every later comparison with the copy checks the
  /// fingerprint, because a kernel that writes out of bounds may change device memory. Waits for
  /// the device. Does nothing for a copy on the host.
  virtual void seal(KeptId kept) = 0;
};

}  // namespace evo
