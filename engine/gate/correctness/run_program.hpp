#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace evo {

/// How a program ended.
struct ProgramEnd {
  enum class Kind { kExited, kNotStarted, kKilled, kTooLong, kTooMuch };
  Kind kind = Kind::kExited;
  int code = 0;  ///< exit code, signal, or errno of the start
  /// The end of what it wrote to standard output and error.
  std::string output;
};

/// Of what a program says nobody reads more than the end; it must not fill the disk.
inline constexpr std::uintmax_t kMostLogBytes = std::uintmax_t{64} << 20;

/// Runs a program (`words`: itself, found like a shell finds it, and its arguments) in `folder`,
/// without input, and waits for it; one that takes longer than `limit` is killed with everything it
/// started in its process group, and so it is when this process dies, or when it writes more than
/// kMostLogBytes. `log`: a file for what it writes. `waiting` is called about twice a second.
[[nodiscard]] ProgramEnd run_program(const std::vector<std::string>& words,
                                     const std::filesystem::path& folder,
                                     const std::filesystem::path& log, std::chrono::seconds limit,
                                     const std::function<void()>& waiting);

}  // namespace evo
