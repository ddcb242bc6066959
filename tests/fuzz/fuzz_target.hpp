#pragma once

#include <span>
#include <string_view>

// One function for each kind of input that comes from outside. It reads the input as the programs
// do, and uses what it read as far as that is cheap. An input that is refused the way its reader
// documents is no finding; any other exception leaves the function, and is one, as are a crash, a
// report of a sanitizer, a hang and memory beyond the limit.

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
  std::string_view name;  ///< also of its folder in tests/fuzz/corpus
  void (*run)(std::string_view input);
};

/// All of them, in the order of their names.
[[nodiscard]] std::span<const FuzzTarget> fuzz_targets();

}  // namespace evo::fuzz
