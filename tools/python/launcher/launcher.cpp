// The C++ extension of the Python package evo_tune, which quickly repeats calls that the Python
// code prepared. The Python code handles new, unusual and wrong arguments.

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <bit>
#include <memory>
#include <string>
#include <unordered_map>

#include "launch.hpp"

namespace evo_python {
namespace {

using evo_tune::detail::kMostArguments;

/// The arguments of a call of a bundle from Python.
struct Call {
  std::array<PyObject*, kMostArguments> values;  ///< by buffer; null: not given
  std::array<void*, kMostArguments> addresses;
  PyObject* first_tensor = nullptr;
  int device = -1;
  std::vector<std::int64_t> producer_streams;
  Words words;

  /// Adds a buffer to the call. Returns false if the call has buffers on two devices, and for
  /// objects that only Python code can read.
  bool add(Machine& machine, std::size_t buffer, PyObject* value) {
    const auto seen = machine.objects.read(value, words);
    if (!seen) return false;
    values[buffer] = value;
    addresses[buffer] = reinterpret_cast<void*>(seen->address);
    if (seen->is_tensor && first_tensor == nullptr) first_tensor = value;
    if (seen->producer_stream != 0) producer_streams.push_back(seen->producer_stream);
    if (seen->device < 0) return true;
    if (device < 0) device = seen->device;
    return device == seen->device;
  }
  /// Whether the launch on `stream` must wait for another stream that writes a buffer. The number
  /// of the default stream is 1 in DLPack and __cuda_array_interface__, but 0 in the driver.
  [[nodiscard]] bool waits(std::uintptr_t stream) const {
    for (const std::int64_t other : producer_streams) {
      if (other != static_cast<std::int64_t>(stream == 0 ? 1 : stream)) return true;
    }
    return false;
  }
};

/// The handle of the stream that a caller passed. None means PyTorch's current stream if a buffer
/// is a PyTorch tensor, else the default stream. Returns nullopt if only Python code can find the
/// handle.
std::optional<std::uintptr_t> stream_of(Machine& machine, nb::handle stream, const Call& call,
                                        const nb::object& in_python) {
  if (stream.is_none() && call.first_tensor == nullptr) return 0;
  try {
    if (stream.is_none()) {
      if (const auto known = machine.objects.current_stream(call.device)) return known;
      return nb::cast<std::uintptr_t>(
          in_python(nb::none(), nb::make_tuple(nb::handle(call.first_tensor)), call.device));
    }
    if (PyLong_CheckExact(stream.ptr())) return nb::cast<std::uintptr_t>(stream);
    return nb::cast<std::uintptr_t>(in_python(stream, nb::make_tuple(), call.device));
  } catch (const nb::python_error&) {
  } catch (const nb::cast_error&) {
  }
  return std::nullopt;
}

nb::object not_implemented() { return nb::borrow(Py_NotImplemented); }

/// The object that Bundle.plan() returns: repeats a call with buffers that differ only in their
/// addresses.
class HeldPlan {
 public:
  HeldPlan(std::shared_ptr<Machine> machine, std::unique_ptr<Launch> launch, nb::object stream,
           nb::object stream_in_python, nb::object in_python)
      : machine_(std::move(machine)),
        launch_(std::move(launch)),
        stream_(std::move(stream)),
        stream_in_python_(std::move(stream_in_python)),
        in_python_(std::move(in_python)) {}

  /// Stores the types, shapes and devices of `buffers`, with which later buffers are compared.
  /// Returns false if only Python code can read the buffers.
  bool keep(nb::handle buffers) {
    Call call;
    if (!read(buffers, call)) return false;
    words_ = call.words.bytes();
    return true;
  }
  nb::object operator()(const nb::args& buffers) {
    Call call;
    if (read(buffers, call) && call.words.bytes() == words_) {
      const auto stream = stream_of(*machine_, stream_, call, stream_in_python_);
      if (stream && !call.waits(*stream) && launch_->start(*stream, call.addresses.data())) {
        return nb::none();
      }
    }
    return in_python_(*buffers);
  }

 private:
  bool read(nb::handle buffers, Call& call) {
    const std::size_t count = nb::len(buffers);
    if (count != machine_->buffers.size()) return false;
    for (std::size_t i = 0; i < count; ++i) {
      PyObject* value = PyTuple_GetItem(buffers.ptr(), static_cast<Py_ssize_t>(i));
      if (!call.add(*machine_, i, value)) return false;
    }
    call.words.push(call.device);
    return call.words.are_complete();
  }

  std::shared_ptr<Machine> machine_;
  std::unique_ptr<Launch> launch_;
  nb::object stream_;
  nb::object stream_in_python_;
  nb::object in_python_;
  std::string words_;
};

/// The prepared calls of a bundle, by the properties of their arguments.
class Calls {
 public:
  /// `inputs`, `outputs`: indices of buffers. `keywords`: for each name, the index of a buffer, or
  /// the index of a shape variable plus the number of buffers. `stream_in_python`: a Python
  /// function (stream, values, device) that returns the handle of a stream.
  Calls(const std::string& driver, const std::string& folder, std::vector<std::string> buffers,
        std::vector<std::size_t> inputs, std::vector<std::size_t> outputs, nb::dict keywords,
        nb::object stream_in_python)
      : machine_(std::make_shared<Machine>(driver, folder, std::move(buffers))),
        inputs_(std::move(inputs)),
        outputs_(std::move(outputs)),
        keywords_(std::move(keywords)),
        stream_in_python_(std::move(stream_in_python)) {}
  Calls(const Calls&) = delete;

  /// Launches a prepared call and returns the outputs. Returns NotImplemented if the Python code
  /// must handle the call.
  nb::object call(nb::handle inputs, nb::handle keywords, nb::handle stream) {
    Call call;
    if (!bind(inputs, keywords, call)) return not_implemented();
    const auto found = prepared_.find(call.words.bytes());
    if (found == prepared_.end()) return not_implemented();
    Prepared& prepared = found->second;
    const auto handle = stream_of(*machine_, stream, call, stream_in_python_);
    if (!handle || call.waits(*handle)) return not_implemented();
    std::vector<nb::object> allocated;
    for (const Allocation& its : prepared.allocations) {
      PyObject* tensor =
          machine_->objects.empty(call.first_tensor, its.shape.ptr(), its.dtype.ptr());
      if (tensor == nullptr) throw nb::python_error();
      allocated.push_back(nb::steal(tensor));
      if (!call.add(*machine_, its.buffer, tensor)) return not_implemented();
    }
    if (!prepared.launch->start(*handle, call.addresses.data())) return not_implemented();
    return results(call);
  }

  /// Stores the launch that was prepared for calls in the current context whose arguments have the
  /// types and shapes of `inputs` and `keywords`.
  /// `allocations`: buffer, shape and dtype of each output that the call allocates.
  void learn(nb::handle inputs, nb::handle keywords, std::uintptr_t context, nb::handle arguments,
             nb::handle steps, nb::object workspaces, nb::handle allocations) {
    Call call;
    if (!bind(inputs, keywords, call)) return;
    Prepared prepared{std::make_unique<Launch>(*machine_, context, arguments, steps, workspaces),
                      {}};
    for (const nb::handle its : allocations) {
      prepared.allocations.push_back(
          {nb::cast<std::size_t>(its[0]), nb::borrow(its[1]), nb::borrow(its[2])});
    }
    prepared_.try_emplace(std::string(call.words.bytes()), std::move(prepared));
  }

  /// Returns a plan for the buffers; None if only Python code can read such buffers.
  nb::object plan(nb::handle buffers, nb::object stream, std::uintptr_t context,
                  nb::handle arguments, nb::handle steps, nb::object workspaces,
                  nb::object in_python) {
    auto plan = std::make_unique<HeldPlan>(
        machine_, std::make_unique<Launch>(*machine_, context, arguments, steps, workspaces),
        std::move(stream), stream_in_python_, std::move(in_python));
    if (!plan->keep(buffers)) return nb::none();
    return nb::cast(plan.release(), nb::rv_policy::take_ownership);
  }

 private:
  struct Allocation {
    std::size_t buffer;
    nb::object shape, dtype;
  };
  struct Prepared {
    std::unique_ptr<Launch> launch;
    std::vector<Allocation> allocations;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view words) const {
      return std::hash<std::string_view>()(words);
    }
  };

  /// Puts the arguments of a Python call into `call`. Returns false if an argument is given twice,
  /// missing or unknown, or if only the Python code supports it.
  bool bind(nb::handle inputs, nb::handle keywords, Call& call) {
    const std::size_t buffers = machine_->buffers.size();
    const auto count = static_cast<std::size_t>(PyTuple_Size(inputs.ptr()));
    if (count > inputs_.size()) return false;
    std::fill_n(call.values.begin(), buffers, nullptr);
    std::array<PyObject*, kMostArguments> sizes;
    const std::size_t variables = static_cast<std::size_t>(nb::len(keywords_)) - buffers;
    if (variables > sizes.size()) return false;
    std::fill_n(sizes.begin(), variables, nullptr);
    for (std::size_t i = 0; i < count; ++i) {
      call.values[inputs_[i]] = PyTuple_GetItem(inputs.ptr(), static_cast<Py_ssize_t>(i));
    }
    PyObject* keyword = nullptr;
    PyObject* value = nullptr;
    for (Py_ssize_t at = 0; PyDict_Next(keywords.ptr(), &at, &keyword, &value) != 0;) {
      PyObject* number = PyDict_GetItemWithError(keywords_.ptr(), keyword);
      if (number == nullptr) return PyErr_Clear(), false;
      const auto place = static_cast<std::size_t>(PyLong_AsLong(number));
      PyObject*& target = place < buffers ? call.values[place] : sizes[place - buffers];
      if (target != nullptr) return false;
      target = value;
    }
    call.words.push(reinterpret_cast<std::int64_t>(machine_->current_context()));
    call.words.push(-1);
    for (std::size_t i = 0; i < buffers; ++i) {
      if (call.values[i] == nullptr) {
        call.words.push(0);
      } else if (!call.add(*machine_, i, call.values[i])) {
        return false;
      }
    }
    for (std::size_t i = 0; i < variables; ++i) {
      if (!push_size(sizes[i], call.words)) return false;
    }
    call.words.set(1, call.device);
    return call.words.are_complete();
  }

  static bool push_size(PyObject* size, Words& words) {
    if (size == nullptr || size == Py_None) {
      words.push(0);
    } else if (PyLong_CheckExact(size)) {
      words.push(1);
      words.push(PyLong_AsLongLong(size));
    } else if (PyFloat_CheckExact(size)) {
      words.push(2);
      words.push(std::bit_cast<std::int64_t>(PyFloat_AsDouble(size)));
    } else {
      return false;
    }
    if (PyErr_Occurred() == nullptr) return true;
    PyErr_Clear();
    return false;
  }

  nb::object results(const Call& call) const {
    if (outputs_.size() == 1) return nb::borrow(call.values[outputs_[0]]);
    nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(outputs_.size())));
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      PyObject* value = Py_NewRef(call.values[outputs_[i]]);
      PyTuple_SetItem(tuple.ptr(), static_cast<Py_ssize_t>(i), value);
    }
    return tuple;
  }

  std::shared_ptr<Machine> machine_;
  std::vector<std::size_t> inputs_, outputs_;
  nb::dict keywords_;
  nb::object stream_in_python_;
  std::unordered_map<std::string, Prepared, Hash, std::equal_to<>> prepared_;
};

}  // namespace
}  // namespace evo_python

NB_MODULE(_launcher, module) {
  using namespace evo_python;
  nb::set_leak_warnings(false);  // bundles live until the program ends
  const nb::object errors = nb::module_::import_("evo_tune.errors").attr("Error");
  static PyObject* const error = Py_NewRef(errors.ptr());
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const evo_tune::Error& its) {
      PyErr_SetString(error, its.what());
    }
  });
  nb::class_<HeldPlan>(module, "Plan").def("__call__", &HeldPlan::operator());
  nb::class_<Calls>(module, "Calls")
      .def(nb::init<const std::string&, const std::string&, std::vector<std::string>,
                    std::vector<std::size_t>, std::vector<std::size_t>, nb::dict, nb::object>())
      .def("call", &Calls::call, nb::arg(), nb::arg(), nb::arg().none())
      .def("learn", &Calls::learn)
      .def("plan", &Calls::plan, nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg(),
           nb::arg(), nb::arg());
}
