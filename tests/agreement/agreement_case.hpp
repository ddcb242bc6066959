#pragma once

#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "engine/device/device.hpp"
#include "engine/problem/dtype.hpp"

namespace evo::agreement {

/// The allowed difference of an output element `got` of the virtual GPU from the recorded element:
/// |got − recorded| ≤ relative · |recorded| + absolute. If both bounds are 0, the bits must be
/// equal.
struct Bound {
  double relative = 0;
  double absolute = 0;

  [[nodiscard]] bool is_exact() const { return relative == 0 && absolute == 0; }
};

using Bytes = std::vector<std::byte>;

template <typename T>
[[nodiscard]] Bytes bytes_of(const std::vector<T>& values) {
  const auto view = std::as_bytes(std::span(values));
  return {view.begin(), view.end()};
}

/// One parameter of a kernel: a scalar, or a buffer with its content before the launch.
struct CaseArgument {
  std::optional<ScalarArgument> scalar = {};
  Bytes initial = {};
  bool is_output = false;             ///< compared after the launch
  bool is_scratch = false;            ///< written by the kernel; its content is not compared
  Dtype dtype = Dtype::kU32;          ///< the type of an output's elements
  std::vector<Bound> columns = {{}};  ///< element i has the tolerance columns[i % size]
};

/// A test kernel with its launch and its arguments, which are the same on every device.
struct AgreementCase {
  std::string entry;
  std::string source;  ///< relative to the project's folder
  LaunchConfig launch;
  std::vector<CaseArgument> arguments = {};

  template <typename T>
  AgreementCase& in(const std::vector<T>& values) {
    arguments.push_back({.initial = bytes_of(values)});
    return *this;
  }
  template <typename T>
  AgreementCase& inout(const std::vector<T>& values, Dtype dtype, std::vector<Bound> columns) {
    arguments.push_back({.initial = bytes_of(values),
                         .is_output = true,
                         .dtype = dtype,
                         .columns = std::move(columns)});
    return *this;
  }
  /// Adds a buffer that the kernel reads and writes; its final content is compared bit for bit.
  template <typename T>
  AgreementCase& inout(const std::vector<T>& values) {
    return inout(values, Dtype::kU8, {{}});
  }
  /// Adds an output buffer. The buffer is filled with a pattern before the launch, so that elements
  /// that the kernel does not write are equal on all devices.
  AgreementCase& out(std::size_t count, Dtype dtype, std::vector<Bound> columns = {{}}) {
    constexpr std::byte kPattern{0xa5};
    arguments.push_back({.initial = Bytes(count * size_of(dtype), kPattern),
                         .is_output = true,
                         .dtype = dtype,
                         .columns = std::move(columns)});
    return *this;
  }
  template <typename T>
  AgreementCase& scalar(T value) {
    arguments.push_back({.scalar = ScalarArgument::of(value)});
    return *this;
  }
  AgreementCase& count(std::size_t value) { return scalar(static_cast<int>(value)); }

  /// A hash of the kernel's name, scalars and buffers (except scratch buffers). Equal hashes on two
  /// machines mean that the kernel gets the same inputs.
  [[nodiscard]] std::string inputs_hash() const;
};

/// The bytes of each output of a kernel, in the order of the arguments.
using Outputs = std::vector<Bytes>;

/// Loads the compiled kernel `image` and launches it once with new buffers. Returns its outputs, or
/// a Fault, for example after a write outside a buffer.
[[nodiscard]] std::variant<Outputs, Fault> run_case(Device& device, const AgreementCase& data,
                                                    const KernelImage& image);

/// All test kernels whose outputs on the virtual GPU are compared with those of a real GPU.
[[nodiscard]] std::vector<AgreementCase> all_cases();

}  // namespace evo::agreement
