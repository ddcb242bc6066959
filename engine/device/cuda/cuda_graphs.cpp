#include "engine/device/cuda/cuda_graphs.hpp"

#include <memory>
#include <type_traits>

namespace evo {

void CudaGraphs::open() {
  driver_.require(driver_.cuEventCreate(&start_, CU_EVENT_DEFAULT), "cuEventCreate");
  driver_.require(driver_.cuEventCreate(&stop_, CU_EVENT_DEFAULT), "cuEventCreate");
}

std::variant<CUgraphExec, Fault> CudaGraphs::capture(const std::function<CUresult()>& queue) {
  driver_.require(
      driver_.cuStreamBeginCapture(queue_.stream(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
      "cuStreamBeginCapture");
  const CUresult refused = queue();
  CUgraph graph = nullptr;
  const CUresult ended = driver_.cuStreamEndCapture(queue_.stream(), &graph);
  // If a launch was refused, the graph may hold the launches before it.
  const std::unique_ptr<std::remove_pointer_t<CUgraph>, decltype(driver_.cuGraphDestroy)> owner(
      graph, driver_.cuGraphDestroy);
  if (refused != CUDA_SUCCESS) return fault_of(driver_, refused, "the launch was refused");
  driver_.require(ended, "cuStreamEndCapture");
  CUgraphExec executable = nullptr;
  driver_.require(driver_.cuGraphInstantiateWithFlags(&executable, graph, 0),
                  "cuGraphInstantiateWithFlags");
  return executable;
}

std::variant<double, Fault> CudaGraphs::run(CUgraphExec graph) {
  return time([&] { return queue_.launched(driver_.cuGraphLaunch(graph, queue_.stream())); });
}

std::variant<double, Fault> CudaGraphs::time(const std::function<std::optional<Fault>()>& queue) {
  queue_.require(driver_.cuEventRecord(start_, queue_.stream()), "cuEventRecord");
  if (auto refused = queue()) return *std::move(refused);
  queue_.require(driver_.cuEventRecord(stop_, queue_.stream()), "cuEventRecord");
  if (auto fault = queue_.finish()) return *std::move(fault);
  float milliseconds = 0;
  driver_.require(driver_.cuEventElapsedTime(&milliseconds, start_, stop_), "cuEventElapsedTime");
  return static_cast<double>(milliseconds) * 1e3;
}

void CudaGraphs::release(CUgraphExec graph) {
  driver_.require(driver_.cuGraphExecDestroy(graph), "cuGraphExecDestroy");
}

}  // namespace evo
