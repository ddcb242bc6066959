#include "objects.hpp"

#include <dlfcn.h>

#include <cstring>
#include <stdexcept>

namespace evo_python {

/// PyTorch's functions for tensors: the table DLPackExchangeAPI of DLPack 1.3 (dlpack.h).
struct Objects::Exchange {
  std::uint32_t major, minor;
  Exchange* previous;
  void* allocate;
  void* export_managed;
  void* import_managed;
  int (*read)(void* object, nb::dlpack::dltensor* tensor);
  int (*current_stream)(std::int32_t device_type, std::int32_t device, void** stream);
};

namespace {

constexpr std::int64_t kAddress = 1, kTensor = 2, kAttributes = 3, kInterface = 4;
constexpr std::int32_t kCuda = 2;  // kDLCUDA
constexpr std::uint64_t kMostAddress = std::uint64_t{1} << 62;

nb::object name(const char* text) { return nb::steal(PyUnicode_InternFromString(text)); }

/// Clears the Python error and returns nullopt.
std::nullopt_t unusual() {
  PyErr_Clear();
  return std::nullopt;
}

std::optional<std::int64_t> whole(PyObject* value) {
  const long long number = value != nullptr ? PyLong_AsLongLong(value) : -1;
  if (number == -1 && PyErr_Occurred() != nullptr) return unusual();
  if (value == nullptr) return unusual();
  return number;
}

nb::object get(PyObject* object, const nb::object& attribute) {
  return nb::steal(PyObject_GetAttr(object, attribute.ptr()));
}
nb::object call(PyObject* object, const nb::object& method) {
  PyObject* self = object;
  return nb::steal(PyObject_VectorcallMethod(method.ptr(), &self, 1, nullptr));
}

/// Appends the length of a tuple and its integers.
bool push_sizes(PyObject* tuple, Words& words) {
  if (tuple == nullptr || !PyTuple_Check(tuple)) return false;
  const Py_ssize_t count = PyTuple_Size(tuple);
  words.push(count);
  for (Py_ssize_t i = 0; i < count; ++i) {
    const auto size = whole(PyTuple_GetItem(tuple, i));
    if (!size) return false;
    words.push(*size);
  }
  return true;
}

bool is_contiguous(const nb::dlpack::dltensor& tensor) {
  std::int64_t step = 1;
  bool follows = true;
  for (int i = tensor.ndim; i-- > 0;) {
    const std::int64_t size = tensor.shape[i];
    if (size == 0) return true;
    if (size != 1 && tensor.strides != nullptr && tensor.strides[i] != step) follows = false;
    step *= size;
  }
  return follows;
}

}  // namespace

Whereabouts::Whereabouts(const std::string& driver) {
  void* library = dlopen(driver.c_str(), RTLD_NOW);
  const auto find = [&](auto& function, const char* symbol) {
    void* address = library != nullptr ? dlsym(library, symbol) : nullptr;
    if (address == nullptr) throw std::runtime_error(driver + ": has no " + symbol);
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(address);
  };
  find(pointer_attribute_, "cuPointerGetAttribute");
  find(capture_info_, "cuStreamGetCaptureInfo_v2");
}

int Whereabouts::device_of(std::uintptr_t address) const {
  constexpr int kDeviceOrdinal = 9;  // of CUpointer_attribute
  int device = -1;
  return pointer_attribute_(&device, kDeviceOrdinal, address) == 0 ? device : -1;
}

std::uint64_t Whereabouts::capture(std::uintptr_t stream) const {
  if (stream <= 1) return 0;  // the default stream cannot be captured
  int status = 0;
  std::uint64_t number = 0;
  auto* handle = reinterpret_cast<void*>(stream);
  const int result = capture_info_(handle, &status, &number, nullptr, nullptr, nullptr);
  return result == 0 && status != 0 ? number : 0;
}

Objects::Objects(const Whereabouts& whereabouts)
    : whereabouts_(whereabouts),
      dtype_(name("dtype")),
      shape_(name("shape")),
      requires_grad_(name("requires_grad")),
      is_cuda_(name("is_cuda")),
      get_device_(name("get_device")),
      is_contiguous_(name("is_contiguous")),
      data_ptr_(name("data_ptr")),
      device_(name("device")),
      interface_(name("__cuda_array_interface__")),
      data_(name("data")),
      typestr_(name("typestr")),
      strides_(name("strides")),
      stream_(name("stream")),
      mask_(name("mask")) {
  empty_names_ = nb::make_tuple(dtype_, device_);
}

bool Objects::find_torch() {
  if (tensor_.is_valid()) return true;
  PyObject* modules = PyImport_GetModuleDict();
  PyObject* module = PyDict_GetItemString(modules, "torch");
  const nb::object torch = nb::borrow(module);
  if (!torch.is_valid() || !nb::hasattr(torch, "Tensor")) return false;
  tensor_ = torch.attr("Tensor");
  empty_ = torch.attr("empty");
  is_grad_enabled_ = torch.attr("is_grad_enabled");
  const nb::object internals = nb::getattr(torch, "_C", nb::none());
  raw_stream_ = nb::getattr(internals, "_cuda_getCurrentRawStream", nb::none());
  parameter_ = nb::getattr(nb::getattr(torch, "nn", nb::none()), "Parameter", nb::none());
  const nb::object table = nb::getattr(tensor_, "__dlpack_c_exchange_api__", nb::none());
  if (PyCapsule_IsValid(table.ptr(), "dlpack_exchange_api") == 0) return true;
  void* address = PyCapsule_GetPointer(table.ptr(), "dlpack_exchange_api");
  auto* exchange = static_cast<const Exchange*>(address);
  while (exchange != nullptr && exchange->major > 1) exchange = exchange->previous;
  if (exchange != nullptr && exchange->read != nullptr) exchange_ = exchange;
  return true;
}

const Objects::Type& Objects::type_of(PyObject* value) {
  PyObject* type = reinterpret_cast<PyObject*>(Py_TYPE(value));
  for (const Type& known : types_) {
    if (known.type.ptr() == type) return known;
  }
  Type found{nb::borrow(type), Kind::kInterface, nullptr};
  if (find_torch() && PyObject_IsSubclass(type, tensor_.ptr()) == 1) {
    // Reads only torch.Tensor and Parameter, because other subclasses may override functions.
    const bool is_plain = type == tensor_.ptr() || type == parameter_.ptr();
    found = {nb::borrow(type), is_plain ? Kind::kTensor : Kind::kOther, exchange_};
  }
  types_.push_back(found);
  return types_.back();
}

std::optional<Seen> Objects::read(PyObject* value, Words& words) {
  if (value == Py_None || PyLong_CheckExact(value)) {
    words.push(kAddress);
    if (value == Py_None) return Seen{};
    const unsigned long long address = PyLong_AsUnsignedLongLong(value);
    if (PyErr_Occurred() != nullptr || address > kMostAddress) return unusual();
    return Seen{.address = address};
  }
  const Type& type = type_of(value);
  if (type.kind == Kind::kTensor) return read_tensor(type, value, words);
  if (type.kind == Kind::kInterface) return read_interface(value, words);
  return unusual();
}

bool Objects::needs_gradient(PyObject* tensor) {
  const nb::object requires_grad = get(tensor, requires_grad_);
  if (requires_grad.ptr() == Py_False) return false;
  const nb::object enabled = nb::steal(PyObject_CallNoArgs(is_grad_enabled_.ptr()));
  return enabled.ptr() != Py_False;
}

std::optional<Seen> Objects::read_tensor(const Type& type, PyObject* value, Words& words) {
  if (needs_gradient(value)) return unusual();
  nb::dlpack::dltensor tensor;
  if (type.exchange == nullptr || type.exchange->read(value, &tensor) != 0) {
    PyErr_Clear();
    return read_attributes(value, words);
  }
  if (tensor.device.device_type != kCuda || !is_contiguous(tensor)) return std::nullopt;
  words.push(kTensor);
  words.push(tensor.dtype.code | tensor.dtype.bits << 8 | tensor.dtype.lanes << 16);
  words.push(tensor.ndim);
  for (int i = 0; i < tensor.ndim; ++i) words.push(tensor.shape[i]);
  return Seen{.address = reinterpret_cast<std::uintptr_t>(tensor.data) + tensor.byte_offset,
              .device = tensor.device.device_id,
              .is_tensor = true};
}

std::optional<Seen> Objects::read_attributes(PyObject* value, Words& words) {
  if (get(value, is_cuda_).ptr() != Py_True) return unusual();
  if (call(value, is_contiguous_).ptr() != Py_True) return unusual();
  const nb::object dtype = get(value, dtype_);  // PyTorch has one immortal object for each dtype
  const auto device = whole(call(value, get_device_).ptr());
  const auto address = whole(call(value, data_ptr_).ptr());
  words.push(kAttributes);
  words.push(reinterpret_cast<std::int64_t>(dtype.ptr()));
  if (!dtype.is_valid() || !device || !address) return unusual();
  if (!push_sizes(get(value, shape_).ptr(), words)) return unusual();
  return Seen{.address = static_cast<std::uintptr_t>(*address),
              .device = static_cast<int>(*device),
              .is_tensor = true};
}

std::optional<Seen> Objects::read_interface(PyObject* value, Words& words) {
  const nb::object its = get(value, interface_);
  if (!its.is_valid() || !PyDict_CheckExact(its.ptr())) return unusual();
  const auto item = [&](const nb::object& key) {
    PyObject* found = PyDict_GetItemWithError(its.ptr(), key.ptr());
    return found != nullptr ? found : Py_None;
  };
  PyObject* data = item(data_);
  PyObject* typestr = item(typestr_);
  PyObject* strides = item(strides_);
  if (!PyTuple_Check(data) || PyTuple_Size(data) != 2 || item(mask_) != Py_None) return unusual();
  const auto address = whole(PyTuple_GetItem(data, 0));
  Py_ssize_t length = 0;
  const char* text = PyUnicode_Check(typestr) ? PyUnicode_AsUTF8AndSize(typestr, &length) : nullptr;
  std::int64_t type = 0;
  if (!address || text == nullptr || length > static_cast<Py_ssize_t>(sizeof type)) {
    return unusual();
  }
  std::memcpy(&type, text, static_cast<std::size_t>(length));
  words.push(kInterface);
  words.push(type);
  words.push(PyObject_IsTrue(PyTuple_GetItem(data, 1)));
  words.push(*address == 0);
  if (!push_sizes(item(shape_), words)) return unusual();
  words.push(strides == Py_None);
  if (strides != Py_None && !push_sizes(strides, words)) return unusual();
  Seen seen{.address = static_cast<std::uintptr_t>(*address)};
  if (*address != 0) seen.device = whereabouts_.device_of(seen.address);
  if (*address != 0 && seen.device < 0) return unusual();
  if (item(stream_) != Py_None) {
    const auto stream = whole(item(stream_));
    if (!stream) return unusual();
    seen.producer_stream = *stream;
  }
  return seen;
}

std::optional<std::uintptr_t> Objects::current_stream(int device) {
  if (exchange_ != nullptr && exchange_->current_stream != nullptr) {
    void* stream = nullptr;
    if (exchange_->current_stream(kCuda, device, &stream) != 0) return unusual();
    return reinterpret_cast<std::uintptr_t>(stream);
  }
  if (raw_stream_.is_none()) return std::nullopt;
  const nb::object number = nb::steal(PyLong_FromLong(device));
  PyObject* arguments[] = {number.ptr()};
  const nb::object handle =
      nb::steal(PyObject_Vectorcall(raw_stream_.ptr(), arguments, 1, nullptr));
  const auto stream = whole(handle.ptr());
  if (!stream) return std::nullopt;
  return static_cast<std::uintptr_t>(*stream);
}

PyObject* Objects::empty(PyObject* like, PyObject* shape, PyObject* dtype) {
  const nb::object device = get(like, device_);
  if (!device.is_valid()) return nullptr;
  PyObject* arguments[] = {shape, dtype, device.ptr()};
  return PyObject_Vectorcall(empty_.ptr(), arguments, 1, empty_names_.ptr());
}

}  // namespace evo_python
