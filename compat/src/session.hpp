// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "object_table.hpp"
#include "queue.hpp"

namespace fusekit::compat {

/// Object of a miopenHandle_t: a device, a stream, and workspace.
class Session {
public:
    static constexpr ObjectKind kind = ObjectKind::handle;
    static constexpr char const* name = "a handle";
    using Handle = miopenHandle_t;

    explicit Session(miopenAcceleratorQueue_t stream) : queue(stream) {}
    Session(Session const&) = delete;
    Session& operator=(Session const&) = delete;
    ~Session() {
        for (Kept const& each : kept) release(each);
    }

    Queue queue;

    /// Workspace of a run on the current stream that needs `needed` bytes: the caller's memory, zeroed; if that is null
    /// or not aligned to 64 bytes, the session's own for that stream, which stays zeroed between runs; none if the
    /// device has its own. Throws Failure if the caller's is too small.
    WorkspaceView workspace(std::size_t needed, WorkspaceView caller_workspace);

    /// Enqueues work on the current stream. With `profiling`, also synchronizes and records its time.
    template <class Work>
    void measure(Work const& work) {
        if (profiling) milliseconds = queue.time(work);
        else work();
    }
    bool profiling = false;
    float milliseconds = 0;  ///< of the last work with `profiling`

    /// Sets the allocator of future workspace; null pointers restore the device's own.
    void set_allocator(miopenAllocatorFunction to_allocate, miopenDeallocatorFunction to_release, void* context);

private:
    struct Allocator {
        miopenAllocatorFunction allocate = nullptr;
        miopenDeallocatorFunction release = nullptr;
        void* context = nullptr;
    };
    struct Kept {
        miopenAcceleratorQueue_t stream;
        WorkspaceView memory;
        Allocator allocator;
    };
    Allocator allocator;
    std::vector<Kept> kept;  ///< one per stream that has had a run with workspace

    WorkspaceView allocate(std::size_t bytes);
    void release(Kept const& each) noexcept;
};

}  // namespace fusekit::compat
