// Launches the kernels of a bundle that evo-export --bundle wrote (docs/bundle.md):
//
//   evo_tune::Bundle bundle("sdpa_fp8");           // a folder
//   const double shape[] = {2, 8, 512, 64};        // as bundle.shape_variables()
//   void* const buffers[] = {q, k, v, o};          // device addresses, as bundle.buffers()
//   bundle.launch(stream, shape, buffers);         // in the current context
//
// C++17 and the headers evo_tune*.hpp alone; the CUDA driver is opened at run time (link with
// libdl where there is one). Every failure is an evo_tune::Error that names file and reason.
//
// Every bundle has a copy of them: hence no #pragma once, which takes copies for several files.
#ifndef EVO_TUNE_HPP_V1
#define EVO_TUNE_HPP_V1

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "evo_tune_driver.hpp"
#include "evo_tune_kernel.hpp"
#include "evo_tune_text.hpp"

namespace evo_tune {
inline namespace v1 {
namespace detail {

constexpr std::size_t kMostArguments = 256;
constexpr std::size_t kMostVariables = 32;

/// A kernel on the GPU with all it takes but the caller's buffers, for one shape on one stream.
struct Prepared {
  struct Parameter {
    int buffer = -1;                   ///< which of the caller's; of others -1
    bool is_needed = false;            ///< it may not be null
    std::vector<unsigned char> value;  ///< of a scalar, or the address of a workspace
  };
  std::vector<Parameter> parameters;
  std::vector<Step<unsigned>> steps;
  std::vector<CUfunc_st*> functions;  ///< of the steps
  std::vector<unsigned long long> workspaces;
};

/// A kernel's code in a context.
struct Loaded {
  CUmod_st* module = nullptr;
  std::map<std::string, std::pair<CUfunc_st*, unsigned>> functions;  ///< and its dynamic memory
};

}  // namespace detail

/// Which kernel serves a shape, and why.
struct Choice {
  std::size_t kernel = 0;
  std::string name;
  bool from_ptx = false;  ///< the driver compiles it
  std::string why;
};

/// A bundle that was read. After the construction threads may share it for everything but forget().
class Bundle {
 public:
  /// `driver`: the library to open, at the first launch; empty: that of the environment variable
  /// EVO_TUNE_DRIVER, else libcuda.so.1.
  explicit Bundle(const std::string& folder, const std::string& driver = {})
      : folder_(folder), driver_file_(driver) {
    const char* named = std::getenv("EVO_TUNE_DRIVER");
    if (driver_file_.empty()) driver_file_ = named != nullptr ? named : "libcuda.so.1";
    const std::string file = folder + "/bundle.json";
    const std::string text = read_file(file);
    try {
      read(detail::JsonParser(text).parse());
    } catch (const Error& error) {
      throw Error(file + ": " + error.what());
    }
  }
  ~Bundle() { release(); }
  Bundle(const Bundle&) = delete;
  Bundle& operator=(const Bundle&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::vector<std::string>& shape_variables() const { return variables_; }
  /// The arguments that a caller has: neither scalars, which follow from the shape, nor workspaces.
  [[nodiscard]] const std::vector<std::string>& buffers() const { return buffers_; }

  /// The device of the current context.
  [[nodiscard]] Device device() const { return driver().device(); }

  /// For the device that is most alike: the kernel that serves this very shape, else that of the
  /// shape nearest in the logarithm of the variables for which it is valid, else the first
  /// configuration of defaults that is valid. Throws Error with the reason of every kernel.
  [[nodiscard]] Choice choose(const double* shape, const Device& device) const {
    const Values values = values_of(shape);
    std::string reasons;
    for (const Target* target : by_likeness(device)) {
      std::vector<std::pair<double, const Served*>> near;
      for (const Served& served : target->serves) {
        near.emplace_back(distance(served.shape, shape), &served);
      }
      std::stable_sort(near.begin(), near.end(),
                       [](const auto& a, const auto& b) { return a.first < b.first; });
      std::vector<std::pair<std::size_t, std::string>> tries;
      for (const auto& [far, served] : near) {
        tries.emplace_back(served->kernel, (far == 0 ? "tuned for this shape: "
                                                     : "tuned for the "
                                                       "nearest shape for which it is valid: ") +
                                               served->name);
      }
      for (const std::size_t kernel : target->defaults) {
        tries.emplace_back(kernel, "the configuration of defaults");
      }
      for (const auto& [kernel, why] : tries) {
        const detail::Kernel& its = kernels_[kernel];
        const bool from_ptx = !its.runs(device, false);
        try {
          if (from_ptx && !its.runs(device, true)) {
            throw Error("neither its machine code nor its PTX runs on it");
          }
          (void)its.plan(values, device);
          return {kernel, its.name, from_ptx, why + ", on " + target->device + reasons};
        } catch (const Error& error) {
          reasons += "\n  not " + its.name + ": " + error.what();
        }
      }
    }
    throw Error(folder_ + "/bundle.json: no kernel for " + described(values) + " on " +
                device.name + " (sm_" + std::to_string(device.compute_capability) + ")" + reasons);
  }
  [[nodiscard]] Choice choose(const double* shape) const { return choose(shape, device()); }

  /// Starts the kernel for this shape on a stream of the current context. The first time for a
  /// shape and stream it chooses, loads and allocates workspaces, as prepare() does beforehand:
  /// only then may a launch be captured in a graph. `buffers`: device addresses in the order of
  /// buffers(); null is allowed where a buffer is empty.
  void launch(CUstream_st* stream, const double* shape, void* const* buffers) const {
    const detail::Prepared& prepared = find(stream, shape);
    std::array<void*, detail::kMostArguments> pointers;
    for (std::size_t i = 0; i < prepared.steps.size(); ++i) {
      const auto& step = prepared.steps[i];
      for (std::size_t p = 0; p < step.arguments.size(); ++p) {
        const auto& parameter = prepared.parameters[step.arguments[p]];
        if (parameter.buffer < 0) {
          pointers[p] = const_cast<unsigned char*>(parameter.value.data());
          continue;
        }
        const auto index = static_cast<std::size_t>(parameter.buffer);
        if (parameter.is_needed && buffers[index] == nullptr) {
          throw Error(folder_ + ": argument '" + buffers_[index] + "' is null");
        }
        pointers[p] = const_cast<void**>(&buffers[index]);
      }
      const int result = driver_->launch(prepared.functions[i], step.grid[0], step.grid[1],
                                         step.grid[2], step.block[0], step.block[1], step.block[2],
                                         step.shared_bytes, stream, pointers.data(), nullptr);
      if (result != 0) driver_->check(result, folder_ + ": " + step.entry + ": cuLaunchKernel");
    }
  }
  void prepare(CUstream_st* stream, const double* shape) const { (void)find(stream, shape); }

  /// Frees all that launches left on GPUs. Nothing of it may be in use; before a context or stream
  /// that was used is destroyed, call it.
  void forget() { release(); }

 private:
  struct Served {
    std::string name;
    std::vector<double> shape;
    std::size_t kernel;
  };
  struct Target {
    std::string device;
    bool is_measured;
    std::vector<Served> serves;
    std::vector<std::size_t> defaults;
  };
  using Key = std::tuple<CUctx_st*, CUstream_st*, std::thread::id, std::vector<double>>;

  static std::string read_file(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    if (!in) throw Error(file + ": cannot be read");
    return {std::istreambuf_iterator<char>(in), {}};
  }

  void read(const detail::Json& json) {
    if (json.string_or("format", "") != "evo-tune bundle 1") {
      throw Error("format: allowed is \"evo-tune bundle 1\"");
    }
    name_ = json.string("name");
    for (const auto& [unused, item] : json.array("shape_variables")) {
      variables_.push_back(item.text);
    }
    for (const auto& [unused, item] : json.array("kernels")) kernels_.emplace_back(item);
    if (kernels_.empty()) throw Error("kernels: there is none");
    buffers_ = buffers_of(kernels_.front());
    for (const auto& kernel : kernels_) {
      if (kernel.arguments.size() > detail::kMostArguments) {
        throw Error("kernel '" + kernel.name + "' has more than " +
                    std::to_string(detail::kMostArguments) + " arguments");
      }
      if (buffers_of(kernel) != buffers_) {
        throw Error("kernel '" + kernel.name + "' takes other arguments than the first one");
      }
    }
    if (variables_.size() > detail::kMostVariables) throw Error("too many shape_variables");
    for (const auto& [unused, item] : json.array("targets")) read_target(item);
  }
  static std::vector<std::string> buffers_of(const detail::Kernel& kernel) {
    std::vector<std::string> names;
    for (const auto& argument : kernel.arguments) {
      if (!argument.is_scalar() && !argument.is_workspace()) names.push_back(argument.name);
    }
    return names;
  }
  void read_target(const detail::Json& json) {
    Target target{json.string("device"), json.string("kind") == "measured", {}, {}};
    for (const auto& [unused, item] : json.array("serves")) {
      Served served{item.string("shape"), {}, kernel_named(item.string("kernel"))};
      const detail::Json& sizes = item.at("variables", detail::Json::kObject);
      for (const std::string& variable : variables_) {
        served.shape.push_back(sizes.at(variable, detail::Json::kNumber).number);
      }
      target.serves.push_back(std::move(served));
    }
    for (const auto& [unused, item] : json.array("defaults")) {
      target.defaults.push_back(kernel_named(item.text));
    }
    targets_.push_back(std::move(target));
  }
  [[nodiscard]] std::size_t kernel_named(const std::string& name) const {
    for (std::size_t i = 0; i < kernels_.size(); ++i) {
      if (kernels_[i].name == name) return i;
    }
    throw Error("targets: there is no kernel '" + name + "'");
  }

  [[nodiscard]] Values values_of(const double* shape) const {
    Values values;
    for (std::size_t i = 0; i < variables_.size(); ++i) {
      if (!std::isfinite(shape[i])) {
        throw Error(folder_ + ": " + variables_[i] + " is " + detail::text_of(shape[i]));
      }
      values[variables_[i]] = shape[i];
    }
    return values;
  }
  [[nodiscard]] std::string described(const Values& values) const {
    std::string text;
    for (const std::string& variable : variables_) {
      text += (text.empty() ? "" : ", ") + variable + "=" + detail::text_of(values.at(variable));
    }
    return text;
  }
  /// Sum of squares; of 1 + x, so that flags count as well.
  [[nodiscard]] static double distance(const std::vector<double>& tuned, const double* shape) {
    double sum = 0;
    for (std::size_t i = 0; i < tuned.size(); ++i) {
      const double step = std::log1p(std::fabs(tuned[i])) - std::log1p(std::fabs(shape[i]));
      sum += tuned[i] == shape[i] ? 0 : std::max(step * step, 1e-300);
    }
    return sum;
  }
  /// Machine code that runs before PTX, the same model, measured before predicted times, newer
  /// architectures.
  [[nodiscard]] std::vector<const Target*> by_likeness(const Device& device) const {
    std::vector<std::pair<std::tuple<bool, bool, bool, int>, const Target*>> ranked;
    for (const Target& target : targets_) {
      bool is_native = false;
      int newest = 0;
      for (const Served& served : target.serves) {
        is_native = is_native || kernels_[served.kernel].runs(device, false);
        newest = std::max(newest, kernels_[served.kernel].capability);
      }
      ranked.push_back(
          {{!is_native, target.device != device.name, !target.is_measured, -newest}, &target});
    }
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<const Target*> targets;
    for (const auto& [rank, target] : ranked) targets.push_back(target);
    return targets;
  }

  [[nodiscard]] const detail::Driver& driver() const {
    std::call_once(driver_opened_,
                   [&] { driver_ = std::make_unique<detail::Driver>(driver_file_); });
    return *driver_;
  }

  /// What this thread launched last, so that a launch takes no lock.
  struct Recent {
    std::uint64_t epoch = 0;
    CUctx_st* context = nullptr;
    CUstream_st* stream = nullptr;
    const detail::Prepared* prepared = nullptr;
    std::array<double, detail::kMostVariables> shape;
  };
  [[nodiscard]] const detail::Prepared& find(CUstream_st* stream, const double* shape) const {
    static thread_local std::array<Recent, 8> recent;
    static thread_local std::size_t next = 0;
    CUctx_st* context = driver().context();
    const std::size_t bytes = variables_.size() * sizeof(double);
    for (const Recent& known : recent) {
      if (known.epoch == epoch_ && known.context == context && known.stream == stream &&
          std::memcmp(known.shape.data(), shape, bytes) == 0) {
        return *known.prepared;
      }
    }
    (void)values_of(shape);  // what is no number has no place in a map
    const std::lock_guard lock(mutex_);
    // One handle stands for the default stream of every thread.
    auto* const per_thread = reinterpret_cast<CUstream_st*>(std::uintptr_t{2});
    const auto thread = stream == per_thread ? std::this_thread::get_id() : std::thread::id();
    const Key key{context, stream, thread, {shape, shape + variables_.size()}};
    auto found = prepared_.find(key);
    if (found == prepared_.end())
      found = prepared_.emplace(key, make(context, stream, shape)).first;
    Recent& slot = recent[next++ % recent.size()];
    slot = {epoch_, context, stream, &found->second, {}};
    std::memcpy(slot.shape.data(), shape, bytes);
    return found->second;
  }

  [[nodiscard]] detail::Prepared make(CUctx_st* context, CUstream_st* stream,
                                      const double* shape) const {
    const Device its_device = driver_->device();
    const Choice choice = choose(shape, its_device);
    const detail::Kernel& kernel = kernels_[choice.kernel];
    detail::Plan plan = kernel.plan(values_of(shape), its_device);
    detail::Prepared prepared;
    try {
      for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
        const detail::Argument& argument = kernel.arguments[i];
        detail::Prepared::Parameter parameter{-1, plan.bytes[i] > 0, std::move(plan.scalars[i])};
        if (argument.is_workspace()) {
          const unsigned long long address = zeroed(plan.bytes[i], stream, prepared);
          parameter.value.resize(sizeof address);
          std::memcpy(parameter.value.data(), &address, sizeof address);
        } else if (!argument.is_scalar()) {
          const auto place = std::find(buffers_.begin(), buffers_.end(), argument.name);
          parameter.buffer = static_cast<int>(place - buffers_.begin());
        }
        prepared.parameters.push_back(std::move(parameter));
      }
      for (const auto& step : plan.steps) {
        prepared.functions.push_back(function(context, choice, step.entry, step.shared_bytes));
      }
    } catch (...) {
      for (const unsigned long long address : prepared.workspaces) driver_->release(address);
      throw;
    }
    prepared.steps = std::move(plan.steps);
    return prepared;
  }
  /// A kernel leaves its workspace ready for its next launch, on the same stream.
  [[nodiscard]] unsigned long long zeroed(std::size_t bytes, CUstream_st* stream,
                                          detail::Prepared& prepared) const {
    unsigned long long address = 0;
    driver_->check(driver_->allocate(&address, std::max<std::size_t>(bytes, 1)),
                   folder_ + ": a workspace of " + std::to_string(bytes) + " bytes: cuMemAlloc");
    prepared.workspaces.push_back(address);
    driver_->check(driver_->fill(address, 0, std::max<std::size_t>(bytes, 1), stream),
                   folder_ + ": cuMemsetD8Async");
    return address;
  }
  [[nodiscard]] CUfunc_st* function(CUctx_st* context, const Choice& choice,
                                    const std::string& entry, unsigned shared_bytes) const {
    constexpr int kMaxDynamicSharedBytes = 8;  // CUfunction_attribute in cuda.h
    const detail::Kernel& kernel = kernels_[choice.kernel];
    const std::string file = folder_ + "/" + (choice.from_ptx ? kernel.ptx : kernel.cubin);
    detail::Loaded& loaded = loaded_[{context, choice.kernel}];
    if (loaded.module == nullptr) {
      const std::string code = read_file(file);
      CUmod_st* module = nullptr;
      driver_->check(driver_->load_module(&module, code.c_str()), file + ": cuModuleLoadData");
      loaded.module = module;
    }
    auto& [function, allowed] = loaded.functions[entry];
    if (function == nullptr) {
      CUfunc_st* found = nullptr;
      driver_->check(driver_->get_function(&found, loaded.module, entry.c_str()),
                     file + ": " + entry + ": cuModuleGetFunction");
      function = found;
    }
    if (shared_bytes > allowed) {
      driver_->check(
          driver_->set_attribute(function, kMaxDynamicSharedBytes, static_cast<int>(shared_bytes)),
          file + ": " + std::to_string(shared_bytes) + " bytes of shared memory");
      allowed = shared_bytes;
    }
    return function;
  }

  /// Errors are of contexts that are gone, and all they had with them.
  void release() {
    const std::lock_guard lock(mutex_);
    epoch_ = new_epoch();
    const auto within = [&](CUctx_st* context, const auto& action) {
      CUctx_st* left = nullptr;
      if (driver_->push_context(context) != 0) return;
      action();
      driver_->pop_context(&left);
    };
    for (const auto& [key, prepared] : prepared_) {
      within(std::get<0>(key), [&, &its = prepared] {
        for (const unsigned long long address : its.workspaces) driver_->release(address);
      });
    }
    for (const auto& [key, loaded] : loaded_) {
      within(key.first, [&, module = loaded.module] {
        if (module != nullptr) driver_->unload_module(module);
      });
    }
    prepared_.clear();
    loaded_.clear();
  }
  /// Never the same twice in a process: what a thread remembers of a bundle that is gone is
  /// nothing.
  static std::uint64_t new_epoch() {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
  }

  std::string folder_;
  std::string driver_file_;
  std::string name_;
  std::vector<std::string> variables_;
  std::vector<std::string> buffers_;
  std::vector<detail::Kernel> kernels_;
  std::vector<Target> targets_;

  mutable std::once_flag driver_opened_;
  mutable std::unique_ptr<detail::Driver> driver_;
  std::atomic<std::uint64_t> epoch_{new_epoch()};
  mutable std::mutex mutex_;
  mutable std::map<std::pair<CUctx_st*, std::size_t>, detail::Loaded> loaded_;
  mutable std::map<Key, detail::Prepared> prepared_;
};

}  // namespace v1
}  // namespace evo_tune

#endif  // EVO_TUNE_HPP_V1
