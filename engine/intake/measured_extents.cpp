#include "engine/intake/measured_extents.hpp"

#include <algorithm>

#include "engine/core/json_reader.hpp"
#include "engine/intake/extent_fit.hpp"
#include "engine/intake/given.hpp"
#include "engine/intake/probe_device.hpp"

namespace evo {
namespace {

using Kind = DraftArgument::Kind;

bool is_open(const DraftArgument& argument) {
  return argument.is_buffer() && argument.kind != Kind::kConstant && is_todo(argument.extent);
}

std::vector<std::string> names_of(const SizeTexts& variables) {
  std::vector<std::string> names;
  for (const auto& [name, unused] : variables) names.push_back(name);
  return names;
}

constexpr std::int64_t kMostScale = 8;  ///< limit of `scale_`

/// A possible expression for an argument's extent, which runs with other sizes may refute.
struct Candidate {
  std::size_t argument = 0;
  ExtentFit fit;
  std::vector<std::uint64_t> counts;  ///< accessed elements, with each set of small sizes
  std::string doubt = {};             ///< the reason why the extent stays a TODO
};

class Measurement {
 public:
  Measurement(const std::vector<ProbeKernel>& kernels, Draft& draft)
      : kernels_(kernels), draft_(draft), device_(kernels, draft) {}

  SizeKind run() {
    Found best;
    for (const SizeKind kind : kSizeKinds) {
      if (best.known == open_arguments().size()) break;
      Found found = with_sizes(kind);
      if (found.known > best.known) best = std::move(found);
    }
    std::string text;
    for (const Candidate& candidate : best.candidates) text += accept(candidate);
    text += measure_workspaces(best.kind);
    text += measure_shared(best.kind);
    if (!text.empty()) {
      draft_.notes.push_back("measured on the virtual GPU with " + sizes_text(best.kind) + ":" +
                             text);
    }
    find_what_is_left(best.kind);
    say_what_is_missing();
    return best.kind;
  }

 private:
  [[nodiscard]] std::vector<std::size_t> open_arguments() const {
    std::vector<std::size_t> open;
    for (std::size_t a = 0; a < draft_.arguments.size(); ++a) {
      if (is_open(draft_.arguments[a])) open.push_back(a);
    }
    return open;
  }

  /// The sizes of a run: small sizes if `probe` < kProbes, otherwise larger sizes (proof_sizes()).
  [[nodiscard]] Values sizes_of(SizeKind kind, std::size_t probe) const {
    if (probe < kProbes) return probe_sizes(kind, draft_.variables, probe);
    return proof_sizes(kind, draft_.variables, probe - kProbes, scale_);
  }

  [[nodiscard]] Values values_of(SizeKind kind, std::size_t probe, std::size_t kernel) const {
    Values values = sizes_of(kind, probe);
    values.insert(kernels_[kernel].macros.begin(), kernels_[kernel].macros.end());
    return values;
  }

  /// The smallest number from 0 to `most` for which `runs` is true, by bisection.
  static std::uint64_t least(std::uint64_t most, const auto& runs) {
    std::uint64_t low = 0;
    while (low < most) {
      const std::uint64_t middle = low + (most - low) / 2;
      if (runs(middle)) {
        most = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  /// Bisects like least(), but first tries a number predicted from `samples`, to save launches.
  /// `values`: the sizes and macros of the new sample.
  static std::uint64_t counted(const std::vector<std::string>& names,
                               const std::vector<ExtentSample>& samples, const Values& values,
                               std::uint64_t most, const auto& runs) {
    std::vector<std::uint64_t> guesses;
    if (const ExtentFit fit = fitted_extent(names, samples); !fit.text.empty()) {
      guesses.push_back(static_cast<std::uint64_t>(Expression(fit.text).evaluate(values)));
    }
    if (!samples.empty()) guesses.push_back(samples.back().count);
    for (const std::uint64_t guess : guesses) {
      if (guess > 0 && guess <= most && runs(guess) && !runs(guess - 1)) return guess;
    }
    return least(most, runs);
  }

  bool runs_with(std::size_t argument, std::uint64_t elements) {
    return !device_.fault({.elements = {{argument, elements}}});
  }

  /// The extents that were found with one kind of sizes, such as prime numbers.
  struct Found {
    SizeKind kind = SizeKind::kRagged;
    std::vector<Candidate> candidates = {};
    std::size_t known = 0;  ///< number of extents without a reason for doubt
  };

  Found with_sizes(SizeKind kind) {
    Found found{kind, candidates_of(kind)};
    if (found.candidates.empty()) return found;
    if (!prove_by_inputs(kind, found.candidates)) return {kind};
    prove_by_macros(kind, found.candidates);
    prove_by_any_bits(kind, found.candidates);
    if (device_.is_exhausted()) {
      trouble_ = "running the kernel with small sizes takes too long";
      return {kind};
    }
    found.known = static_cast<std::size_t>(std::ranges::count_if(
        found.candidates, [](const Candidate& candidate) { return candidate.doubt.empty(); }));
    for (const Candidate& candidate : found.candidates) {
      if (!candidate.doubt.empty()) {
        doubts_.emplace(draft_.arguments[candidate.argument].name, candidate.doubt);
      }
    }
    return found;
  }

  void say_what_is_missing() {
    for (const std::size_t argument : open_arguments()) {
      const std::string& name = draft_.arguments[argument].name;
      const auto& reasons = doubts_.contains(name) ? doubts_ : misfits_;
      const auto why = reasons.find(name);
      if (why != reasons.end()) draft_.notes.push_back("extent of " + name + ": " + why->second);
    }
    const bool is_left = !open_arguments().empty() || is_todo(draft_.dynamic_shared_bytes);
    if (!trouble_.empty() && is_left) draft_.notes.push_back("extents: " + trouble_);
  }

  /// Steps 1 and 2 of measure_extents(): finds expressions that fit runs with small sizes.
  std::vector<Candidate> candidates_of(SizeKind kind) {
    std::vector<Candidate> candidates;
    std::map<std::size_t, std::vector<ExtentSample>> samples;
    for (std::size_t probe = 0; probe < kProbes; ++probe) {
      const Values sizes = sizes_of(kind, probe);
      device_.prepare(0, values_of(kind, probe, 0), ProbeContent::kZeros);
      const std::uint64_t before = device_.executed();
      if (const auto fault = device_.fault({})) {
        if (trouble_.empty()) {
          trouble_ = "with sizes " + to_text(kind) + ", the kernel does not run: " + *fault;
        }
        return {};
      }
      if (probe == 0) choose_scale(kind, device_.executed() - before);
      for (const std::size_t argument : open_arguments()) {
        std::vector<ExtentSample>& list = samples[argument];
        list.push_back(
            {sizes, counted(names_of(draft_.variables), list, sizes, device_.ample_elements(),
                            [&](std::uint64_t count) { return runs_with(argument, count); })});
      }
    }
    for (const auto& [argument, list] : samples) {
      Candidate candidate{argument, fitted_extent(names_of(draft_.variables), list), {}};
      for (const ExtentSample& sample : list) candidate.counts.push_back(sample.count);
      if (candidate.fit.text.empty()) {
        std::string text;
        for (const std::uint64_t count : candidate.counts) {
          text += (text.empty() ? "" : ", ") + std::to_string(count);
        }
        misfits_.emplace(draft_.arguments[argument].name,
                         "the kernel accesses " + text + " elements with " + sizes_text(kind) +
                             ", and no simple expression of the sizes gives these numbers");
        continue;
      }
      candidates.push_back(std::move(candidate));
    }
    return candidates;
  }

  /// Doubles `scale_`, up to kMostScale, until a run with the larger sizes probably takes less than
  /// 4 million warp instructions. `executed`: the warp instructions of a run with small sizes.
  void choose_scale(SizeKind kind, std::uint64_t executed) {
    constexpr double kMostInstructions = 4e6;
    const auto elements = [](const Values& sizes) {
      double product = 1;
      for (const auto& [unused, size] : sizes) product *= size;
      return product;
    };
    const double each = static_cast<double>(executed) / elements(sizes_of(kind, 0));
    for (scale_ = 1; scale_ < kMostScale; scale_ *= 2) {
      if (each * elements(sizes_of(kind, kProbes)) < kMostInstructions) break;
    }
  }

  /// The sets of small sizes as text: "N=37, C=53; N=53, C=83".
  [[nodiscard]] std::string sizes_text(SizeKind kind) const {
    std::string text;
    for (std::size_t probe = 0; probe < kProbes; ++probe) {
      const auto sizes = probe_sizes(kind, draft_.variables, probe);
      text += probe > 0 ? "; " : "";
      for (std::size_t i = 0; i < draft_.variables.size(); ++i) {
        const std::string& name = draft_.variables[i].first;
        text += (i > 0 ? ", " : "") + name + "=" + formula_of(sizes.at(name));
      }
    }
    return text;
  }

  /// True if the kernel runs with the extent, but not with one element less (or, if the fit is
  /// inexact, not with half of the extent).
  bool touches(SizeKind kind, std::size_t probe, const Candidate& candidate) {
    const std::uint64_t elements = extent_at(kind, probe, candidate);
    if (!runs_with(candidate.argument, elements)) return false;
    return !runs_with(candidate.argument, candidate.fit.is_exact ? elements - 1 : elements / 2);
  }

  /// A number of elements that suffices for every buffer; 0 if a buffer's extent is unknown.
  [[nodiscard]] std::uint64_t needed(SizeKind kind, std::size_t probe,
                                     const std::vector<Candidate>& candidates) const {
    if (candidates.size() < open_arguments().size()) return 0;
    std::uint64_t most = 1;
    for (const Candidate& candidate : candidates) {
      most = std::max(most, extent_at(kind, probe, candidate));
    }
    return 2 * most;
  }

  /// Step 3 of measure_extents(): tests the expressions with other inputs and larger sizes.
  bool prove_by_inputs(SizeKind kind, std::vector<Candidate>& candidates) {
    for (std::size_t probe = 0; probe < kProbes + kProofs; ++probe) {
      const auto prepare = [&] {
        device_.prepare(0, values_of(kind, probe, 0), ProbeContent::kSmallNumbers,
                        needed(kind, probe, candidates));
      };
      prepare();
      auto fault = device_.fault({});
      for (; fault && probe >= kProbes && scale_ < kMostScale; fault = device_.fault({})) {
        scale_ *= 2;  // the buffers are too small for these sizes
        prepare();
      }
      if (fault) {
        trouble_ = "the accessed elements depend on the inputs: " + *fault;
        return false;
      }
      for (Candidate& candidate : candidates) {
        if (!candidate.doubt.empty() || touches(kind, probe, candidate)) continue;
        candidate.doubt = probe < kProbes
                              ? "the number of accessed elements depends on the inputs"
                              : "with larger sizes, it is no longer " + candidate.fit.text;
      }
    }
    return true;
  }

  /// Tests the expressions with arbitrary integers as inputs. A large integer used as an index ends
  /// the launch with a buffer overrun, so only the expression of that buffer is refuted.
  void prove_by_any_bits(SizeKind kind, std::vector<Candidate>& candidates) {
    device_.prepare(0, values_of(kind, 0, 0), ProbeContent::kAnyBits);
    const auto fault = device_.fault({});
    for (Candidate& candidate : candidates) {
      const std::string quoted = "'" + draft_.arguments[candidate.argument].name + "'";
      const bool is_right =
          fault ? fault->find(quoted) == std::string::npos : touches(kind, 0, candidate);
      if (candidate.doubt.empty() && !is_right) {
        candidate.doubt = "the number of accessed elements depends on the inputs";
      }
    }
  }

  /// Step 4 of measure_extents(): tests the expressions with other configurations that run without
  /// a fault.
  void prove_by_macros(SizeKind kind, std::vector<Candidate>& candidates) {
    for (std::size_t kernel = 1; kernel < kernels_.size(); ++kernel) {
      for (const std::size_t probe : {std::size_t{0}, std::size_t{1}, kProbes}) {
        device_.prepare(kernel, values_of(kind, probe, kernel), ProbeContent::kSmallNumbers,
                        needed(kind, probe, candidates));
        if (device_.fault({})) break;
        for (Candidate& candidate : candidates) {
          if (!candidate.doubt.empty()) continue;
          const bool is_only_read = draft_.arguments[candidate.argument].kind == Kind::kIn;
          const bool is_right =
              is_only_read ? runs_with(candidate.argument, extent_at(kind, probe, candidate))
                           : touches(kind, probe, candidate);
          if (!is_right) candidate.doubt = "the number of accessed elements depends on macros";
        }
      }
    }
  }

  [[nodiscard]] std::uint64_t extent_at(SizeKind kind, std::size_t probe,
                                        const Candidate& candidate) const {
    return static_cast<std::uint64_t>(
        Expression(candidate.fit.text).evaluate(sizes_of(kind, probe)));
  }

  /// Sets an argument's extent. Returns a note for the user, empty if the extent stays a TODO.
  std::string accept(const Candidate& candidate) {
    DraftArgument& argument = draft_.arguments[candidate.argument];
    if (!candidate.doubt.empty()) return {};
    argument.extent = candidate.fit.text;
    return "\n  " + argument.name + ": " + argument.extent + " elements" +
           (candidate.fit.is_exact ? "" : "; the kernel accesses slightly fewer");
  }

  /// An expression of sizes and macros that gives, in all configurations, the smallest count for
  /// which `runs` is true; empty: no expression was found.
  std::string by_macros(SizeKind kind, std::uint64_t most, const auto& runs) {
    std::vector<std::string> names = names_of(draft_.variables);
    for (const DraftParameter& parameter : draft_.parameters) {
      if (kernels_.front().macros.contains(parameter.macro)) names.push_back(parameter.macro);
    }
    std::vector<ExtentSample> samples;
    for (std::size_t kernel = 0; kernel < kernels_.size(); ++kernel) {
      for (std::size_t probe = 0; probe < kProbes + 1; ++probe) {
        const Values values = values_of(kind, probe, kernel);
        device_.prepare(kernel, values, ProbeContent::kZeros);
        if (device_.fault({})) break;
        samples.push_back({values, counted(names, samples, values, most, runs)});
      }
    }
    if (samples.size() <= kProbes || device_.is_exhausted()) return {};
    const ExtentFit fit = fitted_extent(names, samples);
    return fit.is_exact ? fit.text : "";
  }

  std::string measure_shared(SizeKind kind) {
    if (!is_todo(draft_.dynamic_shared_bytes)) return {};
    const std::string text =
        by_macros(kind, ProbeDevice::kAmpleSharedBytes, [&](std::uint64_t bytes) {
          return !device_.fault({.shared_bytes = static_cast<std::uint32_t>(bytes)});
        });
    if (text.empty()) return {};
    draft_.dynamic_shared_bytes = text;
    return "\n  dynamic shared memory: " + text + " bytes";
  }

  /// Measures the extents of workspaces, the only extents that may depend on macros.
  std::string measure_workspaces(SizeKind kind) {
    std::string found;
    for (const std::size_t argument : open_arguments()) {
      DraftArgument& workspace = draft_.arguments[argument];
      if (workspace.kind != Kind::kWorkspace) continue;
      const std::string text = by_macros(kind, ProbeDevice::kLeastAmple, [&](std::uint64_t count) {
        return runs_with(argument, count);
      });
      if (text.empty()) continue;
      workspace.extent = text;
      found += "\n  " + workspace.name + ": " + text + " elements";
    }
    return found;
  }

  /// Step 6 of measure_extents(): turns outputs with unchanged elements into inouts. Powers of two
  /// confirm prime sizes, because a kernel for round sizes may leave out the rest of prime sizes.
  void find_what_is_left(SizeKind kind) {
    const auto leaves = [&](SizeKind sizes, std::size_t a) {
      device_.prepare(0, values_of(sizes, 0, 0), ProbeContent::kSmallNumbers);
      return device_.leaves_elements(a);
    };
    for (std::size_t a = 0; a < draft_.arguments.size(); ++a) {
      DraftArgument& argument = draft_.arguments[a];
      if (argument.kind != Kind::kOut || is_open(argument) || !argument.is_compared) continue;
      if (!leaves(kind, a) || (kind == SizeKind::kRagged && !leaves(SizeKind::kPower, a))) continue;
      argument.kind = Kind::kInOut;
      argument.generator = start_of_output(argument.dtype);
      draft_.notes.push_back(
          "parameter " + argument.name +
          ": the kernel leaves some of its elements unchanged, so it becomes \"inout\"");
    }
  }

  const std::vector<ProbeKernel>& kernels_;
  Draft& draft_;
  ProbeDevice device_;
  std::map<std::string, std::string> doubts_;   ///< first reason for doubt, by argument
  std::map<std::string, std::string> misfits_;  ///< why no expression fits, by argument
  std::string trouble_;
  std::int64_t scale_ = 1;  ///< divisor of the larger sizes
};

}  // namespace

SizeKind measure_extents(const std::vector<ProbeKernel>& kernels, Draft& draft) {
  return Measurement(kernels, draft).run();
}

}  // namespace evo
