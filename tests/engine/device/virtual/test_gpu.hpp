#pragma once

#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "engine/device/virtual/virtual_device.hpp"

namespace evo::test {

/// A virtual device with typed buffers, for tests.
class TestGpu {
 public:
  explicit TestGpu(const std::string& id = "virtual:l4",
                   const VirtualOptions& options = {.threads = 2})
      : device_(open_virtual_device(id, options)) {}

  VirtualDevice& device() { return *device_; }

  template <typename T>
  BufferId input(const std::string& name, const std::vector<T>& values) {
    const BufferId id = device_->memory().allocate({name, values.size() * sizeof(T), false});
    device_->memory().upload(id, std::as_bytes(std::span(values)));
    return id;
  }
  template <typename T>
  BufferId inout(const std::string& name, const std::vector<T>& values) {
    const BufferId id = device_->memory().allocate({name, values.size() * sizeof(T), true});
    device_->memory().upload(id, std::as_bytes(std::span(values)));
    return id;
  }
  template <typename T>
  BufferId output(const std::string& name, std::size_t count) {
    return device_->memory().allocate({name, count * sizeof(T), true});
  }
  template <typename T>
  std::vector<T> read(BufferId id, std::size_t count) {
    std::vector<T> values(count);
    device_->memory().download(id, std::as_writable_bytes(std::span(values)));
    return values;
  }

  /// Loads and launches a kernel. Returns the fault of loading or launching, if any.
  std::optional<Fault> run(const std::string& ptx, const std::string& entry,
                           const LaunchConfig& config,
                           const std::vector<KernelArgument>& arguments) {
    auto loaded = device_->load({.ptx = ptx, .cubin = {}, .entries = {entry}});
    if (auto* fault = std::get_if<Fault>(&loaded)) return *fault;
    const KernelId kernel = std::get<KernelId>(loaded);
    auto fault = device_->launch(kernel, config, arguments);
    device_->unload(kernel);
    return fault;
  }

 private:
  std::unique_ptr<VirtualDevice> device_;
};

/// The content of the file `name` in tests/engine/device/virtual/kernels; "" if it cannot be read.
inline std::string kernel_source(const std::string& name) {
  std::ifstream in(std::string(EVO_SOURCE_DIR) + "/tests/engine/device/virtual/kernels/" + name);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

/// The fault as text for EXPECT_EQ; "" if there is none.
inline std::string text_of(const std::optional<Fault>& fault) {
  return fault ? fault->reason + "\n" + fault->detail : std::string();
}

}  // namespace evo::test
