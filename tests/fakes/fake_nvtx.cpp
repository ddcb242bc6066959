// A profiler library that NVTX loads if NVTX_INJECTION64_PATH names it. The library writes every
// pushed range and its enclosing ranges to the file EVO_FAKE_NVTX_FILE, and one more line when the
// process ends.

#if __has_include(<nvtx3/nvToolsExt.h>)

#include <nvtx3/nvToolsExt.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

std::vector<std::string> open_ranges;

void write_line(const std::string& line) {
  const char* name = std::getenv("EVO_FAKE_NVTX_FILE");
  if (name == nullptr) return;
  if (std::FILE* file = std::fopen(name, "a")) {
    std::fprintf(file, "%s\n", line.c_str());
    std::fclose(file);
  }
}

int NVTX_API push(const char* message) {
  open_ranges.emplace_back(message);
  std::string path;
  for (const std::string& range : open_ranges) path += (path.empty() ? "" : "/") + range;
  write_line(path);
  return static_cast<int>(open_ranges.size()) - 1;
}

int NVTX_API pop() {
  if (!open_ranges.empty()) open_ranges.pop_back();
  return static_cast<int>(open_ranges.size());
}

}  // namespace

extern "C" int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
  const auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks == nullptr ||
      callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size) == 0) {
    return 0;
  }
  *table[NVTX_CBID_CORE_RangePushA] = reinterpret_cast<NvtxFunctionPointer>(push);
  *table[NVTX_CBID_CORE_RangePop] = reinterpret_cast<NvtxFunctionPointer>(pop);
  std::atexit([] { write_line("the process ended by itself"); });
  return 1;
}

#else
extern "C" int evo_no_nvtx_here() { return 0; }
#endif
