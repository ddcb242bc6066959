#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "engine/evaluate/workbench.hpp"
#include "engine/worker/compile_pool.hpp"
#include "tools/cli/completion.hpp"
#include "tools/tune/remote_options.hpp"

namespace evo {

/// What evo-tune and evo-judge have in common: the space, the device and how kernels are run.
struct SessionOptions {
  std::string space;  ///< empty: the default for the device
  std::string device = "auto";
  std::string shape;
  std::size_t jobs = 0;  ///< 0: one a core
  double step_seconds = 0;
  bool cold = false;
  bool allow_programs = false;
  RemoteOptions remote = {};
  double compiler_gb = 0;  ///< memory of one compiler process; 0: by the machine's

  /// `takes_shapes`: more than one may be timed.
  void declare(CLI::App& app, bool takes_shapes = false);

  /// For completion.
  [[nodiscard]] static ValueLists value_lists();

  /// The number of compiler processes asked for, or one for each core.
  [[nodiscard]] std::size_t job_count() const;

  /// Starts the workers: the compilers, and those of the devices; none for "none". Throws
  /// MissingError or InputError.
  [[nodiscard]] Services open_services(RunStore& store, const EventSink& on_event) const;

  /// Adds a virtual GPU that executes the elite of a GPU as well. `choice`: "auto" takes one of the
  /// GPU's architecture, "none" takes none, anything else names one. Returns why there is none, for
  /// people; empty where there is one or none is wanted. Throws InputError for an unknown name.
  [[nodiscard]] std::string add_interpreter(Services& services, const std::string& choice,
                                            const EventSink& on_event) const;

  /// For what `services` has. Throws InputError when there is no space file.
  [[nodiscard]] WorkbenchOptions bench_options(const Services& services,
                                               std::uint64_t check_seed) const;

  /// The space file asked for, or the default for `arch`. Throws InputError when there is none.
  [[nodiscard]] std::filesystem::path space_file(const std::string& arch) const;
};

/// The model of the devices; null without one.
[[nodiscard]] const DeviceInfo* device_of(const Services& services);

/// The line that must not be missed where times are predicted or nothing is timed; empty on a GPU.
[[nodiscard]] std::string honesty_line(const DeviceInfo* device);

/// Throw InputError for more than one, for programs that take no more.
void require_one_device(const Workbench& bench);
void require_one_shape(const Workbench& bench);

/// A seed nobody can know beforehand, for the inputs of the checks.
[[nodiscard]] std::uint64_t fresh_seed();

}  // namespace evo
