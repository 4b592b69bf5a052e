// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/dispatch/predict.hpp"

#include <string>
#include <vector>

#include "backend/hip/fewer_kernels.hpp"
#include "backend/hip/gpu.hpp"
#include "fusekit/hip.hpp"
#include "support/check_case.hpp"
#include "support/run_case.hpp"

using namespace test;

namespace {

using fk::hip::Architecture;
using Plan = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>>;
using Floats = fk::Tensor<float, fk::hip::Device>;

/// Convolution of few tiles and long sums of integers, which are exact in any order.
struct FewTiles {
    Floats x, w;

    explicit FewTiles(fk::hip::Device& device) : x(device, fk::nhwc(1, 4, 4, 64)), w(device, fk::krsc(64, 3, 3, 64)) {
        fill(x), fill(w);
    }
    static void fill(Floats& tensor) {
        std::vector<float> values(static_cast<std::size_t>(tensor.size()));
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 7 % 11) - 5;
        tensor.copy_from(values.data());
    }
    auto layer() const { return Plan::bind({.weights = w}); }
    fk::Layout<4> y() const { return fk::nhwc(1, 4, 4, 64); }
    std::vector<float> run(auto&& device, fk::hip::Device& owner) const {
        Floats out(owner, y());
        std::vector<float> values(static_cast<std::size_t>(out.size()), __builtin_nanf(""));
        out.copy_from(values.data());
        layer()(device, x, out);
        out.copy_to(values.data());
        return values;
    }
};

/// CTAs that share a tile in a launch on `stream`.
unsigned split_k_on(auto const& stream, FewTiles const& few, Floats& y) {
    return stream.prepare(few.layer(), Plan::collapse(few.x.const_view()), Plan::collapse(y.view()))
        .value()
        .params.split_k.count;
}

}  // namespace

TEST_CASE("HIP: a layer predicts time, bound and schedule for an absent GPU") {
    fk::hip::Device device = gpu();
    FewTiles const few(device);
    auto const at = [&](Architecture where, std::int64_t n, std::int64_t hw) {
        return few.layer().predict<float>(where, fk::nhwc(n, hw, hw, 64), fk::nhwc(n, hw, hw, 64));
    };
    auto const here = device.architecture();
    CHECK(at(here, 64, 56).seconds > 4 * at(here, 8, 56).seconds);
    auto rates = fk::hip::rates_of(here);
    rates.memory_bytes = 1e9;
    auto const slow = few.layer().predict<float>(rates, fk::nhwc(64, 56, 56, 64), fk::nhwc(64, 56, 56, 64));
    CHECK(slow.bound == fk::hip::Bound::memory);
    CHECK(slow.seconds > 2 * 64 * 56 * 56 * 64 * 4 / 1e9);
    CHECK(std::string(slow.to_string().c_str()).find(" us, limited by memory") != std::string::npos);
    CHECK_THROWS_AS(few.layer().predict<float>(here, fk::nhwc(1, 4, 4, 64), fk::nhwc(1, 4, 5, 64)), fk::Error);
}

TEST_CASE("HIP: a prediction needs no memory") {
    fk::hip::Device device = gpu();
    FewTiles const few(device);
    auto const unaddressed = Plan::bind({.weights = fk::TensorView<float const>(nullptr, few.w.layout())});
    auto const where = fk::hip::Architecture::sm(90);
    auto const expected = unaddressed.predict<float>(where, few.x.layout(), few.y());
    CHECK(expected.seconds == few.layer().predict<float>(where, few.x.layout(), few.y()).seconds);
    auto const wrong = Plan::bind({.weights = fk::TensorView<float const>(nullptr, fk::krsc(64, 3, 3, 32))});
    CHECK_THROWS_AS(wrong.predict<float>(where, few.x.layout(), few.y()), fk::Error);
}

TEST_CASE("HIP: few outputs of a depthwise filter without unrolled code are predicted for Direct, and exact") {
    auto const chosen = [](auto type, std::int64_t n, bool last, fk::Filter<2> const& filter) {
        using T = decltype(type);
        constexpr std::int64_t c = 64, hw = 28;
        auto const layer = fk::Plan<fk::Conv<fk::dynamic>>::bind(
            {.weights = fk::TensorView<T const>(nullptr, fk::kcrs(c, 1, filter.size[0], filter.size[1])),
             .filter = fk::Filter<2>(filter).groups(c)});
        fk::Layout<4> const image = last ? fk::nhwc(n, hw, hw, c) : fk::nchw(n, c, hw, hw);
        return std::string(layer.template predict<T>(Architecture::sm(90), image, image).schedule.name(1).c_str());
    };
    constexpr auto dilated = fk::filter(7, 7).pad(9).dilation(3), plain = fk::filter(7, 7).pad(3);
    bool const on_amd = fk::hip::arch::is_targeted<fk::hip::arch::Amd>;
    if (!on_amd) CHECK(chosen(fk::half(), 1, true, dilated) == "Direct<256>");
    CHECK(chosen(fk::half(), 8, true, dilated) == "Depthwise<128>");
    CHECK(chosen(fk::half(), 1, true, plain) == "Depthwise<128>");
    CHECK(chosen(fk::half(), 1, false, dilated) == "Depthwise<128>");
    CHECK(chosen(fk::half(), 1, true, fk::filter(1, 5).pad(0, 2)) == "Depthwise<128>");
    CHECK(chosen(float(), 1, true, dilated) == "Depthwise<128>");
    fk::hip::Device device = gpu();
    auto&& on = fewer_kernels<fk::hip::Direct<256>>(device);
    using On = std::remove_cvref_t<decltype(on)>;
    for (char const* sizes : {"n2c6h12w11k6r3s3pt2l2b2r2u1v1d2e2g6", "n1c5h9w14k10r9s7pt4l3b4r3u1v1d1e1g5"})
        check_case(Case::parse(std::string(sizes) + " nhwc krsc half CB #3"),
                   run_conv<On, fk::half, fk::dynamic, fk::Bias>, on);
}

TEST_CASE("HIP: a depthwise gradient by x is predicted for Depthwise, through strides too") {
    auto const check = [&]<fk::Filter<2> filter>(std::integral_constant<fk::Filter<2>, filter>, std::int64_t n) {
        auto const layer = fk::Plan<fk::TransposedConv<filter>>::bind(
            {.weights = fk::TensorView<float const>(nullptr, fk::kcrs(96, 1, filter.size[0], filter.size[1]))});
        for (std::int64_t const hw : {8, 112}) {
            auto const dx = fk::nhwc(n, hw, hw, 96),
                       dy = fk::nhwc(n, hw / filter.strides[0], hw / filter.strides[1], 96);
            auto const expected = layer.template predict<float>(Architecture::sm(90), dy, dx);
            CHECK(std::string(expected.schedule.name(1).c_str()) == "Depthwise<128>");
        }
    };
    for (std::int64_t const n : {1, 32}) {
        check(std::integral_constant<fk::Filter<2>, fk::filter(3, 3).pad(1).groups(96)>{}, n);
        check(std::integral_constant<fk::Filter<2>, fk::filter(3, 3).pad(1).stride(2).groups(96)>{}, n);
        check(std::integral_constant<fk::Filter<2>, fk::filter(7, 7).pad(3).stride(2).groups(96)>{}, n);
    }
}

TEST_CASE("HIP: a prediction is printed in words") {
    fk::hip::Device device = gpu();
    FewTiles const few(device);
    auto const layer = few.layer();
    Floats const& x = few.x;
    Floats const y(device, few.y());
    auto const expected = layer.predict<float>(fk::hip::Architecture::sm(90), x.layout(), y.layout());
    std::string const words = expected.to_string().c_str();  // the schedule, microseconds and the bound
    CHECK(words.find(expected.schedule.name(expected.split_k).c_str()) == 0);
    CHECK(expected.parts == expected.split_k);  // its former name
    CHECK(words.find(std::string(" us, limited by ") + name_of(expected.bound)) != std::string::npos);
}

TEST_CASE("HIP: the predicted schedule is the one that runs") {
    fk::hip::Device device = gpu();
    FewTiles const few(device);
    Floats y(device, few.y());
    auto const expected = few.layer().predict<float>(device, few.x.layout(), few.y());
    CHECK(split_k_on(device, few, y) == static_cast<unsigned>(expected.split_k));
}

TEST_CASE("HIP: a tuned table overrides the model for its problems") {
    fk::hip::Device device = gpu();
    FewTiles const few(device);
    Floats y(device, few.y());
    auto const key = fk::hip::tuned_key(few.layer(), few.x.const_view(), y.view());
    CHECK(key.c == 64);
    CHECK(key.r == 3);
    auto const all = predict_all(device, few.layer(), few.x.const_view(), y.view());
    std::vector<float> const expected = few.run(device, device);
    for (fk::hip::Prediction const& each : all) {
        fk::hip::TunedProblem const problem{key, each.schedule, each.schedule.splits ? 2 : 1};
        fk::hip::TunedTable table;
        table.architecture = device.architecture(), table.problems = &problem, table.count = 1;
        INFO(each.to_string().c_str());
        CHECK(split_k_on(device.tuned(table), few, y) == (each.schedule.splits ? 2u : 1u));
        CHECK(few.run(device.tuned(table), device) == expected);
        table.architecture = Architecture();
        CHECK(split_k_on(device.tuned(table), few, y) == split_k_on(device, few, y));
        fk::hip::TunedProblem other = problem;
        other.key.n = 2;
        table.architecture = device.architecture(), table.problems = &other;
        CHECK(split_k_on(device.tuned(table), few, y) == split_k_on(device, few, y));
    }
}

TEST_CASE("HIP: a tuned table's factors scale the model per kind of schedule") {
    fk::hip::Device device = gpu();
    FewTiles const few(device);
    Floats y(device, few.y());
    fk::hip::TunedTable table;
    table.architecture = device.architecture();
    CHECK(split_k_on(device.tuned(table), few, y) == split_k_on(device, few, y));
    std::vector<float> const expected = few.run(device, device);
    for (double& factor : table.factors) factor = 3;
    table.factors[static_cast<int>(fk::hip::ScheduleKind::gemm)] = 1e6;
    CHECK(few.run(device.tuned(table), device) == expected);
}

TEST_CASE("HIP: runs whose y has no elements are predicted to take no time") {
    auto const seconds = [](auto const& layer, fk::Layout<4> const& of_x, fk::Layout<4> const& of_y) {
        fk::TensorView<fk::half const> const x(nullptr, of_x);
        fk::TensorView<fk::half> const y(nullptr, of_y);
        return fk::hip::predict_run(Architecture::sm(90), layer, x, y).seconds;
    };
    auto const weights = [](fk::Layout<4> const& layout) { return fk::TensorView<fk::half const>(nullptr, layout); };
    using Strided = fk::Plan<fk::TransposedConv<fk::filter(3, 3).pad(1).stride(2)>>;
    CHECK(seconds(Strided::bind({.weights = weights(fk::krsc(64, 3, 3, 0))}), fk::nhwc(2, 4, 4, 64),
                  fk::nhwc(2, 8, 8, 0)) == 0);
    using Grouped = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1).groups(4)>>;
    auto const grouped = Grouped::bind({.weights = weights(fk::krsc(32, 3, 3, 8))});
    CHECK(seconds(grouped, fk::nhwc(2, 0, 8, 32), fk::nhwc(2, 0, 8, 32)) == 0);
    CHECK(seconds(grouped, fk::nhwc(2, 8, 0, 32), fk::nhwc(2, 8, 0, 32)) == 0);
}

TEST_CASE("HIP: a tuned table finds problems by key") {
    fk::hip::TunedKey const first{fk::DataType::float16, true, true, 1, 64, 7, 7, 64, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    fk::hip::TunedProblem problems[5];
    for (int i = 0; i < 5; ++i) problems[i].key = first, problems[i].key.n = 2 * i + 1, problems[i].split_k = i;
    fk::hip::TunedTable table;
    table.problems = problems;
    for (int count = 0; count <= 5; ++count) {
        table.count = count;
        for (long long n = 0; n <= 11; ++n) {
            fk::hip::TunedKey key = first;
            key.n = n;
            auto const found = table.find(key);
            CHECK((found != nullptr) == (n % 2 == 1 && n < 2 * count));
            if (found) CHECK(found->split_k == (n - 1) / 2);
        }
    }
}
