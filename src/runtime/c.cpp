// SPDX-License-Identifier: MIT
//
// The C interface over backends. Arguments from C are checked here as far as needed to convert them to C++ values; the
// plans check the rest.
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <new>

#include "backend.hpp"
#include "registry.hpp"

// All other symbols of the library are hidden.
#pragma GCC visibility push(default)
#include "fusekit/runtime/c/fusekit.h"
#pragma GCC visibility pop

namespace {

namespace fk = fusekit;
namespace rt = fk::runtime;
using namespace rt::c;
using Kind = Registry::Kind;

/// Never destroyed: other threads may still call at exit.
Registry& registry() {
    static Registry* const all = new Registry;
    return *all;
}

thread_local char message[2048];

fusekit_status fail(fusekit_status status, char const* text) {
    std::snprintf(message, sizeof message, "%s", text);
    return status;
}

fusekit_status null_pointer(char const* function, char const* argument) {
    std::snprintf(message, sizeof message, "%s: %s: expected a pointer, got a null pointer", function, argument);
    return FUSEKIT_INVALID_VALUE;
}
fusekit_status wrong_number(char const* function, char const* argument, char const* expected, long long given) {
    std::snprintf(message, sizeof message, "%s: %s: expected %s, got %lld", function, argument, expected, given);
    return FUSEKIT_INVALID_VALUE;
}

/// Calls body and converts exceptions to a status.
template <class Body>
fusekit_status guarded(char const* function, Body const& body) noexcept {
    try {
        return body();
    } catch (fk::Error const& error) {
        return fail(FUSEKIT_REFUSED, error.what());
    } catch (std::bad_alloc const&) {
        std::snprintf(message, sizeof message, "%s: expected free memory, got none", function);
        return FUSEKIT_OUT_OF_MEMORY;
    } catch (...) {
        std::snprintf(message, sizeof message, "%s: an exception that the library does not know", function);
        return FUSEKIT_INTERNAL;
    }
}

struct Function {
    char const* name;

    fusekit_status handle(char const* what) const {
        std::snprintf(message, sizeof message, "%s: %s: expected a handle of its kind that was not destroyed, got none",
                      name, what);
        return FUSEKIT_INVALID_HANDLE;
    }
};

template <class Object>
Object* object_of(Kind kind, void const* handle) {
    return static_cast<Object*>(registry().find(kind, handle));
}
DeviceObject* device_of(fusekit_device handle) { return object_of<DeviceObject>(Kind::device, handle); }
PlanObject* plan_of(fusekit_plan handle) { return object_of<PlanObject>(Kind::plan, handle); }
RunObject* run_of(fusekit_run handle) { return object_of<RunObject>(Kind::run, handle); }

/// Registers an object and writes its handle.
template <class Object, class Handle>
fusekit_status hand_out(Kind kind, std::unique_ptr<Object> object, Handle* handle) {
    *handle = static_cast<Handle>(registry().add(kind, object.get()));
    static_cast<void>(object.release());
    return FUSEKIT_SUCCESS;
}
template <class Object>
fusekit_status destroy(Function const& function, char const* what, Kind kind, void const* handle) {
    return guarded(function.name, [&] {
        auto* const object = static_cast<Object*>(registry().remove(kind, handle));
        if (!object) return function.handle(what);
        delete object;
        return static_cast<fusekit_status>(FUSEKIT_SUCCESS);
    });
}

Backend const* backend_of(fusekit_backend backend) {
    switch (backend) {
        case FUSEKIT_HOST: return host_backend();
        case FUSEKIT_GPU: return gpu_backend();
        case FUSEKIT_JIT: return jit_backend();
        default: return nullptr;
    }
}
fusekit_status no_backend(Function const& function, fusekit_backend backend) {
    constexpr char const* names[] = {"FUSEKIT_HOST", "FUSEKIT_GPU", "FUSEKIT_JIT"};
    if (backend < FUSEKIT_HOST || backend > FUSEKIT_JIT)
        return wrong_number(function.name, "backend", "FUSEKIT_HOST, FUSEKIT_GPU or FUSEKIT_JIT", backend);
    std::snprintf(message, sizeof message, "%s: backend: expected one that the library was built with, got %s",
                  function.name, names[backend]);
    return FUSEKIT_NO_DEVICE;
}

static_assert(fk::config::version_major == FUSEKIT_VERSION_MAJOR && fk::config::version_minor == FUSEKIT_VERSION_MINOR);

bool is_type(fusekit_type type) { return type >= FUSEKIT_FLOAT && type <= FUSEKIT_INT8; }
fk::DataType type_of(fusekit_type type) { return static_cast<fk::DataType>(type); }
static_assert(static_cast<int>(fk::DataType::int8) == FUSEKIT_INT8 &&
              static_cast<int>(fk::DataType::float64) == FUSEKIT_DOUBLE &&
              static_cast<int>(fk::DataType::bfloat16) == FUSEKIT_BFLOAT16);
static_assert(static_cast<int>(rt::Kind::activation_backward) == FUSEKIT_ACTIVATION_BACKWARD &&
              static_cast<int>(rt::Kind::store) == FUSEKIT_STORE &&
              static_cast<int>(rt::Kind::residual) == FUSEKIT_RESIDUAL &&
              static_cast<int>(rt::Kind::binary) == FUSEKIT_BINARY &&
              static_cast<int>(rt::BinaryMode::minimum) == FUSEKIT_MINIMUM &&
              static_cast<int>(rt::Kind::layer_norm) == FUSEKIT_LAYER_NORM &&
              static_cast<int>(rt::Kind::rms_norm) == FUSEKIT_RMS_NORM &&
              static_cast<int>(rt::Kind::group_norm) == FUSEKIT_GROUP_NORM &&
              static_cast<int>(rt::Kind::instance_norm) == FUSEKIT_INSTANCE_NORM &&
              static_cast<int>(rt::Kind::softmax) == FUSEKIT_SOFTMAX &&
              static_cast<int>(rt::Kind::log_softmax) == FUSEKIT_LOG_SOFTMAX &&
              static_cast<int>(rt::Kind::upsample_nearest) == FUSEKIT_UPSAMPLE_NEAREST &&
              static_cast<int>(rt::Kind::upsample_bilinear) == FUSEKIT_UPSAMPLE_BILINEAR &&
              static_cast<int>(rt::Kind::pixel_shuffle) == FUSEKIT_PIXEL_SHUFFLE &&
              static_cast<int>(rt::Kind::pixel_unshuffle) == FUSEKIT_PIXEL_UNSHUFFLE &&
              static_cast<int>(rt::Kind::batched_gemm) == FUSEKIT_BATCHED_GEMM &&
              static_cast<int>(rt::Kind::transposed_conv) == FUSEKIT_TRANSPOSED_CONV &&
              static_cast<int>(rt::Kind::conv_weight_gradient) == FUSEKIT_CONV_WEIGHT_GRADIENT &&
              static_cast<int>(rt::Kind::residual_backward) == FUSEKIT_RESIDUAL_BACKWARD &&
              static_cast<int>(rt::Kind::own) == FUSEKIT_OWN);
#define HAS_NUMBER_OF_C(number, Mode, mode, MODE) static_assert(number == FUSEKIT_##MODE);
FUSEKIT_ACTIVATIONS(HAS_NUMBER_OF_C)
#undef HAS_NUMBER_OF_C
static_assert(rt::roles == FUSEKIT_ROLES && static_cast<int>(rt::Role::scratch) == FUSEKIT_SCRATCH &&
              static_cast<int>(rt::Role::x) == FUSEKIT_FORWARD_X);

bool is_types(fusekit_types const& types) { return is_type(types.x) && is_type(types.y) && is_type(types.weights); }
rt::Types types_of(fusekit_types const& types) { return {type_of(types.x), type_of(types.y), type_of(types.weights)}; }

fk::Filter<2> filter_of(fusekit_filter const& f) {
    return {{f.size[0], f.size[1]},     {f.pad_before[0], f.pad_before[1]}, {f.pad_after[0], f.pad_after[1]},
            {f.stride[0], f.stride[1]}, {f.dilation[0], f.dilation[1]},     f.groups};
}

/// Operator sequence from C. Holds as many descriptors as a plan can have; `count` may be larger.
struct Operators {
    rt::Descriptor all[rt::max_operators];
    int count;

    rt::Descriptors descriptors() const { return {all, count}; }
};
fusekit_status read(Function const& function, fusekit_operator const* operators, std::int32_t count,
                    Operators& result) {
    if (count < 0) return wrong_number(function.name, "count", "0 or more", count);
    if (!operators && count > 0) return null_pointer(function.name, "operators");
    result.count = count;
    for (int i = 0; i < count && i < rt::max_operators; ++i) {
        fusekit_operator const& given = operators[i];
        if ((given.kind < 0 || given.kind > FUSEKIT_RESIDUAL_BACKWARD) && given.kind != FUSEKIT_OWN)
            return wrong_number(function.name, "operators: kind", "one of fusekit_kind", given.kind);
        rt::Descriptor& to = result.all[i];
        to = {static_cast<rt::Kind>(given.kind), given.mode};
        if (given.kind == FUSEKIT_CONV || given.kind == FUSEKIT_POOL || given.kind == FUSEKIT_TRANSPOSED_CONV ||
            given.kind == FUSEKIT_CONV_WEIGHT_GRADIENT)
            to.filter = filter_of(given.filter);
        else if (given.kind == FUSEKIT_GROUP_NORM) to.filter.group_count = given.filter.groups;
        else if (rt::has_filter(to.kind)) to.filter.size = filter_of(given.filter).size;
        if (given.kind == FUSEKIT_POOL) to.filter.dilations = {1, 1}, to.filter.group_count = 1;
    }
    return FUSEKIT_SUCCESS;
}

fusekit_status read(Function const& function, char const* name, fusekit_tensor const& given, rt::View& to) {
    if (given.rank < 0 || given.rank > 5) return wrong_number(function.name, name, "a rank of 0 to 5", given.rank);
    if (!is_type(given.type)) return wrong_number(function.name, name, "a fusekit_type", given.type);
    to.data = given.data;
    to.type = type_of(given.type);
    to.rank = given.rank;
    std::memcpy(to.extents, given.extents, sizeof to.extents);
    std::memcpy(to.strides, given.strides, sizeof to.strides);
    return FUSEKIT_SUCCESS;
}
fusekit_status read(Function const& function, char const* name, fusekit_tensor const* given, rt::View& to) {
    return given ? read(function, name, *given, to) : null_pointer(function.name, name);
}

/// Arguments from C.
struct AllArguments {
    rt::Arguments all[rt::max_operators];
    int count;

    operator rt::ArgumentList() const { return {all, count}; }
};
fusekit_status read(Function const& function, fusekit_arguments const* arguments, std::int32_t count, int size,
                    AllArguments& result) {
    if (count != size) {
        std::snprintf(message, sizeof message, "%s: count: expected %d, the number of the plan's operators, got %d",
                      function.name, size, static_cast<int>(count));
        return FUSEKIT_INVALID_VALUE;
    }
    if (!arguments) return null_pointer(function.name, "arguments");
    result.count = count;
    for (int i = 0; i < count; ++i) {
        fusekit_arguments const& given = arguments[i];
        rt::Arguments& to = result.all[i];
        for (int role = 0; role < rt::roles; ++role) {
            if (given.tensors[role].rank == 0) continue;
            char const* const name = rt::name(static_cast<rt::Role>(role));
            if (auto status = read(function, name, given.tensors[role], to.tensors[role])) return status;
        }
        to.alpha = given.alpha, to.beta = given.beta, to.gamma = given.gamma, to.factor = given.factor;
        to.epsilon = given.epsilon, to.momentum = given.momentum, to.zero_point = given.zero_point;
    }
    return FUSEKIT_SUCCESS;
}

fusekit_status write(Function const& function, fk::Text const& text, char* name, std::size_t size,
                     std::size_t* needed) {
    if (!name && size > 0) return null_pointer(function.name, "name");
    if (needed) *needed = text.size() + 1;
    if (size == 0) return FUSEKIT_SUCCESS;
    std::size_t const length = text.size() < size ? text.size() : size - 1;
    std::memcpy(name, text.c_str(), length);
    name[length] = 0;
    return FUSEKIT_SUCCESS;
}

/// Refuses a device of another backend than the plan's or run's.
fusekit_status other_backend(Function const& function) {
    std::snprintf(message, sizeof message,
                  "%s: device: expected one of the backend that the plan was found for, got another", function.name);
    return FUSEKIT_INVALID_VALUE;
}

/// Objects that a call on a plan's tensors names.
struct PlanCall {
    PlanObject* plan = nullptr;
    DeviceObject* device = nullptr;
    AllArguments arguments;
    rt::View x, y;

    fusekit_status find(Function const& function, fusekit_plan the_plan, fusekit_device the_device) {
        plan = plan_of(the_plan);
        device = device_of(the_device);
        if (!plan) return function.handle("plan");
        if (!device) return function.handle("device");
        return &device->backend == &plan->backend ? FUSEKIT_SUCCESS : other_backend(function);
    }
    fusekit_status read_tensors(Function const& function, fusekit_arguments const* all, int32_t count,
                                fusekit_tensor const* the_x, fusekit_tensor const* the_y) {
        if (auto status = read(function, all, count, plan->size(), arguments)) return status;
        if (auto status = read(function, "x", the_x, x)) return status;
        return read(function, "y", the_y, y);
    }
};

fusekit_status refused(fk::Refusal const& refusal) {
    if (!refusal) return FUSEKIT_SUCCESS;
    return fail(refusal->operator_name == compiler_name  ? FUSEKIT_NOT_COMPILED
                : refusal->operator_name == pending_name ? FUSEKIT_COMPILING
                                                         : FUSEKIT_REFUSED,
                refusal->what());
}

void* const* stream_of(void* const& stream) { return stream == FUSEKIT_OWN_STREAM ? nullptr : &stream; }

fusekit_status create(Function const& function, fusekit_backend which, std::int32_t number, fusekit_device* device) {
    return guarded(function.name, [&] {
        if (!device) return null_pointer(function.name, "device");
        if (number < 0 || number > 4096) return wrong_number(function.name, "number", "0 to 4096", number);
        Backend const* const backend = backend_of(which);
        if (!backend) return no_backend(function, which);
        std::unique_ptr<DeviceObject> object;
        try {
            object = backend->create(number);
        } catch (fk::Error const& error) {
            return fail(FUSEKIT_NO_DEVICE, error.what());
        }
        return hand_out(Kind::device, std::move(object), device);
    });
}

fusekit_status prepare(Function const& function, Compile how, fusekit_plan plan, fusekit_device device,
                       fusekit_arguments const* arguments, std::int32_t count, fusekit_tensor const* x,
                       fusekit_tensor const* y, std::int32_t alignment, fusekit_run* run) {
    return guarded(function.name, [&]() -> fusekit_status {
        PlanCall call;
        if (auto status = call.find(function, plan, device)) return status;
        if (!run) return null_pointer(function.name, "run");
        if (auto status = call.read_tensors(function, arguments, count, x, y)) return status;
        std::unique_ptr<RunObject> prepared;
        if (auto status = refused(call.plan->prepare(*call.device, call.arguments, call.x, call.y,
                                                     alignment ? alignment : 16, how, prepared)))
            return status;
        return hand_out(Kind::run, std::move(prepared), run);
    });
}

}  // namespace

extern "C" {

char const* fusekit_status_name(fusekit_status status) {
    constexpr char const* names[] = {"FUSEKIT_SUCCESS",       "FUSEKIT_INVALID_VALUE", "FUSEKIT_INVALID_HANDLE",
                                     "FUSEKIT_NO_PLAN",       "FUSEKIT_REFUSED",       "FUSEKIT_NO_DEVICE",
                                     "FUSEKIT_OUT_OF_MEMORY", "FUSEKIT_INTERNAL",      "FUSEKIT_NOT_COMPILED",
                                     "FUSEKIT_COMPILING"};
    return status >= 0 && status <= FUSEKIT_COMPILING ? names[status] : "FUSEKIT_UNKNOWN";
}

char const* fusekit_last_message(void) { return message; }

int32_t fusekit_version(void) { return 100 * FUSEKIT_VERSION_MAJOR + FUSEKIT_VERSION_MINOR; }

int32_t fusekit_has_backend(fusekit_backend backend) { return backend_of(backend) ? 1 : 0; }

char const* fusekit_host_cpu(void) { return host_cpu(); }

fusekit_status fusekit_arguments_init(fusekit_arguments* arguments) {
    if (!arguments) return null_pointer("fusekit_arguments_init", "arguments");
    std::memset(arguments, 0, sizeof *arguments);
    rt::Arguments const usual;
    arguments->factor = usual.factor;
    arguments->epsilon = usual.epsilon;
    arguments->momentum = usual.momentum;
    return FUSEKIT_SUCCESS;
}

fusekit_status fusekit_device_create_host(int32_t threads, fusekit_device* device) {
    return create({"fusekit_device_create_host"}, FUSEKIT_HOST, threads, device);
}
fusekit_status fusekit_device_create_gpu(int32_t index, fusekit_device* device) {
    return create({"fusekit_device_create_gpu"}, FUSEKIT_GPU, index, device);
}
fusekit_status fusekit_device_create_jit(int32_t index, fusekit_device* device) {
    return create({"fusekit_device_create_jit"}, FUSEKIT_JIT, index, device);
}
fusekit_status fusekit_device_destroy(fusekit_device device) {
    return destroy<DeviceObject>({"fusekit_device_destroy"}, "device", Kind::device, device);
}
fusekit_status fusekit_device_synchronize(fusekit_device device) {
    Function const function{"fusekit_device_synchronize"};
    return guarded(function.name, [&]() -> fusekit_status {
        DeviceObject* const object = device_of(device);
        if (!object) return function.handle("device");
        object->synchronize();
        return FUSEKIT_SUCCESS;
    });
}

fusekit_status fusekit_find(fusekit_backend backend, fusekit_operator const* operators, int32_t count,
                            fusekit_types const* types, fusekit_plan* plan) {
    Function const function{"fusekit_find"};
    return guarded(function.name, [&]() -> fusekit_status {
        if (!plan) return null_pointer(function.name, "plan");
        if (!types) return null_pointer(function.name, "types");
        Backend const* const of = backend_of(backend);
        if (!of) return no_backend(function, backend);
        if (!is_types(*types)) return fail(FUSEKIT_INVALID_VALUE, "fusekit_find: types: expected three fusekit_type");
        Operators given;
        if (auto status = read(function, operators, count, given)) return status;
        auto object = of->find(given.descriptors(), types_of(*types));
        if (object) return hand_out(Kind::plan, std::move(object), plan);
        rt::Types const wanted = types_of(*types);
        return fail(FUSEKIT_NO_PLAN, of->explain(given.descriptors(), &wanted).error().what());
    });
}
fusekit_status fusekit_plan_destroy(fusekit_plan plan) {
    return destroy<PlanObject>({"fusekit_plan_destroy"}, "plan", Kind::plan, plan);
}
fusekit_status fusekit_plan_name(fusekit_plan plan, char* name, size_t size, size_t* needed) {
    Function const function{"fusekit_plan_name"};
    return guarded(function.name, [&]() -> fusekit_status {
        PlanObject* const object = plan_of(plan);
        if (!object) return function.handle("plan");
        return write(function, object->name(), name, size, needed);
    });
}

fusekit_status fusekit_explain(fusekit_backend backend, fusekit_operator const* operators, int32_t count,
                               fusekit_types const* types, fusekit_explanation* explanation) {
    Function const function{"fusekit_explain"};
    return guarded(function.name, [&]() -> fusekit_status {
        Backend const* const of = backend_of(backend);
        if (!of) return no_backend(function, backend);
        if (types && !is_types(*types))
            return fail(FUSEKIT_INVALID_VALUE, "fusekit_explain: types: expected three fusekit_type");
        Operators given;
        if (auto status = read(function, operators, count, given)) return status;
        rt::Types const wanted = types ? types_of(*types) : rt::Types(fk::DataType::float32);
        rt::Explanation const why = of->explain(given.descriptors(), types ? &wanted : nullptr);
        if (explanation) *explanation = {static_cast<fusekit_reason>(why.reason), why.position, why.rule, why.sentence};
        return why ? static_cast<fusekit_status>(FUSEKIT_SUCCESS) : fail(FUSEKIT_NO_PLAN, why.error().what());
    });
}

fusekit_status fusekit_set_size(fusekit_backend backend, int32_t* size) {
    Function const function{"fusekit_set_size"};
    return guarded(function.name, [&]() -> fusekit_status {
        Backend const* const of = backend_of(backend);
        if (!of) return no_backend(function, backend);
        if (!size) return null_pointer(function.name, "size");
        *size = of->forms().size;
        return FUSEKIT_SUCCESS;
    });
}
fusekit_status fusekit_set_plan(fusekit_backend backend, int32_t index, char* name, size_t size, size_t* needed,
                                fusekit_types* types) {
    Function const function{"fusekit_set_plan"};
    return guarded(function.name, [&]() -> fusekit_status {
        Backend const* const of = backend_of(backend);
        if (!of) return no_backend(function, backend);
        rt::detail::FormList const forms = of->forms();
        if (index < 0 || index >= forms.size)
            return wrong_number(function.name, "index", "one below fusekit_set_size()", index);
        rt::Types const& own = forms.at[index]->types;
        if (types)
            *types = {static_cast<fusekit_type>(own.x), static_cast<fusekit_type>(own.y),
                      static_cast<fusekit_type>(own.weights)};
        return write(function, forms.at[index]->name(), name, size, needed);
    });
}

fusekit_status fusekit_output_shape(fusekit_plan plan, fusekit_arguments const* arguments, int32_t count,
                                    fusekit_tensor const* x, int64_t extents[5]) {
    Function const function{"fusekit_output_shape"};
    return guarded(function.name, [&]() -> fusekit_status {
        PlanObject* const object = plan_of(plan);
        if (!object) return function.handle("plan");
        if (!extents) return null_pointer(function.name, "extents");
        AllArguments all;
        rt::View view;
        if (auto status = read(function, arguments, count, object->size(), all)) return status;
        if (auto status = read(function, "x", x, view)) return status;
        auto const shape = object->output_shape(all, view);
        if (!shape) return fail(FUSEKIT_REFUSED, shape.error().what());
        for (int mode = 0; mode < 5; ++mode) extents[mode] = mode < view.rank ? (*shape)[mode] : 1;
        return FUSEKIT_SUCCESS;
    });
}

fusekit_status fusekit_workspace_bytes(fusekit_plan plan, fusekit_device device, fusekit_arguments const* arguments,
                                       int32_t count, fusekit_tensor const* x, fusekit_tensor const* y, size_t* bytes) {
    Function const function{"fusekit_workspace_bytes"};
    return guarded(function.name, [&]() -> fusekit_status {
        PlanCall call;
        if (auto status = call.find(function, plan, device)) return status;
        if (!bytes) return null_pointer(function.name, "bytes");
        if (auto status = call.read_tensors(function, arguments, count, x, y)) return status;
        auto const found = call.plan->workspace_bytes(*call.device, call.arguments, call.x, call.y);
        if (!found) return fail(FUSEKIT_REFUSED, found.error().what());
        *bytes = *found;
        return FUSEKIT_SUCCESS;
    });
}

fusekit_status fusekit_execute(fusekit_plan plan, fusekit_device device, void* stream,
                               fusekit_arguments const* arguments, int32_t count, fusekit_tensor const* x,
                               fusekit_tensor const* y, void* workspace, size_t workspace_bytes) {
    Function const function{"fusekit_execute"};
    return guarded(function.name, [&]() -> fusekit_status {
        PlanCall call;
        if (auto status = call.find(function, plan, device)) return status;
        if (auto status = call.read_tensors(function, arguments, count, x, y)) return status;
        return refused(call.plan->execute({*call.device, stream_of(stream), {workspace, workspace_bytes}},
                                          call.arguments, call.x, call.y));
    });
}

fusekit_status fusekit_prepare(fusekit_plan plan, fusekit_device device, fusekit_arguments const* arguments,
                               int32_t count, fusekit_tensor const* x, fusekit_tensor const* y, int32_t alignment,
                               fusekit_run* run) {
    return prepare({"fusekit_prepare"}, Compile::now, plan, device, arguments, count, x, y, alignment, run);
}
fusekit_status fusekit_prepare_async(fusekit_plan plan, fusekit_device device, fusekit_arguments const* arguments,
                                     int32_t count, fusekit_tensor const* x, fusekit_tensor const* y, int32_t alignment,
                                     fusekit_run* run) {
    return prepare({"fusekit_prepare_async"}, Compile::in_background, plan, device, arguments, count, x, y, alignment,
                   run);
}
fusekit_status fusekit_run_execute(fusekit_run run, fusekit_device device, void* stream, void const* x, void* y,
                                   void* workspace, size_t workspace_bytes) {
    Function const function{"fusekit_run_execute"};
    return guarded(function.name, [&]() -> fusekit_status {
        RunObject* const object = run_of(run);
        DeviceObject* const on = device_of(device);
        if (!object) return function.handle("run");
        if (!on) return function.handle("device");
        if (&on->backend != &object->backend) return other_backend(function);
        return refused(object->execute({*on, stream_of(stream), {workspace, workspace_bytes}}, x, y));
    });
}
fusekit_status fusekit_run_workspace_bytes(fusekit_run run, size_t* bytes) {
    Function const function{"fusekit_run_workspace_bytes"};
    return guarded(function.name, [&]() -> fusekit_status {
        RunObject* const object = run_of(run);
        if (!object) return function.handle("run");
        if (!bytes) return null_pointer(function.name, "bytes");
        *bytes = object->workspace_bytes();
        return FUSEKIT_SUCCESS;
    });
}
fusekit_status fusekit_run_destroy(fusekit_run run) {
    return destroy<RunObject>({"fusekit_run_destroy"}, "run", Kind::run, run);
}

fusekit_status fusekit_jit_add_operator(char const* name, char const* source, int32_t* mode) {
    Function const function{"fusekit_jit_add_operator"};
    return guarded(function.name, [&]() -> fusekit_status {
        if (!name) return null_pointer(function.name, "name");
        if (!source) return null_pointer(function.name, "source");
        if (!mode) return null_pointer(function.name, "mode");
        JitBackend const* const jit = jit_backend();
        if (!jit) return no_backend(function, FUSEKIT_JIT);
        return refused(jit->add_operator(name, source, *mode));
    });
}
fusekit_status fusekit_jit_set_cache(char const* folder, uint64_t bytes) {
    Function const function{"fusekit_jit_set_cache"};
    return guarded(function.name, [&]() -> fusekit_status {
        JitBackend const* const jit = jit_backend();
        if (!jit) return no_backend(function, FUSEKIT_JIT);
        jit->use_disk_cache(folder ? folder : "", bytes);
        return FUSEKIT_SUCCESS;
    });
}
fusekit_status fusekit_jit_counts(uint64_t counts[3]) {
    Function const function{"fusekit_jit_counts"};
    return guarded(function.name, [&]() -> fusekit_status {
        if (!counts) return null_pointer(function.name, "counts");
        JitBackend const* const jit = jit_backend();
        if (!jit) return no_backend(function, FUSEKIT_JIT);
        std::uint64_t numbers[3];
        jit->count(numbers);
        for (int i = 0; i < 3; ++i) counts[i] = numbers[i];
        return FUSEKIT_SUCCESS;
    });
}

}  // extern "C"
