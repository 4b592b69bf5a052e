// SPDX-License-Identifier: MIT
#include "hip_on_cpu/block.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

namespace hip_on_cpu {

namespace {

bool same(Place const& a, Place const& b) {
    return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
}

}  // namespace

constinit thread_local Block* running = nullptr;

unsigned wave_width() {
    static unsigned const width = [] {
        char const* const text = std::getenv("HIP_ON_CPU_WAVE");
        std::string const word = text ? text : "32";
        if (word != "32" && word != "64") {
            std::fprintf(stderr, "hip_on_cpu: HIP_ON_CPU_WAVE is %s, but a wave has 32 or 64 lanes\n", word.c_str());
            std::exit(1);
        }
        return word == "32" ? 32u : 64u;
    }();
    return width;
}

void Block::run(std::function<void()> const& body) {
    this->body = &body;
    arrange();
    running = this;
    do
        for (Wave& wave : waves) run_until_waiting(wave);
    while (pass_barrier());
    running = nullptr;
}

/// As many ready threads and waves as `size` asks for.
void Block::arrange() {
    std::size_t const count = size.count(), width = wave_width();
    if (threads.size() != count) {
        threads = std::vector<Thread>(count);
        waves.clear();
        for (std::size_t first = 0; first < count; first += width)
            waves.push_back({&threads[first], threads.data() + std::min(count, first + width), {}});
    }
    for (std::size_t i = 0; i < count; ++i) {
        Thread& thread = threads[i];
        if (!thread.fiber) thread.fiber = std::make_unique<Fiber>(work, this);
        thread.index = size.at(i);
        thread.lane = static_cast<unsigned>(i % width), thread.wave = static_cast<unsigned>(i / width);
        thread.exchanges = 0;
        thread.state = State::ready;
    }
}

void Block::work(void* self) {
    Block& block = *static_cast<Block*>(self);
    for (;;) {
        (*block.body)();
        block.wait(State::finished, Place::current());
    }
}

void Block::wait(State state, Place const& place) {
    Thread& self = *current;
    self.state = state, self.place = place;
    self.fiber->suspend();
}

void Block::barrier(Place const& place) { wait(State::at_barrier, place); }

Exchange const& Block::exchange(std::uint64_t value, Place const& place) {
    Exchange& exchange = waves[current->wave].exchange[current->exchanges++ % 2];
    exchange.value[current->lane] = value;
    wait(State::at_exchange, place);
    return exchange;
}

/// Returns when every lane has finished or waits at a barrier.
void Block::run_until_waiting(Wave& wave) {
    for (;;) {
        for (Thread* thread = wave.first; thread != wave.last; ++thread)
            if (thread->state == State::ready) {
                current = thread;
                thread->fiber->resume();
            }
        auto const exchanges = [](Thread const& thread) { return thread.state == State::at_exchange; };
        Thread* const one = std::find_if(wave.first, wave.last, exchanges);
        if (one == wave.last) return;
        std::bitset<widest_wave> present;
        for (Thread* thread = wave.first; thread != wave.last; ++thread) {
            if (thread->state == State::finished) continue;
            if (!exchanges(*thread) || !same(thread->place, one->place)) diverged("shuffle", wave.first, wave.last);
            present.set(thread->lane);
        }
        wave.exchange[(one->exchanges - 1) % 2].present = present;
        for (Thread* thread = wave.first; thread != wave.last; ++thread)
            if (exchanges(*thread)) thread->state = State::ready;
    }
}

/// Whether there was a barrier to pass; none means that all threads have finished.
bool Block::pass_barrier() {
    auto const waits = [](Thread const& thread) { return thread.state == State::at_barrier; };
    auto const one = std::find_if(threads.begin(), threads.end(), waits);
    if (one == threads.end()) return false;
    for (Thread const& thread : threads)
        if (!waits(thread) || !same(thread.place, one->place))
            diverged("barrier", threads.data(), threads.data() + threads.size());
    for (Thread& thread : threads) thread.state = State::ready;
    return true;
}

void Block::diverged(char const* what, Thread const* first, Thread const* last) const {
    static std::mutex one_report;
    one_report.lock();  // for good: the program ends
    std::fprintf(stderr, "hip_on_cpu: divergent %s in block (%u, %u, %u)\n", what, index.x, index.y, index.z);
    auto const describe = [](Thread const& thread) {
        std::string const place = std::string(thread.place.file) + ":" + std::to_string(thread.place.line);
        if (thread.state == State::finished) return std::string("have finished");
        return (thread.state == State::at_barrier ? "wait at the barrier " : "wait at the shuffle ") + place;
    };
    std::vector<std::string> told;
    for (Thread const* thread = first; thread != last; ++thread) {
        std::string const text = describe(*thread);
        if (std::find(told.begin(), told.end(), text) != told.end()) continue;
        told.push_back(text);
        auto const alike = std::count_if(thread, last, [&](Thread const& other) { return describe(other) == text; });
        std::fprintf(stderr, "  %ld of %ld threads %s, the first of them (%u, %u, %u)\n", static_cast<long>(alike),
                     static_cast<long>(last - first), text.c_str(), thread->index.x, thread->index.y, thread->index.z);
    }
    std::abort();
}

}  // namespace hip_on_cpu
