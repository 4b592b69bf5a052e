// SPDX-License-Identifier: MIT
#include "grid.hpp"

#include <link.h>
#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

#include "hip_on_cpu/block.hpp"
#include "sanitizer.hpp"

namespace hip_on_cpu {

namespace {

/// The calling thread's copy of all that the program declares thread_local; __shared__ memory is part of it.
struct ThreadLocals {
    void* first = nullptr;
    std::size_t bytes = 0;

    static ThreadLocals own() {
        ThreadLocals found;
        dl_iterate_phdr(
            [](dl_phdr_info* module, std::size_t, void* out) {
                for (int i = 0; i < module->dlpi_phnum; ++i)
                    if (module->dlpi_phdr[i].p_type == PT_TLS)
                        *static_cast<ThreadLocals*>(out) = {module->dlpi_tls_data, module->dlpi_phdr[i].p_memsz};
                return 1;  // the first module is the program
            },
            &found);
        return found;
    }
    /// Not with clang's AddressSanitizer, whose own thread_local data are linked into the program.
    void poison() const {
#if !defined(__clang__) || !HIP_ON_CPU_SANITIZE_ADDRESS
        if (bytes) std::memset(first, 0xff, bytes);
#endif
    }
};

/// Thread-local memory lies in what threads have for a stack: every kernel's shared memory, megabytes in a program of
/// many. Threads get as much more.
[[gnu::constructor]] void grow_stacks() {
    pthread_attr_t attributes;
    std::size_t bytes = 0;
    if (pthread_getattr_default_np(&attributes) != 0) return;
    if (pthread_attr_getstacksize(&attributes, &bytes) == 0 &&
        pthread_attr_setstacksize(&attributes, bytes + ThreadLocals::own().bytes) == 0)
        static_cast<void>(pthread_setattr_default_np(&attributes));
    static_cast<void>(pthread_attr_destroy(&attributes));
}

struct Job {
    dim3 grid, block;
    std::size_t shared_bytes;
    std::function<void()> const& body;
    unsigned long started = 0, finished = 0;
};

/// The threads that run blocks. They do nothing else, so that all of their thread-local memory may be poisoned.
class Workers {
public:
    Workers() {
        unsigned const count = std::clamp(std::thread::hardware_concurrency(), 1u, 4u);
        for (unsigned i = 0; i < count; ++i) threads.emplace_back([this] { work(); });
    }
    Workers(Workers const&) = delete;
    Workers& operator=(Workers const&) = delete;
    ~Workers() {
        {
            std::lock_guard const lock(mutex);
            closing = true;
        }
        wake.notify_all();
        for (std::thread& thread : threads) thread.join();
    }

    void run(Job& job) {
        std::unique_lock lock(mutex);
        jobs.push_back(&job);
        wake.notify_all();
        done.wait(lock, [&] { return job.finished == job.grid.count(); });
    }

private:
    std::mutex mutex;
    std::condition_variable wake, done;
    bool closing = false;
    std::list<Job*> jobs;  // with blocks that no thread has started
    std::vector<std::thread> threads;

    void work() {
        ThreadLocals const locals = ThreadLocals::own();
        Block block;
        std::unique_lock lock(mutex);
        for (;;) {
            wake.wait(lock, [&] { return closing || !jobs.empty(); });
            if (closing) return;
            Job& job = *jobs.front();
            block.index = job.grid.at(job.started++);
            block.size = job.block, block.grid = job.grid, block.shared_bytes = job.shared_bytes;
            if (job.started == job.grid.count()) jobs.pop_front();
            lock.unlock();
            locals.poison();
            block.run(job.body);
            lock.lock();
            if (++job.finished == job.grid.count()) done.notify_all();
        }
    }
};

}  // namespace

void run_grid(dim3 grid, dim3 block, std::size_t shared_bytes, std::function<void()> const& body) {
    static Workers workers;
    Job job{grid, block, shared_bytes, body};
    workers.run(job);
}

void run_grid_at_once(dim3 grid, dim3 block, std::size_t shared_bytes, std::function<void()> const& body) {
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < grid.count(); ++i)
        threads.emplace_back([&, i] {
            Block own;
            own.index = grid.at(i), own.size = block, own.grid = grid, own.shared_bytes = shared_bytes;
            ThreadLocals::own().poison();
            own.run(body);
        });
    for (std::thread& thread : threads) thread.join();
}

}  // namespace hip_on_cpu
