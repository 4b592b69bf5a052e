// SPDX-License-Identifier: MIT
#include "session.hpp"

#include "plans.hpp"

namespace fusekit::compat {

Session::Session(void* stream) : queue(stream) { open_device(queue); }

WorkspaceView Session::workspace(std::size_t needed, WorkspaceView caller_workspace) {
    bool const aligned = reinterpret_cast<std::uintptr_t>(caller_workspace.data) % 64 == 0;
    if (needed == 0) return {};
    if (caller_workspace.data && aligned) {
        if (caller_workspace.bytes < needed)
            fail(miopenStatusBadParm,
                 "workspace: expected " + Text::number(needed) + " bytes, got " + Text::number(caller_workspace.bytes));
        queue.clear(caller_workspace.data, needed);
        return {caller_workspace.data, needed};
    }
    if (Queue::device_has_workspace()) return {};
    for (Kept& each : kept) {
        if (each.stream != queue.native()) continue;
        if (each.memory.bytes < needed) {
            Kept larger{queue.native(), allocate(needed), allocator};
            std::swap(each, larger);
            release(larger);
        }
        return each.memory;
    }
    kept.reserve(kept.size() + 1);
    kept.push_back({queue.native(), allocate(needed), allocator});
    return kept.back().memory;
}

void Session::set_allocator(miopenAllocatorFunction to_allocate, miopenDeallocatorFunction to_release, void* context) {
    if ((to_allocate == nullptr) != (to_release == nullptr))
        fail(miopenStatusBadParm, "expected an allocator and a deallocator, or neither, got one");
    allocator = {to_allocate, to_release, context};
}

WorkspaceView Session::allocate(std::size_t bytes) {
    Kept made{queue.native(), {nullptr, bytes}, allocator};
    made.memory.data = allocator.allocate ? allocator.allocate(allocator.context, bytes) : queue.allocate(bytes);
    if (!made.memory.data) fail(miopenStatusAllocFailed, "the handle's allocator returned null");
    try {
        queue.clear(made.memory.data, bytes);
    } catch (...) {
        release(made);
        throw;
    }
    return made.memory;
}

void Session::release(Kept const& each) noexcept {
    if (each.allocator.release) each.allocator.release(each.allocator.context, each.memory.data);
    else queue.release(each.memory.data);
}

}  // namespace fusekit::compat

using namespace fusekit::compat;

extern "C" {

miopenStatus_t miopenCreate(miopenHandle_t* handle) {
    return guard(__func__, [&] { give_handle(handle, "handle", std::make_unique<Session>(nullptr)); });
}

miopenStatus_t miopenCreateWithStream(miopenHandle_t* handle, miopenAcceleratorQueue_t stream) {
    return guard(__func__, [&] { give_handle(handle, "handle", std::make_unique<Session>(stream)); });
}

miopenStatus_t miopenDestroy(miopenHandle_t handle) {
    return guard(__func__, [&] { destroy<Session>(handle, "handle"); });
}

miopenStatus_t miopenSetStream(miopenHandle_t handle, miopenAcceleratorQueue_t streamID) {
    return guard(__func__, [&] { get<Session>(handle, "handle").queue.set_stream(streamID); });
}

miopenStatus_t miopenGetStream(miopenHandle_t handle, miopenAcceleratorQueue_t* streamID) {
    return guard(__func__, [&] {
        Session const& session = get<Session>(handle, "handle");
        at(streamID, "streamID") = static_cast<miopenAcceleratorQueue_t>(session.queue.native());
    });
}

miopenStatus_t miopenSetAllocator(miopenHandle_t handle, miopenAllocatorFunction allocator,
                                  miopenDeallocatorFunction deallocator, void* allocatorContext) {
    return guard(__func__,
                 [&] { get<Session>(handle, "handle").set_allocator(allocator, deallocator, allocatorContext); });
}

miopenStatus_t miopenEnableProfiling(miopenHandle_t handle, bool enable) {
    return guard(__func__, [&] { get<Session>(handle, "handle").profiling = enable; });
}

miopenStatus_t miopenGetKernelTime(miopenHandle_t handle, float* time) {
    return guard(__func__, [&] {
        Session const& session = get<Session>(handle, "handle");
        at(time, "time") = session.milliseconds;
    });
}
}
