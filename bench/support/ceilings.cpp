// SPDX-License-Identifier: MIT
#include "support/ceilings.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "fusekit/config.hpp"
#include "support/machine.hpp"
#include "support/timing.hpp"

namespace bench {

namespace {

constexpr int lanes = fusekit::config::vector_bytes / 4;
typedef float Vector __attribute__((vector_size(fusekit::config::vector_bytes)));

/// Enough independent chains to cover the latency of two FMA units; two registers remain for the operands.
constexpr int chains = fusekit::config::vector_registers >= 32 ? 20 : 12;

/// Keeps the values in registers and hides them from the optimiser.
void opaque(Vector& value) {
#if defined(__x86_64__)
    asm volatile("" : "+x"(value));
#elif defined(__aarch64__)
    asm volatile("" : "+w"(value));
#endif
}

void multiply_add(std::int64_t rounds) {
    Vector factor = Vector{} + 0.999f, term = Vector{} + 1e-3f, sum[chains]{};
    opaque(factor), opaque(term);
    for (Vector& each : sum) opaque(each);  // otherwise the compiler knows that they are equal
    for (std::int64_t i = 0; i < rounds; ++i)
        for (Vector& each : sum) each = each * factor + term;
    for (Vector& each : sum) opaque(each);
}

/// Seconds until all threads finish `body(thread)`; best of `tries`.
template <class Body>
double best_time(int threads, int tries, Body const& body) {
    double best = 1e30;
    for (int attempt = 0; attempt < tries; ++attempt) {
        std::atomic<int> ready = 0;
        std::atomic<bool> go = false;
        std::vector<std::thread> workers;
        for (int thread = 0; thread < threads; ++thread)
            workers.emplace_back([&, thread] {
                ++ready;
                while (!go) std::this_thread::yield();
                body(thread);
            });
        while (ready < threads) std::this_thread::yield();
        double const begin = seconds_now();
        go = true;
        for (std::thread& worker : workers) worker.join();
        best = std::min(best, seconds_now() - begin);
    }
    return best;
}

}  // namespace

Ceilings measure_ceilings(int threads) {
    std::int64_t const rounds = 10'000'000;
    double const compute = best_time(threads, 4, [&](int) { multiply_add(rounds); });
    double const flops = 2.0 * lanes * chains * static_cast<double>(rounds) * threads;

    std::size_t const share = static_cast<std::size_t>(rotated_bytes()) / static_cast<std::size_t>(threads);
    std::vector<std::unique_ptr<char[]>> from, to;
    for (int thread = 0; thread < threads; ++thread) {
        from.emplace_back(new char[share]);
        to.emplace_back(new char[share]);
        std::memset(from.back().get(), 1, share);  // commits the pages before timing
        std::memset(to.back().get(), 2, share);
    }
    double const copy = best_time(threads, 5, [&](int thread) {
        auto const i = static_cast<std::size_t>(thread);
        std::memcpy(to[i].get(), from[i].get(), share);
    });
    return {flops / compute * 1e-9, 2.0 * static_cast<double>(share) * threads / copy * 1e-9};
}

}  // namespace bench
