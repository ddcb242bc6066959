// Uses a bundle as a program would: from two threads on two streams it launches the kernel of every
// shape, checks what it computed, and measures what a launch costs beyond cuLaunchKernel.
//
//   use_bundle DIR [--bursts N] [--allow VARIABLE …] [SIZES …]
//
//   SIZES     such as 2,8,8,300,300,64,0,0,0, by the bundle's variables; default: all shapes that
//             it was tuned for
//   --bursts  how often 200 launches are measured, 101 by default
//   --allow   a shape variable whose sizes need not be like those that were checked
//
// Exit codes: 0 all ran (and are right, for a problem this program can check), 1 something is
// wrong, 2 bad usage or files, 3 no GPU that can run it.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>

#include "exported_kernel.hpp"
#include "sdpa_fp8_check.hpp"
#include "tools/loader/evo_tune.hpp"

namespace {

using nlohmann::json;
using Sizes = std::vector<double>;

std::mutex printing;

/// The manifest of a kernel as it would be on this shape: its "plan" says what values its
/// expressions have.
json manifest_for(const json& index, const evo_tune::Choice& choice, const Sizes& sizes,
                  const evo_tune::Device& device) {
  json manifest = index.at("kernels").at(choice.kernel);
  evo_tune::Values values = {{"SM_COUNT", device.sm_count}, {"SHARED_BYTES", device.shared_bytes}};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::string variable = index.at("shape_variables").at(i);
    values[variable] = sizes[i];
    manifest["shape"]["variables"][variable] = sizes[i];
  }
  const auto value_of = [&](const json& expression) {
    const std::string text = expression.dump();
    return evo_tune::detail::value_of(
        evo_tune::detail::JsonReader{text.c_str(), text.c_str()}.read(), values);
  };
  const json plan = manifest.at("plan");
  for (std::size_t i = 0; i < plan.at("arguments").size(); ++i) {
    const json& planned = plan.at("arguments").at(i);
    json& argument = manifest["arguments"][i];
    if (planned.contains("elements")) argument["extent"]["value"] = value_of(planned["elements"]);
    for (std::size_t f = 0; f < planned.at("fields").size(); ++f) {
      json& field = argument.contains("fields") ? argument["fields"][f] : argument;
      field["value"]["value"] = value_of(planned["fields"][f]);
    }
  }
  for (std::size_t s = 0; s < plan.at("steps").size(); ++s) {
    json& step = manifest.contains("steps") ? manifest["steps"][s] : manifest;
    const json& its = plan["steps"][s];
    if (step.contains("when")) step["when"]["value"] = value_of(its.at("when"));
    json& launch = step["launch"];
    for (std::size_t i = 0; i < 3; ++i) {
      if (i < launch["grid"].size()) launch["grid"][i]["value"] = value_of(its["sizes"][i]);
      if (i < launch["block"].size()) launch["block"][i]["value"] = value_of(its["sizes"][3 + i]);
    }
    launch["dynamic_shared_bytes"]["value"] = value_of(its["sizes"][6]);
  }
  return manifest;
}

/// One shape with its arguments on the GPU.
class Case {
 public:
  Case(const Gpu& gpu, const std::string& folder, json manifest, std::uint64_t seed)
      : manifest_(std::move(manifest), folder + "/bundle.json") {
    std::mt19937_64 random(seed);
    arguments_ = manifest_.make_arguments(random);
    for (const KernelArgument& argument : arguments_) {
      std::array<std::byte, 8> value{};
      if (argument.direction == "scalar") {
        std::copy(argument.bytes.begin(), argument.bytes.end(), value.begin());
      } else {
        Buffer& buffer = buffers_.emplace_back(gpu, argument.bytes.size());
        if (!argument.bytes.empty()) buffer.upload(argument.bytes);
        const CUdeviceptr address = buffer.address();
        std::memcpy(value.data(), &address, sizeof address);
        names_.push_back(argument.name);
        if (argument.direction != "workspace") {
          addresses_.push_back(reinterpret_cast<void*>(address));
        }
      }
      parameters_.push_back(value);
    }
  }

  /// Of the buffers that a caller has, in their order.
  [[nodiscard]] void* const* addresses() const { return addresses_.data(); }
  [[nodiscard]] const Manifest& manifest() const { return manifest_; }
  /// What cuLaunchKernel takes, workspaces included.
  [[nodiscard]] std::vector<void*> parameters() {
    std::vector<void*> pointers;
    for (auto& value : parameters_) pointers.push_back(value.data());
    return pointers;
  }
  /// "right", "WRONG" or "not compared", with the errors.
  [[nodiscard]] std::string judged() const {
    if (manifest_.json.at("problem") != "sdpa_fp8") return "not compared";
    const auto at =
        static_cast<std::size_t>(std::find(names_.begin(), names_.end(), "o") - names_.begin());
    std::vector<std::byte> output(buffers_.at(at).bytes());
    buffers_[at].download(output);
    const CheckReport report = check_sdpa_fp8(manifest_, arguments_, output);
    std::array<char, 160> text{};
    std::snprintf(text.data(), text.size(), "%s: relative L2 %.2g, max abs error %.2g, %zu rows",
                  report.passed ? "right" : "WRONG", report.relative_l2, report.max_abs_error,
                  report.rows);
    return text.data();
  }

 private:
  Manifest manifest_;
  std::vector<KernelArgument> arguments_;
  std::vector<std::string> names_;  ///< of buffers_
  std::vector<Buffer> buffers_;
  std::vector<void*> addresses_;
  std::vector<std::array<std::byte, 8>> parameters_;
};

/// Everything on a stream of its own. True when nothing is wrong.
bool run_thread(int number, const evo_tune::Bundle& bundle, const json& index,
                const std::string& folder, const std::vector<Sizes>& shapes) {
  const Gpu gpu;
  const Stream stream(gpu);
  bool all_right = true;
  for (const Sizes& sizes : shapes) {
    const evo_tune::Choice choice = bundle.choose(sizes.data());
    Case its(gpu, folder, manifest_for(index, choice, sizes, bundle.device()),
             static_cast<std::uint64_t>(number));
    constexpr int kLaunches = 3;  // a kernel leaves its workspace ready for the next launch
    for (int i = 0; i < kLaunches; ++i) {
      bundle.launch(stream.handle(), sizes.data(), its.addresses());
    }
    stream.synchronize();
    const std::string verdict = its.judged();
    all_right = all_right && verdict.rfind("WRONG", 0) != 0;
    std::string text;
    for (const double size : sizes) {
      if (!text.empty()) text += ',';
      text += std::to_string(static_cast<int>(size));
    }
    const std::lock_guard lock(printing);
    std::printf("thread %d: %s: %s: %s\n  %s\n", number, text.c_str(), choice.name.c_str(),
                verdict.c_str(), choice.why.c_str());
  }
  return all_right;
}

/// Nanoseconds of one of a burst of launches on an idle GPU: no launch waits for room in a queue.
template <typename Launch>
double burst_ns(const Stream& stream, const Launch& launch) {
  constexpr int kBurst = 200;
  stream.synchronize();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kBurst; ++i) launch();
  const std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - start;
  stream.synchronize();
  return elapsed.count() / kBurst;
}

/// Bursts through the bundle and through cuLaunchKernel alone, in turn.
void print_overhead(const evo_tune::Bundle& bundle, const json& index, const std::string& folder,
                    const Sizes& sizes, std::size_t bursts) {
  if (bursts == 0) return;
  const Gpu gpu;
  const Stream stream(gpu);
  const evo_tune::Choice choice = bundle.choose(sizes.data());
  Case its(gpu, folder, manifest_for(index, choice, sizes, bundle.device()), 1);
  if (choice.from_ptx || its.manifest().steps.size() != 1) return;
  const Step& step = its.manifest().steps.front();
  const Module module(gpu, its.manifest().cubin);
  const CUfunction function = module.function(step.entry, step.dynamic_shared_bytes);
  std::vector<void*> parameters = its.parameters();
  std::vector<double> direct;
  std::vector<double> loaded;
  for (std::size_t burst = 0; burst < bursts; ++burst) {
    direct.push_back(burst_ns(stream, [&] {
      launch_kernel(gpu, function, step.grid, step.block, step.dynamic_shared_bytes, parameters,
                    stream.handle());
    }));
    loaded.push_back(
        burst_ns(stream, [&] { bundle.launch(stream.handle(), sizes.data(), its.addresses()); }));
  }
  for (auto* times : {&direct, &loaded}) std::sort(times->begin(), times->end());
  std::printf(
      "a launch: %.0f ns by cuLaunchKernel alone, %.0f ns by the bundle: %.0f ns more "
      "(medians of %zu bursts)\n",
      direct[bursts / 2], loaded[bursts / 2], loaded[bursts / 2] - direct[bursts / 2], bursts);
}

Sizes sizes_from(const std::string& text, std::size_t count) {
  Sizes sizes;
  std::istringstream in(text);
  for (std::string size; std::getline(in, size, ',');) sizes.push_back(std::stod(size));
  if (sizes.size() == count) return sizes;
  throw std::invalid_argument("'" + text + "': allowed are " + std::to_string(count) +
                              " numbers with commas between");
}

std::vector<Sizes> tuned_shapes(const json& index) {
  std::vector<Sizes> shapes;
  for (const json& target : index.at("targets")) {
    for (const json& served : target.at("serves")) {
      Sizes sizes;
      for (const json& variable : index.at("shape_variables")) {
        sizes.push_back(served.at("variables").at(variable.get<std::string>()));
      }
      if (std::find(shapes.begin(), shapes.end(), sizes) == shapes.end()) shapes.push_back(sizes);
    }
  }
  return shapes;
}

int run(const evo_tune::Bundle& bundle, const json& index, const std::string& folder,
        const std::vector<Sizes>& shapes, std::size_t bursts) {
  const Gpu gpu;  // or every thread would find out that there is none
  constexpr int kThreads = 2;
  std::array<std::string, kThreads> errors;
  std::array<bool, kThreads> right{};
  std::vector<std::thread> threads;
  for (int number = 0; number < kThreads; ++number) {
    const auto own = static_cast<std::size_t>(number);
    threads.emplace_back([&, number, own] {
      try {
        right[own] = run_thread(number, bundle, index, folder, shapes);
      } catch (const std::exception& error) {
        errors[own] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& error : errors) {
    if (!error.empty()) throw std::runtime_error(error);
  }
  print_overhead(bundle, index, folder, shapes.front(), bursts);
  return std::all_of(right.begin(), right.end(), [](bool its) { return its; }) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(
        stderr,
        "usage: use_bundle DIR [--bursts N] [--allow VARIABLE …] [SIZES, such as 2,8,512,64 "
        "…]\n");
    return 2;
  }
  try {
    const std::string folder = argv[1];
    evo_tune::Bundle bundle(folder);
    std::ifstream file(folder + "/bundle.json");
    const json index = json::parse(file);
    std::vector<Sizes> shapes;
    std::size_t bursts = 101;
    for (int i = 2; i < argc; ++i) {
      if (std::string(argv[i]) == "--bursts" && i + 1 < argc) {
        bursts = std::stoul(argv[++i]);
        continue;
      }
      if (std::string(argv[i]) == "--allow" && i + 1 < argc) {
        bundle.allow_unchecked(argv[++i]);
        continue;
      }
      shapes.push_back(sizes_from(argv[i], bundle.shape_variables().size()));
    }
    if (shapes.empty()) shapes = tuned_shapes(index);
    try {
      return run(bundle, index, folder, shapes, bursts);
    } catch (const std::runtime_error& error) {
      std::fprintf(stderr, "use_bundle: %s\n", error.what());
      return 3;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "use_bundle: %s\n", error.what());
    return 2;
  }
}
