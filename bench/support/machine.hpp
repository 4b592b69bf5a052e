// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <string>
#include <thread>

namespace bench {

/// The processor as it names itself, or "unknown CPU".
inline std::string cpu_name() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("model name")) {
            std::size_t const colon = line.find(": ");
            if (colon != line.npos) return line.substr(colon + 2);
        }
    return "unknown CPU";
}

/// "2026-01-31", local time.
inline std::string today() {
    std::time_t const now = std::time(nullptr);
    char text[16];
    return {text, std::strftime(text, sizeof text, "%Y-%m-%d", std::localtime(&now))};
}

/// Bytes of the largest cache of the first processor; 32 MB where the system does not tell.
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

/// How many tasks besides the caller are running or wait for a processor, on average over a tenth of a second.
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

/// A line to print under the machine's name where its figures are not to be trusted; empty on an idle one.
inline std::string busy_warning() {
    double const others = other_work();
    if (others < 0.3) return "";
    return fmt::format("BUSY MACHINE: {:.1f} other tasks are running; figures taken now are not to be trusted\n",
                       others);
}

/// What figures are labelled with: "AMD EPYC, 2 threads", and whether it was busy.
inline std::string machine_name(int threads, std::string const& busy_warning) {
    return fmt::format("{}, {} thread{}{}", cpu_name(), threads, threads == 1 ? "" : "s",
                       busy_warning.empty() ? "" : ", BUSY");
}

}  // namespace bench
