// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "support/hip_error.hpp"
#include "support/near_fastest.hpp"
#include "support/timing.hpp"

namespace bench {

/// Calls 0 to `calls` - 1 of a subject, captured into one graph of a stream.
class CapturedCalls {
public:
    CapturedCalls(hipStream_t stream, Subject const& subject, std::int64_t calls) : stream(stream), calls(calls) {
        require(hipEventCreate(&begin), "hipEventCreate");
        require(hipEventCreate(&end), "hipEventCreate");
        require(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal), "hipStreamBeginCapture");
        hipGraph_t graph;
        try {
            for (std::int64_t call = 0; call < calls; ++call) subject(call);
        } catch (...) {
            static_cast<void>(hipStreamEndCapture(stream, &graph));  // the stream can then be used again
            throw;
        }
        require(hipStreamEndCapture(stream, &graph), "hipStreamEndCapture");
        require(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0), "hipGraphInstantiate");
        require(hipGraphDestroy(graph), "hipGraphDestroy");
    }
    CapturedCalls(CapturedCalls&& other) noexcept
        : stream(other.stream),
          calls(other.calls),
          executable(std::exchange(other.executable, nullptr)),
          begin(std::exchange(other.begin, nullptr)),
          end(std::exchange(other.end, nullptr)) {}
    ~CapturedCalls() {
        if (!executable) return;
        static_cast<void>(hipGraphExecDestroy(executable));
        static_cast<void>(hipEventDestroy(begin));
        static_cast<void>(hipEventDestroy(end));
    }

    /// Seconds per call. The graph runs twice; the second run, which is enqueued during the first, is timed.
    double seconds() const {
        require(hipGraphLaunch(executable, stream), "hipGraphLaunch");
        require(hipEventRecord(begin, stream), "hipEventRecord");
        require(hipGraphLaunch(executable, stream), "hipGraphLaunch");
        require(hipEventRecord(end, stream), "hipEventRecord");
        require(hipEventSynchronize(end), "hipEventSynchronize");
        float milliseconds = 0;
        require(hipEventElapsedTime(&milliseconds, begin, end), "hipEventElapsedTime");
        return 1e-3 * milliseconds / static_cast<double>(calls);
    }

private:
    hipStream_t stream;
    std::int64_t calls;
    hipGraphExec_t executable = nullptr;
    hipEvent_t begin = nullptr, end = nullptr;
};

/// Median seconds per call of each subject. Precondition: buffers repeat after `rotation` calls, and each subject has
/// been called before. A graph has calls_of_graph() calls. Samples are interleaved, A B A B ..., so that drift
/// affects all subjects equally.
inline std::vector<double> graph_medians(hipStream_t stream, std::vector<Subject> const& subjects,
                                         std::int64_t rotation, int repeats) {
    std::vector<CapturedCalls> graphs;
    for (Subject const& subject : subjects) {
        double const estimate = CapturedCalls(stream, subject, rotation).seconds();
        graphs.emplace_back(stream, subject, calls_of_graph(estimate, rotation));
    }
    std::vector<std::vector<double>> samples(subjects.size());
    for (int repeat = 0; repeat < repeats; ++repeat)
        for (std::size_t i = 0; i < graphs.size(); ++i) samples[i].push_back(graphs[i].seconds());

    std::vector<double> medians;
    for (auto const& each : samples) medians.push_back(median(each));
    return medians;
}

}  // namespace bench
