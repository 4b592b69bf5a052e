// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstring>

#include "fusekit/backend/host/platform.hpp"
#include "fusekit/plan/epilogue.hpp"
#include "fusekit/result.hpp"
#include "fusekit/tensor/no_output.hpp"
#include "fusekit/tensor/workspace.hpp"

namespace fusekit::host {

/// Host memory, allocated by the C library; the Memory that the concept Device (backend/device.hpp) requires.
struct Memory {
    static constexpr std::size_t alignment = 64;

    /// Allocates memory aligned to a cache line. Throws Error if memory is exhausted.
    FUSEKIT_H void* allocate(std::size_t bytes) const {
        void* memory = nullptr;
        try_allocate(bytes, memory).raise();
        return memory;
    }
    /// Same as allocate(), but returns the error.
    [[nodiscard]] FUSEKIT_H Refusal try_allocate(std::size_t bytes, void*& memory) const {
        memory = platform::allocate(alignment, (bytes + alignment - 1) / alignment * alignment);
        if (memory) return {};
        return Error("host::Device", "allocate", "bytes", "free memory", Text::number(bytes) + " bytes");
    }
    FUSEKIT_H void release(void* memory) const { platform::release(memory); }
    FUSEKIT_H void copy_in(void* to, void const* from, std::size_t bytes) const { std::memcpy(to, from, bytes); }
    FUSEKIT_H void copy_out(void* to, void const* from, std::size_t bytes) const { std::memcpy(to, from, bytes); }
};

/// Steps of a run: packing weights and preparing the epilogue's parameters, and all else. Runs whose weights do not
/// change pack them once to a workspace that they keep.
enum class Steps { all, packing, after_packing };

/// Rounds a number of scratch floats up to whole cache lines.
FUSEKIT_H constexpr std::int64_t scratch_size(std::int64_t floats) { return (floats + 15) / 16 * 16; }

/// The CPU: a fixed pool of threads and their scratch memory. Neither copyable nor movable, because its threads point
/// to it.
///
/// Runs from several threads on one Device are serialized; use one Device per thread to overlap them. fork() waits for
/// runs; in the child process, which inherits no threads, a Device computes on the calling thread.
class Device : public Memory {
    class Lock {
    public:
        FUSEKIT_H explicit Lock(platform::Mutex& the_mutex) : mutex(the_mutex) { mutex.lock(); }
        Lock(Lock const&) = delete;
        Lock& operator=(Lock const&) = delete;
        FUSEKIT_H ~Lock() { mutex.unlock(); }

    private:
        platform::Mutex& mutex;
    };

public:
    /// Starts `threads` workers, including the caller; 0: one per online processor.
    FUSEKIT_H explicit Device(int threads = 0)
        : count(threads > 0 ? threads : online()), workers(new platform::Thread[static_cast<std::size_t>(count)]) {
        for (int i = 1; i < count; ++i)
            if (!workers[i].start([](void* self) { static_cast<Device*>(self)->work(); }, this))
                count = i;  // fewer threads than requested; the caller's thread suffices
        has_workers = count > 1;
        enlist();
    }
    Device(Device const&) = delete;
    Device& operator=(Device const&) = delete;
    FUSEKIT_H ~Device() {
        delist();
        mutex.lock();
        __atomic_store_n(&closing, true, __ATOMIC_RELAXED);
        wake.wake_all();
        mutex.unlock();
        for (int i = 1; has_workers && i < count; ++i) workers[i].join();
        delete[] workers;
        release(kept.data);
        idle.destroy();
        wake.destroy();
        mutex.destroy();
        run_mutex.destroy();
    }

    FUSEKIT_H int threads() const { return count; }

    FUSEKIT_H void synchronize() {}

    /// Refuses operators that do not compile for vectors, and a compiler without vector extensions. A plan calls its
    /// operators with vectors, unless X is double.
    template <class X, class... Ops>
    static consteval bool accepts(detail::Epilogue<Ops...> const*, void const*);

    /// Runs a plan in one pass over `y`. Precondition: validated arguments.
    template <class BoundPlan, Element T, detail::OutputElement U>
    FUSEKIT_H void run(BoundPlan const& bound, detail::ImageView<T const> const& x, detail::ImageView<U> const& y);

    /// Prepares a layer for runs on tensors of these layouts. Precondition: validated arguments. Grows the workspace
    /// that the device owns, for runs to which the caller passes none, to the size that this layer needs.
    template <class BoundPlan, Element T, detail::OutputElement U>
    FUSEKIT_H auto prepare(BoundPlan const& bound, detail::ImageView<T const> const& x, detail::ImageView<U> const& y);

    /// The CPU can access every pointer.
    FUSEKIT_H bool has_reached(void const*) const { return true; }

    /// Bytes of the workspace that the device owns, used by runs to which the caller passes none.
    FUSEKIT_H std::size_t own_workspace_bytes() const { return __atomic_load_n(&kept.bytes, __ATOMIC_RELAXED); }

    /// Grows the workspace that the device owns to at least `bytes`.
    [[nodiscard]] FUSEKIT_H Refusal keep_workspace(std::size_t bytes) {
        if (bytes <= own_workspace_bytes()) return {};
        Lock const lock(run_mutex);
        if (bytes <= kept.bytes) return {};
        void* memory = nullptr;
        if (Refusal refusal = try_allocate(bytes, memory)) return refusal;
        release(kept.data);
        kept.data = memory;
        __atomic_store_n(&kept.bytes, bytes, __ATOMIC_RELAXED);
        return {};
    }

    /// Exclusive use of the device by one run: the device's threads, and a workspace, either the caller's or the
    /// device's.
    class RunContext {
    public:
        Steps const steps;

        FUSEKIT_H explicit RunContext(Device& the_device, WorkspaceView caller_workspace = {},
                                      Steps the_steps = Steps::all)
            : steps(the_steps),
              device(the_device),
              lock(the_device.run_mutex),
              next(static_cast<float*>(caller_workspace.data ? caller_workspace.data : the_device.kept.data)) {}

        RunContext(RunContext const&) = delete;
        RunContext& operator=(RunContext const&) = delete;
        FUSEKIT_H ~RunContext() = default;

        FUSEKIT_H int threads() const { return device.count; }
        FUSEKIT_H bool packs() const { return steps != Steps::after_packing; }
        FUSEKIT_H bool only_packs() const { return steps == Steps::packing; }

        /// Returns `floats` uninitialised floats of the run's workspace, aligned to a cache line and disjoint from
        /// those of earlier calls. Precondition: the workspace size that was computed for the run includes them.
        FUSEKIT_H float* scratch(std::int64_t floats) {
            float* const first = next;
            next += scratch_size(floats);
            return first;
        }

        /// Calls each(item, thread) for every item of [0, number), distributed over the threads; returns when all are
        /// done. Items are assigned one at a time, in order. Precondition: `each` does not throw.
        template <class Each>
        FUSEKIT_H void parallel_for(std::int64_t number, Each const& each) {
            device.start(number, &each, [](void const* callable, std::int64_t item, int thread) {
                (*static_cast<Each const*>(callable))(item, thread);
            });
        }

    private:
        Device& device;
        Lock const lock;
        float* next;
    };

private:
    using Call = void (*)(void const* closure, std::int64_t item, int thread);

    int count;
    platform::Thread* workers;
    bool has_workers = false;  // false in a child process
    Device *next_device = nullptr, **link = nullptr;  // links in the list of all devices, for fork()
    platform::Mutex run_mutex;  // held during a run; guards `kept`
    WorkspaceView kept;
    platform::Mutex mutex;  // guards the following members, except `next`
    platform::Condition wake, idle;
    bool closing = false;
    std::uint64_t job = 0;
    int entered = 0, busy = 0;
    void const* closure = nullptr;
    Call call = nullptr;
    std::int64_t items = 0;
    std::int64_t next = 0;  // atomic

    FUSEKIT_H static int online() {
        int const processors = platform::processors();
        return processors > 0 ? processors : 1;
    }

    /// List of all devices of the process. fork() locks each of them between two runs, so that the child's copies are
    /// consistent.
    static inline Device* devices = nullptr;
    static inline platform::Mutex devices_mutex;
    static inline bool watches_forks = false;

    FUSEKIT_H void enlist() {
        Lock const lock(devices_mutex);
        if (!watches_forks) platform::watch_forks(before_fork, after_fork, after_fork_in_child);
        watches_forks = true;
        next_device = devices, link = &devices, devices = this;
        if (next_device) next_device->link = &next_device;
    }
    FUSEKIT_H void delist() {
        Lock const lock(devices_mutex);
        *link = next_device;
        if (next_device) next_device->link = link;
    }
    FUSEKIT_H static void before_fork() {
        devices_mutex.lock();
        for (Device* each = devices; each; each = each->next_device) each->run_mutex.lock(), each->mutex.lock();
    }
    FUSEKIT_H static void after_fork() {
        for (Device* each = devices; each; each = each->next_device) each->mutex.unlock(), each->run_mutex.unlock();
        devices_mutex.unlock();
    }
    FUSEKIT_H static void after_fork_in_child() {
        for (Device* each = devices; each; each = each->next_device) {
            each->has_workers = false;
            each->wake = {}, each->idle = {};  // no waiters in the child
            each->busy = 0;
        }
        after_fork();
    }

    FUSEKIT_H void drain(void const* body, Call f, std::int64_t end, int thread) {
        for (std::int64_t item; (item = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED)) < end;) f(body, item, thread);
    }

    /// Waits a few times as long as waking a sleeping thread takes: the steps of a run, and the layers of a network,
    /// follow each other closely.
    FUSEKIT_H static void spin_while(auto const& holds) {
        for (int i = 0; i < 2000 && holds(); ++i) config::pause();
    }

    FUSEKIT_H void start(std::int64_t end, void const* body, Call f) {
        mutex.lock();
        closure = body, call = f, items = end, entered = 1;
        next = 0;
        __atomic_store_n(&job, job + 1, __ATOMIC_RELAXED);
        if (has_workers && end > 1) wake.wake_all();
        mutex.unlock();
        drain(body, f, end, 0);
        if (has_workers) spin_while([this] { return __atomic_load_n(&busy, __ATOMIC_RELAXED) > 0; });
        mutex.lock();
        items = 0;  // a worker that wakes late finds no item
        while (busy > 0) idle.wait(mutex);
        mutex.unlock();
    }

    FUSEKIT_H void work() {
        mutex.lock();
        for (std::uint64_t seen = 0;;) {
            mutex.unlock();
            spin_while([&] {
                return __atomic_load_n(&job, __ATOMIC_RELAXED) == seen && !__atomic_load_n(&closing, __ATOMIC_RELAXED);
            });
            mutex.lock();
            while (!closing && seen == job) wake.wait(mutex);
            if (closing) break;
            seen = job;
            std::int64_t const end = items;
            if (end == 0) continue;
            int const thread = entered++;
            void const* const body = closure;
            Call const f = call;
            __atomic_store_n(&busy, busy + 1, __ATOMIC_RELAXED);
            mutex.unlock();
            drain(body, f, end, thread);
            mutex.lock();
            __atomic_store_n(&busy, busy - 1, __ATOMIC_RELAXED);
            if (busy == 0) idle.wake_one();
        }
        mutex.unlock();
    }
};

}  // namespace fusekit::host
