// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mainloop/split_gemm.hpp"

#include <cmath>
#include <cstring>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "backend/hip/gpu.hpp"
#include "backend/hip/runner.hpp"
#include "backend/hip/sm90a_device.hpp"
#include "support/check_case.hpp"
#include "support/matrix_products.hpp"
#include "support/run_case.hpp"

using namespace test;

namespace {

using fk::hip::GroupWorkspace;

/// Split-K schedules of a SIMT Gemm, and of half and bfloat16 on sm_90a's tensor cores.
template <int Parts>
using Parted = fk::hip::Split<fk::hip::Gemm<64, 64, 16, 4>, Parts>;
template <int Parts>
using MatrixParted = fk::hip::Split<fk::hip::MatrixGemm<64, 64, 4>, Parts>;

/// Calls f(device, factor) with a device that runs the schedule with each split-K factor.
template <template <int> class Schedule>
void with_parts(fk::hip::Device& device, auto const& f) {
    auto const with = [&]<int parts>(std::integral_constant<int, parts>) {
        auto parted = device.with<Schedule<parts>>();
        f(parted, parts);
    };
    with(std::integral_constant<int, 2>{});
    with(std::integral_constant<int, 4>{});
    with(std::integral_constant<int, 8>{});
}

using Relu = fk::Activation<fk::Relu>;
using Norm = fk::BatchNormInference<fk::Spatial>;
using PerActivation = fk::BatchNormInference<fk::PerActivation>;

bool same_bits(std::vector<float> const& a, std::vector<float> const& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

std::vector<float> integers(std::int64_t count, int step) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>(static_cast<int>((i * 7 + static_cast<std::size_t>(step)) * 31 % 15) - 7);
    return values;
}

/// A product of 49 pixels and 24 channels: one tile, GemmK = 576.
struct OneTile {
    using Plan = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>, fk::Activation<fk::Abs>>;
    fk::hip::Device& device;
    Floats x, w;

    explicit OneTile(fk::hip::Device& the_device)
        : device(the_device), x(the_device, fk::nchw(1, 64, 7, 7)), w(the_device, fk::kcrs(24, 64, 3, 3)) {
        x.copy_from(integers(x.size(), 1).data());
        w.copy_from(integers(w.size(), 2).data());
    }

    auto layer() const { return Plan::bind({.weights = w}, {}); }
    Floats output() const {
        Floats y(device, fk::nchw(1, 24, 7, 7));
        spoil(y);
        return y;
    }
    static void spoil(Floats& y) {
        y.copy_from(std::vector<float>(static_cast<std::size_t>(y.size()), std::nanf("")).data());
    }
    std::vector<float> unsplit() const { return numbers(layer()(device.with<fk::hip::Gemm<64, 64, 16, 6>>(), x)); }
};

/// Tails of tiles and k-tiles, all kinds of layouts, groups, and operators before and after a Conv.
template <class T, class Scheduled>
void check_sizes(Scheduled& parted, std::string const& type) {
    for (auto const& [text, seed] : {std::pair{"n2c58h9w8k16r3s3pt1l1b1r1u1v1d1e1g1 nhwc krsc ", "#3"},
                                     std::pair{"n1c57h5w7k67r3s4pt1l0b0r2u1v2d1e1g1 nchw kcrs ", "#5"},
                                     std::pair{"n1c513h3w3k130r1s1pt0l0b0r0u1v1d1e1g1 nhwc>nchw kcrs ", "#7"},
                                     std::pair{"n1c1024h4w3k60r1s1pt0l0b0r0u1v1d1e1g1 nchw>nhwc krsc+1 ", "#9"},
                                     std::pair{"n2c640h7w7k72r1s1pt0l0b0r0u1v1d1e1g1 nchw kcrs ", "#3"},
                                     std::pair{"n1c192h5w5k15r3s3pt1l1b1r1u2v1d1e1g3 nhwc kcrs ", "#11"}})
        check_case(Case::parse(text + type + " CBA relu " + seed), run_conv<Scheduled, T, fk::dynamic, fk::Bias, Relu>,
                   parted);
    check_case(Case::parse("n2c64h6w7k9r3s3pt1l1b1r1u1v1d1e1g1 nchw kcrs " + type + " CMA relu #6"),
               run_conv<Scheduled, T, fk::dynamic, PerActivation, Relu>, parted);
    for (char const* layouts : {"nhwc krsc ", "nchw kcrs "})
        check_case(Case::parse("n2c64h6w7k9r3s3pt1l1b1r1u1v1d1e1g1 " + std::string(layouts) + type + " CBR #8"),
                   run_conv<Scheduled, T, fk::dynamic, fk::Bias, fk::Residual>, parted);
    for (char const* layouts : {"nhwc krsc ", "nchw kcrs "})
        check_case(Case::parse("n2c40h7w9k24r3s3pt1l1b1r1u1v1d1e1g1 " + std::string(layouts) + type + " NACBA relu #3"),
                   WithPrologue<Norm, Relu>::run<Scheduled, T, fk::dynamic, fk::Bias, Relu>, parted);
}

}  // namespace

TEST_CASE("HIP: split-K agrees with the oracle in every layout and size") {
    fk::hip::Device device = gpu();
    with_parts<Parted>(device, [](auto& parted, int) { check_sizes<float>(parted, "float"); });
}

TEST_CASE("HIP: split-K on sm_90a's tensor cores agrees with the oracle") {
    fk::hip::Device device = sm90a_device();
    with_parts<MatrixParted>(device, [](auto& parted, int) { check_sizes<fk::half>(parted, "half"); });
    auto wide = device.with<fk::hip::Split<fk::hip::MatrixGemm<128, 64, 2>, 4>>();
    check_sizes<fk::half>(wide, "half");
    auto high = device.with<fk::hip::Split<fk::hip::MatrixGemm<64, 128, 2>, 2>>();
    check_sizes<fk::bfloat16>(high, "bfloat16");
    check_product<fk::half, 3, decltype(wide), fk::BatchedGemm>(wide, {2, 70, 66, 264, "bmk", "bmk", "bmk", "bmk"});
}

TEST_CASE("HIP: split-K of Gemm and BatchedGemm agrees with the oracle") {
    fk::hip::Device device = gpu();
    auto parted = device.with<Parted<4>>();
    check_product<float, 2>(parted, {0, 37, 70, 300, "mk", "mk", "mk", "mk"});
    check_product<float, 2>(parted, {0, 9, 24, 259, "km+2", "km*3", "mk+1", "km-k"});
    check_product<float, 3>(parted, {3, 5, 7, 515, "bmk", "mk", "mbk", "bmk"});
    check_product<float, 3, decltype(parted), fk::BatchedGemm>(parted, {3, 70, 20, 300, "bmk", "bmk", "bmk", "bmk"});
}

TEST_CASE("HIP: split-K agrees with the oracle with a prologue and with Pool") {
    fk::hip::Device device = gpu();
    using Pooled = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>, Relu, fk::Pool<fk::Max, 2, 2>>;
    using After = fk::Plan<Norm, Relu, fk::Conv<fk::filter(3, 3).pad(1)>>;
    fk::Tensor<float, fk::hip::Device, 1> ones(device, fk::channels(64));
    ones.copy_from(std::vector<float>(64, 1).data());
    for (auto const& layout : {fk::nchw(1, 64, 10, 6), fk::nhwc(1, 10, 6, 64)}) {
        Floats x(device, layout), w(device, fk::kcrs(24, 64, 3, 3));
        x.copy_from(integers(x.size(), 1).data());
        w.copy_from(integers(w.size(), 2).data());
        auto const pooled = Pooled::bind({.weights = w}, {}, {});
        auto const after = After::bind({.mean = ones, .variance = ones, .scale = ones, .shift = ones, .epsilon = 0}, {},
                                       {.weights = w});
        auto whole = device.with<fk::hip::Gemm<64, 64, 16, 6>>();
        with_parts<Parted>(device, [&](auto& parted, int) {
            Floats of_pool(device, fk::packed_like(pooled.output_shape(layout.shape), layout));
            Floats of_after(device, fk::packed_like(after.output_shape(layout.shape), layout));
            OneTile::spoil(of_pool);
            OneTile::spoil(of_after);
            pooled(parted, x, of_pool);
            after(parted, x, of_after);
            CHECK(same_bits(numbers(of_pool), numbers(pooled(whole, x))));
            CHECK(same_bits(numbers(of_after), numbers(after(whole, x))));
        });
    }
}

TEST_CASE("HIP: split-K resets its workspace for the next run") {
    fk::hip::Device device = gpu();
    OneTile const product(device);
    std::vector<float> const expected = product.unsplit();
    with_parts<Parted>(device, [&](auto& parted, int) {
        Floats y = product.output();
        auto const run = product.layer().prepare(parted, product.x, y);
        CHECK((run.workspace_bytes() == 0) == fk::hip::launches_clusters(device.gpu()));
        fk::Workspace const one(device, run.workspace_bytes()), other(device, run.workspace_bytes());
        fk::hip::Stream const streams[] = {fk::hip::Stream(device), fk::hip::Stream::non_blocking(device)};
        for (fk::WorkspaceView const workspace : {one.view(), other.view()})
            if (workspace.bytes) {
                std::vector<unsigned char> const ones(workspace.bytes - GroupWorkspace::state_bytes, 0xff);
                auto* const values = static_cast<unsigned char*>(workspace.data) + GroupWorkspace::state_bytes;
                device.copy_in(values, ones.data(), ones.size());
            }
        for (int turn = 0; turn < 3; ++turn) {
            Floats of_other = product.output();
            OneTile::spoil(y);
            device.synchronize();
            run(streams[0], product.x, y, one);
            run(streams[1], product.x, of_other, other);
            streams[0].synchronize();
            streams[1].synchronize();
            CHECK(same_bits(numbers(y), expected));
            CHECK(same_bits(numbers(of_other), expected));
        }
    });
}

TEST_CASE("HIP: split-K is bitwise identical in each run") {
    fk::hip::Device device = gpu();
    auto const x = fk::random<float>(device, fk::nchw(1, 96, 9, 8)),
               w = fk::random<float>(device, fk::kcrs(70, 96, 3, 3));
    auto const layer = fk::Plan<fk::Conv<fk::filter(3, 3)>>::bind({.weights = w});
    auto parted = device.with<Parted<8>>();
    std::vector<float> first;
    for (int turn = 0; turn < 4; ++turn) {
        Floats y(device, fk::nchw(1, 70, 7, 6));
        OneTile::spoil(y);
        layer(parted, x, y);
        if (turn == 0) first = numbers(y);
        CHECK(same_bits(numbers(y), first));
    }
}

TEST_CASE("HIP: split-K is chosen by the table, and never for a schedule named by the caller") {
    fk::hip::Device device = gpu();
    auto const parts_on = [](auto const& stream, OneTile const& product, Floats& y) {
        auto const launch = stream.prepare(product.layer(), OneTile::Plan::collapse(product.x.const_view()),
                                           OneTile::Plan::collapse(y.view()));
        return launch.value().params.split_k.count;
    };
    OneTile const product(device);
    Floats y = product.output();
    bool const chooses =
        fk::hip::with_tuning(device.architecture(), []<class Tuning>(Tuning) { return Tuning::chooses_split; });
    CHECK((parts_on(device, product, y) >= 2) == chooses);
    CHECK(parts_on(device.with<fk::hip::Gemm<64, 64, 16, 6>>(), product, y) == 1);
    bool const clusters = fk::hip::launches_clusters(device.gpu());
    fk::hip::Stream const without_workspace(device, device.stream());
    CHECK((parts_on(without_workspace, product, y) >= 2) == (chooses && clusters));
    auto const run = product.layer().prepare(device, product.x, y);
    CHECK((run.workspace_bytes() == 0) == (clusters || !chooses));
    std::vector<float> const expected = product.unsplit();
    run(device, product.x, y);
    CHECK(same_bits(numbers(y), expected));
    OneTile::spoil(y);
    Runner replays(device, 3);
    product.layer()(replays, product.x, y);
    CHECK(same_bits(numbers(y), expected));
    OneTile::spoil(y);
    product.layer()(without_workspace, product.x, y);
    CHECK(same_bits(numbers(y), expected));
}

TEST_CASE("HIP: a Split schedule named by the caller has its split-K factor") {
    fk::hip::Device device = gpu();
    OneTile const product(device);
    Floats y = product.output();
    auto const parts_on = [&](auto const& scheduled) {
        return scheduled
            .prepare(product.layer(), OneTile::Plan::collapse(product.x.const_view()),
                     OneTile::Plan::collapse(y.view()))
            .value()
            .params.split_k.count;
    };
    CHECK(parts_on(device.with<Parted<2>>()) == 2);
    CHECK(parts_on(device.with<Parted<8>>()) == 8);
}

TEST_CASE("HIP: split-K on matrix units is chosen for tensors that TMA cannot load") {
    fk::hip::Device device = sm90a_device();
    using Halves = fk::Tensor<fk::half, fk::hip::Device>;
    using Plan = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>>;
    for (auto const& [x_layout, w_layout, y_layout, is_shared] :
         {std::tuple{fk::nchw(1, 64, 7, 7), fk::kcrs(24, 64, 3, 3), fk::nchw(1, 24, 7, 7), true},
          std::tuple{fk::nhwc(1, 7, 7, 64), fk::krsc(24, 3, 3, 64), fk::nhwc(1, 7, 7, 24), false}}) {
        Halves const x(device, x_layout), w(device, w_layout);
        Halves y(device, y_layout);
        auto const launch =
            device.prepare(Plan::bind({.weights = w}), Plan::collapse(x.const_view()), Plan::collapse(y.view()));
        CHECK((launch.value().params.split_k.count > 1) == is_shared);
    }
}

TEST_CASE("HIP: split-K on matrix units is bitwise identical in each run") {
    fk::hip::Device device = sm90a_device();
    auto const x = fk::random<fk::half>(device, fk::nchw(1, 96, 9, 8)),
               w = fk::random<fk::half>(device, fk::kcrs(70, 96, 3, 3));
    auto const layer = fk::Plan<fk::Conv<fk::filter(3, 3)>>::bind({.weights = w});
    auto parted = device.with<MatrixParted<8>>();
    std::vector<float> first;
    for (int turn = 0; turn < 4; ++turn) {
        Floats y(device, fk::nchw(1, 70, 7, 6));
        OneTile::spoil(y);
        layer(parted, x, y);
        if (turn == 0) first = numbers(y);
        CHECK(std::isfinite(first[0]));
        CHECK(same_bits(numbers(y), first));
    }
}
