// An exported kernel with its arguments, built from the manifest that evo-export wrote.
#pragma once

#include <array>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "cuda_driver.hpp"

/// One kernel argument. A scalar has its value in `bytes`, a buffer the host's copy of its content.
struct KernelArgument {
  std::string name;
  std::string direction;  ///< in, out, inout, workspace or scalar
  std::string dtype;
  std::vector<std::byte> bytes;
};

/// A launch: most kernels are one, some are several, one after the other.
struct Step {
  std::string entry;
  std::array<unsigned, 3> grid = {1, 1, 1};
  std::array<unsigned, 3> block = {1, 1, 1};
  unsigned dynamic_shared_bytes = 0;
  std::vector<std::size_t> arguments;  ///< which of the manifest's it takes, in this order
};

/// What the manifest says of one export. No GPU is needed to read it.
struct Manifest {
  explicit Manifest(const std::string& file);
  /// Of a manifest that was read from `file`; what it names lies beside that.
  Manifest(nlohmann::json content, const std::string& file);

  nlohmann::json json;
  std::string cubin;
  int compute_capability = 0;  ///< 90 for sm_90 and sm_90a
  bool arch_specific = false;  ///< sm_90a runs on exactly that architecture
  std::vector<Step> steps;     ///< those that run on the manifest's shape

  /// The arguments in order: inputs drawn from their generators, outputs filled with NaN bytes,
  /// workspaces zero, scalars at their values.
  [[nodiscard]] std::vector<KernelArgument> make_arguments(std::mt19937_64& random) const;
  /// A shape variable such as S. Throws when there is none of that name.
  [[nodiscard]] std::size_t variable(const std::string& name) const;
};

/// Number of bytes of one element of a dtype such as "e4m3" or "f16".
[[nodiscard]] std::size_t element_size(const std::string& dtype);

/// Decodes / encodes one element; encoding rounds to nearest even and saturates e4m3.
[[nodiscard]] double decode(const std::string& dtype, const std::byte* source);
void encode(const std::string& dtype, double value, std::byte* target);

/// A loaded kernel with its arguments in device memory.
class ExportedKernel {
 public:
  /// Throws std::runtime_error when the GPU cannot run the kernel. `gpu` must outlive it.
  ExportedKernel(const Gpu& gpu, const Manifest& manifest,
                 const std::vector<KernelArgument>& arguments);

  /// Starts one run of all steps; Gpu::synchronize() waits for it.
  void launch();
  /// The present content of the buffer with that name.
  [[nodiscard]] std::vector<std::byte> download(const std::string& name) const;

 private:
  struct Parameter {
    std::string name;
    std::array<std::byte, 8> value{};  ///< the scalar, or the buffer's address
    int buffer = -1;                   ///< its index in buffers_; -1 for a scalar
  };

  const Gpu* gpu_;
  Module module_;
  std::vector<Step> steps_;
  std::vector<CUfunction> functions_;  ///< of the steps
  std::vector<Buffer> buffers_;
  std::vector<Parameter> parameters_;
};
