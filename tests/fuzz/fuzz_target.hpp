#pragma once

#include <span>
#include <string_view>

// A fuzz target is a function for one kind of external input. A target reads the input as the
// programs do, and uses the result as far as that is cheap. Exceptions that the documentation of
// the reader names are no findings. Any other exception is a finding, and so is a crash, a report
// of a sanitizer, a hang, or too much memory.

namespace evo::fuzz {

/// Lets the loader read the input as the index of a bundle, and choose kernels. The function adds
/// the first line of the index, which has the hash of the input.
void run_bundle(std::string_view input);
/// Parses the input as an expression and evaluates it.
void run_expression(std::string_view input);
/// Reads the input as the stream of MessagePack frames that a worker sends.
void run_frame(std::string_view input);
/// Reads the input as a PTX module and launches up to two of its kernels on a virtual GPU, with a
/// small grid and few instructions. A first line "// launch CTAS THREADS SHARED_BYTES" sets the
/// number of CTAs, the threads per CTA and the dynamic shared memory.
void run_ptx(std::string_view input);
/// Reads the input as a recording (configurations and their times), with or without gzip.
void run_recording(std::string_view input);
/// Reads the input as a problem file, a space file, or both with a line "---" between them.
void run_spec(std::string_view input);

struct FuzzTarget {
  std::string_view name;  ///< also the name of its folder in tests/fuzz/corpus
  void (*run)(std::string_view input);
};

/// All fuzz targets, in the order of their names.
[[nodiscard]] std::span<const FuzzTarget> fuzz_targets();

}  // namespace evo::fuzz
