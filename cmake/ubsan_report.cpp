// Writes reports of undefined behaviour to the files that the address sanitizer's option `log_path`
// names. In g++, this option has no effect on the undefined-behaviour sanitizer, which writes to
// standard error; there, the report of a program that a test starts might be lost. This file is
// linked into every program of a sanitizer build.
#include <sanitizer/common_interface_defs.h>

#include <string>

// NOLINTBEGIN(bugprone-reserved-identifier): the runtime's names.
extern "C" {

void __ubsan_get_current_report_data(const char** kind, const char** message, const char** file,
                                     unsigned* line, unsigned* column, char** address);

// The runtime calls this function for each report.
void __ubsan_on_report() {
  const char* kind = nullptr;
  const char* message = nullptr;
  const char* file = nullptr;
  unsigned line = 0;
  unsigned column = 0;
  char* address = nullptr;
  __ubsan_get_current_report_data(&kind, &message, &file, &line, &column, &address);
  const std::string summary = std::string(file) + ":" + std::to_string(line) + ":" +
                              std::to_string(column) + ": runtime error: " + message;
  __sanitizer_report_error_summary(summary.c_str());
  __sanitizer_print_stack_trace();
}
}
// NOLINTEND(bugprone-reserved-identifier)
