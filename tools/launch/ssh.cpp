#include <sstream>

#include "engine/core/environment.hpp"
#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"
#include "tools/launch/launch.hpp"

namespace evo {
namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

/// The ssh command that starts evo-worker on one host.
LaunchCommand command_for(const std::vector<std::string>& line, const std::string& where,
                          const LaunchRequest& request) {
  std::string device = request.device;
  std::string jobs = request.jobs;
  std::string program = "evo-worker";
  std::string tunnel;
  for (std::size_t i = 1; i < line.size(); ++i) {
    const std::size_t equals = line[i].find('=');
    const std::string name = line[i].substr(0, equals);
    const std::string value = equals != std::string::npos ? line[i].substr(equals + 1) : "";
    std::string* target = name == "device"    ? &device
                          : name == "jobs"    ? &jobs
                          : name == "program" ? &program
                          : name == "tunnel"  ? &tunnel
                                              : nullptr;
    if (target == nullptr || value.empty()) {
      throw InputError(
          where + ": '" + line[i] +
          "': allowed: device=LIST, jobs=N, program=PATH and tunnel=PORT after a host's name");
    }
    *target = value;
  }
  if (line.front().starts_with('-')) {
    throw InputError(where + ": '" + line.front() + "' is not the name of a host");
  }
  LaunchCommand command;
  command.words = words_of(environment_variable("EVO_SSH").value_or("ssh"));
  // With BatchMode, ssh fails instead of asking for a password, because the run may be unattended.
  for (const char* word : {"-T", "-o", "BatchMode=yes"}) command.words.emplace_back(word);
  std::string address = request.address;
  if (!tunnel.empty()) {
    command.words.insert(command.words.end(), {"-o", "ExitOnForwardFailure=yes", "-R",
                                               "127.0.0.1:" + tunnel + ":" + request.address});
    address = "127.0.0.1:" + tunnel;
  }
  command.words.push_back(line.front());
  command.words.push_back("exec " + shell_word(program) + " host --key-stdin --connect " +
                          shell_word(address) + " --device " + shell_word(device) + " --jobs " +
                          shell_word(jobs));
  command.key_on_input = true;
  return command;
}

}  // namespace

std::vector<LaunchCommand> ssh_commands(const std::string& file, const LaunchRequest& request) {
  std::istringstream text(read_text_file(file));
  std::vector<LaunchCommand> commands;
  int number = 0;
  for (std::string line; std::getline(text, line);) {
    ++number;
    const std::vector<std::string> words = words_of(line.substr(0, line.find('#')));
    if (words.empty()) continue;
    commands.push_back(command_for(words, file + ":" + std::to_string(number), request));
  }
  if (commands.empty()) {
    throw InputError("--workers ssh:" + file +
                     ": the file names no host; allowed: one host per line");
  }
  return commands;
}

}  // namespace evo
