// Launches the kernels of a bundle that evo-export --bundle wrote (docs/bundle.md):
//
//   evo_tune::Bundle bundle("sdpa_fp8");           // a folder
//   const double shape[] = {2, 8, 512, 64};        // as bundle.shape_variables()
//   void* const buffers[] = {q, k, v, o};          // device addresses, as bundle.buffers()
//   bundle.launch(stream, shape, buffers);         // in the current context
//
// C++17 and this header alone; the CUDA driver is opened at run time (link with libdl where there
// is one). Every failure is an evo_tune::Error that names file and reason. Every bundle has a copy:
// hence no #pragma once, which takes copies for several files.
#ifndef EVO_TUNE_HPP_V2
#define EVO_TUNE_HPP_V2

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <locale>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

// The driver's handles as cuda.h and cuda_runtime.h declare them: a cudaStream_t is a CUstream_st*.
struct CUctx_st;
struct CUfunc_st;
struct CUmod_st;
struct CUstream_st;

namespace evo_tune {
inline namespace v2 {

struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What decides which kernels can run.
struct Device {
  std::string name;
  int compute_capability = 0;  ///< 90 for 9.0
  int sm_count = 0;
  int shared_bytes = 0;  ///< that a CTA can opt into
};

/// Which kernel serves a shape, and why.
struct Choice {
  std::size_t kernel = 0;  ///< its place among the index's
  std::string name;
  bool from_ptx = false;  ///< the driver compiles it
  std::string why;
};

using Values = std::map<std::string, double>;  ///< of the names in expressions

namespace detail {

constexpr std::size_t kMostArguments = 256, kMostParameterBytes = 32764;

inline std::string text_of(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.15g", value);
  return text.data();
}

inline std::string read_file(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw Error(file + ": cannot be read");
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Json {
  enum Kind { kNull, kNumber, kString, kArray, kObject };  // true and false are 1 and 0
  Kind kind = kNull;
  double value = 0;
  std::string string;
  std::vector<std::string> keys;  ///< of an object's items
  std::vector<Json> items;

  const Json* find(const std::string& key) const {
    const auto found = std::find(keys.begin(), keys.end(), key);
    return found == keys.end() ? nullptr : &items[static_cast<std::size_t>(found - keys.begin())];
  }
  const Json& at(const std::string& key, Kind wanted = kObject) const {
    const Json* found = find(key);
    if (found == nullptr) throw Error("'" + key + "' is missing");
    if (found->kind != wanted) throw Error("'" + key + "' is of another type than it should be");
    return *found;
  }
  const std::string& text(const std::string& key) const { return at(key, kString).string; }
  double number(const std::string& key) const { return at(key, kNumber).value; }
  const std::vector<Json>& list(const std::string& key) const { return at(key, kArray).items; }
};

struct JsonReader {
  const char* begin;
  const char* at;

  [[noreturn]] void fail(const std::string& problem) const {
    throw Error("byte " + std::to_string(at - begin) + ": " + problem);
  }
  char next() { return *(at += std::strspn(at, " \t\r\n")); }
  bool take(char c) { return next() == c && *at++ != '\0'; }
  void expect(char c) {
    if (!take(c)) fail(std::string("'") + c + "' is expected");
  }
  Json read(int depth = 0) {
    constexpr int kDeepest = 500;  // far above what the engine lets an expression have
    if (depth > kDeepest) fail("nested too deeply");
    Json json;
    const char open = next();
    if (open == '"') {
      json.kind = Json::kString;
      json.string = string();
    } else if (open == '{' || open == '[') {
      json.kind = open == '{' ? Json::kObject : Json::kArray;
      if (++at, take(open == '{' ? '}' : ']')) return json;
      do {
        if (open == '{') json.keys.push_back(string());
        if (open == '{') expect(':');
        json.items.push_back(read(depth + 1));
      } while (take(','));
      expect(open == '{' ? '}' : ']');
    } else {
      const std::string word(at, std::strcspn(at, ",]} \t\r\n"));
      std::istringstream in(word == "true" ? "1" : word == "false" ? "0" : word);
      in.imbue(std::locale::classic());  // whatever the program's is
      json.kind = word == "null" ? Json::kNull : Json::kNumber;
      const bool is_number = in >> json.value && in.peek() == EOF;
      if (json.kind == Json::kNumber && !is_number) fail("no value");
      at += word.size();
    }
    return json;
  }
  std::string string() {
    std::string result;
    for (expect('"'); *at != '"' && *at != '\0'; ++at) {
      result += *at;
      if (*at != '\\') continue;
      const std::size_t known = std::string("\"\\/bfnrtu").find(*++at);
      if (known == std::string::npos) fail("an unknown escape");
      result.back() = "\"\\/\b\f\n\r\t?"[known];  // a control character means nothing here
      if (*at == 'u') at += std::min<std::size_t>(4, std::strlen(at + 1));
    }
    expect('"');
    return result;
  }
};

/// The value of an expression's "tree" (docs/bundle.md): a number, a name, or an operation with
/// its operands, of which the one that ? does not take is not evaluated.
inline double evaluate(const Json& tree, const Values& values) {
  if (tree.kind == Json::kNumber) return tree.value;
  if (tree.kind == Json::kString) {
    const auto found = values.find(tree.string);
    return found != values.end() ? found->second : throw Error("'" + tree.string + "' is unknown");
  }
  const std::string op = tree.items.empty() ? "" : tree.items[0].string;
  const auto operand = [&](std::size_t i) {
    if (i >= tree.items.size()) throw Error("'" + op + "' lacks an operand");
    return evaluate(tree.items[i], values);
  };
  const auto real = [&](double x) { return std::isfinite(x) ? x : throw Error(op + ": no value"); };
  double a = operand(1);
  if (op == "?") return operand(a != 0 ? 2 : 3);
  if (op == "min" || op == "max") {
    for (std::size_t i = 2; i < tree.items.size(); ++i) {
      a = op == "max" ? std::max(a, operand(i)) : std::min(a, operand(i));
    }
    return a;
  }
  if (op == "floor") return std::floor(a);
  if (op == "ceil") return std::ceil(a);
  if (op == "round") return std::round(a);
  if (op == "exp") return real(std::exp(a));
  if (op == "sqrt") return real(std::sqrt(a));
  if (op == "ln") return real(std::log(a));
  if (op == "log2") return real(std::log2(a));
  const double b = operand(2);
  if (op == "+") return a + b;
  if (op == "-") return a - b;
  if (op == "*") return a * b;
  if (op == "^") return real(std::pow(a, b));
  if (op == "==") return a == b ? 1 : 0;
  if (op == "<") return a < b ? 1 : 0;
  if (op == "whole" || op == "within") {
    const double c = operand(3);
    if (a >= b && a <= c && (a == std::floor(a) || op == "within")) return a;
    throw Error(text_of(a) + "; allowed is a " + (op == "whole" ? "whole " : "") + "number from " +
                text_of(b) + " to " + text_of(c));
  }
  if (b == 0) throw Error("division by zero");
  if (op == "/") return a / b;
  double rest = std::fmod(a, b);  // Python's has the sign of the divisor
  if (rest != 0 && (rest < 0) != (b < 0)) rest += b;
  if (op == "%") return rest;
  return op == "//" ? std::round((a - rest) / b) : throw Error("'" + op + "' is unknown");
}

/// Of {"expression", "tree"}: readable and to be evaluated.
inline double value_of(const Json& expression, const Values& values) {
  const Json* tree = expression.find("tree");
  try {
    const double value = tree != nullptr ? evaluate(*tree, values) : throw Error("has no tree");
    return std::isfinite(value) ? value : throw Error("the value is not finite");
  } catch (const Error& error) {
    throw Error(expression.text("expression") + ": " + error.what());
  }
}

/// Bits of the nearest float of 16 bits, ties to even.
inline std::uint16_t half_bits(double value, int mantissa_bits) {
  const int bias = (1 << (14 - mantissa_bits)) - 1;
  const int exponent = value == 0 ? 1 - bias : std::max(std::ilogb(value), 1 - bias);
  const double steps = std::nearbyint(std::ldexp(std::fabs(value), mantissa_bits - exponent));
  const int sign = std::signbit(value) ? 0x8000 : 0;
  return std::uint16_t(sign + ((exponent + bias - 1) << mantissa_bits) + static_cast<int>(steps));
}

/// Puts a number, which the type holds, where it belongs in the bytes of an argument.
inline void store(std::vector<unsigned char>& bytes, const Json& field, double value) {
  const std::string& dtype = field.text("dtype");
  const auto put = [&](const auto& number) {  // of an integer the low bytes
    const auto offset = static_cast<std::size_t>(field.number("offset"));
    const auto size = static_cast<std::size_t>(field.number("bytes"));
    const std::size_t most = std::min(sizeof number, bytes.size());
    if (size > most || offset > bytes.size() - size) throw Error("a bad offset");
    std::memcpy(bytes.data() + offset, &number, size);
  };
  if (dtype == "f64") return put(value);
  if (dtype == "f32") return put(static_cast<float>(value));
  if (dtype == "f16" || dtype == "bf16") return put(half_bits(value, dtype == "f16" ? 10 : 7));
  if (dtype == "u64") return put(static_cast<std::uint64_t>(value));
  put(static_cast<std::int64_t>(value));
}

/// What a kernel is launched with on one shape.
struct Plan {
  struct Argument {
    std::string name;
    std::string direction;
    std::size_t bytes = 0;
    std::vector<unsigned char> value;  ///< of a scalar; of a workspace its address
    std::size_t buffer = 0;            ///< which of the caller's, where it has no value
  };
  struct Step {
    std::string entry;
    std::array<unsigned, 7> size{};      ///< grid, block, dynamic shared memory
    std::vector<std::size_t> arguments;  ///< in the order of the kernel's parameters
    CUfunc_st* function = nullptr;
  };
  std::vector<Argument> arguments;
  std::vector<Step> steps;
};

/// By the "plan" of a kernel. Throws Error saying why the kernel is not valid for the shape.
inline Plan planned(const Json& json, Values values, const Device& device) {
  values["SM_COUNT"] = device.sm_count;
  values["SHARED_BYTES"] = device.shared_bytes;
  for (const Json& condition : json.list("valid")) {
    if (value_of(condition, values) != 0) continue;
    throw Error("'" + condition.text("expression") + "' does not hold: " + condition.text("why"));
  }
  Plan plan;
  std::size_t buffers = 0;
  for (const Json& its : json.list("arguments")) {
    plan.arguments.push_back({its.text("name"), its.text("direction"), 0, {}, 0});
    Plan::Argument& argument = plan.arguments.back();
    argument.bytes = static_cast<std::size_t>(value_of(its.at("bytes"), values));
    const bool is_scalar = argument.direction == "scalar";
    if (is_scalar) argument.value.resize(std::min(argument.bytes, kMostParameterBytes));
    if (!is_scalar && argument.direction != "workspace") argument.buffer = buffers++;
    for (const Json& field : its.list("fields")) {
      store(argument.value, field, value_of(field, values));
    }
  }
  for (const Json& its : json.list("steps")) {
    if (value_of(its.at("when"), values) == 0) continue;
    Plan::Step& step = plan.steps.emplace_back();
    step.entry = its.text("entry");
    for (const Json& name : its.list("arguments")) {
      std::size_t i = 0;
      while (i < plan.arguments.size() && plan.arguments[i].name != name.string) ++i;
      const bool is_known = i < plan.arguments.size() && step.arguments.size() < kMostArguments;
      step.arguments.push_back(is_known ? i : throw Error("no argument '" + name.string + "'"));
    }
    std::size_t i = 0;
    for (const Json& size : its.list("sizes")) {
      step.size[i++ % step.size.size()] = static_cast<unsigned>(value_of(size, values));
    }
  }
  return !plan.steps.empty() ? plan : throw Error("no step runs");
}

/// The part of the CUDA driver API that a launch needs. The library is never closed: others use it.
class Driver {
  struct Symbol {
    void* address;
    template <typename Function>
    operator Function*() const {
      return reinterpret_cast<Function*>(address);
    }
  };
  Symbol find(const char* name) const {
    void* address = library_ != nullptr ? dlsym(library_, name) : nullptr;
    if (address != nullptr) return {address};
    throw Error(file_ + (library_ != nullptr ? std::string(": has no ") + name
                                             : ": cannot be opened: is a CUDA driver installed?"));
  }
  std::string file_;
  void* library_;  // before what is looked up in it

 public:
  explicit Driver(const std::string& file)
      : file_(file), library_(dlopen(file.c_str(), RTLD_NOW)) {}
  void check(int result, const std::string& call) const {
    const char* text = nullptr;
    if (result == 0) return;
    if (error_name(result, &text) != 0 || text == nullptr) text = "unknown error";
    throw Error(call + ": " + text);
  }
  [[nodiscard]] Device device() const {
    constexpr int kSmCount = 16, kMajor = 75, kMinor = 76, kSharedOptin = 97;  // of cuda.h
    int number = 0;
    check(current_device(&number), "cuCtxGetDevice");
    const auto attribute = [&](int which) {
      int value = 0;
      check(device_attribute(&value, which, number), "cuDeviceGetAttribute");
      return value;
    };
    std::array<char, 256> name{};
    check(device_name(name.data(), static_cast<int>(name.size()) - 1, number), "cuDeviceGetName");
    return {name.data(), 10 * attribute(kMajor) + attribute(kMinor), attribute(kSmCount),
            attribute(kSharedOptin)};
  }

  int (*current_context)(CUctx_st**) = find("cuCtxGetCurrent");
  int (*push_context)(CUctx_st*) = find("cuCtxPushCurrent_v2");
  int (*pop_context)(CUctx_st**) = find("cuCtxPopCurrent_v2");
  int (*current_device)(int*) = find("cuCtxGetDevice");
  int (*device_name)(char*, int, int) = find("cuDeviceGetName");
  int (*device_attribute)(int*, int, int) = find("cuDeviceGetAttribute");
  int (*load)(CUmod_st**, const void*) = find("cuModuleLoadData");
  int (*unload)(CUmod_st*) = find("cuModuleUnload");
  int (*get_function)(CUfunc_st**, CUmod_st*, const char*) = find("cuModuleGetFunction");
  int (*set_attribute)(CUfunc_st*, int, int) = find("cuFuncSetAttribute");
  int (*allocate)(std::uint64_t*, std::size_t) = find("cuMemAlloc_v2");
  int (*release)(std::uint64_t) = find("cuMemFree_v2");
  int (*fill)(std::uint64_t, unsigned char, std::size_t, CUstream_st*) = find("cuMemsetD8Async");
  int (*launch)(CUfunc_st*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                CUstream_st*, void**, void**) = find("cuLaunchKernel");
  int (*error_name)(int, const char**) = find("cuGetErrorName");
};

}  // namespace detail

/// A bundle that was read. After the construction threads may share it for everything but forget().
class Bundle {
 public:
  /// `driver`: the library to open, at the first launch; empty: that of the environment variable
  /// EVO_TUNE_DRIVER, else libcuda.so.1.
  explicit Bundle(const std::string& folder, const std::string& driver = {})
      : folder_(folder), driver_file_(driver) {
    const char* named = std::getenv("EVO_TUNE_DRIVER");
    if (driver.empty()) driver_file_ = named != nullptr ? named : "libcuda.so.1";
    const std::string file = folder + "/bundle.json";
    const std::string text = detail::read_file(file);
    try {
      index_ = detail::JsonReader{text.c_str(), text.c_str()}.read();
      if (index_.text("format") != "evo-tune bundle 2") {
        throw Error("format: allowed is \"evo-tune bundle 2\": export the bundle again");
      }
      for (const Json& item : index_.list("shape_variables")) variables_.push_back(item.string);
      for (const Json& item : index_.list("buffers")) buffers_.push_back(item.string);
    } catch (const Error& error) {
      throw Error(file + ": " + error.what());
    }
  }
  ~Bundle() { forget(); }
  Bundle(Bundle&&) = delete;

  [[nodiscard]] const std::string& name() const { return index_.text("name"); }
  [[nodiscard]] const std::vector<std::string>& shape_variables() const { return variables_; }
  /// The arguments that a caller has: neither scalars, which follow from the shape, nor workspaces.
  [[nodiscard]] const std::vector<std::string>& buffers() const { return buffers_; }

  /// The device of the current context.
  [[nodiscard]] Device device() const { return driver().device(); }

  /// For the device that is most alike: the kernel that serves this very shape, else that of the
  /// shape nearest in the logarithm of the variables for which it is valid, else the first
  /// configuration of defaults that is valid. Throws Error with the reason of every kernel.
  [[nodiscard]] Choice choose(const double* shape, const Device& device) const {
    return chosen(shape, device).first;
  }
  [[nodiscard]] Choice choose(const double* shape) const { return choose(shape, device()); }

  /// Starts the kernel for this shape on a stream of the current context. The first time for a
  /// shape and stream it chooses, loads and allocates workspaces, as prepare() does beforehand:
  /// only then may a launch be captured in a graph. `buffers`: device addresses in the order of
  /// buffers(); null is allowed where a buffer is empty.
  void launch(CUstream_st* stream, const double* shape, void* const* buffers) const {
    std::array<void*, detail::kMostArguments> pointers;
    const detail::Plan& plan = prepared(stream, shape);
    for (const detail::Plan::Step& step : plan.steps) {
      for (std::size_t i = 0; i < step.arguments.size(); ++i) {
        const detail::Plan::Argument& argument = plan.arguments[step.arguments[i]];
        const void* own = argument.value.empty() ? nullptr : argument.value.data();
        pointers[i] = const_cast<void*>(own != nullptr ? own : buffers + argument.buffer);
        if (own == nullptr && argument.bytes > 0 && buffers[argument.buffer] == nullptr) {
          throw Error(folder_ + ": argument '" + argument.name + "' is null");
        }
      }
      const auto& size = step.size;
      const int result = driver_->launch(step.function, size[0], size[1], size[2], size[3], size[4],
                                         size[5], size[6], stream, pointers.data(), nullptr);
      if (result != 0) driver_->check(result, folder_ + ": " + step.entry + ": cuLaunchKernel");
    }
  }
  void prepare(CUstream_st* stream, const double* shape) const { (void)prepared(stream, shape); }

  /// Frees all that launches left on GPUs. Nothing of it may be in use; before a context or stream
  /// that was used is destroyed, call it.
  void forget() {
    const std::lock_guard lock(mutex_);
    epoch_ = ++last_epoch_;
    prepared_.clear();
    modules_.clear();
    allowed_.clear();
    for (; !left_.empty(); left_.pop_back()) {
      auto [context, module, address] = left_.back();
      if (driver_->push_context(context) != 0) continue;  // it is gone, and all it had with it
      module != nullptr ? driver_->unload(module) : driver_->release(address);
      driver_->pop_context(&context);
    }
  }

 private:
  using Json = detail::Json;
  using Key = std::tuple<CUctx_st*, CUstream_st*, std::thread::id, std::vector<double>>;

  /// Tries what kernels are chosen for, of the most alike device first, by the sum of squares of
  /// the differences of log(1 + x), so that flags count as well.
  std::pair<Choice, detail::Plan> chosen(const double* shape, const Device& device) const try {
    Values values;
    for (std::size_t i = 0; i < variables_.size(); ++i) values[variables_[i]] = shape[i];
    const auto runs = [&](const Json& plan, const char* code) {
      return plan.at(code).number("from") <= device.compute_capability &&
             plan.at(code).number("to") >= device.compute_capability;
    };
    // PTX, another device model, the order of devices, distance; which kernel, for what.
    std::vector<std::tuple<bool, bool, double, double, std::size_t, const Json*>> tries;
    const std::vector<Json>& kernels = index_.list("kernels");
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      const Json& plan = kernels[i].at("plan");
      for (const Json& use : plan.list("chosen_for")) {
        const std::vector<Json>& sizes = use.list("sizes");  // the defaults are for no shape
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
          (distance == HUGE_VAL ? "the configuration of defaults"
           : distance == 0      ? "tuned for this shape: "
                                : "tuned for the nearest shape for which it is valid: ") +
          use->text("shape") + ", on " + use->text("device");
      try {
        if (from_ptx && !runs(kernel.at("plan"), "ptx")) {
          throw Error("neither its machine code nor its PTX runs on it");
        }
        detail::Plan plan = detail::planned(kernel.at("plan"), values, device);
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

  /// Without a lock where this thread launched it lately.
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
    for (std::size_t i = 0; i < variables_.size(); ++i) {  // a NaN has no place in a map
      if (std::isfinite(shape[i])) continue;
      throw Error(folder_ + ": " + variables_[i] + " is " + detail::text_of(shape[i]));
    }
    const std::lock_guard lock(mutex_);
    // One handle stands for the default stream of every thread.
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
    const std::string file = folder_ + "/" + kernel.text(choice.from_ptx ? "ptx" : "cubin");
    CUmod_st*& module = modules_[{context, file}];
    if (module == nullptr) {
      CUmod_st* loaded = nullptr;
      const std::string code = detail::read_file(file);
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
      // Zeroed once: a kernel leaves it ready for its next launch, on the same stream.
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
  /// Never the same twice in a process: of a bundle that is gone a thread remembers nothing.
  static inline std::atomic<std::uint64_t> last_epoch_{0};
  std::atomic<std::uint64_t> epoch_{++last_epoch_};

  std::string folder_, driver_file_;
  Json index_;
  std::vector<std::string> variables_, buffers_;
  mutable std::once_flag opened_;
  mutable std::unique_ptr<detail::Driver> driver_;
  mutable std::mutex mutex_;
  mutable std::map<Key, detail::Plan> prepared_;
  mutable std::map<std::pair<CUctx_st*, std::string>, CUmod_st*> modules_;
  mutable std::map<std::pair<CUmod_st*, std::string>, unsigned> allowed_;      ///< dynamic memory
  mutable std::vector<std::tuple<CUctx_st*, CUmod_st*, std::uint64_t>> left_;  ///< to be freed
};

}  // namespace v2
}  // namespace evo_tune

#endif  // EVO_TUNE_HPP_V2
