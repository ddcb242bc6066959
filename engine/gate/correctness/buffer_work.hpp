#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/device/device.hpp"
#include "engine/gate/correctness/compare.hpp"
#include "engine/gate/correctness/kept_contents.hpp"

namespace evo {

/// A look at a buffer, whose result is asked for later.
using Look = std::size_t;

/// What is done to and found out about buffers, where that is fastest: on the host (HostWork) or by
/// kernels on the device (DeviceWork). Both find the same, to the last bit, but for sums, which
/// agree within 1e-12.
///
/// Work happens in the order in which it is asked for, launches included. Results of looks are
/// there after finish(); where the work is the host's, at once. After a fault that lost the device,
/// results of looks that came before the launch that failed may be known; nothing else may be asked
/// for.
class BufferWork {
 public:
  BufferWork() = default;
  virtual ~BufferWork() = default;
  BufferWork(const BufferWork&) = delete;
  BufferWork& operator=(const BufferWork&) = delete;

  [[nodiscard]] virtual Device& device() = 0;

  [[nodiscard]] virtual KeptContents& kept() = 0;

  /// A launch: at once where looks are the host's, else queued (Measuring::enqueue).
  [[nodiscard]] virtual std::optional<Fault> launch(KernelId kernel, const LaunchPlan& plan,
                                                    std::span<const KernelArgument> arguments) = 0;

  /// Forgets the results of all looks.
  virtual void begin() = 0;
  /// How the start of an output compares with what is expected: compare(). Its elements are those
  /// that `expected` has.
  [[nodiscard]] virtual Look compare(BufferId output, KeptId expected, Dtype dtype,
                                     double bad_abs_error, std::size_t row_length) = 0;
  /// The first byte that differs from what is kept.
  [[nodiscard]] virtual Look first_difference(BufferId buffer, KeptId kept) = 0;
  /// DeviceMemory::guard_violation(), which repairs; here only the host's way does.
  [[nodiscard]] virtual Look guard_zones(BufferId buffer) = 0;
  /// What was looked at so far can be told apart from what comes: see finish().
  virtual void mark() = 0;

  /// Waits for everything that was queued. The fault of a queued launch; is_known() says which
  /// looks came before it.
  [[nodiscard]] virtual std::optional<Fault> finish() = 0;

  [[nodiscard]] virtual bool is_known(Look look) const = 0;
  // Of a look that is known. Throws CudaError when what it compared with is not what was sealed.
  [[nodiscard]] virtual Comparison comparison(Look look) const = 0;
  [[nodiscard]] virtual std::optional<std::size_t> difference(Look look) const = 0;
  [[nodiscard]] virtual std::optional<std::string> guard_damage(Look look) const = 0;
};

/// The host's way: buffers are downloaded, one after the other. `device` must outlive it.
[[nodiscard]] std::unique_ptr<BufferWork> make_host_work(Device& device);

/// The device's way, by the kernels of check_kernels.cu. `kernels`: their image, whatever entries
/// it names. `device` must outlive it. Throws CudaError when the device does not take them.
[[nodiscard]] std::unique_ptr<BufferWork> make_device_work(Device& device,
                                                           const KernelImage& kernels);

}  // namespace evo
