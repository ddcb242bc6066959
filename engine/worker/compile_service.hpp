#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/compile/compiler.hpp"
#include "engine/compile/file_watch.hpp"
#include "engine/worker/event_loop.hpp"
#include "engine/worker/worker_channel.hpp"

namespace evo {

/// A function that receives events about worker processes: the kind of event, such as "device
/// lost", and a description.
using EventSink = std::function<void(const std::string& kind, const std::string& text)>;

/// The interface to the compilers. Several kernels may be compiled at the same time.
class CompileService {
 public:
  struct Finished {
    CompileOutcome outcome;
    /// False if the compiler was killed or failed. Such an outcome must not be cached.
    bool reproducible = true;
    /// files in include paths that the compiler opened or looked for
    std::vector<Dependency> dependencies = {};
    double wall_ms = 0;  ///< of the last attempt, without the time in the queue
  };

  virtual ~CompileService() = default;

  /// Name and version of the compiler, "nvrtc 13.0". Throws MissingError when there is no compiler.
  [[nodiscard]] virtual const std::string& version() = 0;

  /// Compiles `request` when a compiler is free. Throws MissingError if the toolchain is broken.
  virtual Task<Finished> compile(CompileRequest request) = 0;

  /// Adds a compiler on another host. A service that does not support compilers on other hosts
  /// ignores the call.
  virtual Task<> add(std::shared_ptr<WorkerHost> host, std::uint64_t memory_bytes) {
    (void)host;
    (void)memory_bytes;
    co_return;
  }

  /// The number of running compilations, excluding requests that wait for a compiler.
  [[nodiscard]] virtual std::size_t in_flight() const = 0;
};

}  // namespace evo
