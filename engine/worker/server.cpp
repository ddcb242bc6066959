#include "engine/worker/server.hpp"

#include <malloc.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <new>

#include "engine/compile/compiler_options.hpp"
#include "engine/compile/file_watch.hpp"
#include "engine/core/error.hpp"
#include "engine/core/printable.hpp"
#include "engine/core/zstd_frames.hpp"
#include "engine/worker/frame.hpp"
#include "engine/worker/limits.hpp"
#include "engine/worker/memory_aborts.hpp"
#include "engine/worker/messages.hpp"
#include "engine/worker/nvtx_ranges.hpp"
#include "engine/worker/session_messages.hpp"

namespace evo {
namespace {

using nlohmann::json;
using Handler = std::function<json(const json&)>;

/// Receives messages on standard input, and sends messages on standard output. The output
/// descriptor is duplicated, and standard output is redirected to standard error, because the
/// output of libraries must not mix with the messages.
class Channel {
 public:
  Channel() : output_(dup(STDOUT_FILENO)) { dup2(STDERR_FILENO, STDOUT_FILENO); }

  /// Waits for the next message; nullopt at the end of the input.
  std::optional<json> receive() {
    std::array<std::uint8_t, 65536> chunk{};
    while (true) {
      if (auto message = reader_.next()) return message;
      const ssize_t count = read(STDIN_FILENO, chunk.data(), chunk.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return std::nullopt;
      reader_.feed({chunk.data(), static_cast<std::size_t>(count)});
    }
  }

  void send(json message) const {
    const std::vector<std::uint8_t> frame = encode_frame(std::move(message));
    std::size_t sent = 0;
    while (sent < frame.size()) {
      const ssize_t count = write(output_, frame.data() + sent, frame.size() - sent);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return;  // the coordinator is gone; receive() reports this, too
      sent += static_cast<std::size_t>(count);
    }
  }

 private:
  int output_;
  FrameReader reader_;
};

json error_message(const std::exception& error) {
  const auto* known = dynamic_cast<const Error*>(&error);
  const ExitCode code = known != nullptr ? known->exit_code() : ExitCode::kMissing;
  return {{"error", error.what()}, {"code", static_cast<int>(code)}};
}

/// Answers requests until the input ends or a reply says that the device is lost or memory ran out.
int serve(Channel& channel, const Handler& handle) {
  while (const auto request = channel.receive()) {
    json reply;
    try {
      reply = handle(*request);
    } catch (const std::bad_alloc&) {
      // After replying "out_of_memory", this process ends, and the coordinator starts a new one.
      reply = {{"out_of_memory", memory_text(address_space_limit())}};
    } catch (const std::exception& error) {
      reply = error_message(error);
    }
    channel.send(reply);
    if (reply.value("device_lost", false) || reply.contains("out_of_memory")) return 0;
  }
  return 0;
}

/// Turns a failure near the memory limit into kOutOfMemory, after which CompilePool repeats the
/// compilation with more memory. Compilers report a lack of memory in many ways, or not at all, so
/// every failure near the limit counts.
CompileAnswer blamed_on_memory(CompileAnswer answer) {
  if (std::holds_alternative<Compiled>(answer) || !was_near_memory_limit()) return answer;
  CompilerFailure failure{CompilerFailure::Kind::kOutOfMemory, {}};
  if (auto* rejection = std::get_if<Rejection>(&answer)) {
    failure.reason = std::move(rejection->reason);
    failure.detail = std::move(rejection->detail);
  } else {
    failure.reason = std::get<CompilerFailure>(answer).reason;
  }
  return failure;
}

/// Adds to a rejection the files that the compiler was not allowed to open, if its error message
/// mentions them.
void name_refused(Rejection& rejection, const std::vector<std::string>& refused) {
  std::string names;
  for (const std::string& file : refused) {
    const std::string name = std::filesystem::path(file).filename().string();
    if (rejection.detail.find(name) == std::string::npos) continue;
    names += (names.empty() ? "" : ", ") + file;
  }
  if (names.empty()) return;
  rejection.reason +=
      " (" + printable(names) +
      " was not opened: after following links, it is outside of the template's files "
      "and the include paths)";
}

/// Rejects code above a size limit, which is far above the size of real kernels.
CompileAnswer within_size(Compiled compiled) {
  constexpr std::size_t kMostBytes = std::size_t{256} << 20;
  const std::size_t bytes = compiled.ptx.size() + compiled.cubin.size();
  if (bytes <= kMostBytes) return compiled;
  return Rejection{Gate::kBuild, "the kernel's code takes " + std::to_string(bytes >> 20) +
                                     " MiB; allowed: at most " + std::to_string(kMostBytes >> 20)};
}

struct Watched {
  CompileAnswer answer;
  std::vector<Dependency> dependencies;
  std::vector<std::string> refused;
};

Watched compile_watched(Compiler& compiler, const CompileRequest& request, bool must_see_files) {
  Watched result;
  const FileWatch watch(include_folders(request.options));
  try {
    result.answer = compiler.compile(request);
  } catch (const std::bad_alloc&) {
    result.answer = CompilerFailure{CompilerFailure::Kind::kOutOfMemory, "no memory was left"};
  } catch (const std::exception& error) {
    result.answer = CompilerFailure{CompilerFailure::Kind::kInternal, error.what()};
  }
  // A failed compilation may have opened no file, because the compiler opens none if an option is
  // invalid, so only successful compilations are tested.
  if (must_see_files && std::holds_alternative<Compiled>(result.answer) && !watch.saw_anything()) {
    throw NvrtcError("the files that the compiler opens cannot be watched on this system");
  }
  result.dependencies = watch.dependencies();
  result.refused = watch.refused();
  return result;
}

/// Compresses the code in this process, because there are many compiler processes and only one
/// coordinator. If this process is short of memory, it leaves the code to the coordinator to
/// compress.
void pack(Compiled& compiled) {
  static ZstdFrames frames;
  try {
    compiled.packed_ptx = frames.pack(compiled.ptx);
    compiled.packed_cubin = frames.pack(compiled.cubin);
  } catch (const std::exception&) {
    compiled.packed_ptx.clear();
    compiled.packed_cubin.clear();
  }
}

/// Keeps up to 256 MiB of freed memory for the next compilation. Returning the memory to the system
/// and fetching it again, page by page, takes about 4 % of the time of a compilation.
void keep_freed_memory() {
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the largest threshold that glibc accepts
}

/// The first include folder of the request that does not exist on this host; nullopt if all exist.
std::optional<std::string> missing_folder(const CompileRequest& request) {
  for (const auto& folder : include_folders(request.options)) {
    if (!std::filesystem::is_directory(folder)) return std::string(folder);
  }
  return std::nullopt;
}

json compile(Compiler& compiler, const CompileRequest& request, bool must_see_files) {
  Watched result = compile_watched(compiler, request, must_see_files);
  CompileAnswer answer = blamed_on_memory(std::move(result.answer));
  if (auto* failure = std::get_if<CompilerFailure>(&answer)) {
    if (failure->kind == CompilerFailure::Kind::kOutOfMemory && address_space_limit() > 0) {
      failure->reason += " (limit " + memory_text(address_space_limit()) + ")";
    }
    return {{"failure", *failure}};
  }
  if (auto* compiled = std::get_if<Compiled>(&answer)) answer = within_size(std::move(*compiled));
  json reply = {{"dependencies", result.dependencies}};
  if (auto* rejection = std::get_if<Rejection>(&answer)) {
    name_refused(*rejection, result.refused);
    reply["rejection"] = *rejection;
  } else {
    auto& compiled = std::get<Compiled>(answer);
    pack(compiled);
    reply["compiled"] = compiled;
  }
  return reply;
}

/// Names of the NVTX ranges in which profilers show a request: the names that the coordinator sent
/// and, for most requests, the name of the gate or of the request.
std::vector<std::string> ranges_of(const json& request) {
  std::vector<std::string> ranges = request.value("ranges", std::vector<std::string>());
  const std::string op = request.at("op").get<std::string>();
  if (op == "check") ranges.emplace_back("correctness gate");
  if (op == "time") ranges.emplace_back("timing gate");
  if (op == "compare") ranges.emplace_back("confirmation");
  if (op == "energy" || op == "setup" || op == "profile") ranges.push_back(op);
  return ranges;
}

class DeviceServer {
 public:
  DeviceServer(Channel& channel, const std::function<std::unique_ptr<Device>()>& open)
      : channel_(channel), open_(open) {}

  json handle(const json& request) {
    const auto start = std::chrono::steady_clock::now();
    const NvtxRanges ranges(ranges_of(request));
    json reply = dispatch(request);
    const std::chrono::duration<double, std::milli> elapsed =
        std::chrono::steady_clock::now() - start;
    reply["ms"] = elapsed.count();
    return reply;
  }

 private:
  json dispatch(const json& request) {
    const std::string op = request.at("op").get<std::string>();
    if (!device_) open();
    if (op == "info") return {{"info", device_->info()}};
    if (op == "setup") {
      session_ = std::make_unique<Session>(*device_, request.at("setup").get<SessionSetup>());
      return json::object();
    }
    if (!session_) throw Error(ExitCode::kMissing, "device worker: '" + op + "' before 'setup'");
    const Progress progress = [this](const std::string& step) {
      channel_.send({{"progress", step}});
    };
    if (op == "check") {
      return session_->check(request.at("kernel").get<KernelUnderTest>(),
                             check_kind_from_string(request.at("check_kind").get<std::string>()),
                             request.at("limits_us").get<std::vector<double>>(), progress);
    }
    if (op == "time") {
      return session_->time(request.at("kernel").get<KernelUnderTest>(),
                            request.at("shape").get<std::string>(),
                            check_kind_from_string(request.at("check_kind").get<std::string>()),
                            request.at("early_stop_us").get<double>(), progress);
    }
    if (op == "energy") {
      return session_->energy(request.at("kernel").get<KernelUnderTest>(),
                              request.at("shape").get<std::string>(),
                              request.at("window_s").get<double>(), progress);
    }
    if (op == "profile") {
      return session_->predicted_profile(request.at("kernel").get<KernelUnderTest>(),
                                         request.at("shape").get<std::string>(), progress);
    }
    if (op == "outputs") {
      return session_->write_outputs(request.at("kernel").get<KernelUnderTest>(),
                                     request.at("shape").get<std::string>(),
                                     request.at("folder").get<std::string>(), progress);
    }
    if (op == "compare") {
      return session_->compare_pair(request.at("first").get<KernelUnderTest>(),
                                    request.at("second").get<KernelUnderTest>(),
                                    request.at("shape").get<std::string>(), progress);
    }
    throw Error(ExitCode::kMissing, "device worker: unknown request '" + op + "'");
  }

  void open() {
    device_ = open_();
    // The address space is limited only for a virtual GPU. On a GPU, the CUDA driver reserves more
    // address space than the machine has memory.
    if (device_->info().time_kind == TimeKind::kPredicted) {
      apply_limits({interpreter_memory_bytes(), true});
    }
  }

  Channel& channel_;
  const std::function<std::unique_ptr<Device>()>& open_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Session> session_;
};

}  // namespace

int serve_compiler(const std::function<std::unique_ptr<Compiler>()>& open, bool must_see_files) {
  watch_for_memory_aborts();
  keep_freed_memory();
  Channel channel;
  std::unique_ptr<Compiler> compiler;
  CompileRequest request;  // keeps the source until a request replaces it
  return serve(channel, [&](const json& message) -> json {
    pass_on_messages();
    if (!compiler) compiler = open();
    if (message.at("op") == "version") return {{"version", compiler->version()}};
    if (message.contains("source")) message.at("source").get_to(request.source);
    message.at("entries").get_to(request.entries);
    message.at("arch").get_to(request.arch);
    message.at("options").get_to(request.options);
    if (message.value("needs_folders", false)) {
      if (auto folder = missing_folder(request)) return {{"missing_folder", *folder}};
    }
    return compile(*compiler, request, must_see_files);
  });
}

int serve_device(const std::function<std::unique_ptr<Device>()>& open) {
  Channel channel;
  DeviceServer server(channel, open);
  return serve(channel, [&](const json& request) { return server.handle(request); });
}

int serve_survey(const std::function<json()>& read) {
  Channel channel;
  return serve(channel, [&](const json&) { return read(); });
}

}  // namespace evo
