// SPDX-License-Identifier: MIT
#pragma once

namespace test {

/// Reduces work under sanitizers (ten times slower) and on an emulated GPU (a thousand times slower), where more values
/// of the same loops reveal nothing new: with a sanitizer, tests try one in `one_in` values; on an emulated GPU, large
/// tensors are divided by `emulated_part`.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr int one_in = 8;
#elif defined(__has_feature)
inline constexpr int one_in = __has_feature(address_sanitizer) ? 8 : 1;
#else
inline constexpr int one_in = 1;
#endif
#if defined(HIP_ON_CPU)
inline constexpr int emulated_part = 4;
#else
inline constexpr int emulated_part = 1;
#endif

/// With FEWER_KERNELS (FUSEKIT_FEWER_KERNELS) tests of pairs of a layout and a shape run one pair in two: each layout
/// with other shapes than the next layout, and all of them.
#ifdef FEWER_KERNELS
inline constexpr int one_pair_in = 2;
#else
inline constexpr int one_pair_in = 1;
#endif

/// Selects pairs of two lists: all, or one in `one_in`, and with another `turn` other ones.
class Pairs {
public:
    constexpr Pairs() = default;
    constexpr Pairs(int of_pairs, int turn) : one_in(of_pairs), at(turn) {}

    /// True if the next pair of the inner list runs.
    constexpr bool runs() { return at++ % one_in == 0; }
    /// Begins the inner list, of `size`, again: its pairs alternate.
    constexpr void next(int size) { at += size % one_in == 0; }

private:
    int one_in = 1, at = 0;
};

}  // namespace test
