#include "tools/launch/launch.hpp"

#include "engine/core/error.hpp"

namespace evo {

std::string shell_word(const std::string& text) {
  std::string word = "'";
  for (const char one : text) word += one == '\'' ? std::string("'\\''") : std::string(1, one);
  return word + "'";
}

std::vector<LaunchCommand> own_commands(const std::string& text, const LaunchRequest& request) {
  constexpr std::string_view kPlace = "{worker}";
  const std::size_t at = text.find(kPlace);
  if (at == std::string::npos) {
    throw InputError(
        "--launch '" + text +
        "': the command must contain {worker}, which evo-tune replaces by evo-worker "
        "and its arguments, such as --launch 'kubectl exec -i pod -- {worker} --key-stdin'");
  }
  const std::string worker = shell_word(request.worker) + " host --connect " +
                             shell_word(request.address) + " --device " +
                             shell_word(request.device) + " --jobs " + shell_word(request.jobs);
  std::string command = text;
  command.replace(at, kPlace.size(), worker);
  return {{{"sh", "-c", command}, true}};
}

std::vector<LaunchCommand> worker_commands(const std::string& text, const LaunchRequest& request) {
  if (text == "slurm") return slurm_commands({}, false, request);
  if (text.starts_with("slurm:")) return slurm_commands(text.substr(6), true, request);
  if (text.starts_with("ssh:")) return ssh_commands(text.substr(4), request);
  if (text.starts_with("ray:")) return ray_commands(text.substr(4), request);
  throw InputError("--workers '" + text +
                   "': allowed: slurm (inside an allocation), 'slurm:ARGUMENTS OF salloc', "
                   "ssh:FILE and ray:ADDRESS; --launch takes any other command");
}

}  // namespace evo
