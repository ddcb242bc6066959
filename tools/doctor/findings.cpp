#include "tools/doctor/findings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "engine/core/error.hpp"
#include "engine/evaluate/driver_match.hpp"
#include "engine/worker/limits.hpp"

namespace evo {
namespace {

constexpr const char* kEveryRun = "every run";
constexpr const char* kDefaultRun = "a default run";

/// Converts an error message into a finding. The lines after "next step: " become Finding::step,
/// except a line that suggests a virtual GPU. `otherwise`: the step if the message has none.
Finding finding_in(const std::string& message, const std::string& prevents,
                   const std::string& otherwise) {
  constexpr std::string_view kStep = "\nnext step: ";
  constexpr std::string_view kWithout = "\nwithout the GPU: ";
  const std::string text = message.substr(0, message.find(kWithout));
  const std::size_t at = text.find(kStep);
  if (at == std::string::npos) return {text, prevents, otherwise, true};
  return {text.substr(0, at), prevents, text.substr(at + kStep.size()), true};
}

bool measures(const Machine& machine) {
  return machine.device() != nullptr && machine.device()->time_kind == TimeKind::kMeasured;
}

/// The facts from NVML about the GPU that a run without options opens; null if unknown.
const GpuFacts* gpu_in_use(const Machine& machine) {
  if (!measures(machine) || machine.survey.cuda.gpus.empty()) return nullptr;
  const std::string& bus_id = machine.survey.cuda.gpus.front().bus_id;
  const auto& gpus = machine.survey.nvml.gpus;
  const auto found = std::ranges::find(gpus, bus_id, &GpuFacts::bus_id);
  return found == gpus.end() ? nullptr : &*found;
}

void add_device(const Machine& machine, std::vector<Finding>& findings) {
  if (const auto* failure = std::get_if<OpenFailure>(&machine.survey.device)) {
    findings.push_back(finding_in(failure->reason, "measured times, and a default run",
                                  "see what nvidia-smi says; --device virtual:l4 predicts times"));
    return;
  }
  if (measures(machine)) return;
  const std::string& why = machine.survey.cuda.failure;
  Finding none{"there is no GPU: " + why.substr(0, why.find('\n')), "measured times, --energy",
               "run on a machine with a GPU of compute capability 8.0 or newer"};
  if (const std::size_t count = machine.host.pci_gpus; count > 0) {
    none.what = fmt::format("{} NVIDIA GPU(s) on the PCI bus without a driver for this program: {}",
                            count, why.substr(0, why.find('\n')));
    none.step = "install the NVIDIA driver; in a container: start it with --gpus all";
  }
  if (!machine.visible.empty()) none.step = "unset CUDA_VISIBLE_DEVICES, which hides the GPUs";
  findings.push_back(std::move(none));
}

void add_compiler(const Machine& machine, std::vector<Finding>& findings) {
  const NvrtcFacts& nvrtc = machine.survey.nvrtc;
  if (!nvrtc.failure.empty()) {
    const std::string name = nvrtc.library.empty() ? "NVRTC: " : nvrtc.library + ": ";
    Finding broken = finding_in(nvrtc.failure, kEveryRun, "name another libnvrtc in EVO_NVRTC");
    if (!nvrtc.failure.starts_with("NVRTC ")) broken.what = name + broken.what;
    findings.push_back(std::move(broken));
    return;
  }
  if (const std::string misfit = misfit_of(machine); !misfit.empty()) {
    findings.push_back(finding_in(misfit, kEveryRun, ""));
    return;
  }
  if (machine.device() == nullptr) return;
  const std::string& arch = machine.device()->arch;
  if (std::ranges::find(nvrtc.archs, arch) != nvrtc.archs.end()) return;
  findings.push_back(
      {fmt::format("{} does not compile for {} ({})", nvrtc.version, arch, machine.device()->name),
       kDefaultRun,
       "name a libnvrtc in EVO_NVRTC that supports it: "
       "from a newer CUDA Toolkit for a newer GPU, from an older one for an older GPU",
       true});
}

void add_run(const Machine& machine, std::vector<Finding>& findings) {
  // A run of 20 generations stores about 10 MB.
  constexpr std::uint64_t kLittleDisk = std::uint64_t{200} << 20;
  constexpr std::uint64_t kTooLittleDisk = std::uint64_t{16} << 20;
  constexpr double kMega = 1e6;
  if (!machine.run.no_space.empty()) {
    findings.push_back(
        {machine.run.no_space, kDefaultRun, "set EVO_TUNE_DATA, or name a space by --space", true});
  }
  const FolderFacts& here = machine.host.folder;
  if (!here.failure.empty() || !here.writable) {
    findings.push_back(
        {here.failure.empty()
             ? fmt::format("the current folder {} cannot be written to", here.path.string())
             : here.failure,
         "a default run, which stores evo.db there",
         "go to another folder, or name a file elsewhere by --db", true});
  } else if (here.free_bytes && *here.free_bytes < kLittleDisk) {
    findings.push_back(
        {fmt::format("{:.0f} MB free in the current folder {}",
                     static_cast<double>(*here.free_bytes) / kMega, here.path.string()),
         "a default run, which stores evo.db there, as soon as the disk is full",
         "make room, or name a file elsewhere by --db", *here.free_bytes < kTooLittleDisk});
  }
  const FolderFacts& temporary = machine.host.temporary;
  const bool is_full = temporary.free_bytes && *temporary.free_bytes < kLittleDisk;
  if (!temporary.failure.empty() || !temporary.writable || is_full) {
    findings.push_back(
        {!temporary.failure.empty()
             ? temporary.failure
             : fmt::format("the folder for temporary files {} {}", temporary.path.string(),
                           is_full ? "is almost full" : "cannot be written to"),
         "--profile, evo-init, the Python package, and problems with a reference or check program",
         "make room there, or name another folder in TMPDIR"});
  }
}

void add_profile(const Machine& machine, std::vector<Finding>& findings) {
  if (!measures(machine)) return;
  const auto& seen = machine.survey.cuda.gpus;
  if (!seen.empty() && seen.front().compute_mode != ComputeMode::kDefault) {
    findings.push_back({fmt::format("{} takes one process at a time: its compute mode is {}",
                                    machine.device()->id, to_string(seen.front().compute_mode)),
                        "--profile, for which a second process runs the kernel",
                        fmt::format("sudo nvidia-smi -i GPU-{} -c DEFAULT", seen.front().uuid)});
  }
  if (machine.ncu_path.empty()) {
    findings.push_back({"Nsight Compute (ncu) is not on the PATH", "--profile",
                        "install Nsight Compute of the CUDA Toolkit, or name ncu in EVO_NCU"});
    return;
  }
  if (machine.ncu_version.empty()) {
    findings.push_back({machine.ncu_failure.empty()
                            ? machine.ncu_path.string() + " --version does not work"
                            : machine.ncu_failure,
                        "--profile", "set EVO_NCU to the path of an ncu that works"});
  }
  if (machine.host.counters_for_root.value_or(false) && !machine.host.is_root) {
    findings.push_back(
        {"only root may read the GPU's performance counters", "--profile",
         "run as root, or: echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' "
         "| sudo tee /etc/modprobe.d/nvidia-profiling.conf, then restart the machine"});
  }
}

void add_gpu(const Machine& machine, std::vector<Finding>& findings) {
  if (!measures(machine)) return;
  if (!machine.survey.nvml.failure.empty()) {
    findings.push_back(
        {"NVML: " + machine.survey.nvml.failure,
         "--energy, and monitoring of clocks and other processes while kernels are timed",
         "install libnvidia-ml.so.1 of the driver's version; "
         "in a container: NVIDIA_DRIVER_CAPABILITIES=compute,utility"});
  }
  const GpuFacts* gpu = gpu_in_use(machine);
  if (gpu == nullptr) return;
  if (!gpu->processes.empty()) {
    findings.push_back({fmt::format("other processes use {}: {}", machine.device()->id,
                                    fmt::join(gpu->processes, ", ")),
                        "steady times",
                        "end these processes, or choose another GPU by --device cuda:N"});
  }
  if (gpu->application_clock_mhz && gpu->default_application_clock_mhz &&
      *gpu->application_clock_mhz < *gpu->default_application_clock_mhz) {
    findings.push_back({fmt::format("the application clock of {} is {:.0f} MHz; "
                                    "its default is {:.0f}",
                                    machine.device()->id, *gpu->application_clock_mhz,
                                    *gpu->default_application_clock_mhz),
                        "times at full speed",
                        fmt::format("sudo nvidia-smi -i {} -rac", gpu->uuid)});
  }
}

void add_host(const Machine& machine, std::vector<Finding>& findings) {
  const HostFacts& host = machine.host;
  const auto compilers = static_cast<double>(machine.run.compilers);
  if (host.core_limit && *host.core_limit < compilers) {
    findings.push_back({fmt::format("the control group grants {:.3g} cores to {} compilers",
                                    *host.core_limit, machine.run.compilers),
                        "compilations at full speed",
                        fmt::format("--jobs {:.0f}", std::max(1.0, *host.core_limit))});
  }
  const std::uint64_t available =
      std::min(host.available_bytes, host.memory_limit.value_or(host.available_bytes));
  constexpr std::uint64_t kOfACompiler = std::uint64_t{1} << 30;
  if (available > 0 && available < machine.run.compilers * kOfACompiler) {
    findings.push_back(
        {fmt::format("{} of memory for {} compilers of up to {} each", memory_text(available),
                     machine.run.compilers, memory_text(machine.run.compiler_bytes)),
         "compilation of large kernels by all compilers at once",
         fmt::format("--jobs {}", std::max<std::uint64_t>(1, available / kOfACompiler))});
  }
}

}  // namespace

std::string misfit_of(const Machine& machine) {
  if (machine.device() == nullptr || !machine.survey.nvrtc.failure.empty()) return {};
  try {
    require_driver_for(machine.survey.nvrtc.version, *machine.device());
    return {};
  } catch (const MissingError& error) {
    return error.what();
  }
}

std::vector<Finding> findings_of(const Machine& machine) {
  std::vector<Finding> findings;
  add_device(machine, findings);
  add_compiler(machine, findings);
  add_run(machine, findings);
  add_gpu(machine, findings);
  add_profile(machine, findings);
  add_host(machine, findings);
  std::stable_partition(findings.begin(), findings.end(),
                        [](const Finding& finding) { return finding.stops_run; });
  return findings;
}

bool run_would_work(const std::vector<Finding>& findings) {
  return std::ranges::none_of(findings, &Finding::stops_run);
}

}  // namespace evo
