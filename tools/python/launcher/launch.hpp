// Repeats the launch of a kernel that the Python code chose and loaded.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "objects.hpp"

namespace evo_python {

/// The state that all launches of a bundle share.
struct Machine {
  Machine(const std::string& driver_file, std::string its_folder, std::vector<std::string> names)
      : driver(driver_file),
        whereabouts(driver_file),
        objects(whereabouts),
        folder(std::move(its_folder)),
        buffers(std::move(names)) {}
  /// The current context; null if there is none.
  [[nodiscard]] CUctx_st* current_context() const {
    CUctx_st* context = nullptr;
    return driver.current_context(&context) == 0 ? context : nullptr;
  }

  evo_tune::detail::Driver driver;
  Whereabouts whereabouts;
  Objects objects;
  std::string folder;
  std::vector<std::string> buffers;  ///< names of the bundle's buffers
};

class Launch {
 public:
  /// `arguments`: (direction, bytes, alignment, may_overlap, value) of each argument. `steps`:
  /// (entry, seven sizes for grid, block and dynamic shared memory, positions of the arguments,
  /// function, launch attributes) of each step. `workspaces`: a function that returns the workspace
  /// addresses of a stream by argument position.
  Launch(Machine& machine, std::uintptr_t context, nb::handle arguments, nb::handle steps,
         nb::object workspaces);
  /// Starts the kernel in the context in which it was loaded. Returns false instead of throwing if
  /// the buffers are wrong, because the Python code then reports the error. Throws evo_tune::Error
  /// if the driver fails.
  bool start(std::uintptr_t stream, void* const* buffers);

 private:
  using Plan = evo_tune::detail::Plan;
  /// The key of workspaces: stream, thread (for handle 2, the default stream of each thread), and
  /// graph capture. A kernel leaves its workspaces ready for the next launch on the stream; a
  /// captured graph has separate workspaces.
  using Queue = std::tuple<std::uintptr_t, std::thread::id, std::uint64_t>;
  void add_argument(nb::handle its);
  void add_step(nb::handle its);
  const Plan& plan_for(std::uintptr_t stream);

  Machine& machine_;
  CUctx_st* context_;
  nb::object workspaces_;
  bool has_workspaces_ = false;
  std::size_t buffer_count_ = 0;
  Plan plan_;  ///< the plan without workspace addresses
  std::map<Queue, Plan> with_workspaces_;
};

}  // namespace evo_python
