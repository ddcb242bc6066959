// evo-export: writes winners and results as files that other programs can use.

#include "tools/bundle/export_bundle.hpp"
#include "tools/cli/database_values.hpp"
#include "tools/cli/help_format.hpp"
#include "tools/cli/number_options.hpp"
#include "tools/cli/tool_main.hpp"
#include "tools/export/export_run.hpp"

namespace evo {
namespace {

constexpr const char* kDescription =
    "evo-export: writes winners and results as files that other programs can use.\n"
    "Writes the winner as NAME.cubin, NAME.json (how to launch it, "
    "what was checked and timed), NAME.ptx and NAME.cu (one self-contained source); "
    "or the winners on all shapes and devices as a bundle; "
    "or all results of a run for other tuners. Prints the files' names.";

void declare(CLI::App& app, ExportSource& source, RunExportOptions& run, BundleOptions& bundle) {
  add_option(app, "--db", source.dbs, value_words::kDatabase,
             "database file; for a bundle, one or several")
      ->capture_default_str();
  app.add_option("--run", source.runs,
                 "number of the run (default: the newest matching run, for --out one with a green "
                 "kernel; for a bundle, all runs)")
      ->transform(row_number());
  add_option(app, "--device", source.device, value_words::kDevice,
             "only runs on this device: cuda:N, virtual:NAME or part of the device's name");
  add_option(app, "--shape", source.shape, value_words::kShape, "only runs that timed this shape");
  CLI::Option* rank =
      app.add_option("--rank", run.rank, "export the kernel of this rank in the elite")
          ->capture_default_str()
          ->transform(whole_number(1, 1000));
  app.add_option(
         "--candidate", source.candidate,
         "export this green candidate instead of the winner; a bundle then has only its kernel")
      ->transform(row_number())
      ->excludes(rank);
  CLI::Option* out = add_option(app, "--out", run.out, value_words::kFolder,
                                "folder for the files of the kernel; created if missing");
  add_option(app, "--name", source.name, "NAME",
             "name of the files (default: the space's name and the shape; "
             "for a bundle, the problem's name)");
  CLI::Option* t4 =
      add_option(app, "--t4", run.t4, value_words::kFile,
                 "write all results of the run as a T4 file, compressed if its name ends with .gz");
  CLI::Option* cache =
      add_option(app, "--kernel-tuner-cache", run.kernel_tuner_cache, value_words::kFile,
                 "write all results of the run as a cache file of Kernel Tuner");
  CLI::Option* folder = add_option(app, "--bundle", bundle.folder, value_words::kFolder,
                                   "folder for a bundle: the winners on all shapes and devices");
  folder->excludes(out, t4, cache, rank);
  add_option(app, "--loss-percent", bundle.loss_percent, "PERCENT",
             "use fewer kernels if no shape's time exceeds its best time by more than this")
      ->capture_default_str()
      ->transform(real_number(0.0, 1000.0))
      ->needs(folder);
  app.add_flag("--cpp", bundle.cpp, "also write a C++ function for the bundle and a CMake package")
      ->needs(folder);
  app.footer(exit_codes({{0, "written"}, {1, "no kernel is green"}, {2, "bad usage or database"}}));
}

}  // namespace
}  // namespace evo

int main(int argc, char** argv) {
  evo::ExportSource source;
  evo::RunExportOptions of_run;
  evo::BundleOptions bundle;
  CLI::App app(evo::kDescription);
  evo::declare(app, source, of_run, bundle);
  const auto write = [&] {
    return bundle.folder.empty() ? evo::export_run(source, of_run)
                                 : evo::export_bundle(source, bundle);
  };
  return evo::tool_main("evo-export", argc, argv, app, write, evo::database_values());
}
