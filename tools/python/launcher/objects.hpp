// Reads the buffers of a call without Python code if possible.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "evo_tune.hpp"

namespace evo_python {

namespace nb = nanobind;

/// All that tells one call from another but the addresses of its buffers, as numbers.
class Words {
 public:
  void push(std::int64_t word) {
    if (size_ < words_.size()) words_[size_] = word;
    ++size_;
  }
  void set(std::size_t at, std::int64_t word) { words_[at] = word; }
  /// False if there were more words than fit; then bytes() is incomplete.
  [[nodiscard]] bool are_complete() const { return size_ <= words_.size(); }
  [[nodiscard]] std::string_view bytes() const {
    return {reinterpret_cast<const char*>(words_.data()), size_ * sizeof(std::int64_t)};
  }

 private:
  static constexpr std::size_t kMost = 1024;
  std::array<std::int64_t, kMost> words_;
  std::size_t size_ = 0;
};

/// One buffer of a call.
struct Seen {
  std::uintptr_t address = 0;
  int device = -1;  ///< its number; -1: not known
  bool is_tensor = false;
  std::int64_t producer_stream = 0;  ///< 0: none is named
};

/// The functions of the driver that tell where something is.
class Whereabouts {
 public:
  explicit Whereabouts(const std::string& driver);
  /// -1 where the driver does not know.
  [[nodiscard]] int device_of(std::uintptr_t address) const;
  /// 0, or the number of the capture that the stream takes part in.
  [[nodiscard]] std::uint64_t capture(std::uintptr_t stream) const;

 private:
  int (*pointer_attribute_)(void*, int, std::uint64_t) = nullptr;
  int (*capture_info_)(void*, int*, std::uint64_t*, void*, void*, void*) = nullptr;
};

/// Reads objects. It leaves unusual and wrong objects to the Python code, which reports errors.
class Objects {
 public:
  explicit Objects(const Whereabouts& whereabouts);
  /// Appends the properties of `value` to `words`. Nothing if only Python code can read it.
  std::optional<Seen> read(PyObject* value, Words& words);
  /// PyTorch's current stream of a device. Nothing if PyTorch's internals are unknown.
  std::optional<std::uintptr_t> current_stream(int device);
  /// A new tensor on the device of `like`, as an owned reference; null with a Python error.
  PyObject* empty(PyObject* like, PyObject* shape, PyObject* dtype);

 private:
  struct Exchange;
  enum class Kind : std::uint8_t { kTensor, kInterface, kOther };
  struct Type {
    nb::object type;
    Kind kind;
    const Exchange* exchange;  ///< of tensors; null: attributes are read
  };
  const Type& type_of(PyObject* value);
  bool find_torch();
  std::optional<Seen> read_tensor(const Type& type, PyObject* value, Words& words);
  std::optional<Seen> read_attributes(PyObject* value, Words& words);
  std::optional<Seen> read_interface(PyObject* value, Words& words);
  bool needs_gradient(PyObject* tensor);

  const Whereabouts& whereabouts_;
  std::deque<Type> types_;  ///< references stay valid
  const Exchange* exchange_ = nullptr;
  nb::object tensor_, parameter_, empty_, raw_stream_, is_grad_enabled_, empty_names_;
  // Names of attributes and keys.
  nb::object dtype_, shape_, requires_grad_, is_cuda_, get_device_, is_contiguous_, data_ptr_,
      device_, interface_, data_, typestr_, strides_, stream_, mask_;
};

}  // namespace evo_python
