#include "engine/compile/nvrtc.hpp"

#include <fmt/format.h>
#include <nvrtc.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <sstream>

#include "engine/compile/entry_symbol.hpp"
#include "engine/compile/kept_macros.hpp"
#include "engine/compile/nvrtc_library.hpp"
#include "engine/compile/ptxas_log.hpp"
#include "engine/compile/source_names.hpp"
#include "engine/core/names.hpp"
#include "engine/core/printable.hpp"
#include "engine/cubin/cubin.hpp"
#include "engine/ptx/code_hash.hpp"

namespace evo {
namespace {

/// How the symbols of entries are found. An identifier such as "softmax" is first searched among
/// the symbols of the cubin. If the cubin lacks an entry's symbol, the source is compiled again
/// with every entry as a name expression, for which NVRTC returns the symbol or reports an error.
enum class Naming { kLookUpPlain, kAllByExpression };

bool is_by_expression(const std::string& entry, Naming naming) {
  return naming == Naming::kAllByExpression || !is_identifier(entry);
}

class NvrtcCompiler final : public Compiler {
 public:
  NvrtcCompiler() : library_(NvrtcLibrary::open()), version_(library_.version()) {
    require_new_enough(version_, library_.path());
  }

  [[nodiscard]] std::string version() const override { return version_.text(); }
  [[nodiscard]] CompileAnswer compile(const CompileRequest& request) override;

 private:
  void call(nvrtcResult result, const char* what) const { library_.require(result, what); }

  /// Returns the data of nvrtcGet…, after asking nvrtcGet…Size for the number of bytes.
  [[nodiscard]] std::string fetch(nvrtcProgram program, const char* size_name,
                                  const char* get_name) const {
    std::size_t size = 0;
    call(library_.find<decltype(nvrtcGetPTXSize)>(size_name)(program, &size), size_name);
    std::string data(size, '\0');
    call(library_.find<decltype(nvrtcGetPTX)>(get_name)(program, data.data()), get_name);
    return data;
  }

  [[nodiscard]] nvrtcResult create_program(const CompileRequest& request,
                                           nvrtcProgram* program) const;
  [[nodiscard]] nvrtcResult run(nvrtcProgram program, const CompileRequest& request) const;
  [[nodiscard]] CompileAnswer collect(nvrtcProgram program, nvrtcResult result,
                                      const CompileRequest& request, Naming naming) const;
  [[nodiscard]] std::variant<std::string, Rejection> symbol_of(nvrtcProgram program,
                                                               const CompileRequest& request,
                                                               const std::string& entry,
                                                               const Compiled& compiled,
                                                               Naming naming) const;
  [[nodiscard]] CompileAnswer compile_once(const CompileRequest& request, Naming naming) const;
  [[nodiscard]] CompilerFailure failure(nvrtcResult result, const std::string& log) const;

  NvrtcLibrary library_;
  NvrtcVersion version_;
};

std::string without_terminator(std::string text) {
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

/// The first line of the log with the word "error", else its first line that is not blank, else a
/// text that says that the compiler gave no reason. For messages.
std::string first_error(const std::string& log) {
  std::istringstream lines(log);
  std::string first;
  for (std::string line; std::getline(lines, line);) {
    // NVRTC puts a NUL between its own log and the log of ptxas; printable() has replaced it by the
    // text \x00, which is removed here.
    constexpr std::string_view kNul = "\\x00";
    if (line.starts_with(kNul)) line.erase(0, kNul.size());
    if (line.find("error") != std::string::npos) return line;
    if (first.empty() && line.find_first_not_of(" \t") != std::string::npos) first = line;
  }
  return first.empty() ? "the compiler gave no reason" : first;
}

/// Whether the compiler's log speaks of a lack of memory, which may have another cause than the
/// kernel. CompilePool then compiles the kernel once more in a new process before it rejects the
/// kernel. A source that prints such a text, for example by #error, gets this attempt, too.
bool speaks_of_memory(const std::string& log) {
  for (const char* text : {"out of memory", "Out of memory", "bad_alloc", "memory allocation"}) {
    if (log.find(text) != std::string::npos) return true;
  }
  return false;
}

/// Shortens a log of more than 512 KiB to its first and its last 256 KiB.
std::string shortened(const std::string& log) {
  constexpr std::size_t kKept = std::size_t{256} << 10;
  if (log.size() <= 2 * kKept) return log;
  return printable(log.substr(0, kKept)) + "\n… " + std::to_string(log.size() - 2 * kKept) +
         " bytes left out …\n" + printable(log.substr(log.size() - kKept));
}

/// Combines the resources from the log and from the machine code, which must agree.
std::variant<Resources, Rejection> resources_of(const std::string& log, const std::string& cubin,
                                                const std::string& entry) {
  const std::optional<CubinFacts> facts = read_cubin(cubin, entry);
  if (!facts) {
    return Rejection{Gate::kBuild,
                     "the source has no entry point '" + entry +
                         "' (a __global__ function), or its machine code cannot be read",
                     shortened(log)};
  }
  auto parsed = parse_ptxas_log(log, entry, cubin_functions(cubin));
  if (const auto* why = std::get_if<std::string>(&parsed)) {
    return Rejection{Gate::kResource, *why, shortened(log)};
  }
  const PtxasReport& report = std::get<PtxasReport>(parsed);
  std::string different;
  const auto compare = [&](const char* what, int in_log, int in_code) {
    if (in_log == in_code) return;
    different += (different.empty() ? "" : ", ") + std::string(what) + " " +
                 std::to_string(in_log) + " and " + std::to_string(in_code);
  };
  compare("registers", report.resources.registers, facts->registers);
  compare("static shared bytes", report.resources.static_shared_bytes, facts->static_shared_bytes);
  compare("stack frame", report.frame_bytes, facts->frame_bytes);
  if (!different.empty()) {
    return Rejection{Gate::kResource,
                     "the log of ptxas and the machine code disagree: " + different,
                     shortened(log)};
  }
  Resources resources = report.resources;
  resources.max_threads = facts->max_threads;
  return resources;
}

nvrtcResult NvrtcCompiler::create_program(const CompileRequest& request,
                                          nvrtcProgram* program) const {
  std::vector<const char*> texts;
  std::vector<const char*> names;
  for (const auto& [name, text] : request.source.headers) {
    names.push_back(name.c_str());
    texts.push_back(text.c_str());
  }
  const std::string text = request.source.text + macro_check(given_macros(request.options));
  return library_.find<decltype(nvrtcCreateProgram)>("nvrtcCreateProgram")(
      program, text.c_str(), request.source.name.c_str(), static_cast<int>(names.size()),
      texts.data(), names.data());
}

nvrtcResult NvrtcCompiler::run(nvrtcProgram program, const CompileRequest& request) const {
  std::vector<std::string> options = {"-arch=" + request.arch, "--ptxas-options=-v"};
  // Disables NVRTC's compilation cache, which suppresses the ptxas report from NVRTC 12.9 on
  // (NVIDIA/Fuser #4694).
  if (version_.number() >= 1209) options.emplace_back("--no-cache");
  options.insert(options.end(), request.options.begin(), request.options.end());
  std::vector<const char*> pointers;
  for (const std::string& option : options) pointers.push_back(option.c_str());
  return library_.find<decltype(nvrtcCompileProgram)>("nvrtcCompileProgram")(
      program, static_cast<int>(pointers.size()), pointers.data());
}

CompilerFailure NvrtcCompiler::failure(nvrtcResult result, const std::string& log) const {
  const auto describe = library_.find<decltype(nvrtcGetErrorString)>("nvrtcGetErrorString");
  const bool memory = result == NVRTC_ERROR_OUT_OF_MEMORY || speaks_of_memory(log);
  return {memory ? CompilerFailure::Kind::kOutOfMemory : CompilerFailure::Kind::kInternal,
          result == NVRTC_ERROR_COMPILATION
              ? first_error(log)
              : std::string("the compiler failed: ") + describe(result),
          shortened(log)};
}

/// The entry whose name expression the log names first; the first entry if the log names none.
std::string entry_in_error(const std::string& log, const CompileRequest& request) {
  constexpr std::string_view kPragma = "#pragma nv_mangled_name ";
  const std::size_t at = log.find(kPragma);
  if (at == std::string::npos) return request.entries.front();
  const std::string name =
      log.substr(at + kPragma.size(), log.find('\n', at) - at - kPragma.size());
  const auto known = std::ranges::find(request.entries, name);
  return known == request.entries.end() ? request.entries.front() : *known;
}

/// The line of the source that led to the first error, `first`, as "k.cu(3): ". Empty if the error
/// lies in the source or one of its headers, or if the compiler does not report the line.
std::string line_of_source(const std::string& log, const std::string& first,
                           const CompileRequest& request) {
  const auto is_in = [&](const std::string& name) { return first.starts_with(name + "("); };
  if (is_in(request.source.name) ||
      std::ranges::any_of(request.source.headers, is_in, [](const auto& h) { return h.first; })) {
    return {};
  }
  const std::string end = " of " + request.source.name + "\n";
  const std::size_t begin = log.find(first);
  const std::size_t found = log.find(end, begin);
  const std::size_t next = log.find("error: ", begin + first.size());
  if (begin == std::string::npos || found == std::string::npos || found > next) return {};
  const std::size_t number = log.rfind(' ', found - 1) + 1;
  return fmt::format("{}({}): ", request.source.name, log.substr(number, found - number));
}

/// The first error, without the generated file in which NVRTC checks name expressions, because the
/// file's name and line numbers would confuse users.
std::string reason_of(const std::string& log, const CompileRequest& request) {
  constexpr std::string_view kNameMap = "__nv_name_map(";
  constexpr std::string_view kError = "error: ";
  const std::string first = first_error(log);
  if (first.find("gpu-architecture") != std::string::npos ||
      first.find("nv_arch") != std::string::npos) {
    return fmt::format("arch: \"{}\": this compiler does not support it: {}", request.arch, first);
  }
  if (first.starts_with("__nv_nvrtc_")) {
    return first + "; does a macro have a name that the compiler's headers use, such as T?";
  }
  const std::size_t error = first.find(kError);
  if (!first.starts_with(kNameMap) || error == std::string::npos) {
    return line_of_source(log, first, request) + first;
  }
  return fmt::format("{}: entry: the source has no entry point '{}': {}", request.source.name,
                     entry_in_error(log, request), first.substr(error + kError.size()));
}

/// The symbol of an entry in this compilation. The symbol is empty if the entry is an identifier
/// and no kernel at file scope has this name. A Rejection if several kernels have this name.
std::variant<std::string, Rejection> NvrtcCompiler::symbol_of(nvrtcProgram program,
                                                              const CompileRequest& request,
                                                              const std::string& entry,
                                                              const Compiled& compiled,
                                                              Naming naming) const {
  if (is_by_expression(entry, naming)) {
    const char* lowered = nullptr;
    const nvrtcResult result = library_.find<decltype(nvrtcGetLoweredName)>("nvrtcGetLoweredName")(
        program, entry.c_str(), &lowered);
    // NVRTC knows no symbol for a kernel without code, for example for an uninstantiated template;
    // the entry is returned as it is written.
    return result == NVRTC_SUCCESS && lowered != nullptr ? std::string(lowered) : entry;
  }
  const std::vector<std::string> named = symbols_named(cubin_functions(compiled.cubin), entry);
  if (named.size() < 2) return named.empty() ? std::string() : named.front();
  std::string list;
  for (const std::string& name : named) list += (list.empty() ? "" : ", ") + name;
  return Rejection{
      Gate::kBuild,
      fmt::format("{0}: entry: \"{1}\": several kernels: {2}; name one, such as {1}<float>",
                  request.source.name, entry, list),
      {}};
}

CompileAnswer NvrtcCompiler::collect(nvrtcProgram program, nvrtcResult result,
                                     const CompileRequest& request, Naming naming) const {
  const std::string log =
      printable(without_terminator(fetch(program, "nvrtcGetProgramLogSize", "nvrtcGetProgramLog")));
  const auto changed = changed_macro_in(log, given_macros(request.options), request.source.name);
  if (changed) return Rejection{Gate::kBuild, *changed, shortened(log)};
  const bool rejected = result == NVRTC_ERROR_COMPILATION || result == NVRTC_ERROR_INVALID_OPTION;
  if (rejected && !speaks_of_memory(log)) {
    return Rejection{Gate::kBuild, reason_of(log, request), shortened(log)};
  }
  if (result != NVRTC_SUCCESS) return failure(result, log);
  Compiled compiled;
  compiled.log = shortened(log);
  compiled.ptx = without_terminator(fetch(program, "nvrtcGetPTXSize", "nvrtcGetPTX"));
  compiled.cubin = fetch(program, "nvrtcGetCUBINSize", "nvrtcGetCUBIN");
  compiled.ptx_hash = hash_ptx(compiled.ptx);
  std::vector<CompiledEntry> entries;
  for (const std::string& entry : request.entries) {
    auto symbol = symbol_of(program, request, entry, compiled, naming);
    if (auto* rejection = std::get_if<Rejection>(&symbol)) return std::move(*rejection);
    const std::string& name = std::get<std::string>(symbol);
    if (name.empty()) return compile_once(request, Naming::kAllByExpression);
    auto resources = resources_of(log, compiled.cubin, name);
    if (auto* rejection = std::get_if<Rejection>(&resources)) return std::move(*rejection);
    entries.push_back({name, std::get<Resources>(resources)});
  }
  compiled.resources = largest_of(entries);
  compiled.ptx =
      with_source_names(compiled.ptx, request.source, std::filesystem::current_path().string());
  compiled.ptx = with_entries(std::move(compiled.ptx), request.entries, entries);
  return compiled;
}

CompileAnswer NvrtcCompiler::compile_once(const CompileRequest& request, Naming naming) const {
  nvrtcProgram program = nullptr;
  const nvrtcResult created = create_program(request, &program);
  if (created != NVRTC_SUCCESS) return failure(created, "");
  const auto destroy = [this](nvrtcProgram* handle) {
    library_.find<decltype(nvrtcDestroyProgram)>("nvrtcDestroyProgram")(handle);
  };
  const std::unique_ptr<nvrtcProgram, decltype(destroy)> guard(&program, destroy);
  for (const std::string& entry : request.entries) {
    if (!is_by_expression(entry, naming)) continue;
    const auto add = library_.find<decltype(nvrtcAddNameExpression)>("nvrtcAddNameExpression");
    const nvrtcResult added = add(program, entry.c_str());
    if (added != NVRTC_SUCCESS) return failure(added, "");
  }
  return collect(program, run(program, request), request, naming);
}

CompileAnswer NvrtcCompiler::compile(const CompileRequest& request) {
  const auto start = std::chrono::steady_clock::now();
  CompileAnswer answer = compile_once(request, Naming::kLookUpPlain);
  if (auto* compiled = std::get_if<Compiled>(&answer)) {
    const std::chrono::duration<double, std::milli> elapsed =
        std::chrono::steady_clock::now() - start;
    compiled->compile_ms = elapsed.count();
  }
  return answer;
}

}  // namespace

std::unique_ptr<Compiler> open_nvrtc() { return std::make_unique<NvrtcCompiler>(); }

}  // namespace evo
