// Launches the kernels of a bundle that evo-export --bundle wrote (docs/bundle.md):
//
//   evo_tune::Bundle bundle("sdpa_fp8");           // a folder
//   void* const buffers[] = {q, k, v, o};          // in the order of bundle.buffers()
//   // sizes in the order of shape_variables(); uses the current context
//   bundle.launch(stream, {2, 8, 512, 64}, buffers);
//
// The loader needs C++17 and only the headers next to evo_tune.hpp. The loader opens the CUDA
// driver at run time (link with libdl if the system has it). Every failure throws an
// evo_tune::Error with the reason. Each bundle that evo-export --cpp wrote has a copy of the
// loader's headers, which have include guards because #pragma once does not recognise copies as one
// file.
#ifndef EVO_TUNE_HPP_V3
#define EVO_TUNE_HPP_V3

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "evo_tune_driver.hpp"

namespace evo_tune {
inline namespace v3 {

/// The kernel that serves a shape, and the reason why it was chosen.
struct Choice {
  std::size_t kernel = 0;  ///< position of the kernel in the index
  std::string name;
  bool from_ptx = false;  ///< whether the driver compiles the kernel from PTX
  std::string why;
};

/// A view of the values of all shape variables, in order: an array, a std::array, a std::vector or
/// {…}, which must outlive the view.
class Sizes {
 public:
  template <std::size_t N>
  Sizes(const double (&values)[N]) : values_(values), count_(N) {}
  template <std::size_t N>
  Sizes(const std::array<double, N>& values) : values_(values.data()), count_(N) {}
  Sizes(const std::vector<double>& values) : values_(values.data()), count_(values.size()) {}
  Sizes(std::initializer_list<double> values) : Sizes(values.begin(), values.size()) {}
  [[nodiscard]] const double* begin() const { return values_; }
  [[nodiscard]] std::size_t size() const { return count_; }

 private:
  Sizes(const double* values, std::size_t count) : values_(values), count_(count) {}
  const double* values_;
  std::size_t count_;
};

/// A loaded bundle. After construction, threads may call all members concurrently except forget()
/// and allow_unchecked().
class Bundle {
 public:
  /// `driver`: the library to open at the first launch; empty: the environment variable
  /// EVO_TUNE_DRIVER, else libcuda.so.1. `signature`: the signature for which the caller was
  /// compiled; throws Error if the index has another signature.
  explicit Bundle(const std::string& folder, const std::string& driver = {},
                  const std::string& signature = {})
      : folder_(folder), driver_file_(driver) {
    const char* named = std::getenv("EVO_TUNE_DRIVER");
    if (driver.empty()) driver_file_ = named != nullptr ? named : "libcuda.so.1";
    const std::string file = folder + "/bundle.json";
    const std::string text = detail::read_file(file);
    try {
      detail::require_unchanged(text);
      index_ = detail::JsonReader{text.c_str(), text.c_str()}.read();
      if (index_.text("format") != "evo-tune bundle 3") {
        throw Error("format: allowed: \"evo-tune bundle 3\": export the bundle again");
      }
      variables_ = index_.names("shape_variables");
      buffers_ = index_.names("buffers");
      if (buffers_.size() > detail::kMostArguments) throw Error("'buffers' has too many entries");
      if (!signature.empty() && index_.text("signature") != signature) {
        throw Error("takes " + index_.text("signature") + ", but the program was compiled for " +
                    signature + ": compile it again with the bundle's header");
      }
    } catch (const Error& error) {
      throw Error(file + ": " + error.what());
    }
  }
  ~Bundle() { forget(); }
  Bundle(Bundle&&) = delete;

  [[nodiscard]] const std::string& name() const { return index_.text("name"); }
  [[nodiscard]] const std::vector<std::string>& shape_variables() const { return variables_; }
  /// The names of the buffers that a caller passes. Scalars follow from the shape, and the loader
  /// allocates workspaces.
  [[nodiscard]] const std::vector<std::string>& buffers() const { return buffers_; }

  /// Call allow_unchecked() before the first launch. If `name` is a shape variable, permits
  /// unchecked sizes (docs/bundle.md) from `least` to `most`. If `name` is a buffer, permits the
  /// buffer to overlap other buffers and to have an unchecked alignment. Throws Error if `name` is
  /// neither a shape variable nor a buffer.
  void allow_unchecked(const std::string& name, double least = -HUGE_VAL, double most = HUGE_VAL) {
    const auto is_there = [&](const std::vector<std::string>& names) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    if (!is_there(variables_) && !is_there(buffers_)) {
      throw Error(folder_ + ": '" + name + "' is neither a shape variable nor a buffer");
    }
    unchecked_[name] = {least, most};
  }

  /// The device of the current context.
  [[nodiscard]] Device device() const { return driver().device(); }

  /// Chooses the kernel for a shape, first among the kernels of the most similar device. Returns
  /// the kernel for exactly this shape; else the valid kernel of the nearest shape, by the
  /// logarithm of the variables; else the first valid default configuration. If no kernel is valid,
  /// throws Error with the reason for each kernel. Also throws Error if `shape` has a wrong number
  /// of sizes or a size that is not finite.
  [[nodiscard]] Choice choose(Sizes shape, const Device& device) const {
    return chosen(checked(shape), device).first;
  }
  [[nodiscard]] Choice choose(Sizes shape) const { return choose(shape, device()); }

  /// Starts the kernel for `shape` on a stream of the current context. The first launch for a shape
  /// and stream chooses and loads the kernel and allocates workspaces. prepare() does this work
  /// beforehand; call it before you capture a launch in a graph. `buffers`: device addresses in the
  /// order of buffers(); null is allowed for an empty buffer. Unless allow_unchecked() permits it,
  /// a written buffer must not overlap another buffer, and no buffer may have a smaller alignment
  /// than during the checks.
  void launch(CUstream_st* stream, Sizes shape, void* const* buffers) const {
    const detail::Plan& plan = prepared(stream, checked(shape));
    try {
      detail::require_apart(plan, buffers, buffers_);
    } catch (const Error& error) {
      throw Error(folder_ + ": " + error.what());
    }
    detail::start(*driver_, plan, stream, buffers, folder_);
  }
  void prepare(CUstream_st* stream, Sizes shape) const { (void)prepared(stream, checked(shape)); }

  /// Frees all modules and workspaces on GPUs. No kernel of the bundle may be running meanwhile.
  /// Call forget() before you destroy a context or stream that launched a kernel of this bundle.
  void forget() {
    const std::lock_guard lock(mutex_);
    epoch_ = ++last_epoch_;
    prepared_.clear();
    modules_.clear();
    allowed_.clear();
    for (; !left_.empty(); left_.pop_back()) {
      auto [context, module, address] = left_.back();
      if (driver_->push_context(context) != 0)
        continue;  // the context was destroyed, with its memory
      module != nullptr ? driver_->unload(module) : driver_->release(address);
      driver_->pop_context(&context);
    }
  }

 private:
  using Json = detail::Json;
  using Key = std::tuple<CUctx_st*, CUstream_st*, std::thread::id, std::vector<double>>;

  [[nodiscard]] const double* checked(Sizes shape) const {
    if (shape.size() == variables_.size()) return shape.begin();
    std::string names;
    for (const std::string& name : variables_) names += (names.empty() ? "" : ", ") + name;
    throw Error(folder_ + ": got " + std::to_string(shape.size()) +
                " sizes; allowed: " + std::to_string(variables_.size()) + " (" + names + ")");
  }

  /// Tries the kernels of the most similar device first, and among these the kernel of the nearest
  /// shape. The distance of shapes is the sum of squared differences of log(1 + |x|) over all
  /// variables x; the 1 is added because variables may be 0.
  std::pair<Choice, detail::Plan> chosen(const double* shape, const Device& device) const try {
    Values values;
    for (std::size_t i = 0; i < variables_.size(); ++i) {
      if (!std::isfinite(shape[i])) throw Error(variables_[i] + " is " + detail::text_of(shape[i]));
      values[variables_[i]] = shape[i];
    }
    const auto runs = [&](const Json& plan, const char* code) {
      return plan.at(code).number("from") <= device.compute_capability &&
             plan.at(code).number("to") >= device.compute_capability;
    };
    // For each kernel and shape: the sort key (whether PTX is needed, whether the kernel was tuned
    // on another device model, order of the devices, distance), the kernel's position in the
    // index, and the entry in "chosen_for".
    std::vector<std::tuple<bool, bool, double, double, std::size_t, const Json*>> tries;
    const std::vector<Json>& kernels = index_.list("kernels");
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      const Json& plan = kernels[i].at("plan");
      for (const Json& use : plan.list("chosen_for")) {
        const std::vector<Json>& sizes = use.list("sizes");  // default configurations have no shape
        double distance = sizes.size() == variables_.size() ? 0 : HUGE_VAL;
        for (std::size_t v = 0; v < variables_.size() && distance < HUGE_VAL; ++v) {
          const double its = sizes[v].value;
          const double step = std::log1p(std::fabs(its)) - std::log1p(std::fabs(shape[v]));
          distance += its == shape[v] ? 0 : std::max(step * step, 1e-300);
        }
        tries.emplace_back(!runs(plan, "machine_code"), use.text("device") != device.name,
                           use.number("rank"), distance, i, &use);
      }
    }
    std::sort(tries.begin(), tries.end());
    std::string reasons;
    for (const auto& [from_ptx, is_other, order, distance, number, use] : tries) {
      const Json& kernel = kernels[number];
      const std::string why =
          (distance == HUGE_VAL ? "the default configuration"
           : distance == 0      ? "tuned for this shape: "
                                : "tuned for the nearest shape with a valid kernel: ") +
          use->text("shape") + ", on " + use->text("device");
      try {
        if (from_ptx && !runs(kernel.at("plan"), "ptx")) {
          throw Error("neither the kernel's machine code nor its PTX runs on this device");
        }
        detail::Plan plan =
            detail::planned(kernel.at("plan"), values, device, buffers_, unchecked_);
        return {{number, kernel.text("name"), from_ptx, why + reasons}, std::move(plan)};
      } catch (const Error& error) {
        reasons += "\n  not " + kernel.text("name") + ": " + error.what();
      }
    }
    std::string text;
    for (const auto& name : variables_) text += name + "=" + detail::text_of(values[name]) + " ";
    throw Error("no kernel for " + text + "on " + device.name + " (sm_" +
                std::to_string(device.compute_capability) + ")" + reasons);
  } catch (const Error& error) {
    throw Error(folder_ + "/bundle.json: " + error.what());
  }

  const detail::Driver& driver() const {
    std::call_once(opened_, [&] { driver_ = std::make_unique<detail::Driver>(driver_file_); });
    return *driver_;
  }

  /// The prepared launch for a shape. Takes no lock if this thread used the same launch recently.
  const detail::Plan& prepared(CUstream_st* stream, const double* shape) const {
    using Entry = std::pair<const Key, detail::Plan>;
    static thread_local std::array<std::pair<std::uint64_t, const Entry*>, 8> recent;
    static thread_local std::size_t next = 0;
    CUctx_st* context = nullptr;
    (void)driver().current_context(&context);
    if (context == nullptr) throw Error("no CUDA context is current on this thread");
    for (const auto& [epoch, entry] : recent) {
      if (epoch == epoch_ && std::get<0>(entry->first) == context &&
          std::get<1>(entry->first) == stream &&
          std::equal(shape, shape + variables_.size(), std::get<3>(entry->first).begin())) {
        return entry->second;
      }
    }
    for (std::size_t i = 0; i < variables_.size(); ++i) {  // NaN cannot be a key of a std::map
      if (std::isfinite(shape[i])) continue;
      throw Error(folder_ + ": " + variables_[i] + " is " + detail::text_of(shape[i]));
    }
    const std::lock_guard lock(mutex_);
    // Handle 2 (cudaStreamPerThread) means the default stream of the calling thread.
    const bool is_shared = reinterpret_cast<std::uintptr_t>(stream) == 2;
    const auto thread = is_shared ? std::this_thread::get_id() : std::thread::id();
    const Key key{context, stream, thread, {shape, shape + variables_.size()}};
    auto found = prepared_.find(key);
    if (found == prepared_.end()) found = prepared_.emplace(key, make(key)).first;
    recent[next++ % recent.size()] = {epoch_, &*found};
    return found->second;
  }

  detail::Plan make(const Key& key) const {
    const detail::Driver& cuda = driver();
    const auto& [context, stream, thread, shape] = key;
    auto [choice, plan] = chosen(shape.data(), device());
    const Json& kernel = index_.list("kernels")[choice.kernel];
    const char* code_of = choice.from_ptx ? "ptx" : "cubin";
    const std::string file = folder_ + "/" + kernel.text(code_of);
    CUmod_st*& module = modules_[{context, file}];
    if (module == nullptr) {
      CUmod_st* loaded = nullptr;
      const std::string code = detail::read_file(file);
      if (detail::sha256(code) != kernel.at("sha256").text(code_of)) {
        throw Error(file + ": is not the file that was checked: export the bundle again");
      }
      cuda.check(cuda.load(&loaded, code.c_str()), file + ": cuModuleLoadData");
      left_.emplace_back(context, loaded, 0);
      module = loaded;
    }
    for (detail::Plan::Step& step : plan.steps) {
      cuda.check(cuda.get_function(&step.function, module, step.entry.c_str()),
                 file + ": " + step.entry + ": cuModuleGetFunction");
      constexpr int kMaxDynamic = 8;  // MAX_DYNAMIC_SHARED_SIZE_BYTES of CUfunction_attribute
      unsigned& allowed = allowed_[{module, step.entry}];
      allowed = std::max(allowed, step.size.back());
      cuda.check(cuda.set_attribute(step.function, kMaxDynamic, static_cast<int>(allowed)),
                 file + ": " + std::to_string(allowed) + " bytes of shared memory");
    }
    for (detail::Plan::Argument& argument : plan.arguments) {
      if (argument.direction != "workspace") continue;
      // A workspace is zeroed only once, because a kernel leaves it ready for the next launch on
      // the same stream.
      std::uint64_t address = 0;
      const std::size_t bytes = std::max<std::size_t>(argument.bytes, 1);
      cuda.check(cuda.allocate(&address, bytes),
                 folder_ + ": a workspace of " + std::to_string(bytes) + " bytes: cuMemAlloc");
      left_.emplace_back(context, nullptr, address);
      cuda.check(cuda.fill(address, 0, bytes, stream), folder_ + ": cuMemsetD8Async");
      argument.value.resize(sizeof address);
      std::memcpy(argument.value.data(), &address, sizeof address);
    }
    return std::move(plan);
  }
  /// The source of epoch_, a number that is unique in the process, so that a thread does not use
  /// cached entries of a destroyed bundle.
  static inline std::atomic<std::uint64_t> last_epoch_{0};
  std::atomic<std::uint64_t> epoch_{++last_epoch_};

  std::string folder_, driver_file_;
  Json index_;
  std::vector<std::string> variables_, buffers_;
  Allowed unchecked_;
  mutable std::once_flag opened_;
  mutable std::unique_ptr<detail::Driver> driver_;
  mutable std::mutex mutex_;
  mutable std::map<Key, detail::Plan> prepared_;
  mutable std::map<std::pair<CUctx_st*, std::string>, CUmod_st*> modules_;
  mutable std::map<std::pair<CUmod_st*, std::string>, unsigned> allowed_;  ///< dynamic shared bytes
  mutable std::vector<std::tuple<CUctx_st*, CUmod_st*, std::uint64_t>> left_;  ///< to be freed
};

}  // namespace v3
}  // namespace evo_tune

#endif  // EVO_TUNE_HPP_V3
