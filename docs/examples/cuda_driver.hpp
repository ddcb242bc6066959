// The part of the CUDA driver API that launching an exported kernel needs, opened at run time, so
// that the program builds and starts on machines without a driver.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

struct DriverTable;

/// The first GPU with its primary context. Every failing call throws std::runtime_error naming it.
class Gpu {
 public:
  Gpu();
  ~Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  /// Compute capability × 10: 90 for an H200.
  [[nodiscard]] int compute_capability() const;
  void synchronize() const;
  [[nodiscard]] const DriverTable& driver() const { return *driver_; }

 private:
  std::unique_ptr<DriverTable> driver_;
  CUdevice device_ = 0;
};

/// Device memory. `gpu` must outlive it.
class Buffer {
 public:
  Buffer(const Gpu& gpu, std::size_t bytes);
  ~Buffer();
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&&) = delete;

  [[nodiscard]] CUdeviceptr address() const { return address_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  void fill(std::uint8_t value);
  void upload(std::span<const std::byte> data);
  void download(std::span<std::byte> data) const;

 private:
  const Gpu* gpu_;
  CUdeviceptr address_ = 0;
  std::size_t bytes_;
};

/// A stream that waits for no other. `gpu` must outlive it.
class Stream {
 public:
  explicit Stream(const Gpu& gpu);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  [[nodiscard]] CUstream handle() const { return stream_; }
  void synchronize() const;

 private:
  const Gpu* gpu_;
  CUstream stream_ = nullptr;
};

/// A cubin on the GPU. `gpu` must outlive it.
class Module {
 public:
  Module(const Gpu& gpu, const std::string& cubin);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  /// A kernel of it. `dynamic_shared_bytes` beyond 48 KiB are opted into.
  [[nodiscard]] CUfunction function(const std::string& entry, unsigned dynamic_shared_bytes) const;

 private:
  const Gpu* gpu_;
  CUmodule module_ = nullptr;
};

/// `parameters`: a pointer to each argument's value. Does not wait.
void launch_kernel(const Gpu& gpu, CUfunction function, std::span<const unsigned> grid,
                   std::span<const unsigned> block, unsigned dynamic_shared_bytes,
                   std::span<void*> parameters, CUstream stream = nullptr);
