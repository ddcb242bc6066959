#include "launch.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>

namespace evo_python {
namespace {

/// Makes a CUDA context current until the destructor, unless it is current already.
class Current {
 public:
  Current(const Machine& machine, CUctx_st* context)
      : machine_(machine), is_pushed_(machine.current_context() != context) {
    if (is_pushed_) machine.driver.check(machine.driver.push_context(context), "cuCtxPushCurrent");
  }
  ~Current() {
    CUctx_st* context = nullptr;
    if (is_pushed_) machine_.driver.pop_context(&context);
  }
  Current(Current&&) = delete;

 private:
  const Machine& machine_;
  bool is_pushed_;
};

}  // namespace

Launch::Launch(Machine& machine, std::uintptr_t context, nb::handle arguments, nb::handle steps,
               nb::object workspaces)
    : machine_(machine),
      context_(reinterpret_cast<CUctx_st*>(context)),
      workspaces_(std::move(workspaces)) {
  for (const nb::handle its : arguments) add_argument(its);
  for (const nb::handle its : steps) add_step(its);
}

void Launch::add_argument(nb::handle its) {
  const auto direction = nb::cast<std::string>(its[0]);
  Plan::Argument& argument = plan_.arguments.emplace_back();
  argument.direction = direction;
  if (direction == "scalar") {
    const auto value = nb::cast<nb::bytes>(its[4]);
    const auto* begin = static_cast<const unsigned char*>(value.data());
    argument.value.assign(begin, begin + value.size());
  } else if (direction == "workspace") {
    argument.value.resize(sizeof(std::uint64_t));
    has_workspaces_ = true;
  } else {
    argument.buffer = buffer_count_++;
    const auto bytes = nb::cast<std::uintptr_t>(its[1]);
    const auto alignment = nb::cast<std::uintptr_t>(its[2]);
    if (bytes == 0) return;
    plan_.spans.push_back(
        {argument.buffer, bytes, alignment - 1, direction != "in", nb::cast<bool>(its[3])});
  }
}

void Launch::add_step(nb::handle its) {
  Plan::Step& step = plan_.steps.emplace_back();
  step.entry = nb::cast<std::string>(its[0]);
  const auto sizes = nb::cast<std::vector<unsigned>>(its[1]);
  std::copy_n(sizes.begin(), step.size.size(), step.size.begin());
  step.arguments = nb::cast<std::vector<std::size_t>>(its[2]);
  step.function = reinterpret_cast<CUfunc_st*>(nb::cast<std::uintptr_t>(its[3]));
  for (const int number : nb::cast<std::vector<int>>(its[4])) step.attributes.push_back({number});
}

const evo_tune::detail::Plan& Launch::plan_for(std::uintptr_t stream) {
  if (!has_workspaces_) return plan_;
  const auto thread = stream == 2 ? std::this_thread::get_id() : std::thread::id();
  const Queue queue{stream, thread, machine_.whereabouts.capture(stream)};
  const auto known = with_workspaces_.find(queue);
  if (known != with_workspaces_.end()) return known->second;
  Plan plan = plan_;
  for (const auto& [position, address] : nb::cast<nb::dict>(workspaces_(stream))) {
    const auto value = nb::cast<std::uint64_t>(address);
    std::vector<unsigned char>& bytes = plan.arguments.at(nb::cast<std::size_t>(position)).value;
    std::memcpy(bytes.data(), &value, sizeof value);
  }
  // If another thread has inserted a launch plan for this stream meanwhile, keeps that plan,
  // because that thread may be launching it.
  return with_workspaces_.try_emplace(queue, std::move(plan)).first->second;
}

bool Launch::start(std::uintptr_t stream, void* const* buffers) {
  const Current current(machine_, context_);
  const Plan& plan = plan_for(stream);
  try {
    evo_tune::detail::require_apart(plan, buffers, machine_.buffers);
  } catch (const evo_tune::Error&) {
    return false;
  }
  const nb::gil_scoped_release others_go_on;
  evo_tune::detail::start(machine_.driver, plan, reinterpret_cast<CUstream_st*>(stream), buffers,
                          machine_.folder);
  return true;
}

}  // namespace evo_python
