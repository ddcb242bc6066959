#include "tools/bundle/index.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <set>

#include "engine/core/error.hpp"
#include "engine/core/formulas.hpp"
#include "tools/bundle/checked.hpp"
#include "tools/bundle/cover.hpp"
#include "tools/bundle/plan.hpp"
#include "tools/export/exported_kernel.hpp"
#include "tools/loader/evo_tune_index.hpp"

namespace evo {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr const char* kBundleFormat = "evo-tune bundle 3";

/// The properties of a kernel's arguments that must be the same for all kernels of a bundle. Tensor
/// maps, generators, sizes of workspaces, and values on the timed shape may differ.
OrderedJson signature(const OrderedJson& manifest) {
  OrderedJson arguments = OrderedJson::array();
  for (const OrderedJson& argument : manifest.at("arguments")) {
    if (argument.at("direction") == "tensor_map") continue;  // each kernel has its own tensor maps
    OrderedJson own = argument;
    own.erase("generator");
    if (own.value("direction", "") == "workspace") own.erase("extent");
    for (const char* key : {"extent", "value", "row"}) {
      if (own.contains(key)) own[key].erase("value");
    }
    arguments.push_back(own);
  }
  return arguments;
}

OrderedJson variables_json(const ShapeVariables& variables) {
  OrderedJson json = OrderedJson::object();
  for (const auto& [name, value] : variables) json[name] = OrderedJson::parse(formula_of(value));
  return json;
}

/// A condition that holds only for one shape: "B == 2 && S == 512".
std::string is_this_shape(const ShapeVariables& variables) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : variables) {
    parts.push_back(fmt::format("{} == {}", name, formula_of(value)));
  }
  return fmt::format("{}", fmt::join(parts, " && "));
}

OrderedJson condition(const std::string& expression, const std::string& why) {
  return {{"expression", expression}, {"why", why}};
}

/// The shape variables in the order of the problem file.
OrderedJson shape_variables(const StoredRun& run) {
  constexpr bool kThrow = true;
  constexpr bool kIgnoreComments = true;
  const OrderedJson problem =
      OrderedJson::parse(run.info.problem.text, nullptr, kThrow, kIgnoreComments);
  OrderedJson names = OrderedJson::array();
  for (const auto& [name, value] : problem["shapes"][run.info.shape]["variables"].items()) {
    names.push_back(name);
  }
  return names;
}

void require_supported(const OrderedJson& manifest) {
  for (const OrderedJson& argument : manifest.at("arguments")) {
    if (!argument.contains("kind")) continue;
    throw InputError(fmt::format(
        "--bundle: argument '{}' of {} is a {}: not supported in bundles; --out exports one kernel",
        argument.value("name", ""), manifest.value("name", ""), argument.value("kind", "")));
  }
}

class Builder {
 public:
  Builder(const std::vector<BundleSource>& sources, double loss) : sources_(sources), loss_(loss) {
    require_one_problem();
  }

  Bundle run(const std::vector<BundleTarget>& targets, const std::string& name) {
    bundle_.name = file_name(name.empty() ? problem_ : name);
    OrderedJson listed = OrderedJson::array();
    for (const BundleTarget& target : targets) listed.push_back(add(target));
    put_choices(listed);
    bundle_.index = {{"format", kBundleFormat},
                     {"name", bundle_.name},
                     {"problem", problem_},
                     {"loss", loss_},
                     {"shape_variables", variables_},
                     {"buffers", buffers()},
                     {"signature", call_signature()},
                     {"targets", listed},
                     {"kernels", kernels_}};
    return std::move(bundle_);
  }

 private:
  void require_one_problem() {
    std::set<std::string> problems;
    for (const BundleSource& source : sources_) {
      for (const StoredRun& run : source.runs) problems.insert(run.info.problem.name);
    }
    if (problems.size() > 1) {
      throw InputError(fmt::format(
          "--bundle: the runs are of several problems: {}; choose runs of one problem with --run",
          fmt::join(problems, ", ")));
    }
    if (!problems.empty()) problem_ = *problems.begin();
  }

  /// Adds the kernels that serve a target (a device model), and its default configurations, to the
  /// bundle. Returns the target's entry in the index.
  OrderedJson add(const BundleTarget& target) {
    std::vector<ShapeVariables> shapes;
    for (const auto& [shape, name] : target.shapes) shapes.push_back(shape);
    TimeTable times;
    for (const BundleKernel& kernel : target.kernels) {
      times.emplace_back();
      for (const ShapeVariables& shape : shapes) {
        const auto known = kernel.times.find(shape);
        times.back().push_back(
            known == kernel.times.end() ? std::nullopt : std::optional(known->second.ranked_us));
      }
    }
    note_unknown(target, times);
    const KernelOfShape served = fewest_kernels(times, loss_);
    std::map<std::size_t, std::string> names;
    OrderedJson serves = OrderedJson::array();
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      const auto [named, is_new] = names.try_emplace(served[i]);
      if (is_new) named->second = add(target.kernels[served[i]]);
      const std::size_t best = fastest_on(times, i);
      const auto p50_us = [&](std::size_t kernel) {
        return target.kernels[kernel].times.at(shapes[i]).timing.p50_us;
      };
      serves.push_back({{"shape", target.shapes.at(shapes[i])},
                        {"variables", variables_json(shapes[i])},
                        {"kernel", named->second},
                        {"p50_us", p50_us(served[i])},
                        {"best_p50_us", p50_us(best)}});
      note_other_winner(target, shapes[i], served[i], served[i] == best);
    }
    OrderedJson defaults = OrderedJson::array();
    for (std::size_t k = 0; k < target.kernels.size(); ++k) {
      if (!target.kernels[k].is_default) continue;
      const auto [named, is_new] = names.try_emplace(k);
      if (is_new) named->second = add(target.kernels[k]);
      defaults.push_back(named->second);
    }
    for (const std::string& space : target.missing_defaults) {
      bundle_.notes.push_back(
          fmt::format("{}: the default configuration of space {} is left out, "
                      "because it was in no elite or failed in a run",
                      target.device.name, space));
    }
    const DeviceInfo& device = target.device;
    if (device.time_kind == TimeKind::kPredicted) {
      bundle_.notes.push_back("the times on " + device.name +
                              " are PREDICTED by a virtual GPU; nothing was measured there");
    }
    return {{"device", device.name},
            {"arch", device.arch},
            {"sm_count", device.sm_count},
            {"driver", device.driver},
            {"kind", to_string(device.time_kind)},
            {"serves", serves},
            {"defaults", defaults}};
  }

  static std::size_t fastest_on(const TimeTable& times, std::size_t shape) {
    constexpr double kNoTime = std::numeric_limits<double>::infinity();
    const auto fastest = std::ranges::min_element(
        times, {}, [&](const auto& row) { return row[shape].value_or(kNoTime); });
    return static_cast<std::size_t>(fastest - times.begin());
  }

  /// Adds a note if the kernel that serves a shape is not the winner that evo-elite shows.
  void note_other_winner(const BundleTarget& target, const ShapeVariables& shape,
                         std::size_t kernel, bool is_fastest) {
    const auto found = target.winners.find(shape);
    const BundleKernel& serving = target.kernels[kernel];
    if (found == target.winners.end() ||
        (found->second.code == serving.code && found->second.config == serving.config)) {
      return;
    }
    const ShapeWinner& winner = found->second;
    const KernelTime& time = serving.times.at(shape);
    bundle_.notes.push_back(
        fmt::format("{}: {} is served by candidate {} of run {} ({:.2f} µs), "
                    "not by the winner of the newest run, candidate {} of run {} ({:.2f} µs): {}",
                    target.device.name, target.shapes.at(shape), serving.candidate, time.run.id,
                    time.timing.p50_us, winner.candidate, winner.run, winner.p50_us,
                    is_fastest ? "the former was faster in its own run"
                               : "fewer kernels serve all shapes within --loss-percent"));
  }

  /// Writes for which shapes each kernel is chosen. "rank" orders the targets for a device that is
  /// not in the bundle: measured before predicted times, then newer architectures first.
  void put_choices(const OrderedJson& targets) {
    std::vector<std::pair<std::pair<bool, int>, const OrderedJson*>> ranked;
    for (const OrderedJson& target : targets) {
      const int capability = compute_capability_of(target.at("arch").get<std::string>());
      ranked.push_back({{target.at("kind") != "measured", -capability}, &target});
    }
    std::ranges::stable_sort(ranked, {}, [](const auto& its) { return its.first; });
    for (std::size_t rank = 0; rank < ranked.size(); ++rank) {
      const OrderedJson& target = *ranked[rank].second;
      const auto put = [&](const OrderedJson& kernel, const OrderedJson& shape,
                           const OrderedJson& sizes) {
        const auto named = std::ranges::find_if(
            kernels_, [&](const OrderedJson& its) { return its.at("name") == kernel; });
        (*named)["plan"]["chosen_for"].push_back(
            {{"device", target.at("device")}, {"rank", rank}, {"shape", shape}, {"sizes", sizes}});
      };
      for (const OrderedJson& served : target.at("serves")) {
        OrderedJson sizes = OrderedJson::array();
        for (const OrderedJson& variable : variables_) {
          sizes.push_back(served.at("variables").at(variable.get<std::string>()));
        }
        put(served.at("kernel"), served.at("shape"), sizes);
      }
      for (const OrderedJson& name : target.at("defaults")) put(name, "", OrderedJson::array());
    }
  }

  /// The buffers that a caller passes. Scalars follow from the shape, and the loader allocates
  /// workspaces.
  [[nodiscard]] OrderedJson buffers() const {
    OrderedJson names = OrderedJson::array();
    for (const OrderedJson& argument : signature_) {
      const auto direction = argument.at("direction").get<std::string>();
      if (direction != "scalar" && direction != "workspace") names.push_back(argument.at("name"));
    }
    return names;
  }

  /// The signature of the launch function. The loader compares it with the signature for which the
  /// calling program was compiled.
  [[nodiscard]] std::string call_signature() const {
    std::vector<std::string> parts;
    for (const OrderedJson& argument : signature_) {
      const auto direction = argument.at("direction").get<std::string>();
      if (direction == "scalar" || direction == "workspace") continue;
      parts.push_back(fmt::format("{} {} {}", direction, argument.at("dtype").get<std::string>(),
                                  argument.at("name").get<std::string>()));
    }
    for (const OrderedJson& variable : variables_) parts.push_back(variable.get<std::string>());
    return fmt::format("{}", fmt::join(parts, ", "));
  }

  /// Adds a note if missing times may have kept evo-export from choosing fewer kernels.
  void note_unknown(const BundleTarget& target, const TimeTable& times) {
    std::size_t all = 0;
    std::size_t known = 0;
    for (const auto& row : times) {
      all += row.size();
      known += static_cast<std::size_t>(
          std::ranges::count_if(row, [](const auto& time) { return time.has_value(); }));
    }
    if (known == all) return;
    bundle_.notes.push_back(
        fmt::format("{}: {} kernels, {} shapes: {} of {} times are known; "
                    "a kernel is not chosen for a shape on which its time is unknown",
                    target.device.name, times.size(), target.shapes.size(), known, all));
  }

  /// Adds a kernel and returns its name in the bundle.
  std::string add(const BundleKernel& kernel) {
    const Store& store = *sources_[kernel.source].store;
    const StoredRun run = store.run(store.evaluation(kernel.candidate).run);
    KernelExport exported = export_kernel(
        store, kernel.candidate,
        unused_name(run.info.space.name, kernel.is_default ? "default" : run.info.shape));
    OrderedJson& manifest = exported.manifest;
    // A bundle contains neither the source nor its compiler options.
    manifest.erase("source");
    manifest["build"].erase("nvcc");
    require_supported(manifest);
    if (signature_.is_null()) {
      signature_ = signature(manifest);
      variables_ = shape_variables(run);
    }
    if (signature(manifest) != signature_ || shape_variables(run) != variables_) {
      throw InputError(
          fmt::format("--bundle: the kernels of run {} ({}) take other arguments or shapes than "
                      "those of the first run; choose runs of one version of problem {} with --run",
                      run.id, run.info.space.name, problem_));
    }
    const bool says_where_valid = put_validity(kernel, manifest);
    manifest["times"] = OrderedJson::array();
    for (const auto& [shape, time] : kernel.times) {
      OrderedJson entry = timing_json(time.run, time.timing, time.measured_at);
      entry["variables"] = variables_json(shape);
      entry["run"] = time.run.id;
      manifest["times"].push_back(std::move(entry));
    }
    const auto variables = variables_.get<std::vector<std::string>>();
    if (says_where_valid) {
      for (OrderedJson& its : checked_conditions(
               {kernel.checked_shapes, manifest, kernel_plan(manifest, variables), exported.ptx})) {
        manifest["valid"].push_back(std::move(its));
      }
    }
    manifest["plan"] = kernel_plan(manifest, variables);
    manifest["plan"]["chosen_for"] = OrderedJson::array();
    manifest["sha256"] = {{"cubin", evo_tune::detail::sha256(exported.cubin)},
                          {"ptx", evo_tune::detail::sha256(exported.ptx)}};
    bundle_.files.emplace_back(exported.name + ".cubin", exported.cubin);
    bundle_.files.emplace_back(exported.name + ".ptx", exported.ptx);
    kernels_.push_back(std::move(manifest));
    return exported.name;
  }

  /// Adds the checked shapes to a manifest. If the manifest lacks "valid", because an older version
  /// wrote the database, adds a condition that admits only the checked shapes and returns false.
  bool put_validity(const BundleKernel& kernel, OrderedJson& manifest) {
    manifest["checked_shapes"] = OrderedJson::object();
    for (const auto& [name, shape] : kernel.checked_shapes) {
      manifest["checked_shapes"][name] = variables_json(shape);
    }
    if (manifest.contains("valid")) return true;
    std::vector<std::string> alternatives;
    for (const auto& [name, shape] : kernel.checked_shapes) {
      alternatives.push_back(fmt::format("({})", is_this_shape(shape)));
    }
    manifest["valid"] = OrderedJson::array(
        {condition(fmt::format("{}", fmt::join(alternatives, " || ")),
                   "an older evo-tune wrote the kernel's database, "
                   "which has the checked shapes but no conditions for other shapes")});
    bundle_.notes.push_back(manifest.at("name").get<std::string>() + ": " +
                            manifest["valid"][0]["why"].get<std::string>());
    return false;
  }

  std::string unused_name(const std::string& space, const std::string& shape) {
    const std::string name = file_name(space + "_" + shape);
    for (int copy = 1;; ++copy) {
      std::string candidate = copy == 1 ? name : fmt::format("{}_{}", name, copy);
      if (names_.insert(candidate).second) return candidate;
    }
  }

  const std::vector<BundleSource>& sources_;
  double loss_;
  std::string problem_;
  std::set<std::string> names_;
  OrderedJson signature_;  ///< of the first kernel
  OrderedJson variables_;
  OrderedJson kernels_ = OrderedJson::array();
  Bundle bundle_;
};

}  // namespace

std::string index_text(const OrderedJson& index) {
  const std::string rest = index.dump(1).substr(std::string("{\n").size()) + "\n";
  return evo_tune::detail::index_head(rest) + rest;
}

Bundle make_bundle(const std::vector<BundleSource>& sources,
                   const std::vector<BundleTarget>& targets, double loss, const std::string& name) {
  return Builder(sources, loss).run(targets, name);
}

}  // namespace evo
