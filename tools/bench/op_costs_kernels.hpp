#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace evo {

/// A kernel that does one operation `ops` times in each of n rounds. Its time is the difference of
/// two n.
struct Operation {
  std::string name;
  std::string setup;   ///< before the rounds; `in`, `out`, `shared`, `t` (thread) are there
  std::string body;    ///< one operation; `i` counts the rounds
  std::string result;  ///< unsigned, so that nothing is left out
  int warps = 1;
  int ops = 16;             ///< of the body in a round
  std::size_t chase = 256;  ///< words of `in` through which a chain of indices leads
  int repeats = 1;          ///< warps of one sub-core that share the cost
};

/// Results that the next operation waits for: latencies.
[[nodiscard]] std::vector<Operation> chained_operations();

/// Independent operations of many warps, alone and in pairs: how long each occupies its unit.
[[nodiscard]] std::vector<Operation> streamed_operations();

/// CUDA C++ of a kernel k(out, in, rounds).
[[nodiscard]] std::string source_of(const Operation& operation);

/// CUDA C++ of a kernel k(out, in, rounds) that reads (or writes) `bytes` of `in` in each round.
[[nodiscard]] std::string stream_source(std::size_t bytes, bool writes);

}  // namespace evo
