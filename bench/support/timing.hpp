// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace bench {

inline double seconds_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline double median(std::vector<double> values) {
    auto const middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) return *middle;
    return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

inline double geometric_mean(std::vector<double> const& values) {
    double sum = 0;
    for (double value : values) sum += std::log(value);
    return std::exp(sum / static_cast<double>(values.size()));
}

/// One call of a timed subject. `call` counts up, to rotate buffers.
using Subject = std::function<void(std::int64_t call)>;

struct Sampling {
    int repeats = 9;               ///< samples of each subject; the median is reported
    double sample_seconds = 0.01;  ///< a sample has as many calls as fill this time, at least one
    double pause_seconds = 0;  ///< idle time before each sample: another runtime's threads can sleep
};

/// Median seconds per synchronous call of each subject. Samples are interleaved, A B A B ..., so that drift affects all
/// subjects equally; each sample follows an untimed call of its subject.
inline std::vector<double> interleaved_medians(std::vector<Subject> const& subjects, Sampling const& sampling) {
    std::int64_t call = 0;
    auto const time = [&](Subject const& subject, std::int64_t calls) {
        subject(call++);
        double const begin = seconds_now();
        for (std::int64_t i = 0; i < calls; ++i) subject(call++);
        return (seconds_now() - begin) / static_cast<double>(calls);
    };

    std::vector<std::int64_t> calls;
    for (Subject const& subject : subjects)
        calls.push_back(std::clamp<std::int64_t>(std::llround(sampling.sample_seconds / time(subject, 1)), 1, 10'000));

    std::vector<std::vector<double>> samples(subjects.size());
    for (int repeat = 0; repeat < sampling.repeats; ++repeat)
        for (std::size_t i = 0; i < subjects.size(); ++i) {
            std::this_thread::sleep_for(std::chrono::duration<double>(sampling.pause_seconds));
            samples[i].push_back(time(subjects[i], calls[i]));
        }

    std::vector<double> medians;
    for (auto const& each : samples) medians.push_back(median(each));
    return medians;
}

}  // namespace bench
