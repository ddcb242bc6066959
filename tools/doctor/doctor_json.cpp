#include "tools/doctor/doctor_json.hpp"

#include "tools/answers/or_null.hpp"

namespace evo {
namespace {

using Ordered = nlohmann::ordered_json;

Ordered text_or_null(const std::string& text) { return text.empty() ? Ordered() : Ordered(text); }

Ordered slices_json(const GpuFacts& gpu) {
  Ordered slices = Ordered::array();
  for (const GpuSlice& slice : gpu.slices) {
    slices.push_back({{"name", slice.name},
                      {"uuid", slice.uuid},
                      {"memory_bytes", or_null(slice.memory_bytes)}});
  }
  return slices;
}

Ordered gpus_json(const Machine& machine) {
  Ordered gpus = Ordered::array();
  for (const GpuFacts& gpu : machine.survey.nvml.gpus) {
    gpus.push_back(
        {{"name", gpu.name},
         {"uuid", gpu.uuid},
         {"bus_id", gpu.bus_id},
         {"arch", gpu.arch},
         {"memory_bytes", or_null(gpu.memory_bytes)},
         {"free_bytes", or_null(gpu.free_bytes)},
         {"sm_clock_mhz", or_null(gpu.sm_clock_mhz)},
         {"most_sm_clock_mhz", or_null(gpu.most_sm_clock_mhz)},
         {"application_clock_mhz", or_null(gpu.application_clock_mhz)},
         {"default_application_clock_mhz", or_null(gpu.default_application_clock_mhz)},
         {"held_at_application_clock", gpu.held_at_application_clock},
         {"compute_mode", text_or_null(gpu.compute_mode ? to_string(*gpu.compute_mode) : "")},
         {"mig", or_null(gpu.mig)},
         {"slices", slices_json(gpu)},
         {"processes", gpu.processes}});
  }
  return gpus;
}

Ordered cuda_json(const CudaFacts& cuda) {
  Ordered gpus = Ordered::array();
  for (const CudaGpu& gpu : cuda.gpus) {
    gpus.push_back({{"device", "cuda:" + std::to_string(gpu.ordinal)},
                    {"name", gpu.name},
                    {"uuid", gpu.uuid},
                    {"bus_id", gpu.bus_id},
                    {"arch", gpu.arch},
                    {"memory_bytes", gpu.memory_bytes},
                    {"compute_mode", to_string(gpu.compute_mode)}});
  }
  return {{"library", text_or_null(cuda.library)},
          {"failure", text_or_null(cuda.failure)},
          {"serves_cuda", text_or_null(cuda.cuda)},
          {"devices", gpus}};
}

Ordered folder_json(const FolderFacts& folder) {
  return {{"path", folder.path.string()},
          {"free_bytes", or_null(folder.free_bytes)},
          {"writable", folder.writable},
          {"failure", text_or_null(folder.failure)}};
}

Ordered host_json(const HostFacts& host) {
  return {{"cores", host.cores},
          {"usable_cores", host.usable_cores},
          {"core_limit", or_null(host.core_limit)},
          {"memory_bytes", host.memory_bytes},
          {"available_bytes", host.available_bytes},
          {"memory_limit_bytes", or_null(host.memory_limit)},
          {"current_folder", folder_json(host.folder)},
          {"temporary_folder", folder_json(host.temporary)},
          {"is_root", host.is_root},
          {"nvidia_kernel_module", text_or_null(host.kernel_module)},
          {"nvidia_pci_gpus", host.pci_gpus}};
}

Ordered run_json(const Machine& machine, bool works) {
  const DeviceInfo* device = machine.device();
  return {{"works", works},
          {"device", device != nullptr ? Ordered(device->id) : Ordered()},
          {"device_name", device != nullptr ? Ordered(device->name) : Ordered()},
          {"arch", device != nullptr ? Ordered(device->arch) : Ordered()},
          {"times", device != nullptr ? Ordered(to_string(device->time_kind)) : Ordered()},
          {"compilers", machine.run.compilers},
          {"compiler_memory_bytes", machine.run.compiler_bytes},
          {"space", text_or_null(machine.run.space)}};
}

}  // namespace

nlohmann::ordered_json doctor_json(const Machine& machine, const std::vector<Finding>& findings) {
  const NvmlFacts& nvml = machine.survey.nvml;
  const NvrtcFacts& nvrtc = machine.survey.nvrtc;
  Ordered files = Ordered::array();
  for (const DeviceFile& file : machine.files) {
    files.push_back({{"path", file.path}, {"usable", file.usable}, {"access", file.access}});
  }
  Ordered missing = Ordered::array();
  for (const Finding& finding : findings) {
    missing.push_back({{"what", finding.what},
                       {"prevents", finding.prevents},
                       {"step", finding.step},
                       {"stops_run", finding.stops_run}});
  }
  return {{"format", "evo-tune doctor 1"},
          {"version", machine.version},
          {"gpus", gpus_json(machine)},
          {"nvml",
           {{"library", text_or_null(nvml.library)},
            {"failure", text_or_null(nvml.failure)},
            {"driver", text_or_null(nvml.driver)},
            {"serves_cuda", text_or_null(nvml.cuda)}}},
          {"cuda", cuda_json(machine.survey.cuda)},
          {"cuda_visible_devices", text_or_null(machine.visible)},
          {"mps_runs", machine.host.mps_runs},
          {"device_files", files},
          {"nvrtc",
           {{"library", text_or_null(nvrtc.library)},
            {"failure", text_or_null(nvrtc.failure)},
            {"version", text_or_null(nvrtc.version)},
            {"archs", nvrtc.archs},
            {"misfit", text_or_null(misfit_of(machine))}}},
          {"ncu",
           {{"path", text_or_null(machine.ncu_path.string())},
            {"version", text_or_null(machine.ncu_version)},
            {"counters_for_root_only", or_null(machine.host.counters_for_root)}}},
          {"host", host_json(machine.host)},
          {"run", run_json(machine, run_would_work(findings))},
          {"missing", missing}};
}

}  // namespace evo
