// SPDX-License-Identifier: MIT
#pragma once

#include <fusekit/tensor/workspace.hpp>
#include <vector>

#include "object_table.hpp"
#include "queue.hpp"

namespace fusekit::compat {

/// Object of a miopenHandle_t: a device, a stream, and workspaces.
class Session {
public:
    static constexpr ObjectKind kind = ObjectKind::handle;
    static constexpr char const* name = "a handle";
    using Handle = miopenHandle_t;

    /// Throws Failure or Error if there is no device, or none for which the library has plans.
    explicit Session(void* stream);
    Session(Session const&) = delete;
    Session& operator=(Session const&) = delete;
    ~Session() {
        for (Kept const& each : kept) release(each);
    }

    Queue queue;

    /// Returns the workspace for a run on the current stream that needs `needed` bytes: the caller's memory, which is
    /// filled with zeros; if that is null or not aligned to 64 bytes, the session's workspace for this stream, which is
    /// all zeros between runs; an empty one if the device has its own. Throws Failure if the caller's is smaller than
    /// `needed`.
    WorkspaceView workspace(std::size_t needed, WorkspaceView caller_workspace);

    /// Enqueues work on the current stream. If `profiling` is set, also synchronizes and stores its time in
    /// `milliseconds`.
    template <class Work>
    void measure(Work const& work) {
        if (profiling) milliseconds = queue.time(work);
        else work();
    }
    bool profiling = false;
    float milliseconds = 0;  ///< time of the last work with `profiling`

    /// Sets the functions that allocate and free later workspaces; null pointers restore the device's allocator.
    void set_allocator(miopenAllocatorFunction to_allocate, miopenDeallocatorFunction to_release, void* context);

private:
    struct Allocator {
        miopenAllocatorFunction allocate = nullptr;
        miopenDeallocatorFunction release = nullptr;
        void* context = nullptr;
    };
    struct Kept {
        void* stream;
        WorkspaceView memory;
        Allocator allocator;
    };
    Allocator allocator;
    std::vector<Kept> kept;  ///< workspaces, one per stream on which a run needed one

    WorkspaceView allocate(std::size_t bytes);
    void release(Kept const& each) noexcept;
};

}  // namespace fusekit::compat
