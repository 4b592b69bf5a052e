// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <memory>

#include "failure.hpp"
#include "queue.hpp"

/// Plans of the compiled libraries behind the backends' interface (src/runtime/backend.hpp): those that libnvrtc
/// compiles at run time (src/jit), in a drop-in that has them, and the ready-made ones.
namespace fusekit::compat {

/// Explains whether a backend has a plan that begins with these operators. If none has, the reason is that of the
/// ready-made plans, in a drop-in that has any.
runtime::Explanation explain_beginning(runtime::Descriptors descriptors);

/// Creates the device of a new handle. Throws Failure with miopenStatusNotImplemented if the drop-in has no plans for
/// this GPU.
void open_device(Queue const& queue);

/// A prepared run, for a stream of its device.
class PreparedRun {
public:
    PreparedRun() = default;
    PreparedRun(std::unique_ptr<runtime::c::RunObject> the_run, runtime::c::DeviceObject& the_device)
        : run(std::move(the_run)), device(&the_device) {}

    explicit operator bool() const { return run != nullptr; }
    void reset() { run.reset(); }
    std::size_t workspace_bytes() const { return run->workspace_bytes(); }
    Refusal execute(Queue const& queue, void const* x, void* y, WorkspaceView workspace) const {
        return run->execute({*device, queue.native_address(), workspace}, x, y);
    }

private:
    std::unique_ptr<runtime::c::RunObject> run;
    runtime::c::DeviceObject* device = nullptr;
};

/// The plans of one sequence of operators for one device: the one that is compiled at run time, and the ready-made one
/// for calls that the former refuses, or whose kernel does not compile. Either may be absent. Threads may share it.
class FoundPlan {
public:
    /// Throws Failure with miopenStatusUnsupportedOp if there is neither.
    FoundPlan(Queue const& queue, runtime::Descriptors descriptors, runtime::Types types);

    int size() const { return (compiled_later.plan ? compiled_later : ready_made).plan->size(); }

    /// Compiles the kernel of runs whose addresses are multiples of 16 bytes. Returns the bytes of workspace that such
    /// a run needs. Reads no pointers. Throws Failure if no plan supports the arguments.
    std::size_t compile(Queue const& queue, runtime::ArgumentList arguments, runtime::View const& x,
                        runtime::View const& y);

    /// Prepares a run for addresses of x and y that are multiples of `alignment` bytes. Compiles its kernel if
    /// compile() did not, unless the stream is being captured. Throws Failure if no plan supports the arguments.
    PreparedRun prepare(Queue const& queue, runtime::ArgumentList arguments, runtime::View const& x,
                        runtime::View const& y, int alignment);

private:
    struct OnDevice {
        std::unique_ptr<runtime::c::PlanObject> plan;  ///< null if the backend has none
        runtime::c::DeviceObject* device = nullptr;
    };
    OnDevice compiled_later, ready_made;
    /// Set after a kernel that did not compile: its compilation is not repeated while there is a ready-made plan.
    std::atomic<bool> does_not_compile = false;

    static OnDevice find(runtime::c::Backend const* backend, Queue const& queue, runtime::Descriptors descriptors,
                         runtime::Types types);
    template <class F>
    Refusal try_each(Queue const& queue, F const& f);
};

/// The plans of a sequence for a queue's device: found once, and kept for later calls.
std::shared_ptr<FoundPlan> find_plan(Queue const& queue, runtime::Descriptors descriptors, runtime::Types types);

/// Throws Failure if `refusal` has an error: with miopenStatusAllocFailed or miopenStatusInternalError if memory is
/// exhausted or a device call failed, with miopenStatusUnsupportedOp if a kernel was not compiled, else with `status`.
void check(Refusal const& refusal, miopenStatus_t status = miopenStatusBadParm);

/// Largest alignment in bytes that both x and y have, at most 16, because no launch requires more.
int alignment_of(void const* x, void const* y);

}  // namespace fusekit::compat
