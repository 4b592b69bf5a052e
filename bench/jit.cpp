// SPDX-License-Identifier: MIT
//
// Plans that fusekit_jit compiles at run time, beside the same plans compiled by nvcc: time of the first preparation
// (compiled, or from the disk cache), time of a run, and elements in which the results differ: none may.
#include <fusekit/hip.hpp>

#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "fusekit/runtime/c/fusekit.h"
#include "support/graph_timing.hpp"
#include "support/hip_machine.hpp"
#include "support/machine.hpp"
#include "support/options.hpp"

namespace {

using namespace bench;
namespace fk = fusekit;
using fk::Extent;

struct Layer {
    Extent n, c, size, k;
    int filter, stride, pad, groups;
    bool channels_last;
};
constexpr Layer layers[] = {
    {32, 64, 56, 64, 3, 1, 1, 1, true},   {32, 256, 14, 256, 3, 1, 1, 1, true},  {8, 3, 224, 64, 7, 2, 3, 1, true},
    {32, 64, 56, 256, 1, 1, 0, 1, true},  {1, 512, 7, 512, 3, 1, 1, 1, true},    {32, 96, 28, 96, 3, 2, 1, 1, true},
    {5, 33, 17, 65, 3, 1, 1, 1, true},    {32, 128, 28, 128, 3, 1, 1, 32, true}, {32, 96, 28, 96, 3, 1, 1, 96, true},
    {16, 64, 28, 64, 3, 1, 1, 1, false},  {16, 128, 28, 256, 1, 1, 0, 1, false}, {8, 3, 224, 768, 16, 16, 0, 1, true},
    {64, 512, 7, 2048, 1, 1, 0, 1, true}, {128, 256, 28, 128, 3, 2, 1, 1, true}};

void require(fusekit_status status) {
    if (status != FUSEKIT_SUCCESS) throw std::runtime_error(fusekit_last_message());
}

template <class Element>
constexpr fusekit_type type_of = static_cast<fusekit_type>(fk::data_type<Element>);

template <class T, int Rank>
fusekit_tensor tensor_of(fk::TensorView<T const, Rank> const& view) {
    fusekit_tensor result{const_cast<T*>(view.data), type_of<T>, Rank, {}, {}};
    for (int mode = 0; mode < Rank; ++mode)
        result.extents[mode] = view.layout.shape[mode], result.strides[mode] = view.layout.stride[mode];
    return result;
}

/// Measures one layer; returns the number of elements that differ.
template <class T, bool with_residual>
std::int64_t measure(fk::hip::Device& device, fusekit_device jit, Layer const& of, int repeats) {
    auto const layout = [&](Extent n, Extent c, Extent h, Extent w) {
        return of.channels_last ? fk::nhwc(n, h, w, c) : fk::nchw(n, c, h, w);
    };
    Extent const size = (of.size + 2 * of.pad - of.filter) / of.stride + 1;
    auto const x = fk::random<T>(device, layout(of.n, of.c, of.size, of.size));
    auto const w = fk::random<T>(device, layout(of.k, of.c / of.groups, of.filter, of.filter));
    auto const z = fk::random<T>(device, layout(of.n, of.k, size, size));
    auto const b = fk::random<float>(device, fk::channels(of.k));
    fk::Tensor<T, fk::hip::Device> y(device, z.layout()), own(device, z.layout());
    auto const filter = fk::filter(of.filter, of.filter).pad(of.pad).stride(of.stride).groups(of.groups);

    using Relu = fk::Plan<fk::Conv<fk::dynamic>, fk::Bias, fk::Activation<fk::Relu>>;
    using Block = fk::Plan<fk::Conv<fk::dynamic>, fk::Bias, fk::Residual, fk::Activation<fk::Silu>>;
    auto const bound = [&] {
        if constexpr (with_residual) return Block::bind({w, filter}, {b}, {z}, {});
        else return Relu::bind({w, filter}, {b}, {});
    }();
    auto const run = bound.prepare(device, x, y);

    int const pad = of.pad;
    fusekit_operator const conv = {
        FUSEKIT_CONV, 0, {{of.filter, of.filter}, {pad, pad}, {pad, pad}, {of.stride, of.stride}, {1, 1}, of.groups}};
    std::vector<fusekit_operator> operators = {conv, {FUSEKIT_BIAS, 0, {}}};
    if (with_residual) operators.push_back({FUSEKIT_RESIDUAL, 0, {}});
    operators.push_back({FUSEKIT_ACTIVATION, with_residual ? FUSEKIT_SILU : FUSEKIT_RELU, {}});
    auto const count = static_cast<std::int32_t>(operators.size());
    std::vector<fusekit_arguments> arguments(operators.size());
    for (fusekit_arguments& one : arguments) require(fusekit_arguments_init(&one));
    arguments[0].tensors[FUSEKIT_WEIGHTS] = tensor_of(w.const_view());
    arguments[1].tensors[FUSEKIT_BIASES] = tensor_of(b.const_view());
    if (with_residual) arguments[2].tensors[FUSEKIT_Z] = tensor_of(z.const_view());
    fusekit_tensor const of_x = tensor_of(x.const_view()), of_y = tensor_of(own.const_view());
    fusekit_types const types = {type_of<T>, type_of<T>, type_of<T>};
    fusekit_plan plan;
    fusekit_run prepared;
    require(fusekit_find(FUSEKIT_JIT, operators.data(), count, &types, &plan));
    double const begin = seconds_now();
    require(fusekit_prepare(plan, jit, arguments.data(), count, &of_x, &of_y, 16, &prepared));
    double const taken = seconds_now() - begin;

    auto const medians = graph_medians(
        device.stream(),
        {[&](std::int64_t) {
             require(fusekit_run_execute(prepared, jit, device.stream(), of_x.data, of_y.data, nullptr, 0));
         },
         [&](std::int64_t) { run(device, x, y); }},
        1, repeats);
    std::vector<T> expected(static_cast<std::size_t>(y.size())), result(expected.size());
    y.copy_to(expected.data());
    own.copy_to(result.data());
    std::int64_t differing = 0;
    for (std::size_t i = 0; i < expected.size(); ++i)
        differing += std::memcmp(&expected[i], &result[i], sizeof expected[i]) != 0;
    std::printf(
        "%-9s %4d %4d %4d %4d %dx%d s%d g%-3d %s %s first %.3f s, jit %.2f us, nvcc %.2f us, ratio %.3f, %lld differ\n",
        fk::name(fk::data_type<T>), static_cast<int>(of.n), static_cast<int>(of.c), static_cast<int>(of.size),
        static_cast<int>(of.k), of.filter, of.filter, of.stride, of.groups, of.channels_last ? "NHWC" : "NCHW",
        with_residual ? "residual Silu" : "Relu", taken, 1e6 * medians[0], 1e6 * medians[1], medians[0] / medians[1],
        static_cast<long long>(differing));
    require(fusekit_run_destroy(prepared));
    require(fusekit_plan_destroy(plan));
    return differing;
}

int run(int argc, char** argv) {
    int index = 0, repeats = 30;
    CommandLine const command_line =
        CommandLine("jit", "plans compiled at run time beside nvcc's")
            .integer("--index", index, 0, 1023, "which GPU")
            .integer("--repeats", repeats, 1, 100000, "rounds, of which the median is reported");
    if (!command_line.parse(argc, argv)) return 0;
    fk::hip::Device device = fk::hip::Device::non_blocking(index);
    fusekit_device jit;
    require(fusekit_device_create_jit(index, &jit));
    Machine const machine = gpu_machine(device);
    std::printf("%s, driver %s, %s\n", machine.device.c_str(), machine.driver.c_str(), machine.compiler.c_str());
    std::int64_t differing = 0;
    for (Layer const& layer : layers) {
        differing += measure<fk::half, false>(device, jit, layer, repeats);
        differing += measure<fk::half, true>(device, jit, layer, repeats);
        differing += measure<float, false>(device, jit, layer, repeats);
    }
    require(fusekit_device_destroy(jit));
    return differing != 0;
}

}  // namespace

int main(int argc, char** argv) {
    return bench::run_program("jit", [&] { return run(argc, argv); });
}
