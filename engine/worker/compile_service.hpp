#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/compile/compiler.hpp"
#include "engine/compile/file_watch.hpp"
#include "engine/worker/clock.hpp"

namespace evo {

/// The boundary to what compiles kernels, several at once and beside the caller.
class CompileService {
 public:
  struct Finished {
    std::size_t ticket = 0;
    CompileOutcome outcome;
    bool reproducible = true;  ///< false when the compiler was killed or failed: not worth caching
    std::vector<Dependency> dependencies = {};  ///< what it opened in include paths
    double wall_ms = 0;
  };

  virtual ~CompileService() = default;

  /// Version of the compiler, "nvrtc 13.0". Throws MissingError when there is no compiler.
  [[nodiscard]] virtual const std::string& version() = 0;

  /// Queues a compilation; `ticket` comes back with its outcome.
  virtual void submit(std::size_t ticket, CompileRequest request) = 0;

  /// What has finished since the last call; starts queued work. Never waits. Throws MissingError
  /// when the toolchain is broken.
  [[nodiscard]] virtual std::vector<Finished> collect() = 0;

  /// Compilations that run now.
  [[nodiscard]] virtual std::size_t in_flight() const = 0;
  /// What to poll for, and the first deadline among running compilations.
  [[nodiscard]] virtual std::vector<pollfd> interests() const = 0;
  [[nodiscard]] virtual SteadyTime next_deadline() const = 0;
};

}  // namespace evo
