#include "tools/tune/run_options.hpp"

#include <filesystem>

#include "db/database_file.hpp"
#include "db/lock_wait.hpp"
#include "engine/core/error.hpp"
#include "engine/core/missing_file.hpp"
#include "tools/cli/help_format.hpp"
#include "tools/cli/number_options.hpp"
#include "tools/cli/stop_signals.hpp"

namespace evo {

void RunOptions::declare_run(CLI::App& app) {
  app.add_option("--check-seed", check_seed,
                 "seed of the inputs of the checks (default: a new seed)")
      ->transform(seed_number());
  app.add_option("--max-seconds", tuner.max_seconds,
                 "end the run after this time (plus one launch); continue with --resume")
      ->type_name("SECONDS")
      ->check(seconds_number());
  app.add_option("--db", db, "database file")
      ->type_name(value_words::kDatabase)
      ->capture_default_str();
  app.add_option("--resume", resume_run,
                 "continue run N, or the newest unfinished run of this program on this space, "
                 "problem, shape and device, with the inputs of that run")
      ->expected(0, 1)
      ->transform(row_number());
}

void RunOptions::declare_output(CLI::App& app, const std::string& name) {
  CLI::Option* as_json =
      app.add_flag("--json", json, "one JSON object per line on standard output");
  app.add_flag("--quiet", quiet, "no progress, only the result")->excludes(as_json);
  app.set_version_flag("--version", name + " " EVO_VERSION);
}

Store RunOptions::open_store() const {
  if (!session.space.empty()) (void)read_space_file(session.space_file({}));
  std::error_code unknown;
  if (resume && !in_memory(db) && !std::filesystem::exists(db, unknown)) {
    throw InputError("--resume: no unfinished run, because there is no file " + db +
                     missing_file_hint(db));
  }
  return Store::open_waiting(db, {.stop = &stop_requested()});
}

void RunOptions::take_resumption(const CLI::App& app) {
  if (app.count("--resume") == 0) return;
  resume = Resumption{resume_run, db, {}};
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() > 0) resume->given.push_back(option->get_name());
  }
}

}  // namespace evo
