// SPDX-License-Identifier: MIT
#pragma once

/// 1 if compiled with AddressSanitizer, otherwise 0: g++ defines a macro, clang a feature.
#if defined(__SANITIZE_ADDRESS__)
#define HIP_ON_CPU_SANITIZE_ADDRESS 1
#elif defined(__has_feature)
#define HIP_ON_CPU_SANITIZE_ADDRESS __has_feature(address_sanitizer)
#else
#define HIP_ON_CPU_SANITIZE_ADDRESS 0
#endif
