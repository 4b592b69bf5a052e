// SPDX-License-Identifier: MIT
//
// Time of fusekit_prepare() for random plans that fusekit_jit compiles at run time: from nothing, from the disk cache
// in a second run of the program, and from memory. Runs no plan, so that the driver of tests/jit is enough:
//     LD_LIBRARY_PATH=build/tests/jit/fake bench/jit_compile --cache folder
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "fusekit/runtime/c/fusekit.h"
#include "support/machine.hpp"
#include "support/options.hpp"
#include "zoo/random_problems.hpp"

namespace {

using namespace bench;

void require(fusekit_status status) {
    if (status != FUSEKIT_SUCCESS) throw std::runtime_error(fusekit_last_message());
}

/// Address of every argument's data, which nothing reads, aligned to 4096 bytes.
void* const address = reinterpret_cast<void*>(std::uintptr_t{1} << 32);

fusekit_tensor tensor_of(Problem const& of, std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) {
    fusekit_type const type = of.is_half ? FUSEKIT_HALF : FUSEKIT_FLOAT;
    if (of.channels_last) return {address, type, 4, {n, c, h, w}, {c * h * w, 1, w * c, c}};
    return {address, type, 4, {n, c, h, w}, {c * h * w, h * w, w, 1}};
}

/// A convolution, and operators after it that `number` selects.
struct Plan {
    std::vector<fusekit_operator> operators;
    std::vector<fusekit_arguments> arguments;
    fusekit_tensor x, y;
    fusekit_types types;
    fusekit_plan plan = nullptr;

    Plan(Problem const& of, std::mt19937_64& random) {
        zoo::Layer const& l = of.layer;
        x = tensor_of(of, of.batch, l.c, l.h, l.w), y = tensor_of(of, of.batch, l.k, l.p(), l.q());
        types = {x.type, x.type, x.type};
        fusekit_filter const filter = {{l.r, l.s},           {l.pad_h, l.pad_w},       {l.pad_h, l.pad_w},
                                       {l.stride, l.stride}, {l.dilation, l.dilation}, l.groups};
        add({FUSEKIT_CONV, 0, filter}).tensors[FUSEKIT_WEIGHTS] = tensor_of(of, l.k, l.c / l.groups, l.r, l.s);
        fusekit_tensor const channels = {address, FUSEKIT_FLOAT, 1, {l.k}, {1}};
        if (random() % 4) add({FUSEKIT_BIAS, 0, {}}).tensors[FUSEKIT_BIASES] = channels;
        if (random() % 3 == 0) {
            fusekit_arguments& norm = add({FUSEKIT_BATCH_NORM_INFERENCE, FUSEKIT_SPATIAL, {}});
            for (int const role : {FUSEKIT_NORM_SCALE, FUSEKIT_SHIFT, FUSEKIT_MEAN, FUSEKIT_VARIANCE})
                norm.tensors[role] = channels;
        }
        if (random() % 3 == 0) add({FUSEKIT_RESIDUAL, 0, {}}).tensors[FUSEKIT_Z] = y;
        add({FUSEKIT_ACTIVATION, static_cast<std::int32_t>(random() % 18), {}}).alpha = 1;
        require(fusekit_find(FUSEKIT_JIT, operators.data(), count(), &types, &plan));
    }
    Plan(Plan const&) = delete;
    Plan& operator=(Plan const&) = delete;
    ~Plan() { fusekit_plan_destroy(plan); }

    std::string name() const {
        char text[256] = "";
        require(fusekit_plan_name(plan, text, sizeof text, nullptr));
        return text;
    }

    /// Seconds of a preparation, whose run is destroyed.
    double prepare(fusekit_device device) const {
        auto const begin = std::chrono::steady_clock::now();
        fusekit_run run;
        require(fusekit_prepare(plan, device, arguments.data(), count(), &x, &y, 16, &run));
        std::chrono::duration<double> const taken = std::chrono::steady_clock::now() - begin;
        require(fusekit_run_destroy(run));
        return taken.count();
    }

private:
    std::int32_t count() const { return static_cast<std::int32_t>(operators.size()); }
    fusekit_arguments& add(fusekit_operator const& one) {
        operators.push_back(one);
        require(fusekit_arguments_init(&arguments.emplace_back()));
        return arguments.back();
    }
};

void print(char const* name, std::vector<double> times) {
    if (times.empty()) return;
    std::sort(times.begin(), times.end());
    auto const at = [&](double part) { return 1e3 * times[static_cast<std::size_t>(part * (times.size() - 1.0))]; };
    std::printf("%-14s %4zu plans: median %.4g ms, 90th percentile %.4g, most %.4g\n", name, times.size(), at(0.5),
                at(0.9), at(1));
}

int run(int argc, char** argv) {
    int plans = 100;
    std::string cache = "none", each = "no";
    CommandLine const command_line =
        CommandLine("jit_compile", "time of the first preparation of random plans, and of later ones")
            .integer("--plans", plans, 1, 10000, "number of plans")
            .text("--cache", "FOLDER", cache, "folder of the disk cache")
            .choice("--each", each, {"no", "yes"}, "print each plan's time");
    if (!command_line.parse(argc, argv)) return 0;
    require(cache == "none" ? fusekit_jit_set_cache(nullptr, 0) : fusekit_jit_set_cache(cache.c_str(), 1 << 28));
    fusekit_device device;
    require(fusekit_device_create_jit(0, &device));
    std::printf("%s, %s\n", cpu_name().c_str(), today().c_str());
    if (is_busy()) std::printf("%s", busy_warning().c_str());

    std::vector<double> times[3];  // as fusekit_jit_counts: compiled, from the disk, from memory
    std::vector<double> again;
    std::mt19937_64 random{2};
    for (Problem const& problem : zoo::RandomProblems().make(plans)) {
        Plan const plan(problem, random);
        std::uint64_t before[3], after[3];
        require(fusekit_jit_counts(before));
        double const taken = plan.prepare(device);
        if (each == "yes") std::printf("%7.3f s %s %s\n", taken, problem.name().c_str(), plan.name().c_str());
        require(fusekit_jit_counts(after));
        for (int i = 0; i < 3; ++i)
            if (after[i] > before[i]) times[i].push_back(taken);
        double least = plan.prepare(device);
        for (int i = 0; i < 20; ++i) least = std::min(least, plan.prepare(device));
        again.push_back(least);
    }
    print("compiled", times[0]);
    print("from the disk", times[1]);
    print("from memory", times[2]);
    print("again", again);
    require(fusekit_device_destroy(device));
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    return bench::run_program("jit_compile", [&] { return run(argc, argv); });
}
