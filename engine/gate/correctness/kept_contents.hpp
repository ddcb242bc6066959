#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/device/device.hpp"

namespace evo {

/// A content that kernels do not see: an expected output, or data to restore.
using KeptId = std::uint32_t;

/// Stores contents on the host or on the device.
class KeptContents {
 public:
  KeptContents() = default;
  virtual ~KeptContents() = default;
  KeptContents(const KeptContents&) = delete;
  KeptContents& operator=(const KeptContents&) = delete;

  /// Allocates room for `bytes`. Throws DeviceMemoryError if it does not fit.
  [[nodiscard]] virtual KeptId reserve(const std::string& name, std::size_t bytes) = 0;
  /// Fills it with `content`, which has its size.
  virtual void keep(KeptId to, std::span<const std::byte> content) = 0;
  /// Fills it from the start of a buffer of at least its size.
  virtual void keep(KeptId to, BufferId from) = 0;
  /// Copies it to the start of a buffer.
  virtual void put_back(BufferId to, KeptId from) = 0;
  /// The same by work that lets the next launch start at once and then takes its time: a kernel
  /// that does not wait for the end of that work (griddepcontrol.wait) reads what the buffer held
  /// before.
  virtual void put_back_late(BufferId to, KeptId from) { put_back(to, from); }
  /// Returns the content. Waits for the device.
  [[nodiscard]] virtual std::vector<std::byte> content(KeptId kept) = 0;
  /// Records a fingerprint of the content. A kernel that writes out of bounds may change device
  /// memory, so each comparison with a sealed content also checks the fingerprint. Waits for the
  /// device.
  virtual void seal(KeptId kept) = 0;
};

}  // namespace evo
