// SPDX-License-Identifier: MIT
#include "grid.hpp"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

#include "cluster.hpp"

namespace hip_on_cpu {

namespace {

/// This OS thread's thread_local data of the program, which include __shared__ memory.
struct ThreadLocals {
    std::byte* first = nullptr;
    std::size_t bytes = 0;

    static ThreadLocals own() {
        ThreadLocals found;
        dl_iterate_phdr(
            [](dl_phdr_info* module, std::size_t, void* out) {
                for (int i = 0; i < module->dlpi_phnum; ++i)
                    if (module->dlpi_phdr[i].p_type == PT_TLS)
                        *static_cast<ThreadLocals*>(out) = {static_cast<std::byte*>(module->dlpi_tls_data),
                                                            module->dlpi_phdr[i].p_memsz};
                return 1;  // the first module is the program
            },
            &found);
        return found;
    }
};

/// Returns a file of at least `bytes` NaN bytes, the source of copy-on-write pages; -1 after an error.
int file_of_nan(std::size_t bytes) {
    static std::mutex mutex;
    static int file = -1;
    static std::size_t filled = 0;
    std::lock_guard const lock(mutex);
    if (file < 0) file = memfd_create("hip_on_cpu", MFD_CLOEXEC);
    std::vector<char> const nan(file < 0 || filled >= bytes ? 0 : bytes - filled, '\xff');
    if (file >= 0 &&
        pwrite(file, nan.data(), nan.size(), static_cast<off_t>(filled)) != static_cast<ssize_t>(nan.size()))
        return -1;
    filled += nan.size();
    return file;
}

/// Fills an OS thread's thread-local memory with NaN before each block. A program with many kernels has megabytes of
/// it, and a block accesses little: whole pages are private mappings of a NaN file, and discarding them restores
/// NaN.
class Poison {
public:
    Poison() {
        if (sanitizer_is_in_the_program()) {
            locals.bytes = 0;
            return;
        }
        auto const begin = reinterpret_cast<std::uintptr_t>(locals.first), end = begin + locals.bytes;
        head = std::min<std::size_t>(locals.bytes, (page - begin % page) % page);
        paged = (end - begin - head) / page * page;
        int const flags = MAP_PRIVATE | MAP_FIXED, file = paged ? file_of_nan(paged) : -1;
        if (file < 0 || mmap(locals.first + head, paged, PROT_READ | PROT_WRITE, flags, file, 0) == MAP_FAILED)
            paged = 0;
    }
    std::byte* first() const { return locals.first; }
    void fill() const {
        if (!locals.bytes) return;
        if (paged) madvise(locals.first + head, paged, MADV_DONTNEED);
        std::memset(locals.first, 0xff, paged ? head : locals.bytes);
        if (paged) std::memset(locals.first + head + paged, 0xff, locals.bytes - head - paged);
    }

private:
    static constexpr std::size_t page = 4096;
    ThreadLocals locals = ThreadLocals::own();

    /// True if AddressSanitizer's own thread_local data are in the program, as clang links them without
    /// -shared-libasan. Then nothing is filled.
    static bool sanitizer_is_in_the_program() {
        Dl_info its{}, own{};
        void* const function = dlsym(RTLD_DEFAULT, "__asan_init");
        return function && dladdr(function, &its) && dladdr(reinterpret_cast<void*>(&file_of_nan), &own) &&
               its.dli_fbase == own.dli_fbase;
    }
    std::size_t head = 0, paged = 0;
};

/// Raises the default stack size of OS threads by the size of thread-local memory, which is allocated on their stacks
/// and includes the shared memory of every kernel.
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
    std::size_t first = 0, count = grid.count();  ///< the job's blocks: `count` blocks from block number `first` on
    Cluster* cluster = nullptr;  ///< cluster that the job's blocks form, or null
    std::size_t started = 0, finished = 0;
};

/// Pool of OS threads that run blocks. They run nothing else, so that all of their thread-local memory may be filled
/// with NaN, and they persist, with their fibers.
class Workers {
public:
    explicit Workers(std::size_t threads) { grow(threads); }
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

    void run(Job& job) { run(job, 0); }
    /// Like run(), but runs one block per OS thread. Precondition: all jobs of this pool use run_concurrently().
    void run_concurrently(Job& job) { run(job, job.count); }

private:
    std::mutex mutex;
    std::condition_variable wake, done;
    bool closing = false;
    std::list<Job*> jobs;  // jobs with blocks that no OS thread has started
    std::vector<std::thread> threads;
    std::size_t in_use = 0;

    void grow(std::size_t count) {
        while (threads.size() < count) threads.emplace_back([this] { work(); });
    }

    void run(Job& job, std::size_t own_threads) {
        std::unique_lock lock(mutex);
        in_use += own_threads;
        grow(in_use);
        jobs.push_back(&job);
        wake.notify_all();
        done.wait(lock, [&] { return job.finished == job.count; });
        in_use -= own_threads;
    }

    void work() {
        Poison const poison;
        FiberBlock block;
        std::unique_lock lock(mutex);
        for (;;) {
            wake.wait(lock, [&] { return closing || !jobs.empty(); });
            if (closing) return;
            Job& job = *jobs.front();
            auto const number = static_cast<unsigned>(job.started++);
            block.index = job.grid.at(job.first + number);
            block.size = job.block, block.grid = job.grid, block.shared_bytes = job.shared_bytes;
            block.cluster = job.cluster, block.cluster_rank = number;
            if (job.started == job.count) jobs.pop_front();
            lock.unlock();
            poison.fill();
            if (job.cluster) job.cluster->enter(number, block, poison.first());
            block.run(job.body);
            if (job.cluster) {
                poison.fill();
                block.poison_shared();
                job.cluster->leave(number);
            }
            lock.lock();
            if (++job.finished == job.count) done.notify_all();
        }
    }
};

}  // namespace

void run_grid(dim3 grid, dim3 block, std::size_t shared_bytes, std::function<void()> const& body) {
    static Workers workers(std::clamp(std::thread::hardware_concurrency(), 1u, 4u));
    Job job{grid, block, shared_bytes, body};
    workers.run(job);
}

namespace {

/// Pool for concurrent blocks, with one OS thread per block.
Workers& own_threads() {
    static Workers workers(0);
    return workers;
}

}  // namespace

void run_grid_concurrently(dim3 grid, dim3 block, std::size_t shared_bytes, std::function<void()> const& body) {
    Job job{grid, block, shared_bytes, body};
    own_threads().run_concurrently(job);
}

void run_clusters(dim3 grid, dim3 block, unsigned cluster, std::size_t shared_bytes,
                  std::function<void()> const& body) {
    for (std::size_t first = 0; first < grid.count(); first += cluster) {
        Cluster blocks(cluster);
        Job job{grid, block, shared_bytes, body, first, cluster, &blocks};
        own_threads().run_concurrently(job);
    }
}

}  // namespace hip_on_cpu
