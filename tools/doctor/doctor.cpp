#include "tools/doctor/doctor.hpp"

#include <iostream>

#include "tools/cli/help_format.hpp"
#include "tools/doctor/doctor_json.hpp"
#include "tools/doctor/screen.hpp"

namespace evo {

void declare_doctor(CLI::App& app, bool& json) {
  CLI::App* doctor = app.add_subcommand(
      "doctor",
      "shows GPUs, driver, compiler, profiler and machine as evo-tune sees them, "
      "and which features do not work");
  doctor->add_flag("--json", json,
                   "print the facts as one JSON object, for bug reports (docs/doctor.md)");
  doctor->footer(
      exit_codes({{0, "a run without options works here (with measured or predicted times)"},
                  {2, "bad usage"},
                  {3, "such a run does not work"}}));
}

ExitCode run_doctor(bool json) {
  const Machine machine = examine_machine();
  const std::vector<Finding> findings = findings_of(machine);
  if (json) {
    using Json = nlohmann::ordered_json;
    std::cout << doctor_json(machine, findings).dump(2, ' ', false, Json::error_handler_t::replace)
              << '\n';
  } else {
    std::cout << doctor_screen(machine, findings);
  }
  return run_would_work(findings) ? ExitCode::kGreen : ExitCode::kMissing;
}

}  // namespace evo
