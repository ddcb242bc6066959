#include "tools/init/init_options.hpp"

#include "tools/cli/completion.hpp"
#include "tools/cli/number_options.hpp"

namespace evo {
namespace {

/// Declares an option that may be repeated and takes one value each time.
void repeat(CLI::App& app, const char* name, auto& target, const char* type, const char* text) {
  app.add_option(name, target, std::string(text) + "; may be repeated")
      ->type_name(type)
      ->allow_extra_args(false);
}

void declare_given(CLI::App& app, InitOptions& options) {
  Given& given = options.request.given;
  repeat(app, "--size", options.sizes, "NAME=N[,N...]",
         "values of a shape variable, one for each shape; "
         "a scalar parameter of this name gets the value");
  repeat(app, "--value", options.values, "NAME=EXPR",
         "value of a scalar parameter, as an expression of sizes and macros");
  repeat(app, "--extent", options.extents, "NAME=EXPR",
         "number of elements of a buffer, as an expression of sizes");
  repeat(app, "--input", options.inputs, "NAME=CONTENT",
         "content of an input: "
         "normal:0:1, uniform:0:1, integers:0:9, constant:1 or a formula of INDEX");
  repeat(app, "--scratch", given.scratch, "NAME", "output that is not compared (scratch memory)");
  repeat(app, "--inout", given.inouts, "NAME",
         "output of which the kernel leaves some elements unchanged, such as a border");
  repeat(app, "--grid", options.grids, "X[,Y[,Z]]",
         "numbers of CTAs, as expressions of sizes and macros; one for each --entry, in order");
  repeat(app, "--block", options.blocks, "X[,Y[,Z]]",
         "threads of a CTA, as expressions; one for each --entry, in order");
  repeat(app, "--shared", options.shared, "EXPR",
         "bytes of dynamic shared memory; one for each --entry, in order");
  repeat(app, "--rename", options.renamed, "KERNEL.PARAMETER=NAME",
         "new name of an argument, "
         "if kernels of several --entry use one name for different arguments");
  app.add_option("--flops", given.flops, "floating-point operations of one launch")
      ->type_name("EXPR");
  app.add_option("--tolerance", given.tolerance,
                 "largest allowed absolute error of an element of an output")
      ->type_name("NUMBER");
  app.add_option(
         "--reference", given.reference,
         "reference: 'default', the default configuration; "
         "'program', a reference.py for you to write; or another kernel of the file "
         "with the same parameters (default: 'default' with --size and --param, else 'program')")
      ->type_name("NAME");
  app.add_option("--reference-grid", given.reference_grid,
                 "CTAs of the kernel that --reference names")
      ->type_name("X[,Y[,Z]]");
  app.add_option("--reference-block", given.reference_block,
                 "threads of a CTA of the kernel that --reference names")
      ->type_name("X[,Y[,Z]]");
}

}  // namespace

void declare(CLI::App& app, InitOptions& options) {
  IntakeRequest& request = options.request;
  app.add_option("kernel", request.kernel, "CUDA file")->type_name(value_words::kFile)->required();
  app.add_option("--entry", options.entries,
                 "C++ name of the kernel: 'reduce<float, ITEMS>' (default: "
                 "the file's only kernel); repeat for kernels that run one after the other")
      ->type_name("NAME")
      ->allow_extra_args(false);
  app.add_option("--t1", request.t1,
                 "T1 file (of Kernel Tuner, KTT or BAT) to take parameters and arguments from")
      ->type_name(value_words::kFile);
  repeat(app, "-I,--include-path", request.include_folders, value_words::kFolder,
         "folder of headers that the kernel includes; headers in use are copied");
  repeat(app, "--param", options.parameters, "NAME=V,V...",
         "macro and its values, the default first; or NAME='[2**i for i in range(5)]'");
  repeat(app, "--constraint", request.constraints, "EXPR", "expression of macros that must hold");
  declare_given(app, options);
  app.add_option("--name", request.name,
                 "name of problem and space (default: the name of the file)")
      ->type_name("NAME");
  app.add_option("--arch", request.arch, "architecture to compile for")
      ->type_name("ARCH")
      ->capture_default_str();
  app.add_option("--out", options.out, "folder that gets kernel_templates/ and search_spaces/")
      ->type_name(value_words::kFolder)
      ->capture_default_str();
  app.add_flag("--force", options.force, "replace existing files");
  app.add_option("--compile-seconds", options.compile_seconds,
                 "time limit for compiling, and for the launches on the virtual GPU that measure "
                 "extents")
      ->type_name("SECONDS")
      ->transform(whole_number(1, 86400))
      ->capture_default_str();
}

}  // namespace evo
