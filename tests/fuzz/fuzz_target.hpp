#pragma once

#include <span>
#include <string_view>

// One function for each kind of input from outside. It reads the input as the programs do, and uses
// the result as far as that is cheap. A documented rejection is no finding. Any other exception is
// a finding, as are a crash, a sanitizer's report, a hang and exceeding the memory limit.

namespace evo::fuzz {

/// The index of a bundle, without its first line, as the loader reads it.
void run_bundle(std::string_view input);
/// The text of an expression.
void run_expression(std::string_view input);
/// MessagePack frames from a worker.
void run_frame(std::string_view input);
/// A PTX module; its entries are launched on a virtual GPU with a small grid and few instructions.
/// A first line "// launch CTAS THREADS SHARED_BYTES" chooses the launch.
void run_ptx(std::string_view input);
/// A recorded space, plain or gzip.
void run_recording(std::string_view input);
/// A problem file, a space file, or both with a line "---" between.
void run_spec(std::string_view input);

struct FuzzTarget {
  std::string_view name;  ///< also the name of its folder in tests/fuzz/corpus
  void (*run)(std::string_view input);
};

/// All of them, in the order of their names.
[[nodiscard]] std::span<const FuzzTarget> fuzz_targets();

}  // namespace evo::fuzz
