#include "engine/worker/profile_request.hpp"

#include <cstdio>

#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"
#include "engine/worker/frame.hpp"
#include "engine/worker/session_messages.hpp"

namespace evo {

void write_profile_request(const std::filesystem::path& file, const ProfileRequest& request) {
  const std::vector<std::uint8_t> frame =
      encode_frame({{"setup", request.setup}, {"kernel", request.kernel}});
  write_file(file, std::string(frame.begin(), frame.end()));
}

ProfileRequest read_profile_request(const std::filesystem::path& file) {
  const std::string text = read_text_file(file);
  FrameReader reader;
  reader.feed({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  const auto message = reader.next();
  if (!message) throw InputError(file.string() + " is not a request to profile a kernel");
  return {message->at("setup").get<SessionSetup>(), message->at("kernel").get<KernelUnderTest>()};
}

}  // namespace evo
