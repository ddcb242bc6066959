#include "engine/device/virtual/execute/exec_system_calls.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "engine/core/printable.hpp"
#include "engine/device/virtual/execute/cta.hpp"
#include "engine/device/virtual/execute/print_format.hpp"
#include "engine/device/virtual/memory/guest_memory.hpp"

// Executes the device functions that the CUDA driver provides: vprintf and __assertfail.

namespace evo::ptx {
namespace {

constexpr std::size_t kMostString = 1 << 16;
constexpr std::uint64_t kWindowBytes = 1ULL << 32;

/// The bytes that a lane can read from a generic address to the end of the buffer, or of the shared
/// or local memory, that contains the address.
struct GuestSpan {
  const std::byte* data = nullptr;
  const std::uint8_t* written = nullptr;  ///< null: all bytes are written
  std::uint64_t bytes = 0;
};

GuestSpan find_span(const Warp& warp, int lane, std::uint64_t address) {
  Cta& cta = *warp.cta;
  if (address - kSharedWindow < kWindowBytes) {
    const std::uint64_t offset = address - kSharedWindow;
    if (offset >= cta.shared_bytes()) return {};
    return {cta.shared() + offset, nullptr, cta.shared_bytes() - offset};
  }
  if (address - kLocalWindow < kWindowBytes) {
    const std::uint64_t offset = address - kLocalWindow;
    const std::uint64_t limit = cta.program().local_bytes;
    if (offset >= limit) return {};
    return {cta.local(warp, lane) + offset, cta.local_written(warp, lane) + offset, limit - offset};
  }
  const GlobalBuffer* buffer = cta.launch().memory->find(address);
  if (buffer == nullptr) return {};
  const std::uint64_t offset = address - buffer->base;
  return {buffer->data.get() + offset,
          buffer->all_written.load(std::memory_order_relaxed) ? nullptr
                                                              : buffer->written.get() + offset,
          buffer->bytes - offset};
}

/// A call of a system function by one lane. Reads the parameters of the call, and the memory to
/// which they point. If the address of a parameter or string is invalid, the launch ends with a
/// report of the address, and the returned value means nothing.
class LaneCall {
 public:
  LaneCall(Warp& warp, const SystemCall& call, int lane, const char* function)
      : warp_(warp), call_(call), lane_(lane), function_(function) {}

  std::uint64_t parameter(std::size_t index, std::uint32_t bytes) {
    return value_at(kLocalWindow + call_.parameters[index], bytes);
  }

  std::uint64_t value_at(std::uint64_t address, std::uint32_t bytes) {
    const GuestSpan span = find_span(warp_, lane_, address);
    if (span.bytes < bytes || address % bytes != 0) {
      report_outside(address);
      return 0;
    }
    check_written(span, bytes);
    std::uint64_t value = 0;
    copy_from_guest(reinterpret_cast<std::byte*>(&value), span.data, bytes);
    return value;
  }

  std::string string_at(std::uint64_t address) {
    const GuestSpan span = find_span(warp_, lane_, address);
    std::string text;
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(span.bytes, kMostString); ++i) {
      const auto c = read_guest<std::uint8_t>(span.data + i);
      if (c == 0) {
        check_written(span, i + 1);
        return text;
      }
      text += static_cast<char>(c);
    }
    if (text.size() < kMostString) report_outside(address + span.bytes);
    return text;
  }

  void set_result(std::uint32_t value) {
    if (!call_.has_result) return;
    std::byte* const to = warp_.cta->local(warp_, lane_) + call_.result;
    std::memcpy(to, &value, sizeof(value));
    mark_written(warp_.cta->local_written(warp_, lane_) + call_.result, sizeof(value));
  }

 private:
  void check_written(const GuestSpan& span, std::uint64_t bytes) {
    if (span.written == nullptr || !warp_.cta->launch().check) return;
    if (std::all_of(span.written, span.written + bytes,
                    [](const std::uint8_t& mark) { return is_written(&mark); })) {
      return;
    }
    warp_.cta->report(HazardKind::kUninitialised, pc_of(warp_), -1,
                      std::string("uninitialised bytes reach ") + function_ + " of " +
                          warp_.cta->names().thread(warp_.index, lane_));
  }

  void report_outside(std::uint64_t address) {
    warp_.cta->fail(HazardKind::kOutOfBounds, pc_of(warp_), -1,
                    std::string(function_) + " of " +
                        warp_.cta->names().thread(warp_.index, lane_) + " reads at " +
                        describe(address));
  }

  [[nodiscard]] std::string describe(std::uint64_t address) const {
    if (address - kSharedWindow <= kWindowBytes)
      return "shared address " + std::to_string(address - kSharedWindow);
    if (address - kLocalWindow <= kWindowBytes)
      return "local address " + std::to_string(address - kLocalWindow);
    return "global address " + std::to_string(address) + ", " +
           warp_.cta->launch().memory->describe(address);
  }

  Warp& warp_;
  const SystemCall& call_;
  int lane_;
  const char* function_;
};

const SystemCall& call_of(const Warp& warp, const Instr& in) {
  return warp.cta->program().system_calls[in.as<SystemCallOperands>().call];
}

std::uint64_t linear_index(const Cta& cta) {
  const auto& index = cta.index();
  const auto& grid = cta.launch().grid;
  return (static_cast<std::uint64_t>(index[2]) * grid[1] + index[1]) * grid[0] + index[0];
}

}  // namespace

void exec_print(Warp& warp, const Instr& in) {
  constexpr std::uint32_t kNoFormat = 0xffffffffU;  // −1
  std::string text;
  for (std::uint32_t left = warp.exec; left != 0; left &= left - 1) {
    LaneCall call(warp, call_of(warp, in), std::countr_zero(left), "printf");
    const std::uint64_t format = call.parameter(0, 8);
    const std::uint64_t arguments = call.parameter(1, 8);
    if (format == 0) {
      call.set_result(kNoFormat);
      continue;
    }
    const PrintedText printed = format_print(
        call.string_at(format),
        {.argument = [&](std::uint32_t offset,
                         std::uint32_t bytes) { return call.value_at(arguments + offset, bytes); },
         .string = [&](std::uint64_t address) { return call.string_at(address); }});
    call.set_result(static_cast<std::uint32_t>(printed.arguments));
    if (warp.cta->failed()) break;
    text += printed.text;
  }
  if (warp.cta->launch().count_memory) {
    warp.cta->memory_counts()[warp.pc].prints +=
        static_cast<std::uint64_t>(std::popcount(warp.exec));
  }
  warp.cta->launch().printed->add(linear_index(*warp.cta), text);
}

void exec_assert_fail(Warp& warp, const Instr& in) {
  const int lane = std::countr_zero(warp.exec);
  LaneCall call(warp, call_of(warp, in), lane, "assert");
  const std::string message = call.string_at(call.parameter(0, 8));
  const std::string file = call.string_at(call.parameter(1, 8));
  const std::uint64_t line = call.parameter(2, 4);
  const std::string function = call.string_at(call.parameter(3, 8));
  if (warp.cta->failed()) return;
  warp.cta->fail(HazardKind::kTrap, pc_of(warp), -1,
                 "assertion '" + printable(message) + "' failed at " + printable(file) + ":" +
                     std::to_string(line) + ", " + printable(function) + ", in " +
                     warp.cta->names().thread(warp.index, lane));
}

}  // namespace evo::ptx
