// SPDX-License-Identifier: MIT
#include "fiber_block.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

#include "asynchrony.hpp"
#include "cluster.hpp"
#include "sanitizer.hpp"
#if HIP_ON_CPU_SANITIZE_ADDRESS
#include <sanitizer/asan_interface.h>
#endif

namespace hip_on_cpu {

namespace {

bool same(SourceLocation const& a, SourceLocation const& b) {
    return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
}

/// True if `name` is the name of an NVIDIA architecture.
bool is_nvidia(char const* name) { return name && std::strncmp(name, "sm_", 3) == 0; }

}  // namespace

constinit thread_local Block* running = nullptr;

char const* architecture() {
    static std::string const name = [] {
        char const* const text = std::getenv("HIP_ON_CPU_ARCH");
        return std::string(is_nvidia(text) ? "" : text ? text : wave_width() == 64 ? "gfx90a" : "");
    }();
    return name.c_str();
}

int compute_capability() {
    static int const capability = [] {
        char const* const text = std::getenv("HIP_ON_CPU_ARCH");
        return is_nvidia(text) ? std::atoi(text + 3) : *architecture() ? 10 : 90;
    }();
    return capability;
}

unsigned wave_width() {
    static unsigned const width = [] {
        char const *const text = std::getenv("HIP_ON_CPU_WAVE"), *const named = std::getenv("HIP_ON_CPU_ARCH");
        std::string const arch = named ? named : "", own = arch.rfind("gfx9", 0) == 0 ? "64" : "32";
        std::string const word = text ? text : own;
        if (word != "32" && word != "64") {
            std::fprintf(stderr, "hip_on_cpu: HIP_ON_CPU_WAVE is %s: set it to 32 or 64\n", word.c_str());
            std::exit(1);
        }
        if (!arch.empty() && ((arch.rfind("gfx", 0) != 0 && !is_nvidia(named)) || word != own)) {
            std::fprintf(stderr, "hip_on_cpu: HIP_ON_CPU_ARCH is %s, which is unknown or has no waves of %s lanes\n",
                         arch.c_str(), word.c_str());
            std::exit(1);
        }
        return word == "32" ? 32u : 64u;
    }();
    return width;
}

FiberBlock::FiberBlock() : begun(std::make_unique<Asynchrony>()) {}
FiberBlock::~FiberBlock() = default;

void FiberBlock::run(std::function<void()> const& body) {
    this->body = &body;
    arrange();
    running = this;
    do {
        bool moved = true;
        while (moved) {
            moved = false;
            for (Wave& wave : waves) moved |= run_until_waiting(wave);
            if (cluster && waits_for_event())
                moved = cluster->deliver(cluster_rank) || moved || cluster->wait_for_operations(cluster_rank);
        }
    } while (pass_barrier());
    begun->check_finished();
    running = nullptr;
}

/// Resets threads and waves to the number of threads in `size`.
void FiberBlock::arrange() {
    std::size_t const count = size.count(), width = wave_width();
    if (threads.size() != count) {
        for (std::size_t i = count; i < threads.size(); ++i) idle.push_back(std::move(threads[i].fiber));
        threads.resize(count);
        waves.clear();
        for (std::size_t first = 0; first < count; first += width)
            waves.push_back({&threads[first], threads.data() + std::min(count, first + width), {}});
    }
    for (std::size_t i = 0; i < count; ++i) {
        Thread& thread = threads[i];
        if (!thread.fiber && !idle.empty()) thread.fiber = std::move(idle.back()), idle.pop_back();
        if (!thread.fiber) thread.fiber = std::make_unique<Fiber>(work, this);
        thread.index = size.at(i);
        thread.lane = static_cast<unsigned>(i % width), thread.wave = static_cast<unsigned>(i / width);
        thread.exchanges = 0;
        thread.state = State::ready;
    }
    bound_shared(lines.capacity() * sizeof(SharedLine));
    lines.resize((shared_bytes + sizeof(SharedLine) - 1) / sizeof(SharedLine));
    shared = reinterpret_cast<std::byte*>(lines.data());
    bound_shared(shared_bytes);
    poison_shared();
    std::size_t const number = (std::size_t{index.z} * grid.y + index.y) * grid.x + index.x;
    begun->reset(static_cast<unsigned>(count), number);
}

void FiberBlock::poison_shared() {
    if (shared_bytes > 0) std::memset(static_cast<void*>(lines.data()), 0xff, shared_bytes);
}

void FiberBlock::bound_shared([[maybe_unused]] std::size_t bytes) {
#if HIP_ON_CPU_SANITIZE_ADDRESS
    auto* const begin = reinterpret_cast<std::byte*>(lines.data());
    std::size_t const all = lines.capacity() * sizeof(SharedLine);
    if (all == 0) return;
    __asan_unpoison_memory_region(begin, bytes);
    __asan_poison_memory_region(begin + bytes, all - bytes);
#endif
}

void FiberBlock::work(void* self) {
    auto& block = *static_cast<FiberBlock*>(self);
    for (;;) {
        (*block.body)();
        block.wait(State::finished, SourceLocation::current());
    }
}

void FiberBlock::wait(State state, SourceLocation const& location) {
    Thread& thread = active();
    thread.state = state, thread.location = location;
    thread.fiber->suspend();
}

void Block::barrier(SourceLocation const& location) {
    auto& self = static_cast<FiberBlock&>(*this);
    self.wait(FiberBlock::State::at_barrier, location);
}

Exchange const& Block::exchange(std::uint64_t value, SourceLocation const& location) {
    auto& self = static_cast<FiberBlock&>(*this);
    FiberBlock::Thread& thread = self.active();
    Exchange& exchange = self.waves[thread.wave].exchange[thread.exchanges++ % 2];
    exchange.value[thread.lane] = value;
    self.wait(FiberBlock::State::at_exchange, location);
    return exchange;
}

/// Runs the wave's lanes until each has finished or waits; returns true if any lane ran.
bool FiberBlock::run_until_waiting(Wave& wave) {
    bool moved = false;
    for (;;) {
        for (Thread* thread = wave.first; thread != wave.last; ++thread) {
            current = thread;
            if (thread->state == State::waiting && thread->happened(thread->closure)) thread->state = State::ready;
            if (thread->state != State::ready) continue;
            thread->fiber->resume();
            moved = true;
        }
        auto const exchanges = [](Thread const& thread) { return thread.state == State::at_exchange; };
        Thread* const one = std::find_if(wave.first, wave.last, exchanges);
        if (one == wave.last) return moved;
        auto const waits = [](Thread const& thread) { return thread.state == State::waiting; };
        if (std::any_of(wave.first, wave.last, waits)) return moved;
        std::uint64_t present = 0;
        for (Thread* thread = wave.first; thread != wave.last; ++thread) {
            if (thread->state == State::finished) continue;
            if (!exchanges(*thread) || !same(thread->location, one->location))
                diverged("shuffle", wave.first, wave.last);
            present |= std::uint64_t{1} << thread->lane;
        }
        wave.exchange[(one->exchanges - 1) % 2].present = present;
        for (Thread* thread = wave.first; thread != wave.last; ++thread)
            if (exchanges(*thread)) thread->state = State::ready;
    }
}

bool FiberBlock::waits_for_event() const {
    return std::any_of(threads.begin(), threads.end(),
                       [](Thread const& thread) { return thread.state == State::waiting; });
}

/// Lets all threads continue from the barrier at which they wait; returns false if all threads have finished.
bool FiberBlock::pass_barrier() {
    auto const waits = [](Thread const& thread) { return thread.state == State::at_barrier; };
    auto const one = std::find_if(threads.begin(), threads.end(), waits);
    auto const finished = [](Thread const& thread) { return thread.state == State::finished; };
    if (std::all_of(threads.begin(), threads.end(), finished)) return false;
    for (Thread const& thread : threads)
        if (!waits(thread) || !same(thread.location, one->location))
            diverged(one == threads.end() ? "wait" : "barrier", threads.data(), threads.data() + threads.size());
    for (Thread& thread : threads) thread.state = State::ready;
    return true;
}

void FiberBlock::diverged(char const* what, Thread const* first, Thread const* last) const {
    static std::mutex one_report;
    one_report.lock();  // never unlocked: the program aborts
    std::fprintf(stderr, "hip_on_cpu: divergent %s in block (%u, %u, %u)\n", what, index.x, index.y, index.z);
    auto const describe = [](Thread const& thread) {
        std::string const location = std::string(thread.location.file) + ":" + std::to_string(thread.location.line);
        if (thread.state == State::finished) return std::string("have finished");
        if (thread.state == State::waiting) return std::string("wait for ") + thread.awaited + " at " + location;
        return (thread.state == State::at_barrier ? "wait at the barrier " : "wait at the shuffle ") + location;
    };
    std::vector<std::string> reported;
    for (Thread const* thread = first; thread != last; ++thread) {
        std::string const text = describe(*thread);
        if (std::find(reported.begin(), reported.end(), text) != reported.end()) continue;
        reported.push_back(text);
        auto const alike = std::count_if(thread, last, [&](Thread const& other) { return describe(other) == text; });
        std::fprintf(stderr, "  %ld of %ld threads %s, the first of them (%u, %u, %u)\n", static_cast<long>(alike),
                     static_cast<long>(last - first), text.c_str(), thread->index.x, thread->index.y, thread->index.z);
    }
    std::abort();
}

}  // namespace hip_on_cpu
