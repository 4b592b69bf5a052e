// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <initializer_list>

namespace test {

/// Random numbers, identical on every platform: xorshift64* (Vigna 2016), with any seed.
class Random {
public:
    explicit Random(std::uint64_t seed) : state((seed + 0x9e3779b97f4a7c15u) * 0xd1342543de82ef95u | 1u) {
        for (int i = 0; i < 4; ++i) next();
    }

    std::uint64_t next() {
        state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
        return state * 0x2545f4914f6cdd1du;
    }
    /// An integer from low to high, inclusive.
    std::int64_t range(std::int64_t low, std::int64_t high) {
        return low + static_cast<std::int64_t>((next() >> 16) % static_cast<std::uint64_t>(high - low + 1));
    }
    bool chance(double probability) { return uniform() < probability; }
    /// In [0, 1).
    double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
    template <class T>
    T pick(std::initializer_list<T> values) {
        return values.begin()[range(0, static_cast<std::int64_t>(values.size()) - 1)];
    }

private:
    std::uint64_t state;
};

}  // namespace test
