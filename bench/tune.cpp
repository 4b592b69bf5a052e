// SPDX-License-Identifier: MIT
//
// Measures schedules on the present GPU and writes the fastest as a header for fk::hip::Device::tuned(). Each time is
// appended to a journal first, from which an interrupted run resumes. tools/tune builds and runs it.
#include <fusekit/hip.hpp>

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "support/candidates.hpp"
#include "support/hip_error.hpp"
#include "support/hip_machine.hpp"
#include "support/machine.hpp"
#include "support/records.hpp"
#include "support/timing.hpp"

namespace {

using namespace bench;
using bench::Problem;
namespace fk = fusekit;

volatile std::sig_atomic_t interrupted = 0;

/// Layers of MIOpen's charts and of other networks, in batches of 1, 8 and 64.
std::vector<Problem> own_problems() {
    std::vector<ConvLayer> layers(std::begin(conv_layers), std::end(conv_layers));
    for (ConvLayer const& more : {ConvLayer{256, 28, 28, 512, 3, 3, 1, 2}, ConvLayer{512, 28, 28, 256, 1, 1, 0, 2},
                                  ConvLayer{128, 56, 56, 128, 3, 3, 1, 2}, ConvLayer{64, 28, 28, 96, 5, 5, 2, 1},
                                  ConvLayer{192, 56, 56, 64, 1, 1, 0, 1}, ConvLayer{768, 14, 14, 768, 3, 3, 1, 1},
                                  ConvLayer{320, 16, 16, 640, 3, 3, 1, 1}})
        layers.push_back(more);
    std::vector<Problem> all;
    for (bool const is_half : {true, false})
        for (bool const last : {true, false})
            for (int const batch : {1, 8, 64})
                for (ConvLayer const& layer : layers) all.push_back({zoo::layer_of(layer), batch, is_half, last});
    return all;
}

/// Times by problem and schedule, written to a file as soon as they are measured. Its first line names the machine.
class Journal {
public:
    Journal(std::string the_path, std::string const& machine) : path(std::move(the_path)) {
        std::ifstream file(path);
        std::string line;
        if (std::getline(file, line) && line != machine)
            throw std::runtime_error("the journal " + path + " is of " + line + ", this is " + machine +
                                     ": name another with --journal");
        while (std::getline(file, line)) read(line);
        end.open(path, std::ios::app);
        if (times.empty() && line.empty() && end.tellp() == 0) write(machine);
        if (!end) throw std::runtime_error("cannot write '" + path + "'");
    }

    bool has(std::string const& problem) const { return times.count(problem) > 0; }
    std::map<std::string, double> const& of(std::string const& problem) const { return times.at(problem); }

    /// Writes a problem as one line, so that a truncated line is not a valid problem.
    void add(std::string const& problem, std::map<std::string, double> const& measured) {
        std::string line = problem;
        for (auto const& [schedule, seconds] : measured) line += bench::text(";%s;%.9g", schedule.c_str(), seconds);
        write(line + ";.");
        times[problem] = measured;
    }

private:
    std::string path;
    std::ofstream end;
    std::map<std::string, std::map<std::string, double>> times;

    void write(std::string const& line) {
        if (!(end << line << "\n" << std::flush)) throw std::runtime_error("cannot write '" + path + "'");
    }
    void read(std::string const& line) {
        std::vector<std::string> parts;
        for (std::size_t begin = 0; begin <= line.size();) {
            std::size_t const stop = std::min(line.find(';', begin), line.size());
            parts.push_back(line.substr(begin, stop - begin));
            begin = stop + 1;
        }
        if (parts.size() < 2 || parts.back() != ".") return;
        for (std::size_t i = 1; i + 2 < parts.size(); i += 2) times[parts[0]][parts[i]] = std::stod(parts[i + 1]);
    }
};

/// Progress bar on a terminal, otherwise one line per problem.
void show_progress(std::size_t done, std::size_t count, std::string const& what) {
    if (isatty(STDOUT_FILENO)) {
        std::string bar(30, '.');
        std::fill_n(bar.begin(), 30 * done / count, '#');
        std::printf("\r[%s] %zu of %zu  %-44s", bar.c_str(), done, count, what.c_str());
        if (done == count) std::printf("\n");
    } else {
        std::printf("%zu of %zu  %s\n", done, count, what.c_str());
    }
    std::fflush(stdout);
}

std::string schedule_of(fk::hip::Prediction const& prediction) {
    return prediction.schedule.name(prediction.split_k).c_str();
}

char const* written(bool value) { return value ? "true" : "false"; }

std::string written(fk::hip::TunedKey const& k) {
    return bench::text(
        "{fusekit::DataType::%s, %s, %s, %lld, %lld, %lld, %lld, %lld, %d, %d, %d, %d, %d, %d, %d, %d, "
        "%d, %d, %lld}",
        k.type == fk::DataType::float16 ? "float16" : "float32", written(k.x_channels_last), written(k.y_channels_last),
        k.n, k.c, k.h, k.w, k.k, k.r, k.s, k.top, k.left, k.bottom, k.right, k.stride_h, k.stride_w, k.dilation_h,
        k.dilation_w, k.groups);
}
std::string written(fk::hip::ScheduleFacts const& s) {
    return bench::text("{fusekit::hip::kind_of<fusekit::hip::%sEntry>, %s, %s, %d, %d, %d, %d, %d, %d}",
                       fk::hip::entry_of(s.kind).name, written(s.splits), written(s.ping_pong), s.m, s.n, s.k, s.blocks,
                       s.stages, s.parts);
}

/// Makes the header: the fastest schedule of each problem, and a comparison of measured and predicted times by kind.
std::string header_of(fk::hip::Device& device, std::vector<Problem> const& problems, Journal const& journal,
                      std::string const& name, std::string const& machine) {
    struct Row {
        fk::hip::TunedKey key;
        std::string text;
    };
    std::vector<Row> rows;
    std::vector<double> ratios[fk::hip::TunedTable::kinds];
    for (Problem const& problem : problems) {
        Measured const known = measure_candidates(device, problem, 1, [](auto const&) { return false; });
        auto const& times = journal.of(problem.name());
        Candidate const* best = nullptr;
        double least = 0;
        for (Candidate const& each : known.all) {
            auto const time = times.find(schedule_of(each.predicted));
            if (time == times.end()) continue;
            ratios[static_cast<int>(each.predicted.schedule.kind)].push_back(time->second / each.predicted.seconds);
            if (!best || time->second < least) best = &each, least = time->second;
        }
        if (!best) continue;
        rows.push_back(
            {known.key, bench::text("    {%s,\n     %s, %d},  // %s: %s, %.2f us\n", written(known.key).c_str(),
                                    written(best->predicted.schedule).c_str(), best->predicted.split_k,
                                    problem.name().c_str(), schedule_of(best->predicted).c_str(), 1e6 * least)});
    }
    std::sort(rows.begin(), rows.end(), [](Row const& a, Row const& b) { return a.key < b.key; });
    std::string text = "// Written by tools/tune on " + machine + ", " + today() + ".\n// layer(device.tuned(" + name +
                       "), x, y) runs with these schedules.\n#pragma once\n\n" +
                       "#include <fusekit/hip.hpp>\n\ninline constexpr fusekit::hip::TunedProblem " + name +
                       "_problems[] = {\n";
    for (Row const& row : rows) text += row.text;
    fk::hip::Architecture const on = device.architecture();
    bool const nvidia = on.maker() == fk::hip::Architecture::Maker::nvidia;
    text += "};\ninline constexpr fusekit::hip::TunedTable " + name +
            bench::text("{\n    fusekit::hip::Architecture::%s(%d), %s_problems, %zu, {", nvidia ? "sm" : "gfx",
                        on.number(), name.c_str(), rows.size());
    for (auto const& of_kind : ratios)
        text += bench::text("%s%.3f", &of_kind == ratios ? "" : ", ", of_kind.empty() ? 1.0 : median(of_kind));
    return text + "}};\n";
}

int run(int argc, char** argv) {
    int index = 0, repeats = 5;
    std::string list = "own", journal_path = "tune.journal", output = "fusekit_tuned.hpp", name = "fusekit_tuned";
    CommandLine const command_line =
        CommandLine("tune", "measures schedules on this GPU and writes a header of the fastest")
            .integer("--index", index, 0, 1023, "which GPU")
            .integer("--repeats", repeats, 1, 1000, "samples of each time, of which the median counts")
            .text("--problems", "FILE", list, "lines like '64-55-55-64-3x3-p1-s1 64 half nhwc'")
            .text("--journal", "FILE", journal_path, "where times are kept, and found again")
            .text("--name", "NAME", name, "what the table is called in the header")
            .text("--output", "FILE", output, "the header");
    if (!command_line.parse(argc, argv)) return 0;
    std::vector<Problem> problems = own_problems();
    if (list != "own") {
        std::ifstream lines(list);
        if (!lines) throw UsageError("--problems: cannot read '" + list + "'");
        problems = Problem::parse_all(lines);
        if (problems.empty()) throw UsageError("--problems: '" + list + "' has no problem in it");
    }

    fk::hip::Device device(index);
    bench::require(hipSetDevice(index), "hipSetDevice");
    std::string const machine = gpu_machine(device).device;
    Journal journal(journal_path, machine);
    std::signal(SIGINT, [](int) { interrupted = 1; });
    std::size_t done = 0;
    for (Problem const& problem : problems) {
        if (interrupted) {
            std::printf("\ninterrupted with %zu of %zu problems in %s: the same command goes on from there\n", done,
                        problems.size(), journal_path.c_str());
            return 130;
        }
        if (!journal.has(problem.name())) {
            Measured const found = measure_candidates(device, problem, repeats, [](auto const&) { return true; });
            std::map<std::string, double> times;
            for (Candidate const& each : found.all) times[schedule_of(each.predicted)] = each.seconds;
            journal.add(problem.name(), times);
        }
        show_progress(++done, problems.size(), problem.name());
    }
    write_file(output, header_of(device, problems, journal, name, machine));
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    return run_program("tune", [&] { return run(argc, argv); });
}
