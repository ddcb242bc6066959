#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/evaluate/workbench.hpp"

namespace evo {

/// The options of evo-tune for workers on other hosts.
struct RemoteOptions {
  std::string listen;                ///< HOST:PORT; empty: any port of every interface
  std::vector<std::string> workers;  ///< values of --workers: "slurm", "ssh:FILE", …
  std::vector<std::string> launch;   ///< values of --launch: commands with {worker}
  std::string device = "auto";
  std::string jobs = "all";
  std::optional<double> patience_s;  ///< longest time without a device; nullopt: the default

  void declare(CLI::App& app);

  /// Whether workers may connect; otherwise, evo-tune opens no port.
  [[nodiscard]] bool wants_workers() const {
    return !listen.empty() || !workers.empty() || !launch.empty();
  }

  /// Opens the port for workers, starts the commands that launch workers, and prints the address of
  /// the port to standard error. `step_seconds`: the value of --timeout for kernels on the workers.
  /// Throws InputError or MissingError.
  void open(Services& services, double step_seconds, const EventSink& on_event) const;
  /// Waits for the first device of a worker, which decides the GPU model of the run. Throws
  /// MissingError if no device can connect any more, or if none connects within `patience_s`.
  void wait_for_device(Services& services) const;
};

}  // namespace evo
