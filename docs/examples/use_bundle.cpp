// Uses a bundle as an application would: launches the kernel of every shape from two threads on two
// streams, checks the results, and measures the cost of a launch beyond cuLaunchKernel.
//
//   use_bundle DIR [--bursts N] [--allow VARIABLE …] [SIZES …]
//
//   SIZES     values of the bundle's shape variables, such as 2,8,8,300,300,64,0,0,0; default: all
//             shapes for which the bundle was tuned
//   --bursts  number of bursts of 200 launches whose time is measured; default: 101
//   --allow   a shape variable whose value need not be one that the checks of the kernels cover
//
// Exit codes: 0 all launches succeeded (and all results of sdpa_fp8 are right), 1 a result is
// wrong, 2 bad usage or files, 3 no GPU that can run the bundle.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "cuda_driver.hpp"
#include "sdpa_fp8_check.hpp"
#include "tools/loader/evo_tune.hpp"

namespace {

using Json = evo_tune::detail::Json;
using Plan = evo_tune::detail::Plan;
using Sizes = std::vector<double>;

std::mutex printing;

/// A bundle and its parsed index. An application that knows its buffers and their sizes needs only
/// evo_tune::Bundle.
struct Opened {
  explicit Opened(const std::string& its_folder)
      : folder(its_folder),
        text(evo_tune::detail::read_file(folder + "/bundle.json")),
        bundle(folder),
        index(evo_tune::detail::JsonReader{text.c_str(), text.c_str()}.read()) {}

  [[nodiscard]] const Json& kernel(const evo_tune::Choice& choice) const {
    return index.list("kernels").at(choice.kernel);
  }
  [[nodiscard]] evo_tune::Values values(const Sizes& sizes) const {
    evo_tune::Values values;
    for (std::size_t i = 0; i < sizes.size(); ++i) values[bundle.shape_variables()[i]] = sizes[i];
    return values;
  }
  /// The launch of the chosen kernel on the shape `sizes`.
  [[nodiscard]] Plan plan(const evo_tune::Choice& choice, const Sizes& sizes) const {
    return evo_tune::detail::planned(kernel(choice).at("plan"), values(sizes), bundle.device(),
                                     bundle.buffers(), allowed);
  }

  std::string folder;
  std::string text;
  evo_tune::Bundle bundle;
  Json index;
  evo_tune::Allowed allowed;  ///< the permitted values of the variables of --allow
};

/// One shape with its buffers on the GPU. Inputs are random for attention, and zero for other
/// problems; outputs are filled with the byte 0xFF, which is a NaN in floating-point types.
class Case {
 public:
  Case(const Opened& opened, const evo_tune::Choice& choice, const Sizes& sizes, unsigned seed)
      : opened_(&opened), choice_(choice), sizes_(sizes), plan_(opened.plan(choice, sizes)) {
    std::mt19937 random(seed);
    for (const Plan::Argument& argument : plan_.arguments) {
      if (argument.direction == "scalar" || argument.direction == "workspace") continue;
      Bytes bytes(argument.bytes, argument.direction == "out" ? 0xFF : 0);
      if (is_attention()) draw_attention_input(argument.name, bytes, random);
      buffers_.emplace_back(bytes.size()).upload(bytes);
      addresses_.push_back(buffers_.back().pointer());
      inputs_[argument.name] = std::move(bytes);
    }
  }

  /// The device addresses in the order of Bundle::buffers().
  [[nodiscard]] void* const* addresses() const { return addresses_.data(); }
  [[nodiscard]] const Plan& plan() const { return plan_; }

  /// Returns "right", "WRONG" or "not compared", with the errors of the results.
  [[nodiscard]] std::string judged() const {
    if (!is_attention()) return "not compared";
    const auto& names = opened_->bundle.buffers();
    const auto o = std::find(names.begin(), names.end(), "o") - names.begin();
    const CheckReport report = check_sdpa_fp8(opened_->values(sizes_), inputs_,
                                              buffers_.at(static_cast<std::size_t>(o)).download());
    const Json& tolerance = opened_->kernel(choice_).at("tolerance");
    const bool is_right = report.max_abs_error <= tolerance.number("max_abs_error") &&
                          report.relative_l2 <= tolerance.number("relative_l2") &&
                          (tolerance.find("max_row_error") == nullptr ||
                           report.max_row_error <= tolerance.number("max_row_error"));
    std::array<char, 160> text{};
    std::snprintf(text.data(), text.size(), "%s: relative L2 %.2g, max abs error %.2g, %zu rows",
                  is_right ? "right" : "WRONG", report.relative_l2, report.max_abs_error,
                  report.rows);
    return text.data();
  }

 private:
  [[nodiscard]] bool is_attention() const { return opened_->index.text("problem") == "sdpa_fp8"; }

  const Opened* opened_;
  evo_tune::Choice choice_;
  Sizes sizes_;
  Plan plan_;
  std::map<std::string, Bytes> inputs_;
  std::vector<Buffer> buffers_;
  std::vector<void*> addresses_;
};

/// Launches all shapes on a new stream. Returns true if no result is wrong.
bool run_thread(unsigned number, const Opened& opened, const std::vector<Sizes>& shapes) {
  const Context context;
  const Stream stream;
  bool all_right = true;
  for (const Sizes& sizes : shapes) {
    const evo_tune::Choice choice = opened.bundle.choose(sizes);
    const Case its(opened, choice, sizes, number);
    constexpr int kLaunches = 3;  // a kernel must leave its workspace ready for the next launch
    for (int i = 0; i < kLaunches; ++i) {
      opened.bundle.launch(stream.handle(), sizes, its.addresses());
    }
    stream.synchronize();
    const std::string verdict = its.judged();
    all_right = all_right && verdict.rfind("WRONG", 0) != 0;
    std::string text;
    for (const double size : sizes) {
      if (!text.empty()) text += ',';
      text += evo_tune::detail::text_of(size);
    }
    const std::lock_guard lock(printing);
    std::printf("thread %u: %s: %s: %s\n  %s\n", number, text.c_str(), choice.name.c_str(),
                verdict.c_str(), choice.why.c_str());
  }
  return all_right;
}

/// Nanoseconds per launch in a burst of launches on an idle GPU, so that no launch waits for space
/// in the queue.
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

/// Measures bursts through the bundle and through cuLaunchKernel alone, in turn, and prints the
/// medians. Prints nothing for PTX and for kernels of several steps.
void print_overhead(const Opened& opened, const Sizes& sizes, std::size_t bursts) {
  if (bursts == 0) return;
  const Context context;
  const Stream stream;
  const evo_tune::Choice choice = opened.bundle.choose(sizes);
  const Case its(opened, choice, sizes, 1);
  Plan plan = its.plan();
  if (choice.from_ptx || plan.steps.size() != 1) return;
  const Plan::Step& step = plan.steps.front();
  const Module module(opened.folder + "/" + opened.kernel(choice).text("cubin"));
  const CUfunction function = module.function(step.entry, step.size.back());
  std::vector<Buffer> workspaces;
  std::vector<void*> own;  // addresses of workspaces
  own.reserve(plan.arguments.size());
  std::vector<void*> parameters;
  for (const std::size_t number : step.arguments) {
    Plan::Argument& argument = plan.arguments[number];
    if (argument.direction == "workspace") {
      workspaces.emplace_back(argument.bytes).upload(Bytes(argument.bytes));
      parameters.push_back(&own.emplace_back(workspaces.back().pointer()));
    } else if (argument.direction == "scalar") {
      parameters.push_back(argument.value.data());
    } else {
      parameters.push_back(const_cast<void**>(its.addresses() + argument.buffer));
    }
  }
  std::vector<double> direct;
  std::vector<double> loaded;
  for (std::size_t burst = 0; burst < bursts; ++burst) {
    direct.push_back(burst_ns(
        stream, [&] { launch_kernel(function, step.size, parameters.data(), stream.handle()); }));
    loaded.push_back(
        burst_ns(stream, [&] { opened.bundle.launch(stream.handle(), sizes, its.addresses()); }));
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
  throw std::invalid_argument("'" + text + "': allowed: " + std::to_string(count) +
                              " numbers with commas between");
}

std::vector<Sizes> tuned_shapes(const Opened& opened) {
  std::vector<Sizes> shapes;
  for (const Json& target : opened.index.list("targets")) {
    for (const Json& served : target.list("serves")) {
      Sizes sizes;
      for (const std::string& variable : opened.bundle.shape_variables()) {
        sizes.push_back(served.at("variables").number(variable.c_str()));
      }
      if (std::find(shapes.begin(), shapes.end(), sizes) == shapes.end()) shapes.push_back(sizes);
    }
  }
  return shapes;
}

int run(const Opened& opened, const std::vector<Sizes>& shapes, std::size_t bursts) {
  const Context context;  // created here, so that a missing GPU is reported once
  constexpr unsigned kThreads = 2;
  std::array<std::string, kThreads> errors;
  std::array<bool, kThreads> right{};
  std::vector<std::thread> threads;
  for (unsigned number = 0; number < kThreads; ++number) {
    threads.emplace_back([&, number] {
      try {
        right[number] = run_thread(number, opened, shapes);
      } catch (const std::exception& error) {
        errors[number] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& error : errors) {
    if (!error.empty()) throw std::runtime_error(error);
  }
  print_overhead(opened, shapes.front(), bursts);
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
    Opened opened(argv[1]);
    std::vector<Sizes> shapes;
    std::size_t bursts = 101;
    for (int i = 2; i < argc; ++i) {
      const std::string word = argv[i];
      if (word == "--bursts" && i + 1 < argc) {
        bursts = std::stoul(argv[++i]);
      } else if (word == "--allow" && i + 1 < argc) {
        opened.bundle.allow_unchecked(argv[++i]);
        opened.allowed[argv[i]] = {-HUGE_VAL, HUGE_VAL};
      } else {
        shapes.push_back(sizes_from(word, opened.bundle.shape_variables().size()));
      }
    }
    if (shapes.empty()) shapes = tuned_shapes(opened);
    try {
      return run(opened, shapes, bursts);
    } catch (const std::runtime_error& error) {
      std::fprintf(stderr, "use_bundle: %s\n", error.what());
      return 3;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "use_bundle: %s\n", error.what());
    return 2;
  }
}
