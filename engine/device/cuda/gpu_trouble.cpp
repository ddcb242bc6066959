#include "engine/device/cuda/gpu_trouble.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

#include "engine/core/system_root.hpp"
#include "engine/device/cuda/driver_survey.hpp"

namespace evo {
namespace {

/// The cause of a driver's failure, and the step that remedies it.
struct Trouble {
  std::string cause;
  std::string step;
};

std::string text_of(const Trouble& trouble) {
  return fmt::format(
      "{}\nnext step: {}\nwithout the GPU: --device virtual:l4 predicts times; evo-tune doctor "
      "shows the whole machine",
      trouble.cause, trouble.step);
}

/// Reports files in /dev that this user cannot open; such files cause many different errors of the
/// driver.
std::optional<Trouble> denied_files(const GpuSurroundings& around) {
  std::vector<std::string> denied;
  for (const DeviceFile& file : around.files) {
    if (!file.usable) denied.push_back(fmt::format("{} ({})", file.path, file.access));
  }
  if (denied.empty()) return std::nullopt;
  return Trouble{fmt::format("no permission: this user cannot open {}", fmt::join(denied, ", ")),
                 "add the user to the group that owns the files (sudo usermod -aG GROUP USER, then "
                 "log in again), or sudo chmod a+rw them"};
}

std::optional<Trouble> mig_without_slices(const NvmlFacts& nvml) {
  if (nvml.gpus.empty()) return std::nullopt;
  const auto is_empty = [](const GpuFacts& gpu) {
    return gpu.mig.value_or(false) && gpu.slices.empty();
  };
  if (!std::ranges::all_of(nvml.gpus, is_empty)) return std::nullopt;
  return Trouble{
      fmt::format("MIG is enabled on {} but has no instance, so that CUDA sees no GPU",
                  nvml.gpus.front().name),
      "sudo nvidia-smi mig -i 0 -cgi 0 -C makes one instance of the whole GPU (nvidia-smi mig "
      "-lgip lists smaller ones), or sudo nvidia-smi -i 0 -mig 0 disables MIG"};
}

/// Explains why the driver reports no GPU although the machine has one; nullopt if there is no GPU,
/// or if CUDA_VISIBLE_DEVICES is set and so may hide the GPU.
std::optional<Trouble> no_device(const GpuSurroundings& around) {
  if (around.visible) return std::nullopt;
  if (auto denied = denied_files(around)) return denied;
  if (auto mig = mig_without_slices(around.nvml)) return mig;
  if (around.nvml.gpus.empty()) return std::nullopt;
  return Trouble{
      fmt::format("NVML lists {} GPU(s) (the first is {}), but the CUDA driver sees none",
                  around.nvml.gpus.size(), around.nvml.gpus.front().name),
      "in a container: start it with the GPU and its compute part (--gpus all, "
      "NVIDIA_DRIVER_CAPABILITIES=compute,utility); elsewhere: sudo dmesg shows the driver's "
      "errors"};
}

/// The names of the driver's and NVML's errors, as the end of a message.
std::string results(const CudaDriver& driver, CUresult result, const GpuSurroundings& around) {
  const bool also = !around.nvml.failure.empty();
  return fmt::format(" [{}{}{}]", driver.describe(result), also ? "; NVML: " : "",
                     around.nvml.failure);
}

Trouble meaning_of(const CudaDriver& driver, CUresult result, const GpuSurroundings& around) {
  switch (result) {
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
      return {fmt::format("{} and the loaded kernel module are of different versions, as after an "
                          "update of the driver",
                          driver.path),
              "restart the machine"};
    case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
      return {fmt::format(
                  "{} belongs to a forward compatibility package, which supports data centre GPUs "
                  "only",
                  driver.path),
              "take the folder of that library (cuda-compat) out of LD_LIBRARY_PATH, or update the "
              "driver itself"};
    case CUDA_ERROR_SYSTEM_NOT_READY:
      return {"the GPUs of this machine wait for the fabric manager of its NVSwitches",
              "sudo systemctl start nvidia-fabricmanager (of the driver's version), then see "
              "systemctl status nvidia-fabricmanager"};
    case CUDA_ERROR_STUB_LIBRARY:
      return {driver.path + " is a stub library of the CUDA toolkit for linking, not the driver",
              "take the folder of this library out of LD_LIBRARY_PATH"};
    case CUDA_ERROR_OPERATING_SYSTEM:
    case CUDA_ERROR_NOT_PERMITTED:
      if (auto denied = denied_files(around)) return *denied;
      return {"the system does not let the CUDA driver reach a GPU",
              "check that ls -l /dev/nvidia* shows files that this user may read and write (sudo "
              "nvidia-modprobe -c 0 -u makes them); in a container: start it with --gpus all"};
    case CUDA_ERROR_UNKNOWN:
      if (auto denied = denied_files(around)) return *denied;
      return {
          "the CUDA driver cannot be initialised: often, the driver was updated or the machine was "
          "suspended after the driver was loaded",
          "restart the machine, or reload the module: sudo modprobe -r nvidia_uvm && sudo "
          "modprobe nvidia_uvm"};
    case CUDA_ERROR_MPS_CONNECTION_FAILED:
    case CUDA_ERROR_MPS_RPC_FAILURE:
    case CUDA_ERROR_MPS_SERVER_NOT_READY:
    case CUDA_ERROR_MPS_MAX_CLIENTS_REACHED:
    case CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED:
      return {"the multi-process service (MPS) of this machine does not answer",
              "restart it (echo quit | nvidia-cuda-mps-control; nvidia-cuda-mps-control -d), or "
              "only stop it: the GPU is then used directly"};
    default:
      return {
          "the CUDA driver cannot use a GPU",
          "read the messages of nvidia-smi and sudo dmesg; restart the machine if the driver was "
          "updated"};
  }
}

Trouble trouble_of(const CudaDriver& driver, CUresult result, const GpuSurroundings& around) {
  Trouble trouble = meaning_of(driver, result, around);
  trouble.cause += results(driver, result, around);
  return trouble;
}

std::string holders(const GpuFacts* gpu) {
  if (gpu == nullptr || gpu->processes.empty()) return "another process";
  return fmt::format("{}", fmt::join(gpu->processes, ", "));
}

const GpuFacts* gpu_at(const NvmlFacts& nvml, const std::string& bus_id) {
  const auto found = std::ranges::find(nvml.gpus, bus_id, &GpuFacts::bus_id);
  return found == nvml.gpus.end() ? nullptr : &*found;
}

}  // namespace

GpuSurroundings read_gpu_surroundings() {
  GpuSurroundings around{read_nvml_facts(), device_files(system_root())};
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES")) around.visible = visible;
  return around;
}

std::optional<std::string> init_trouble(const CudaDriver& driver, CUresult result,
                                        const GpuSurroundings& around) {
  if (result == CUDA_ERROR_NO_DEVICE) {
    const auto trouble = no_device(around);
    if (!trouble) return std::nullopt;
    return text_of({trouble->cause + results(driver, result, around), trouble->step});
  }
  const bool is_stub = result == CUDA_ERROR_STUB_LIBRARY;
  if (is_stub && around.nvml.gpus.empty() && around.files.empty()) return std::nullopt;
  return text_of(trouble_of(driver, result, around));
}

std::string context_trouble(const CudaDriver& driver, CUresult result, const CudaGpu& gpu,
                            const GpuSurroundings& around) {
  const GpuFacts* facts = gpu_at(around.nvml, gpu.bus_id);
  const std::string name = fmt::format("cuda:{} ({})", gpu.ordinal, gpu.name);
  const std::string to_default = fmt::format("sudo nvidia-smi -i {} -c DEFAULT",
                                             facts != nullptr ? facts->uuid : "GPU-" + gpu.uuid);
  if (gpu.compute_mode == ComputeMode::kProhibited) {
    return text_of({name + " accepts no program: its compute mode is prohibited" +
                        results(driver, result, around),
                    to_default + " allows programs"});
  }
  if (result == CUDA_ERROR_DEVICE_UNAVAILABLE && gpu.compute_mode != ComputeMode::kDefault) {
    return text_of(
        {fmt::format("{} is in use by {}, and its compute mode ({}) allows one process at a time{}",
                     name, holders(facts), to_string(gpu.compute_mode),
                     results(driver, result, around)),
         "wait for that process or end it, choose another GPU with --device cuda:N, or "
         "share this one: " +
             to_default});
  }
  if (result == CUDA_ERROR_OUT_OF_MEMORY) {
    return text_of({fmt::format("{} has no memory left for a context; it is used by {}{}", name,
                                holders(facts), results(driver, result, around)),
                    "wait for that process or end it, or choose another GPU with --device cuda:N"});
  }
  Trouble trouble = trouble_of(driver, result, around);
  trouble.cause = name + ": " + trouble.cause;
  return text_of(trouble);
}

}  // namespace evo
