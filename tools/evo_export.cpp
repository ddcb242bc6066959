// evo-export: writes winners and results as files that other programs can use.

#include "tools/bundle/export_bundle.hpp"
#include "tools/cli/database_values.hpp"
#include "tools/cli/help_format.hpp"
#include "tools/cli/number_options.hpp"
#include "tools/cli/tool_main.hpp"
#include "tools/export/export_run.hpp"

namespace evo {
namespace {

void declare(CLI::App& app, ExportSource& source, RunExportOptions& run, BundleOptions& bundle) {
  app.add_option("--db", source.dbs, "database file; for a bundle, one or several")
      ->type_name(value_words::kDatabase)
      ->capture_default_str();
  app.add_option("--run", source.runs,
                 "number of the run (default: the newest matching run, for --out one with a green "
                 "kernel; for a bundle, all runs)")
      ->transform(row_number());
  app.add_option("--device", source.device,
                 "only runs on this device: cuda:N, virtual:NAME or part of the device's name")
      ->type_name(value_words::kDevice);
  app.add_option("--shape", source.shape, "only runs that timed this shape")
      ->type_name(value_words::kShape);
  CLI::Option* rank =
      app.add_option("--rank", run.rank, "export the kernel of this rank in the elite")
          ->capture_default_str()
          ->transform(whole_number(1, 1000));
  app.add_option(
         "--candidate", source.candidate,
         "export this green candidate instead of the winner; a bundle then has only its kernel")
      ->transform(row_number())
      ->excludes(rank);
  app.add_option("--out", run.out, "folder for the files of the kernel; created if missing")
      ->type_name(value_words::kFolder);
  app.add_option("--name", source.name,
                 "name of the files (default: the space's name and the shape; "
                 "for a bundle, the problem's name)")
      ->type_name("NAME");
  app.add_option("--t4", run.t4,
                 "write all results of the run as a T4 file, compressed if its name ends with .gz")
      ->type_name(value_words::kFile);
  app.add_option("--kernel-tuner-cache", run.kernel_tuner_cache,
                 "write all results of the run as a cache file of Kernel Tuner")
      ->type_name(value_words::kFile);
  CLI::Option* folder = app.add_option("--bundle", bundle.folder,
                                       "folder for a bundle: the winners on all shapes and devices")
                            ->type_name(value_words::kFolder);
  app.add_option("--loss-percent", bundle.loss_percent,
                 "use fewer kernels if no shape's time exceeds its best time by more than this")
      ->type_name("PERCENT")
      ->capture_default_str()
      ->transform(real_number(0.0, 1000.0))
      ->needs(folder);
  app.add_flag("--cpp", bundle.cpp, "also write a C++ function for the bundle and a CMake package")
      ->needs(folder);
  app.set_version_flag("--version", "evo-export " EVO_VERSION);
  app.footer(exit_codes({{0, "written"}, {1, "no kernel is green"}, {2, "bad usage or database"}}));
}

ExitCode run(int argc, char** argv) {
  ExportSource source;
  RunExportOptions of_run;
  BundleOptions bundle;
  CLI::App app(
      "evo-export: writes winners and results as files that other programs can use.\n"
      "Writes the winner as NAME.cubin, NAME.json (how to launch it, "
      "what was checked and timed), NAME.ptx and NAME.cu (one self-contained source); "
      "or the winners on all shapes and devices as a bundle; "
      "or all results of a run for other tuners. Prints the files' names.");
  declare(app, source, of_run, bundle);
  if (const auto done = parse_command_line(app, argc, argv, database_values())) return *done;
  return bundle.folder.empty() ? export_run(source, of_run) : export_bundle(source, bundle);
}

}  // namespace
}  // namespace evo

int main(int argc, char** argv) {
  return evo::tool_main("evo-export", [&] { return evo::run(argc, argv); });
}
