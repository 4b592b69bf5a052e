// SPDX-License-Identifier: MIT
#pragma once

#include <pthread.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "fusekit/error.hpp"
#include "fusekit/plan/epilogue.hpp"
#include "fusekit/tensor/view.hpp"

namespace fusekit::host {

/// The C library's memory.
struct Memory {
    static constexpr std::size_t alignment = 64;

    /// Memory aligned to a cache line. Throws Error when there is none.
    void* allocate(std::size_t bytes) const {
        void* const memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
        if (!memory) raise(Error("host::Device", "allocate", "bytes", "free memory", Text::number(bytes) + " bytes"));
        return memory;
    }
    void release(void* memory) const { std::free(memory); }
    void copy_in(void* to, void const* from, std::size_t bytes) const { std::memcpy(to, from, bytes); }
    void copy_out(void* to, void const* from, std::size_t bytes) const { std::memcpy(to, from, bytes); }
};

/// The CPU: a fixed set of threads and the memory they pack into. It stays where it is, because its threads point to
/// it.
///
/// Runs from several threads on one Device take turns; give each thread a Device of its own to overlap them.
class Device : public Memory {
public:
    /// `threads` workers, the caller among them; 0 takes one for each processor that is online.
    explicit Device(int threads = 0)
        : count(threads > 0 ? threads : online()), workers(new pthread_t[static_cast<std::size_t>(count)]) {
        for (int i = 1; i < count; ++i)
            if (pthread_create(
                    &workers[i], nullptr,
                    [](void* self) -> void* {
                        static_cast<Device*>(self)->work();
                        return nullptr;
                    },
                    this) != 0)
                count = i;  // as many as the system gives; the caller alone is enough
    }
    Device(Device const&) = delete;
    Device& operator=(Device const&) = delete;
    ~Device() {
        pthread_mutex_lock(&mutex);
        closing = true;
        pthread_cond_broadcast(&wake);
        pthread_mutex_unlock(&mutex);
        for (int i = 1; i < count; ++i) pthread_join(workers[i], nullptr);
        delete[] workers;
        for (Kept const& each : kept) release(each.memory);
        pthread_cond_destroy(&idle);
        pthread_cond_destroy(&wake);
        pthread_mutex_destroy(&mutex);
        pthread_mutex_destroy(&turns);
    }

    int threads() const { return count; }

    void synchronize() {}

    /// Refuses operators that do not compile for vectors, and a compiler that does not know these. A plan calls them
    /// with vectors, unless X is of double.
    template <class X, class... Ops>
    static consteval bool takes(Epilogue<Ops...> const*, void const*);

    /// One plan, one pass over `y`. The arguments have been validated.
    template <class BoundPlan, Element T>
    void run(BoundPlan const& bound, TensorView<T const> const& x, TensorView<T> const& y);

    /// The device for the length of one run: its threads and its scratch memory belong to the holder.
    class Turn {
    public:
        explicit Turn(Device& the_device) : device(the_device) { pthread_mutex_lock(&the_device.turns); }
        Turn(Turn const&) = delete;
        Turn& operator=(Turn const&) = delete;
        ~Turn() { pthread_mutex_unlock(&device.turns); }

        int threads() const { return device.count; }

        /// At least `floats` floats, aligned to a cache line; kept for the next run, so that a plan that has run
        /// once allocates nothing. Contents are whatever the last run left. Throws Error when there is no memory.
        float* scratch(std::int64_t floats) { return device.kept[0].at_least(device, floats); }

        /// The same of other memory, for a tensor between two passes of a run.
        float* between(std::int64_t floats) { return device.kept[1].at_least(device, floats); }

        /// Calls each(item, thread) for every item of [0, number), spread over the threads; returns when all are
        /// done. Items are handed out one at a time, in order. `each` does not throw.
        template <class Each>
        void parallel_for(std::int64_t number, Each const& each) {
            device.start(number, &each, [](void const* callable, std::int64_t item, int thread) {
                (*static_cast<Each const*>(callable))(item, thread);
            });
        }

    private:
        Device& device;
    };

private:
    using Call = void (*)(void const* closure, std::int64_t item, int thread);

    int count;
    pthread_t* workers;
    pthread_mutex_t turns = PTHREAD_MUTEX_INITIALIZER;  // held for the length of a run
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;  // guards what follows, but for `next`
    pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
    pthread_cond_t idle = PTHREAD_COND_INITIALIZER;
    bool closing = false;
    std::uint64_t job = 0;
    int entered = 0, busy = 0;
    void const* closure = nullptr;
    Call call = nullptr;
    std::int64_t items = 0;
    std::int64_t next = 0;  // atomic

    /// Memory that grows and is kept.
    struct Kept {
        float* memory = nullptr;
        std::size_t bytes = 0;

        float* at_least(Memory const& from, std::int64_t floats) {
            std::size_t const wanted = static_cast<std::size_t>(floats) * sizeof(float);
            if (wanted > bytes) {
                from.release(memory);
                memory = nullptr;
                bytes = 0;
                memory = static_cast<float*>(from.allocate(wanted));
                bytes = wanted;
            }
            return memory;
        }
    };
    Kept kept[2];

    static int online() {
        long const processors = sysconf(_SC_NPROCESSORS_ONLN);
        return processors > 0 ? static_cast<int>(processors) : 1;
    }

    void drain(void const* body, Call f, std::int64_t end, int thread) {
        for (std::int64_t item; (item = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED)) < end;) f(body, item, thread);
    }

    void start(std::int64_t end, void const* body, Call f) {
        pthread_mutex_lock(&mutex);
        closure = body, call = f, items = end, entered = 1;
        next = 0;
        ++job;
        if (count > 1 && end > 1) pthread_cond_broadcast(&wake);
        pthread_mutex_unlock(&mutex);
        drain(body, f, end, 0);
        pthread_mutex_lock(&mutex);
        items = 0;  // a worker that wakes late finds nothing
        while (busy > 0) pthread_cond_wait(&idle, &mutex);
        pthread_mutex_unlock(&mutex);
    }

    void work() {
        pthread_mutex_lock(&mutex);
        for (std::uint64_t seen = 0;;) {
            while (!closing && seen == job) pthread_cond_wait(&wake, &mutex);
            if (closing) break;
            seen = job;
            std::int64_t const end = items;
            if (end == 0) continue;
            int const thread = entered++;
            void const* const body = closure;
            Call const f = call;
            ++busy;
            pthread_mutex_unlock(&mutex);
            drain(body, f, end, thread);
            pthread_mutex_lock(&mutex);
            if (--busy == 0) pthread_cond_signal(&idle);
        }
        pthread_mutex_unlock(&mutex);
    }
};

}  // namespace fusekit::host
