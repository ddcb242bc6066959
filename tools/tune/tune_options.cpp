#include "tools/tune/tune_options.hpp"

#include "engine/evolve/strategy.hpp"
#include "tools/cli/help_format.hpp"
#include "tools/cli/number_options.hpp"
#include "tools/cli/value_lists.hpp"
#include "tools/doctor/doctor.hpp"

namespace evo {
namespace {

std::string strategy_list() {
  std::string list;
  for (const std::string_view name : strategy_names()) {
    list += (list.empty() ? "" : ", ") + std::string(name);
  }
  return list + ", or 'program: COMMAND'";
}

constexpr const char* kInterpreter = "VIRTUAL";

}  // namespace

ValueLists tune_value_lists() {
  ValueLists lists = SessionOptions::value_lists();
  lists[kInterpreter] = virtual_device_values({"auto", "none"});
  lists[value_words::kStrategy] = [](const GivenValues&) {
    return std::vector<std::string>(strategy_names().begin(), strategy_names().end());
  };
  lists[value_words::kObjective] = [](const GivenValues&) {
    return std::vector<std::string>{"time", "energy", "time*energy"};
  };
  return lists;
}

void declare(CLI::App& app, TuneOptions& options) {
  options.session.declare(app, true);
  options.session.remote.declare(app);
  app.add_option("--generations", options.tuner.generations, "number of generations")
      ->capture_default_str()
      ->transform(whole_number(1, 1000000));
  app.add_option("--offspring", options.tuner.offspring,
                 "candidates per generation (default: 8, plus 1 for each shape after the first)")
      ->transform(whole_number(1, 10000));
  app.add_option(
         "--max-in-flight", options.tuner.max_in_flight,
         "candidates in flight (default: --offspring if given, else twice --jobs, from 8 to 32; "
         "eight times --jobs for strategies that do not learn; "
         "with workers on other hosts 32, or 512 for such strategies)")
      ->transform(whole_number(1, 10000));
  app.add_option("--elite", options.tuner.elite, "number of kernels in the elite")
      ->capture_default_str()
      ->transform(whole_number(1, 1000));
  app.add_option("--strategy", options.tuner.strategy, strategy_list())
      ->type_name(value_words::kStrategy)
      ->capture_default_str();
  app.add_option("--objective", options.tuner.objective,
                 "quantity to minimise: time, energy, "
                 "or an expression over both, such as \"time*energy^0.5\" (µs and mJ of a launch)")
      ->type_name(value_words::kObjective)
      ->capture_default_str();
  app.add_option("--seed", options.tuner.seed, "seed of the search")
      ->capture_default_str()
      ->transform(seed_number());
  options.declare_run(app);
  app.add_flag("--warm-start,!--no-warm-start", options.warm_start,
               "start with the best of earlier runs of this template in the database (default)");
  app.add_option("--time-policy-rejects", options.time_policy_rejects,
                 "after the search, time this many candidates that only the policy rejected")
      ->transform(whole_number(0, 10000));
  app.add_option(
         "--interpret", options.interpret,
         "virtual GPU that also executes the elite, "
         "to find races and stray accesses that do not show on the GPU: auto, none, virtual:NAME")
      ->type_name(kInterpreter)
      ->capture_default_str();
  app.add_option("--explain", options.explain,
                 "after the search, time the steps from the default configuration to the winner: "
                 "auto (a tenth of the search, 5 to 20 s), none, or at most this many seconds")
      ->type_name("HOW")
      ->capture_default_str();
  app.add_flag(
      "--energy", options.elite.energy,
      "after the search, measure joules per launch of the elite (on a GPU that counts energy)");
  app.add_flag("--profile", options.elite.profile,
               "after the search, "
               "test the elite's Nsight Compute counters against \"profile\" of problem.json");
  options.declare_output(app, "evo-tune");
  app.require_subcommand(0, 1);
  declare_doctor(app, options.doctor_json);
  app.footer(exit_codes({{0, "a green winner on every shape (or --device none)"},
                         {1, "no kernel is green on at least one shape"},
                         {2, "bad usage or input"},
                         {3, "the compiler, the driver or the GPU is missing or cannot be used"},
                         {130, "interrupted, everything saved"}}));
}

}  // namespace evo
