// SPDX-License-Identifier: MIT
//
// Which schedules of a plan could go: for each schedule, the convolutions for which the cost model selects it, and
// those among them in which the next best one takes more than 1.02 of its time. Layers of real networks (layers.csv)
// and random convolutions, on an H200; runs on the CPU.
#include <fusekit/hip.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "zoo/layer.hpp"
#include "zoo/random_problems.hpp"

namespace {

using namespace bench;
namespace fk = fusekit;

/// Selections of a schedule: their number, the number of those above 1.02, and the ratios' logarithms.
struct Wins {
    int all = 0, needed = 0;
    double logarithms = 0, most = 1;

    void add(double ratio) {
        ++all, needed += ratio > 1.02;
        logarithms += std::log(ratio);
        if (ratio > most) most = ratio;
    }
};
struct Row {
    Wins zoo, random;
    int alone = 0;  ///< convolutions that no other schedule computes
};
using Table = std::map<std::string, Row>;

void add(Table& table, bool random, fk::hip::Predictions const& all) {
    if (all.count == 0) return;
    auto const name = [](fk::hip::Prediction const& of) -> std::string {
        return of.schedule.name(of.schedule.splits ? 2 : 1).c_str();
    };
    for (fk::hip::Prediction const& each : all) table[name(each)];
    Row& row = table[name(all.each[0])];
    if (all.count == 1) ++row.alone;
    else (random ? row.random : row.zoo).add(all.each[1].seconds / all.each[0].seconds);
}

fk::Layout<4> image(bool channels_last, fk::Index<4> const& shape) {
    return channels_last ? fk::nhwc(shape[0], shape[2], shape[3], shape[1])
                         : fk::nchw(shape[0], shape[1], shape[2], shape[3]);
}
fk::Layout<4> filters(bool channels_last, std::int64_t k, std::int64_t c, std::int64_t r, std::int64_t s) {
    return channels_last ? fk::krsc(k, r, s, c) : fk::kcrs(k, c, r, s);
}

template <class T>
void predict_forward(Table& table, bool random, zoo::Layer const& l, int batch, bool channels_last) {
    using Layer = fk::Plan<fk::Conv<fk::dynamic>, fk::Bias, fk::Activation<fk::Relu>>;
    fk::Filter<2> const filter =
        fk::filter(l.r, l.s).pad(l.pad_h, l.pad_w).stride(l.stride).dilation(l.dilation).groups(l.groups);
    T* const none = nullptr;
    float* const parameters = nullptr;
    auto const layer =
        Layer::bind({.weights = fk::TensorView<T const>(none, filters(channels_last, l.k, l.c / l.groups, l.r, l.s)),
                     .filter = filter},
                    {.bias = fk::TensorView<float const, 1>(parameters, fk::channels(l.k))}, {});
    add(table, random,
        predict_all(fk::hip::Architecture::sm(90), layer,
                    fk::TensorView<T const>(none, image(channels_last, {{batch, l.c, l.h, l.w}})),
                    fk::TensorView<T>(none, image(channels_last, {{batch, l.k, l.p(), l.q()}}))));
}

/// The gradient by x, if the layer has this filter.
template <class T, fk::Filter filter>
void predict_gradient(Table& table, bool random, zoo::Layer const& l, int batch, bool channels_last) {
    if (!(fk::filter(l.r, l.s).pad(l.pad_h, l.pad_w).stride(l.stride).dilation(l.dilation).groups(l.groups) == filter))
        return;
    T* const none = nullptr;
    auto const layer = fk::Plan<fk::TransposedConv<filter>>::bind(
        {.weights = fk::TensorView<T const>(none, filters(channels_last, l.k, l.c, l.r, l.s))});
    add(table, random,
        predict_all(fk::hip::Architecture::sm(90), layer,
                    fk::TensorView<T const>(none, image(channels_last, {{batch, l.k, l.p(), l.q()}})),
                    fk::TensorView<T>(none, image(channels_last, {{batch, l.c, l.h, l.w}}))));
}

struct Convolution {
    zoo::Layer layer;
    int batch;
    bool channels_last, random;
};

template <class F>
void report(char const* what, std::vector<Convolution> const& all, F const& predict) {
    Table table;
    for (Convolution const& each : all) predict(table, each.random, each.layer, each.batch, each.channels_last);
    std::printf("\n%-44s  zoo  >1.02   mean   most  random  >1.02   mean   most  alone\n", what);
    for (auto const& [name, row] : table) {
        std::printf("%-44s", name.c_str());
        for (Wins const& wins : {row.zoo, row.random})
            std::printf("%6d %6d %6.3f %6.2f ", wins.all, wins.needed,
                        std::exp(wins.logarithms / (wins.all ? wins.all : 1)), wins.most);
        std::printf("%6d%s\n", row.alone, row.zoo.needed + row.random.needed + row.alone == 0 ? "  could go" : "");
    }
}

}  // namespace

int main(int argc, char** argv) {
    int const count = argc > 2 ? std::atoi(argv[2]) : 10'000;
    std::vector<Convolution> all;
    for (zoo::Layer const& layer : zoo::read_layers(argc > 1 ? argv[1] : ZOO_LAYERS, "all"))
        for (int const batch : {1, 8, 32, 128})
            for (bool const last : {true, false}) all.push_back({layer, batch, last, false});
    for (Problem const& each : zoo::RandomProblems().make(count))
        all.push_back({each.layer, each.batch, each.channels_last, true});
    report("half", all, predict_forward<fk::half>);
    report("float", all, predict_forward<float>);
    report("int8", all, predict_forward<fk::int8>);
    report("float8_e4m3", all, predict_forward<fk::e4m3>);
    auto const gradients = [](auto&... arguments) {
        predict_gradient<fk::half, fk::filter(1, 1)>(arguments...);
        predict_gradient<fk::half, fk::filter(1, 1).stride(2)>(arguments...);
        predict_gradient<fk::half, fk::filter(3, 3).pad(1)>(arguments...);
        predict_gradient<fk::half, fk::filter(3, 3).pad(1).stride(2)>(arguments...);
        predict_gradient<fk::half, fk::filter(5, 5).pad(2)>(arguments...);
        predict_gradient<fk::half, fk::filter(7, 7).pad(3).stride(2)>(arguments...);
    };
    report("half, by x, filters without groups", all, gradients);
}
