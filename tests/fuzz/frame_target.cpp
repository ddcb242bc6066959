#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/core/error.hpp"
#include "engine/worker/frame.hpp"
#include "engine/worker/messages.hpp"
#include "engine/worker/session_messages.hpp"
#include "tests/fuzz/fuzz_target.hpp"

namespace evo::fuzz {
namespace {

/// Reads a stream that arrives in pieces of `piece` bytes. Returns the messages of the stream up to
/// the first damaged message.
std::vector<nlohmann::json> messages(std::string_view input, std::size_t piece) {
  std::vector<nlohmann::json> found;
  FrameReader reader;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(input.data());
  try {
    for (std::size_t at = 0; at < input.size(); at += piece) {
      reader.feed({bytes + at, std::min(piece, input.size() - at)});
      while (auto message = reader.next()) found.push_back(std::move(*message));
    }
  } catch (const Error&) {
    return found;
  }
  return found;
}

/// Decodes a message as type T. The decoded value must not change if it is encoded and decoded
/// again.
template <typename T>
void decode_as(const nlohmann::json& message) {
  nlohmann::json sent;
  try {
    sent = message.get<T>();
  } catch (const nlohmann::json::exception&) {
    return;  // a message of another type
  } catch (const Error&) {
    return;  // an unknown name of an enumerator
  }
  FrameReader reader;
  const auto frame = encode_frame(sent);
  reader.feed(frame);
  const auto received = reader.next();
  if (!received || encode_frame(nlohmann::json(received->get<T>())) != frame)
    throw std::logic_error("a value changed when it was encoded and decoded again");
}

}  // namespace

void run_frame(std::string_view input) {
  const auto whole = messages(input, std::max<std::size_t>(input.size(), 1));
  const auto pieces = messages(input, 7);
  if (whole.size() != pieces.size())
    throw std::logic_error("a stream in pieces gives another number of messages");
  for (const nlohmann::json& message : whole) {
    decode_as<Resources>(message);
    decode_as<Rejection>(message);
    decode_as<Timing>(message);
    decode_as<CheckResult>(message);
    decode_as<DeviceInfo>(message);
    decode_as<KernelImage>(message);
    decode_as<CompileRequest>(message);
    decode_as<Compiled>(message);
    decode_as<SessionSetup>(message);
    decode_as<KernelUnderTest>(message);
    decode_as<CorrectnessResult>(message);
    decode_as<TimingResult>(message);
    decode_as<EnergyResult>(message);
    decode_as<PairResult>(message);
  }
}

}  // namespace evo::fuzz
