#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace evo {

/// A kernel that executes `body` `ops` times in each of n iterations of a loop. In
/// streamed_operations(), a body has eight independent operations, or eight pairs. The time of an
/// operation is computed from the kernel's times for two values of n.
struct Operation {
  std::string name;
  std::string setup;   ///< code before the loop; `in`, `out`, `shared`, `t` (thread) are declared
  std::string body;    ///< operation(s); `i` counts iterations
  std::string result;  ///< unsigned expression that is stored, so that the compiler keeps the code
  int warps = 1;
  int ops = 16;             ///< repetitions of the body per iteration
  std::size_t chase = 256;  ///< number of words of `in` in the chain of indices
  int repeats = 1;          ///< warps on each sub-core if `body` has 8 operations; else 1
};

/// Dependent operations, for measuring latencies.
[[nodiscard]] std::vector<Operation> chained_operations();

/// Independent operations of many warps, alone and in pairs, for measuring how long each occupies
/// its unit.
[[nodiscard]] std::vector<Operation> streamed_operations();

/// CUDA C++ of a kernel k(out, in, n) that executes the operation in n iterations of its loop.
[[nodiscard]] std::string source_of(const Operation& operation);

/// CUDA C++ of a kernel k(out, in, n) that reads (or writes) `bytes` bytes of `in` in each of n
/// iterations.
[[nodiscard]] std::string stream_source(std::size_t bytes, bool writes);

}  // namespace evo
