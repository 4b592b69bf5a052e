// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "fusekit/runtime/explain.hpp"
#include "fusekit/runtime/handle.hpp"

/// Interface of a backend to the C functions. A backend is a unit, compiled by its own compiler, that defines one
/// Backend.
namespace fusekit::runtime::c {

struct Backend;

struct DeviceObject {
    Backend const& backend;

    explicit DeviceObject(Backend const& of) : backend(of) {}
    virtual ~DeviceObject() = default;
    /// Throws Error.
    virtual void synchronize() = 0;
};

/// Target of a run. `stream` is null for the device's own stream, otherwise a pointer to a stream handle.
struct RunTarget {
    DeviceObject& device;
    void* const* stream;
    WorkspaceView workspace;
};

/// Thread that compiles the kernel of a plan that is compiled at run time (src/jit/): the caller's; one of the library,
/// while calls are refused with the operator name pending_name; or none: a plan whose kernel is not loaded is refused.
/// Backends whose plans are compiled in advance ignore it.
enum class Compile { now, in_background, never };

struct RunObject {
    Backend const& backend;

    explicit RunObject(Backend const& of) : backend(of) {}
    virtual ~RunObject() = default;
    virtual std::size_t workspace_bytes() const = 0;
    virtual Refusal execute(RunTarget const& target, void const* x, void* y) const = 0;
};

struct PlanObject {
    Backend const& backend;

    explicit PlanObject(Backend const& of) : backend(of) {}
    virtual ~PlanObject() = default;
    virtual int size() const = 0;
    virtual Text name() const = 0;
    virtual Result<Index<4>> output_shape(ArgumentList arguments, View const& x) const = 0;
    virtual Result<std::size_t> workspace_bytes(DeviceObject& device, ArgumentList arguments, View const& x,
                                                View const& y) const = 0;
    /// Compiles and loads the kernel of runs whose addresses are multiples of 16 bytes; returns the bytes of workspace
    /// that such a run needs. Reads no pointers. It has no body here, where units of several CPU levels would share it.
    virtual Result<std::size_t> compile(DeviceObject& device, ArgumentList arguments, View const& x, View const& y,
                                        Compile how) const = 0;
    virtual Refusal prepare(DeviceObject& device, ArgumentList arguments, View const& x, View const& y, int alignment,
                            Compile how, std::unique_ptr<RunObject>& run) const = 0;
    virtual Refusal execute(RunTarget const& target, ArgumentList arguments, View const& x, View const& y) const = 0;
};

struct Backend {
    virtual ~Backend() = default;
    /// Throws Error if there is no such device.
    virtual std::unique_ptr<DeviceObject> create(int number) const = 0;
    /// Null if there is no plan.
    virtual std::unique_ptr<PlanObject> find(Descriptors operators, Types types) const = 0;
    virtual Explanation explain(Descriptors operators, Types const* types) const = 0;
    virtual detail::FormList forms() const = 0;
};

/// Backend whose plans are compiled at run time (src/jit/).
struct JitBackend : Backend {
    /// Adds an operator that is given as source; sets the mode with which a descriptor of Kind::own names it.
    virtual Refusal add_operator(char const* name, char const* source, std::int32_t& mode) const = 0;
    /// Uses a disk cache of at most `bytes` bytes in a folder; "" means the user's cache folder.
    virtual void use_disk_cache(char const* folder, std::uint64_t bytes) const = 0;
    /// Kernels that this process compiled, read from the disk cache, and found in memory.
    virtual void count(std::uint64_t (&numbers)[3]) const = 0;
};

/// Null if the library was built without the backend.
Backend const* host_backend();
Backend const* gpu_backend();
JitBackend const* jit_backend();

/// CPU for which host_backend() is compiled: an x86-64 level, "default" for the compiler's flags, or "" without a
/// backend.
char const* host_cpu();

/// Operator names of Errors of compilations that failed, and of those that have not ended.
inline constexpr char const *compiler_name = "compiler", *pending_name = "compilation";

}  // namespace fusekit::runtime::c
