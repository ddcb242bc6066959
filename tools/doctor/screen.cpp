#include "tools/doctor/screen.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <sstream>

#include "engine/worker/limits.hpp"
#include "tools/cli/help_format.hpp"

namespace evo {
namespace {

constexpr std::size_t kLabel = 9;  ///< columns of a label with the spaces after it

/// Wraps text to kHelpColumns after a label; further lines have the same indentation.
std::string labelled(const std::string& label, const std::string& text,
                     std::size_t indent = kLabel) {
  std::istringstream stream(text);
  const std::vector<std::string> words(std::istream_iterator<std::string>(stream), {});
  const std::string lines =
      wrapped(fmt::format("{}", fmt::join(words, " ")), kHelpColumns - indent, 0);
  return fmt::format("{:<{}}{}\n", label, indent, hanging(lines, indent));
}

/// If a path is too long for a line, keeps only the end of the path. The JSON output has the whole
/// path.
std::string short_path(const std::string& path) {
  constexpr std::size_t kMost = 58;
  if (path.size() <= kMost) return path;
  const std::size_t cut = path.find('/', path.size() - kMost);
  return "..." + (cut == std::string::npos ? path.substr(path.size() - kMost) : path.substr(cut));
}

std::string memory_of(const GpuFacts& gpu) {
  if (!gpu.memory_bytes) return "memory unknown";
  if (!gpu.free_bytes) return memory_text(*gpu.memory_bytes);
  const std::string free = memory_text(*gpu.free_bytes);  // "3.1 GB"
  return fmt::format("{} of {} free", free.substr(0, free.find(' ')),
                     memory_text(*gpu.memory_bytes));
}

std::string clocks_of(const GpuFacts& gpu) {
  if (!gpu.sm_clock_mhz) return "SM clock unknown";
  std::string text = fmt::format("SM clock {:.0f}", *gpu.sm_clock_mhz);
  if (gpu.most_sm_clock_mhz) text += fmt::format(" of {:.0f}", *gpu.most_sm_clock_mhz);
  text += " MHz";
  if (gpu.application_clock_mhz != gpu.default_application_clock_mhz && gpu.application_clock_mhz) {
    text += fmt::format(", application clock {:.0f}", *gpu.application_clock_mhz);
  }
  if (gpu.held_at_application_clock) text += ", in effect";
  return text;
}

std::string modes_of(const GpuFacts& gpu) {
  std::string text = gpu.compute_mode ? to_string(*gpu.compute_mode) + " mode" : "mode unknown";
  if (!gpu.mig) return text;
  text += *gpu.mig ? fmt::format(", MIG on, {} slice(s)", gpu.slices.size()) : ", MIG off";
  return text;
}

/// "cuda:N" for a GPU or MIG slice; empty if CUDA does not see it.
std::string cuda_name(const Machine& machine, const std::string& uuid) {
  for (const CudaGpu& seen : machine.survey.cuda.gpus) {
    if (uuid.ends_with(seen.uuid)) return fmt::format("cuda:{}", seen.ordinal);
  }
  return {};
}

std::string gpus_text(const Machine& machine) {
  std::string text;
  for (const GpuFacts& gpu : machine.survey.nvml.gpus) {
    std::string name = cuda_name(machine, gpu.uuid);
    if (name.empty()) name = gpu.slices.empty() ? "not seen by CUDA" : "in slices";
    text += labelled("GPU", fmt::format("{}: {}, {}, {}, {}", name, gpu.name, gpu.arch,
                                        short_uuid(gpu.uuid), memory_of(gpu)));
    text += labelled("", clocks_of(gpu) + "; " + modes_of(gpu));
    for (const GpuSlice& slice : gpu.slices) {
      const std::string number = cuda_name(machine, slice.uuid);
      text += labelled("", fmt::format("{}: {}, {}", number.empty() ? "not seen by CUDA" : number,
                                       slice.name, short_uuid(slice.uuid)));
    }
    if (!gpu.processes.empty()) {
      text += labelled("", fmt::format("on it: {}", fmt::join(gpu.processes, ", ")));
    }
  }
  if (!text.empty()) return text;
  // Without NVML, only the CUDA driver reports the GPUs.
  for (const CudaGpu& gpu : machine.survey.cuda.gpus) {
    text +=
        labelled("GPU", fmt::format("cuda:{}: {}, {}, {}, {}, {} mode", gpu.ordinal, gpu.name,
                                    gpu.arch, gpu.uuid.substr(0, gpu.uuid.find('-')),
                                    memory_text(gpu.memory_bytes), to_string(gpu.compute_mode)));
  }
  return text.empty() ? labelled("GPU", "none") : text;
}

/// The first line of a message; the list of findings contains the other lines.
std::string headline(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string driver_text(const Machine& machine) {
  const NvmlFacts& nvml = machine.survey.nvml;
  const CudaFacts& cuda = machine.survey.cuda;
  std::string text;
  if (cuda.library.empty()) {
    text += labelled("driver", headline(cuda.failure));
  } else {
    const std::string& serves = cuda.cuda.empty() ? nvml.cuda : cuda.cuda;
    const std::string& module = machine.host.kernel_module;
    text += labelled("driver", fmt::format("{}, serves CUDA {}{}",
                                           nvml.driver.empty() ? "version unknown" : nvml.driver,
                                           serves.empty() ? "of an unknown version" : serves,
                                           module.empty() ? "" : ", kernel module " + module));
    text += labelled("", short_path(cuda.library));
  }
  text +=
      labelled("NVML", nvml.failure.empty() ? short_path(nvml.library) : headline(nvml.failure));
  std::vector<std::string> files;
  for (const DeviceFile& file : machine.files) {
    files.push_back(file.usable ? file.path
                                : fmt::format("{} NOT USABLE ({})", file.path, file.access));
  }
  text += labelled("files",
                   files.empty() ? "no /dev/nvidia*" : fmt::format("{}", fmt::join(files, ", ")));
  if (!machine.visible.empty()) text += labelled("", "CUDA_VISIBLE_DEVICES=" + machine.visible);
  text += labelled("MPS", machine.host.mps_runs ? "runs" : "does not run");
  return text;
}

std::string compiler_text(const Machine& machine) {
  const NvrtcFacts& nvrtc = machine.survey.nvrtc;
  if (nvrtc.version.empty()) return labelled("NVRTC", headline(nvrtc.failure));
  std::string text =
      labelled("NVRTC", nvrtc.version + ", for " + fmt::format("{}", fmt::join(nvrtc.archs, " ")));
  text += labelled("", short_path(nvrtc.library));
  if (!nvrtc.failure.empty()) text += labelled("", headline(nvrtc.failure));
  if (machine.device() != nullptr && machine.device()->time_kind == TimeKind::kMeasured) {
    text += labelled("", misfit_of(machine).empty() ? "the driver accepts its code"
                                                    : "the driver REFUSES its code");
  }
  return text;
}

std::string ncu_text(const Machine& machine) {
  const auto& for_root = machine.host.counters_for_root;
  const std::string counters = !for_root              ? "counters: unknown without a driver"
                               : !*for_root           ? "counters: for everybody"
                               : machine.host.is_root ? "counters: for root only; this user is root"
                                                      : "counters: for root ONLY";
  if (machine.ncu_path.empty()) return labelled("ncu", "not found; " + counters);
  const std::string version = machine.ncu_version.empty() ? "does not work" : machine.ncu_version;
  return labelled(
      "ncu", fmt::format("{}, {}; {}", version, short_path(machine.ncu_path.string()), counters));
}

std::string folder_text(const FolderFacts& folder) {
  if (!folder.failure.empty()) return folder.failure;
  const std::string room = folder.free_bytes ? memory_text(*folder.free_bytes) + " free" : "";
  return fmt::format("{} {}{}", short_path(folder.path.string()), room,
                     folder.writable ? "" : ", NOT WRITABLE");
}

std::string host_text(const Machine& machine) {
  const HostFacts& host = machine.host;
  std::string cores = fmt::format("{} usable of {}", host.usable_cores, host.cores);
  if (host.core_limit)
    cores += fmt::format(", limit of the control group {:.3g}", *host.core_limit);
  std::string memory = fmt::format("{} of {} available", memory_text(host.available_bytes),
                                   memory_text(host.memory_bytes));
  if (host.memory_limit) {
    memory += fmt::format(", limit of the control group {}", memory_text(*host.memory_limit));
  }
  return labelled("cores", cores) + labelled("memory", memory) +
         labelled("disk", "here: " + folder_text(host.folder)) +
         labelled("", "temporary: " + folder_text(host.temporary));
}

std::string run_text(const Machine& machine) {
  const DeviceInfo* device = machine.device();
  if (device == nullptr) return labelled("default", "run opens no device");
  const bool measured = device->time_kind == TimeKind::kMeasured;
  std::string text =
      labelled("default", fmt::format("run on {} ({}); times are {}", device->id, device->name,
                                      measured ? "measured" : "PREDICTED"));
  text += labelled("", fmt::format("{} compilers, {} of memory each", machine.run.compilers,
                                   memory_text(machine.run.compiler_bytes)));
  if (!machine.run.space.empty()) text += labelled("", short_path(machine.run.space));
  return text;
}

std::string finding_text(const Finding& finding) {
  constexpr std::size_t kIndent = 12;
  std::string text = labelled(finding.stops_run ? "!" : "-", finding.what, 2);
  text += labelled("  prevents", finding.prevents, kIndent);
  std::istringstream lines(finding.step);
  const char* label = "  mend";
  for (std::string line; std::getline(lines, line); label = "") {
    text += labelled(label, line, kIndent);
  }
  return text;
}

}  // namespace

std::string short_uuid(const std::string& uuid) {
  const std::size_t kind = uuid.find('-');
  return uuid.substr(0, kind == std::string::npos ? kind : uuid.find('-', kind + 1));
}

std::string doctor_screen(const Machine& machine, const std::vector<Finding>& findings) {
  std::string text = "evo-tune " + machine.version + "\n";
  text += gpus_text(machine) + driver_text(machine) + compiler_text(machine) + ncu_text(machine) +
          host_text(machine) + run_text(machine);
  text += findings.empty() ? "\nNothing is missing.\n" : "\nmissing\n";
  for (const Finding& finding : findings) text += finding_text(finding);
  text += run_would_work(findings) ? "A default run works here.\n"
                                   : "A default run does NOT work here (exit code 3).\n";
  return text;
}

}  // namespace evo
