// Reads the buffers that a Python call passes, without executing Python code if possible.
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

/// The key of a prepared call, as numbers: all properties of its arguments except the addresses of
/// buffers.
class Words {
 public:
  void push(std::int64_t word) {
    if (size_ < words_.size()) words_[size_] = word;
    ++size_;
  }
  void set(std::size_t at, std::int64_t word) { words_[at] = word; }
  /// Whether the array holds all numbers that were pushed; otherwise bytes() is incomplete.
  [[nodiscard]] bool are_complete() const { return size_ <= words_.size(); }
  [[nodiscard]] std::string_view bytes() const {
    return {reinterpret_cast<const char*>(words_.data()), size_ * sizeof(std::int64_t)};
  }

 private:
  static constexpr std::size_t kMost = 1024;
  std::array<std::int64_t, kMost> words_;
  std::size_t size_ = 0;
};

/// A buffer that a call passes.
struct Seen {
  std::uintptr_t address = 0;
  int device = -1;  ///< number of the device; -1: not known
  bool is_tensor = false;
  std::int64_t producer_stream = 0;  ///< stream that writes the buffer; 0: not named
};

/// Queries of the driver: the device of an address, and the capture of a stream.
class Whereabouts {
 public:
  explicit Whereabouts(const std::string& driver);
  /// The device of an address; -1 if the driver does not know the address.
  [[nodiscard]] int device_of(std::uintptr_t address) const;
  /// The id of the graph capture in which the stream takes part; 0 if there is none.
  [[nodiscard]] std::uint64_t capture(std::uintptr_t stream) const;

 private:
  int (*pointer_attribute_)(void*, int, std::uint64_t) = nullptr;
  int (*capture_info_)(void*, int*, std::uint64_t*, void*, void*, void*) = nullptr;
};

/// Reads arguments of calls. Unusual and wrong arguments are left to the Python code of evo_tune,
/// which also reports errors.
class Objects {
 public:
  explicit Objects(const Whereabouts& whereabouts);
  /// Returns the buffer `value`, and appends its other properties, such as type and sizes, to
  /// `words`. Returns nullopt if only Python code can read `value`.
  std::optional<Seen> read(PyObject* value, Words& words);
  /// PyTorch's current stream of a device; nullopt if PyTorch's internals have an unknown form.
  std::optional<std::uintptr_t> current_stream(int device);
  /// Allocates a tensor on the device of `like` and returns an owned reference; null if Python
  /// reports an error.
  PyObject* empty(PyObject* like, PyObject* shape, PyObject* dtype);

 private:
  struct Exchange;
  enum class Kind : std::uint8_t { kTensor, kInterface, kOther };
  struct Type {
    nb::object type;
    Kind kind;
    const Exchange* exchange;  ///< functions for tensors; null: reads attributes
  };
  const Type& type_of(PyObject* value);
  bool find_torch();
  std::optional<Seen> read_tensor(const Type& type, PyObject* value, Words& words);
  std::optional<Seen> read_attributes(PyObject* value, Words& words);
  std::optional<Seen> read_interface(PyObject* value, Words& words);
  bool needs_gradient(PyObject* tensor);

  const Whereabouts& whereabouts_;
  std::deque<Type> types_;  ///< a deque, so that references stay valid
  const Exchange* exchange_ = nullptr;
  nb::object tensor_, parameter_, empty_, raw_stream_, is_grad_enabled_, empty_names_;
  // Interned Python strings: the names of attributes and keys that are read.
  nb::object dtype_, shape_, requires_grad_, is_cuda_, get_device_, is_contiguous_, data_ptr_,
      device_, interface_, data_, typestr_, strides_, stream_, mask_;
};

}  // namespace evo_python
