#include "tools/predict/ptx_run.hpp"

#include <array>
#include <cstdio>
#include <filesystem>
#include <new>
#include <span>

#include "engine/core/json_reader.hpp"
#include "engine/core/suggestion.hpp"
#include "engine/device/virtual/virtual_device.hpp"
#include "tools/cli/argument_text.hpp"
#include "tools/cli/output_files.hpp"

namespace evo {
namespace {

constexpr std::uint64_t kMostBytes = 1ULL << 32;  // limit of all buffers, and of a file

std::vector<std::byte> read_file(const std::string& path) {
  const std::string text = read_text_file(path, kMostBytes);
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

/// Parses `text` as a number. Throws InputError if `text` is not a number that type T can hold.
template <typename T>
T number(const std::string& text, const std::string& what) {
  if (const auto value = number_in<T>(text)) return *value;
  throw InputError(what + " '" + text + "' is not a number in the range of its type");
}

std::size_t byte_count(const std::string& text) {
  const auto bytes = number<std::uint64_t>(text, "number of bytes");
  if (bytes > kMostBytes)
    throw InputError("'" + text + "' bytes: allowed: 0 to " + std::to_string(kMostBytes));
  return bytes;
}

const std::vector<std::string> kContents = {"zeros", "ones"};

std::vector<std::byte> content_of(const std::string& source) {
  if (source.starts_with("zeros:")) return std::vector<std::byte>(byte_count(source.substr(6)));
  if (source.starts_with("ones:"))
    return std::vector<std::byte>(byte_count(source.substr(5)), std::byte{1});
  // A source such as "zero:16" is probably a misspelt "zeros:16", unless a file has this name.
  const std::string word = source.substr(0, source.find(':'));
  const bool is_word = word.size() < source.size() && !std::filesystem::exists(source);
  if (is_word && !nearest_name(word, kContents).empty()) {
    throw InputError("'" + source + "': " + unknown_name("content", word, kContents));
  }
  return read_file(source);
}

KernelArgument scalar(const std::string& type, const std::string& value) {
  const std::string what = "argument " + type + ":";
  if (type == "i32") return ScalarArgument::of(number<std::int32_t>(value, what));
  if (type == "u32") return ScalarArgument::of(number<std::uint32_t>(value, what));
  if (type == "i64") return ScalarArgument::of(number<std::int64_t>(value, what));
  if (type == "u64") return ScalarArgument::of(number<std::uint64_t>(value, what));
  if (type == "f32") return ScalarArgument::of(number<float>(value, what));
  if (type == "f64") return ScalarArgument::of(number<double>(value, what));
  throw InputError("--arg: " +
                   unknown_name("kind of argument", type,
                                {"in", "inout", "out", "i32", "u32", "i64", "u64", "f32", "f64"}));
}

struct NamedBuffer {
  std::string name;
  BufferId id;
  std::size_t bytes;
};

KernelArgument make_argument(VirtualDevice& device, const std::string& text,
                             std::vector<NamedBuffer>& outputs) {
  const std::size_t colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  const std::string rest = colon == std::string::npos ? "" : text.substr(colon + 1);
  if (kind != "in" && kind != "inout" && kind != "out") return scalar(kind, rest);
  const std::size_t equals = rest.find('=');
  if (equals == std::string::npos) {
    throw InputError("--arg " + text + ": allowed: " + kind +
                     ":NAME=" + (kind == "out" ? "BYTES" : "FILE, zeros:BYTES or ones:BYTES"));
  }
  const std::string name = rest.substr(0, equals);
  const std::string source = rest.substr(equals + 1);
  if (name.empty() || name.find('/') != std::string::npos)
    throw InputError("argument '" + text + "': allowed: a name without '/'");
  if (kind == "out") {
    const std::size_t bytes = byte_count(source);
    outputs.push_back({name, device.memory().allocate({name, bytes, true}), bytes});
    return outputs.back().id;
  }
  const std::vector<std::byte> content = content_of(source);
  const BufferId id = device.memory().allocate({name, content.size(), kind == "inout"});
  device.memory().upload(id, content);
  if (kind == "inout") outputs.push_back({name, id, content.size()});
  return id;
}

std::array<std::uint32_t, 3> three(const std::vector<std::uint32_t>& values, const char* what) {
  if (values.empty() || values.size() > 3)
    throw InputError(std::string(what) + " takes one to three numbers");
  std::array<std::uint32_t, 3> result = {1, 1, 1};
  std::copy(values.begin(), values.end(), result.begin());
  return result;
}

/// Prints a checksum of each output, so that the outputs of two runs can be compared. Writes the
/// outputs to the folder `save`, unless `save` is empty.
void print_outputs(VirtualDevice& device, const std::vector<NamedBuffer>& outputs,
                   const std::string& save) {
  std::vector<OutputFile> files;
  for (const NamedBuffer& output : outputs) {
    std::vector<std::byte> bytes(output.bytes);
    device.memory().download(output.id, bytes);
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    for (const std::byte b : bytes)
      hash = (hash ^ std::to_integer<std::uint64_t>(b)) * 0x100000001b3ULL;
    std::printf("%s: %zu bytes, checksum %016llx\n", output.name.c_str(), output.bytes,
                static_cast<unsigned long long>(hash));
    if (save.empty()) continue;
    files.push_back({std::filesystem::path(save) / (output.name + ".out"),
                     {reinterpret_cast<const char*>(bytes.data()), bytes.size()}});
  }
  write_outputs(files, {.writer = "evo-ptx-run", .makes_folders = true});
}

/// Throws InputError, before any buffer is allocated, if all buffers together exceed the limit.
void check_sizes(const std::vector<std::string>& arguments) {
  std::uint64_t total = 0;
  for (const std::string& text : arguments) {
    const std::size_t equals = text.find('=');
    if (!(text.starts_with("in") || text.starts_with("out")) || equals == std::string::npos)
      continue;
    const std::string source = text.substr(equals + 1);
    std::error_code none;
    if (text.starts_with("out:")) {
      total += byte_count(source);
    } else if (source.starts_with("zeros:") || source.starts_with("ones:")) {
      total += byte_count(source.substr(source.find(':') + 1));
    } else if (const auto bytes = std::filesystem::file_size(source, none); !none) {
      total += bytes;
    }
    if (total > kMostBytes) {
      throw InputError("the buffers are larger than " + std::to_string(kMostBytes) +
                       " bytes together");
    }
  }
}

ExitCode launched(const PtxRunOptions& options) {
  check_sizes(options.arguments);
  const auto device = open_virtual_device(
      options.device,
      {.threads = options.threads, .checks = !options.no_checks, .seed = options.seed});
  const std::string ptx = read_text_file(options.file, kMostBytes);
  auto loaded = device->load({.ptx = ptx, .cubin = {}, .entries = {options.entry}});
  if (const auto* fault = std::get_if<Fault>(&loaded)) {
    throw InputError("'" + options.file + "': " + fault->reason);
  }
  const KernelId kernel = std::get<KernelId>(loaded);
  std::vector<NamedBuffer> outputs;
  std::vector<KernelArgument> arguments;
  for (const std::string& text : options.arguments)
    arguments.push_back(make_argument(*device, text, outputs));
  const LaunchConfig config{three(options.grid, "--grid"), three(options.block, "--block"),
                            options.shared};
  const auto fault = device->launch(kernel, config, arguments);
  // Hazards have details; without details, the launch did not begin.
  if (fault && fault->detail.empty()) throw InputError("'" + options.file + "': " + fault->reason);
  std::fwrite(device->printed().data(), 1, device->printed().size(), stdout);
  const VirtualStatistics& statistics = device->statistics();
  if (!options.quiet) {
    std::printf("%llu CTAs, %llu warp instructions in %.3f s (%.1f M/s)\n",
                static_cast<unsigned long long>(statistics.ctas),
                static_cast<unsigned long long>(statistics.warp_instructions), statistics.seconds,
                static_cast<double>(statistics.warp_instructions) / 1e6 /
                    std::max(statistics.seconds, 1e-9));
  }
  if (fault) {
    std::printf("%s", fault->detail.c_str());
    return ExitCode::kNothingGreen;
  }
  print_outputs(*device, outputs, options.save);
  if (options.predict) {
    const auto predicted = device->predicting()->predict_us(kernel, config, arguments);
    if (const auto* failed = std::get_if<Fault>(&predicted)) {
      std::printf("%s\n", failed->reason.c_str());
    } else {
      std::printf("predicted %.2f us on %s\n", std::get<double>(predicted),
                  device->info().name.c_str());
      const std::string gaps = device->predicting()->prediction_gaps();
      if (!gaps.empty()) std::printf("not modelled: %s\n", gaps.c_str());
    }
  }
  return ExitCode::kGreen;
}

}  // namespace

ExitCode ptx_run(const PtxRunOptions& options) {
  try {
    return launched(options);
  } catch (const std::bad_alloc&) {
    throw MissingError("not enough memory on this machine for the buffers and the launch");
  }
}

}  // namespace evo
