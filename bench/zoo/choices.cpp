// SPDX-License-Identifier: MIT
//
// Quality of schedule selection on layers of real networks (layers.csv) and on 200 random convolutions: times every
// schedule that computes one, and compares the fastest with the library's choice. Rows are appended to a CSV; the same
// command resumes.
#include <fusekit/hip.hpp>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "support/candidates.hpp"
#include "support/choice_summary.hpp"
#include "support/hip_error.hpp"
#include "support/hip_machine.hpp"
#include "support/machine.hpp"
#include "support/timing.hpp"
#include "zoo/random_problems.hpp"
#include "zoo/rows.hpp"

namespace {

using namespace bench;
namespace fk = fusekit;

struct Options {
    int index = 0, repeats = 5, batch = 32, seconds = 480;
    std::string problems = "networks", networks = "all", layout = "nhwc", dtype = "half", layers = ZOO_LAYERS,
                output = "bench-output/zoo_choices.csv";
};

constexpr auto columns =
    "problem,chosen_us,best_us,predicted_us,chosen,best,bound,machine,driver,compiler,date,command";

/// Ratios of a row, from its first four cells.
struct Row {
    std::string line;
    double ratio, prediction;

    explicit Row(std::string const& line) : line(line) {
        std::vector<std::string> const cells = zoo::split(line);
        double const chosen = std::stod(cells.at(1));
        ratio = chosen / std::stod(cells.at(2)), prediction = std::stod(cells.at(3)) / chosen;
    }
};

std::vector<Problem> problems_of(Options const& options) {
    if (options.problems == "random") return zoo::RandomProblems().make(200);
    std::vector<Problem> all;
    for (zoo::Layer const& layer : zoo::read_layers(options.layers, options.networks))
        all.push_back({layer, options.batch, options.dtype == "half", options.layout == "nhwc"});
    return all;
}

void summarize(std::vector<std::string> const& lines) {
    std::vector<Row> rows(lines.begin(), lines.end());
    ChoiceSummary all;
    for (Row const& row : rows) all.add(row.ratio, row.prediction);
    std::sort(rows.begin(), rows.end(), [](Row const& a, Row const& b) { return a.ratio > b.ratio; });
    std::printf("\nslowest choices\n");
    for (std::size_t i = 0; i < std::min<std::size_t>(rows.size(), 20); ++i)
        std::printf("%7.3f  %s\n", rows[i].ratio, rows[i].line.c_str());
    all.print("all");
    std::printf("bars: 1.050 on average, 1.300 at most\n");
}

int run(int argc, char** argv) {
    Options options;
    CommandLine const command_line =
        CommandLine("zoo_choices",
                    "the library's choice of schedules beside the best, in parts that resume into one CSV")
            .choice("--problems", options.problems, {"networks", "random"}, "layers of the table, or 200 random ones")
            .text("--networks", "LIST", options.networks, "'all', or networks of the table, separated by commas")
            .integer("--batch", options.batch, 1, 4096, "images in a batch, for --problems networks")
            .choice("--layout", options.layout, {"nhwc", "nchw"}, "memory order, for --problems networks")
            .choice("--dtype", options.dtype, {"half", "float"}, "element type, for --problems networks")
            .integer("--index", options.index, 0, 1023, "which GPU")
            .integer("--seconds", options.seconds, 0, 1 << 20, "stop after this time; run again to resume")
            .integer("--repeats", options.repeats, 1, 1000, "samples of each time, of which the median is reported")
            .text("--layers", "FILE", options.layers, "the table of layers")
            .text("--output", "FILE", options.output, "the CSV");
    if (!command_line.parse(argc, argv)) return 0;
    auto const problems = problems_of(options);
    zoo::Rows rows(options.output, columns, 1);

    fk::hip::Device device(options.index);
    bench::require(hipSetDevice(options.index), "hipSetDevice");
    Machine const machine = gpu_machine(device);
    double const begin = seconds_now();
    std::size_t remaining = 0;
    for (Problem const& problem : problems) {
        if (rows.has(problem.name())) continue;
        if (seconds_now() - begin >= options.seconds) {
            ++remaining;
            continue;
        }
        Measured const found = measure_candidates(device, problem, options.repeats, [](auto const&) { return true; });
        Candidate const& choice = found.all.front();
        Candidate const& best =
            *std::min_element(found.all.begin(), found.all.end(),
                              [](Candidate const& a, Candidate const& b) { return a.seconds < b.seconds; });
        auto const name = [](Candidate const& c) -> std::string {
            return c.predicted.schedule.name(c.predicted.split_k).c_str();
        };
        rows.add(problem.name(), {text("%.3f", 1e6 * choice.seconds), text("%.3f", 1e6 * best.seconds),
                                  text("%.3f", 1e6 * choice.predicted.seconds), name(choice), name(best),
                                  fk::hip::name_of(choice.predicted.bound), machine.device, machine.driver,
                                  machine.compiler, today(), command_text(argc, argv)});
        std::printf("%-56s %9.2f %9.2f %6.3f  %s; %s\n", problem.name().c_str(), 1e6 * choice.seconds,
                    1e6 * best.seconds, choice.seconds / best.seconds, name(choice).c_str(), name(best).c_str());
        std::fflush(stdout);
    }
    if (remaining) std::printf("%zu of %zu remain: run the same command again\n", remaining, problems.size());
    else summarize(rows.lines());
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    return run_program("zoo_choices", [&] { return run(argc, argv); });
}
