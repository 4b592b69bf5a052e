// SPDX-License-Identifier: MIT
#pragma once

namespace test {

/// A sanitizer makes each step ten times as slow, and an emulated GPU a thousand times. Neither learns from values what
/// the same loops do not show on fewer: of those that a test tries, programs with a sanitizer try one in `one_in`, and
/// programs on an emulated GPU take the large tensors an `emulated_part` as long.
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

}  // namespace test
