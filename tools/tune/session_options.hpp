#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>

#include "engine/evaluate/workbench.hpp"
#include "engine/worker/compile_pool.hpp"
#include "tools/cli/completion.hpp"
#include "tools/tune/remote_options.hpp"

namespace evo {

/// The common options of evo-tune, evo-judge and evo-record: space, devices, compilers, time
/// limits.
struct SessionOptions {
  std::string space;  ///< empty: the default for the device
  std::string device = "auto";
  std::string shape;
  std::size_t jobs = 0;  ///< number of compilers; 0: one per core
  double step_seconds = 0;
  bool cold = false;
  bool allow_programs = false;
  RemoteOptions remote = {};
  /// memory limit of one compiler process; 0: derived from the machine's memory
  double compiler_gb = 0;

  /// Declares the options. `takes_shapes`: --shape may name several shapes.
  void declare(CLI::App& app, bool takes_shapes = false);

  /// Lists the possible values of the common options, for completion.
  [[nodiscard]] static ValueLists value_lists();

  /// The number of compiler processes: as requested, or one per core.
  [[nodiscard]] std::size_t job_count() const;

  /// Starts the worker processes for compilers and devices (for --device none, only compilers).
  /// Throws MissingError or InputError.
  [[nodiscard]] Services open_services(RunStore& store, const EventSink& on_event) const;

  /// Adds a virtual GPU that also executes the elite of a real GPU. `choice`: "auto" for a virtual
  /// GPU of the same architecture, "none", or the name of a virtual GPU. If there is no virtual GPU
  /// of the architecture, returns a text that says so; otherwise returns an empty text. Throws
  /// InputError for an unknown name.
  [[nodiscard]] std::string add_interpreter(Services& services, const std::string& choice,
                                            const EventSink& on_event) const;

  /// The options of the Workbench (the part of the program that evaluates candidates) for the
  /// devices in `services`. Throws as space_file() does.
  [[nodiscard]] WorkbenchOptions bench_options(const Services& services,
                                               std::uint64_t check_seed) const;

  /// The space file of --space, or the default for `arch`. Throws as find_space() and
  /// default_space() do.
  [[nodiscard]] std::filesystem::path space_file(const std::string& arch) const;
};

/// Data about the GPU model of the run's devices; null without a device.
[[nodiscard]] const DeviceInfo* device_of(const Services& services);

/// A line that tells the user that times are predicted or that nothing is timed; empty on a real
/// GPU.
[[nodiscard]] std::string honesty_line(const DeviceInfo* device);

/// Throws InputError if the user named several devices (or shapes) for a program that accepts only
/// one.
void require_one_device(const Workbench& bench);
void require_one_shape(const Workbench& bench);

/// An unpredictable seed for the inputs of the checks.
[[nodiscard]] std::uint64_t fresh_seed();

}  // namespace evo
