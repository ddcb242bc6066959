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
  int code = 0;  ///< exit code, signal, or errno if the start failed
  /// The last 4096 bytes of the program's standard output and error.
  std::string output;
};

/// Limit of a program's output, so that a program cannot fill the disk. Only the end of the output
/// is read.
inline constexpr std::uintmax_t kMostLogBytes = std::uintmax_t{64} << 20;

/// Runs a program in `folder`, with empty standard input, and waits for its end. `words`: the
/// program, which is searched for in PATH, and its arguments. The program and its process group are
/// killed if the program takes longer than `limit` or writes more than kMostLogBytes. If this
/// process dies, only the program is killed, not its child processes. When the program ends, the
/// rest of its process group is killed. `log`: a file for the program's output. `waiting` is called
/// about twice a second while the program runs.
[[nodiscard]] ProgramEnd run_program(const std::vector<std::string>& words,
                                     const std::filesystem::path& folder,
                                     const std::filesystem::path& log, std::chrono::seconds limit,
                                     const std::function<void()>& waiting);

}  // namespace evo
