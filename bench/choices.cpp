// SPDX-License-Identifier: MIT
//
// Quality of schedule selection and of predicted times: times every schedule that computes one of 50 convolutions
// outside the tuning set, and compares with the library's choice and its prediction.
#include <fusekit/hip.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "support/candidates.hpp"
#include "support/choice_summary.hpp"
#include "support/hip_error.hpp"
#include "support/hip_machine.hpp"
#include "support/machine.hpp"
#include "support/records.hpp"
#include "support/timing.hpp"

namespace {

using namespace bench;
namespace fk = fusekit;

/// Held-out layers: bench/tune.cpp measures none of them.
constexpr char const* problems[] = {
    "48-56-56-96-3x3-p1-s1 32 half nhwc",    "96-28-28-192-3x3-p1-s1 64 half nhwc",
    "192-14-14-384-1x1-p0-s1 128 half nhwc", "384-14-14-384-3x3-p1-s1 16 half nhwc",
    "2048-7-7-1024-1x1-p0-s1 32 half nhwc",  "1024-14-14-2048-1x1-p0-s2 64 half nhwc",
    "64-112-112-128-3x3-p1-s2 16 half nhwc", "64-80-80-64-3x3-p1-s1 8 half nhwc",
    "256-56-56-128-1x1-p0-s1 32 half nhwc",  "160-20-20-320-3x3-p1-s1 4 half nhwc",
    "512-10-10-512-3x3-p1-s1 1 half nhwc",   "48-112-112-48-5x5-p2-s1 4 half nhwc",
    "128-40-40-256-5x5-p2-s2 8 half nhwc",   "768-16-16-768-1x1-p0-s1 2 half nhwc",
    "1280-8-8-1280-3x3-p1-s1 8 half nhwc",   "320-32-32-320-3x3-p1-s1 2 half nhwc",
    "96-14-14-576-1x1-p0-s1 256 half nhwc",  "576-14-14-96-1x1-p0-s1 256 half nhwc",
    "240-28-28-80-1x1-p0-s1 1 half nhwc",    "512-28-28-1024-1x1-p0-s2 1 half nhwc",
    "48-56-56-96-3x3-p1-s1 32 half nchw",    "192-28-28-192-3x3-p1-s1 32 half nchw",
    "384-14-14-384-1x1-p0-s1 64 half nchw",  "512-14-14-512-3x3-p1-s1 4 half nchw",
    "256-56-56-512-1x1-p0-s2 16 half nchw",  "96-28-28-96-5x5-p2-s1 16 half nchw",
    "1024-7-7-2048-1x1-p0-s1 128 half nchw", "160-7-7-960-1x1-p0-s1 1 half nchw",
    "64-112-112-64-3x3-p1-s2 8 half nchw",   "768-16-16-192-1x1-p0-s1 8 half nchw",
    "320-32-32-320-3x3-p1-s1 1 half nchw",   "832-7-7-384-1x1-p0-s1 256 half nchw",
    "48-56-56-96-3x3-p1-s1 16 float nhwc",   "192-28-28-192-3x3-p1-s1 16 float nhwc",
    "384-14-14-768-1x1-p0-s1 64 float nhwc", "512-14-14-512-3x3-p1-s1 2 float nhwc",
    "256-56-56-512-1x1-p0-s2 8 float nhwc",  "2048-7-7-512-1x1-p0-s1 16 float nhwc",
    "96-28-28-96-5x5-p2-s1 8 float nhwc",    "160-20-20-320-3x3-p1-s1 1 float nhwc",
    "1280-8-8-640-1x1-p0-s1 4 float nhwc",   "128-40-40-128-3x3-p1-s2 32 float nhwc",
    "48-56-56-96-3x3-p1-s1 16 float nchw",   "192-28-28-192-3x3-p1-s1 16 float nchw",
    "384-14-14-768-1x1-p0-s1 64 float nchw", "512-14-14-512-3x3-p1-s1 2 float nchw",
    "64-112-112-128-3x3-p1-s2 8 float nchw", "1024-7-7-1024-1x1-p0-s1 1 float nchw",
    "96-28-28-96-5x5-p2-s1 4 float nchw",    "832-7-7-384-1x1-p0-s1 128 float nchw",
};

int run(int argc, char** argv) {
    int index = 0, repeats = 5;
    std::string output = "bench-output";
    CommandLine const command_line =
        CommandLine("choices",
                    "the library's choice of schedules on 50 convolutions beside the best, and its predictions")
            .integer("--index", index, 0, 1023, "which GPU")
            .integer("--repeats", repeats, 1, 1000, "samples of each time, of which the median is reported")
            .text("--output", "DIR", output, "where choices.csv and choices.json go");
    if (!command_line.parse(argc, argv)) return 0;

    fk::hip::Device device(index);
    bench::require(hipSetDevice(index), "hipSetDevice");
    Machine const machine = gpu_machine(device);
    std::printf("%s, driver %s, %s\n\n%-40s %-34s %9s %9s %6s  %-34s %9s %6s\n", machine.device.c_str(),
                machine.driver.c_str(), machine.compiler.c_str(), "microseconds", "choice", "takes", "best", "ratio",
                "the best", "predicted", "ratio");
    Records records({{"machine", machine.device},
                     {"driver", machine.driver},
                     {"compiler", machine.compiler},
                     {"date", today()},
                     {"command", command_text(argc, argv)}});
    ChoiceSummary all, of_kinds[2][2];
    for (char const* words : problems) {
        Problem const problem = Problem::parse(words);
        Measured const found = measure_candidates(device, problem, repeats, [](auto const&) { return true; });
        Candidate const& choice = found.all.front();
        Candidate const& best =
            *std::min_element(found.all.begin(), found.all.end(),
                              [](Candidate const& a, Candidate const& b) { return a.seconds < b.seconds; });
        auto const name = [](Candidate const& c) -> std::string {
            return c.predicted.schedule.name(c.predicted.split_k).c_str();
        };
        double const ratio = choice.seconds / best.seconds, prediction = choice.predicted.seconds / choice.seconds;
        std::printf("%-40s %-34s %9.2f %9.2f %6.3f  %-34s %9.2f %6.3f %s\n", problem.name().c_str(),
                    name(choice).c_str(), 1e6 * choice.seconds, 1e6 * best.seconds, ratio, name(best).c_str(),
                    1e6 * choice.predicted.seconds, prediction, fk::hip::name_of(choice.predicted.bound));
        std::fflush(stdout);
        for (Candidate const& each : found.all)
            records.add({{"problem", problem.name()},
                         {"schedule", name(each)},
                         {"us", text("%.3f", 1e6 * each.seconds)},
                         {"predicted_us", text("%.3f", 1e6 * each.predicted.seconds)},
                         {"bound", fk::hip::name_of(each.predicted.bound)},
                         {"choice", &each == &choice ? "yes" : "no"}});
        all.add(ratio, prediction);
        of_kinds[problem.is_half][problem.channels_last].add(ratio, prediction);
    }
    std::printf("\n");
    of_kinds[1][1].print("half, NHWC"), of_kinds[1][0].print("half, NCHW");
    of_kinds[0][1].print("float, NHWC"), of_kinds[0][0].print("float, NCHW");
    all.print("all");
    std::printf("bars: 1.100 on average, 1.300 at most, 80 %%\n");
    records.write(output, "choices");
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    return run_program("choices", [&] { return run(argc, argv); });
}
