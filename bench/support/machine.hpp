// SPDX-License-Identifier: MIT
#pragma once

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <thread>

#include "support/text.hpp"

namespace bench {

/// CPU model name, or "unknown CPU".
inline std::string cpu_name() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("model name")) {
            std::size_t const colon = line.find(": ");
            if (colon != line.npos) return line.substr(colon + 2);
        }
    return "unknown CPU";
}

/// Local date: "2026-01-31".
inline std::string today() {
    std::time_t const now = std::time(nullptr);
    char text[16];
    return {text, std::strftime(text, sizeof text, "%Y-%m-%d", std::localtime(&now))};
}

/// Bytes of the first processor's largest cache; 32 MB if unknown.
inline std::int64_t cache_bytes() {
    std::int64_t largest = 0;
    for (int index = 0; index < 8; ++index) {
        std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/size");
        std::int64_t size = 0;
        char unit = 'B';
        if (file >> size >> unit)
            largest = std::max(largest, size * (unit == 'K' ? 1 << 10 : unit == 'M' ? 1 << 20 : 1));
    }
    return largest ? largest : 32 << 20;
}

/// Bytes that rotated buffers must exceed to miss the cache: twice the largest cache, at most 256 MB.
inline std::int64_t rotated_bytes() { return std::min<std::int64_t>(2 * cache_bytes(), 256 << 20); }

/// Number of other tasks that run or wait for a processor, averaged over a tenth of a second.
inline double other_work() {
    int const samples = 20;
    double runnable = 0;
    for (int i = 0; i < samples; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        std::ifstream file("/proc/loadavg");  // "0.10 0.20 0.30 running/all last"
        double load = 0;
        int running = 1;
        if (file >> load >> load >> load >> running) runnable += running - 1;
    }
    return runnable / samples;
}

/// True if current measurements are unreliable.
inline bool is_busy() { return other_work() >= 0.3; }

/// Warning line "BUSY MACHINE: why; figures ..."; red on a terminal.
inline std::string busy_warning(char const* why = "other tasks are running") {
    bool const red = isatty(fileno(stdout)) && !std::getenv("NO_COLOR");
    return text("%sBUSY MACHINE: %s; figures taken now are not to be trusted%s\n", red ? "\033[1;31m" : "", why,
                red ? "\033[0m" : "");
}

/// Label of the measurements: "AMD EPYC, 2 threads".
inline std::string cpu_and_threads(int threads) {
    return text("%s, %d thread%s", cpu_name().c_str(), threads, threads == 1 ? "" : "s");
}

/// Compiler of this translation unit.
inline std::string compiler_name() {
#if defined(__CUDACC__)
    return text("nvcc %d.%d.%d with %s %d.%d", __CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__, __CUDACC_VER_BUILD__, "g++",
                __GNUC__, __GNUC_MINOR__);
#elif defined(__clang__)
    return text("clang %d.%d.%d", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
    return text("g++ %d.%d.%d", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

}  // namespace bench
