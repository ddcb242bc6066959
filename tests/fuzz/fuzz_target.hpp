#pragma once

#include <span>
#include <string_view>

// One function for each kind of external input. A function reads the input as the programs do, and
// uses the result as far as that is cheap. Documented exceptions are no findings. Any other
// exception is a finding; so is a crash, a sanitizer's report, a hang, or exceeding the memory
// limit.

namespace evo::fuzz {

/// Reads the index of a bundle, without its first line, by the loader.
void run_bundle(std::string_view input);
/// Parses and evaluates an expression.
void run_expression(std::string_view input);
/// Reads MessagePack frames of a worker.
void run_frame(std::string_view input);
/// Reads a PTX module and launches its kernels on a virtual GPU, with a small grid and few
/// instructions. A first line "// launch CTAS THREADS SHARED_BYTES" chooses the launch.
void run_ptx(std::string_view input);
/// Reads a recorded space, with or without gzip.
void run_recording(std::string_view input);
/// Reads a problem file, a space file, or both with a line "---" between them.
void run_spec(std::string_view input);

struct FuzzTarget {
  std::string_view name;  ///< also the name of its folder in tests/fuzz/corpus
  void (*run)(std::string_view input);
};

/// All fuzz targets, in the order of their names.
[[nodiscard]] std::span<const FuzzTarget> fuzz_targets();

}  // namespace evo::fuzz
