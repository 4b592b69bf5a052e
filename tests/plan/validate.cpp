// SPDX-License-Identifier: MIT
#include "fusekit/plan/validate.hpp"

#include <sys/mman.h>

#include <catch2/catch_test_macros.hpp>
#include <limits>
#include <memory>
#include <vector>

#include "fusekit/fusekit.hpp"
#include "support/memory.hpp"
#include "support/random.hpp"

using namespace test;

namespace {

constexpr std::int64_t huge = std::int64_t{1} << 40;
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

std::vector<double> integers(std::int64_t size, std::uint64_t seed) {
    Random random(seed);
    std::vector<double> all(static_cast<std::size_t>(size));
    for (double& value : all) value = static_cast<double>(random.range(1, 4));
    return all;
}

template <int Rank>
Memory<Rank> filled(fk::Layout<Rank> const& layout, std::uint64_t seed, fk::DataType type = fk::DataType::float32) {
    return {type, layout, integers(layout.size(), seed)};
}

/// Texts of a refusal, each contained in a member of the error.
struct Refusal {
    std::string operator_name, argument, expected, given;
};

/// x of 2 x 6 x 5 x 7, 3 x 3 weights for 8 output channels, and a poisoned output.
struct BadInput {
    fk::host::Device device{2};
    Memory<4> x = filled(fk::nhwc(2, 5, 7, 6), 1), w = filled(fk::krsc(8, 3, 3, 6), 2),
              z = filled(fk::nhwc(2, 5, 7, 8), 3);
    Memory<1> b = filled(fk::channels(8), 4), c = filled(fk::channels(6), 5);
    Memory<3> map = filled(fk::chw(6, 5, 7), 6);
    Memory<4> y{fk::DataType::float32, fk::nhwc(2, 5, 7, 8), 64}, y6{fk::DataType::float32, fk::nhwc(2, 5, 7, 6), 64};

    using View = fk::TensorView<float const>;
    View in() { return x.view<float const>(); }
    fk::TensorView<float> out() { return y.view<float>(); }
    fk::TensorView<float> out6() { return y6.view<float>(); }
    fk::TensorView<float const, 1> statistic() { return c.view<float const>(); }

    /// Checks that the call throws `refusal` and that outputs are unchanged.
    template <class Plan>
    void refuse(Refusal const& refusal, auto call) {
        bool thrown = false;
        try {
            call();
        } catch (fk::Error const& error) {
            thrown = true;
            std::string const what = error.what();
            INFO(what);
            CHECK(error.plan == fk::type_name<Plan>());
            CHECK(error.operator_name == refusal.operator_name.c_str());
            CHECK(error.argument == refusal.argument.c_str());
            CHECK(error.expected.contains(refusal.expected.c_str()));
            CHECK(error.given.contains(refusal.given.c_str()));
            CHECK(!error.given.empty());
            for (auto const& part : {error.plan, error.operator_name, error.argument, error.expected, error.given})
                CHECK(what.find(part.c_str()) != std::string::npos);
        }
        INFO(refusal.operator_name << "." << refusal.argument << ": " << refusal.expected << ", " << refusal.given);
        CHECK(thrown);
        CHECK(y.untouched(true));
        CHECK(y6.untouched(true));
        y.reset(), y6.reset();
    }
};

using Static = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>, fk::Bias, fk::Activation<fk::Relu>>;
using Dynamic = fk::Plan<fk::Conv<fk::dynamic>>;
using Norm = fk::Plan<fk::BatchNormInference<fk::Spatial>>;
using Add = fk::Plan<fk::Residual>;

}  // namespace

TEST_CASE_METHOD(BadInput, "channels and shapes that do not match are refused, and the next good call works") {
    std::string const conv = "Conv<filter(3, 3).pad(1)>";
    auto const good = Static::bind({.weights = w.any()}, {.bias = b.any()}, {});
    auto five = filled(fk::krsc(8, 3, 3, 5), 7), five_taps = filled(fk::krsc(8, 3, 5, 6), 7);
    auto seven = filled(fk::channels(7), 7);
    refuse<Static>({conv, "weights", "8 x 6 x 3 x 3", "8 x 5 x 3 x 3"},
                   [&] { Static::bind({.weights = five.any()}, {.bias = b.any()}, {})(device, in(), out()); });
    refuse<Static>({conv, "weights", "8 x 6 x 3 x 3", "8 x 6 x 3 x 5"},
                   [&] { Static::bind({.weights = five_taps.any()}, {.bias = b.any()}, {})(device, in(), out()); });
    refuse<Static>({"Bias", "bias", "8 (K)", "7"},
                   [&] { Static::bind({.weights = w.any()}, {.bias = seven.any()}, {})(device, in(), out()); });
    refuse<Static>({conv, "weights", "8 x 5 x 3 x 3", "8 x 6 x 3 x 3"}, [&] {
        auto narrow = filled(fk::nhwc(2, 5, 7, 5), 8);
        good(device, narrow.view<float const>(), out());
    });
    refuse<Static>({"y", "", "2 x 8 x 5 x 7", "2 x 6 x 5 x 7"}, [&] { good(device, in(), out6()); });
    refuse<Static>({"y", "", "2 x 8 x 5 x 7", "2 x 8 x 7 x 5"},
                   [&] { good(device, in(), fk::TensorView<float>(out().data, fk::nchw(2, 8, 7, 5))); });
    refuse<Add>({"Residual", "z", "2 x 6 x 5 x 7", "2 x 8 x 5 x 7"},
                [&] { Add::bind({.z = z.any()})(device, in(), out6()); });

    good(device, in(), out());
    CHECK(y.untouched());
    CHECK(!y.untouched(true));
    auto const again = good(device, in());
    for (std::int64_t i = 0; i < 560; ++i) REQUIRE(y.get(i) == again.data()[i]);
}

TEST_CASE_METHOD(BadInput, "parameters of channels with values beside the channels are refused") {
    Memory<4> four = filled(fk::nchw(1, 8, 1, 1), 4), images = filled(fk::nchw(2, 8, 1, 3), 4),
              filters = filled(fk::nchw(8, 1, 1, 1), 4);
    Memory<4> statistics = filled(fk::nchw(1, 6, 1, 2), 5);
    auto const bound = [&](fk::AnyView<4> const& bias) {
        return Static::bind({.weights = w.any()}, {.bias = bias}, {});
    };
    std::string const expected = "8 (K), or 1 x K x 1 x 1";
    refuse<Static>({"Bias", "bias", expected, "6 values a channel"}, [&] { bound(images.any())(device, in(), out()); });
    refuse<Static>({"Bias", "bias", expected, "8 values a channel"},
                   [&] { bound(filters.any())(device, in(), out()); });
    refuse<Norm>({"BatchNormInference<Spatial>", "variance", "6 (K), or 1 x K x 1 x 1", "2 values a channel"}, [&] {
        Norm::bind({.mean = statistic(),
                    .variance = statistics.view<float const>(),
                    .scale = statistic(),
                    .shift = statistic()})(device, in(), out6());
    });

    auto const flat = Static::bind({.weights = w.any()}, {.bias = b.any()}, {})(device, in());
    bound(four.any())(device, in(), out());
    for (std::int64_t i = 0; i < 560; ++i) REQUIRE(y.get(i) == flat.data()[i]);
}

TEST_CASE_METHOD(BadInput, "wrong filters are refused") {
    auto const call = [&](fk::Filter<2> const& f) {
        return [this, f] { Dynamic::bind({.weights = w.any(), .filter = f})(device, in(), out()); };
    };
    auto const f = fk::filter(3, 3);
    std::string const conv = "Conv<dynamic>";
    refuse<Dynamic>({conv, "filter", "1 group or more", "0"}, call(f.groups(0)));
    refuse<Dynamic>({conv, "filter", "1 group or more", "-2"}, call(f.groups(-2)));
    refuse<Dynamic>({conv, "filter", "groups that divide C", "groups(4) with C = 6"}, call(f.groups(4)));
    refuse<Dynamic>(
        {conv, "weights", "3 x 2 x 3 x 3 (K x C/groups x R x S), or another multiple of 3 for K", "8 x 6 x 3 x 3"},
        call(f.groups(3)));
    refuse<Dynamic>({conv, "weights", "8 x 3 x 3 x 3", "8 x 6 x 3 x 3"}, call(f.groups(2)));
    refuse<Dynamic>({conv, "filter", "size", "0"}, call(fk::filter(3, 0)));
    refuse<Dynamic>({conv, "filter", "stride", "0"}, call(f.stride(0, 1)));
    refuse<Dynamic>({conv, "filter", "stride", "-1"}, call(f.stride(1, -1)));
    refuse<Dynamic>({conv, "filter", "dilation", "0"}, call(f.dilation(1, 0)));
    refuse<Dynamic>({conv, "filter", "padding", "-1"}, call(f.pad(0, 0, -1, 0)));
    refuse<Dynamic>({conv, "filter", "padding", "-3"}, call(f.pad(-3)));
    refuse<Dynamic>({conv, "filter", "output of at least 1 x 1", "filter(6, 3) on 2 x 6 x 5 x 7"},
                    call(fk::filter(6, 3)));
    refuse<Dynamic>({conv, "filter", "output of at least 1 x 1", "2 x 6 x 5 x 7"}, call(f.dilation(1, 4)));
    refuse<Dynamic>({conv, "filter", "output of at least 1 x 1", ""},
                    call(f.dilation(std::numeric_limits<int>::max())));
    refuse<Dynamic>({conv, "weights", "8 x 6 x 1 x 1", "8 x 6 x 3 x 3"}, call(fk::filter(1, 1)));
}

TEST_CASE_METHOD(BadInput, "signals and volumes are refused by their own extents") {
    using Volume = fk::Plan<fk::Conv<fk::filter(3, 2, 3).pad(1, 0, 1)>, fk::Residual>;
    using Map = fk::Plan<fk::BatchNormInference<fk::PerActivation>>;
    using Signal = fk::Plan<fk::Conv<fk::filter(4)>, fk::Residual>;
    std::string const conv = "Conv<filter(3, 2, 3).pad(1, 0, 1)>";
    auto in = filled(fk::ncdhw(2, 3, 4, 6, 5), 1), weights = filled(fk::ktrsc(8, 3, 2, 3, 3), 2),
         sum = filled(fk::ndhwc(2, 4, 5, 5, 8), 3), turned = filled(fk::ndhwc(2, 5, 4, 5, 8), 3),
         wide = filled(fk::kctrs(8, 3, 2, 3, 3), 4), thin = filled(fk::ncdhw(2, 3, 4, 1, 5), 5);
    Memory<5> own{fk::DataType::float32, fk::ncdhw(2, 8, 4, 5, 5), 64};
    auto const x5 = in.view<float const>();
    auto const y5 = own.view<float>();
    auto const good = Volume::bind({.weights = weights.any()}, {.z = sum.any()});
    refuse<Volume>({conv, "weights", "8 x 3 x 3 x 2 x 3 (K x C/groups x T x R x S) for x of 2 x 3 x 4 x 6 x 5",
                    "8 x 3 x 2 x 3 x 3"},
                   [&] { Volume::bind({.weights = wide.any()}, {.z = sum.any()})(device, x5, y5); });
    refuse<Volume>({"Residual", "z", "2 x 8 x 4 x 5 x 5 (N x K x O x P x Q)", "2 x 8 x 5 x 4 x 5"},
                   [&] { Volume::bind({.weights = weights.any()}, {.z = turned.any()})(device, x5, y5); });
    refuse<Volume>({conv, "filter", "at least 1 x 1 x 1", "filter(3, 2, 3).pad(1, 0, 1) on 2 x 3 x 4 x 1 x 5"},
                   [&] { good(device, thin.view<float const>(), y5); });
    refuse<Volume>({"y", "", "2 x 8 x 4 x 5 x 5 (N x K x O x P x Q)", "2 x 8 x 5 x 4 x 5"},
                   [&] { good(device, x5, fk::TensorView<float, 5>(y5.data, fk::ncdhw(2, 8, 5, 4, 5))); });
    fk::TensorView<float const, 5> const every_other(x5.data, {{{2, 3, 2, 6, 5}}, {{360, 120, 60, 5, 1}}});
    refuse<Volume>({"x", "", "slices without gaps in memory", "gaps"}, [&] { (void)good(device, every_other); });
    refuse<Volume>({"Residual", "z", "slices without gaps", "gaps"}, [&] {
        fk::TensorView<float const, 5> const apart(sum.view<float const>().data,
                                                   {{{2, 8, 4, 5, 5}}, {{1, 1, 0, 5, 1}}});
        Volume::bind({.weights = weights.any()}, {.z = apart})(device, x5, y5);
    });
    refuse<Volume>({"x", "", "extents of 0 or more", "2 x 3 x -1 x 6 x 5"},
                   [&] { good(device, fk::TensorView<float const, 5>(x5.data, fk::ncdhw(2, 3, -1, 6, 5)), y5); });
    refuse<Volume>({"Residual", "z", "2 x 8 x 0 x 5 x 5 (N x K x O x P x Q)", "2 x 8 x 4 x 5 x 5"},
                   [&] { (void)good(device, fk::TensorView<float const, 5>(x5.data, fk::ncdhw(2, 3, 0, 6, 5))); });
    refuse<Volume>({"x", "", "extents of 0 or more", "2 x 3 x 1099511627776 x 1099511627776 x 5"}, [&] {
        good(device, fk::TensorView<float const, 5>(x5.data, {{{2, 3, huge, huge, 5}}, {{1, 1, 1, 1, 1}}}), y5);
    });
    auto const mean = filled(fk::cdhw(3, 6, 4, 5), 6);
    refuse<Map>({"BatchNormInference<PerActivation>", "mean", "3 x 4 x 6 x 5 (K x O x P x Q)", "3 x 6 x 4 x 5"}, [&] {
        auto copy = mean;
        auto const map5 = copy.view<float const>();
        (void)Map::bind({map5, map5, map5, map5})(device, x5);
    });
    auto tone = filled(fk::ncw(2, 3, 9), 7), taps = filled(fk::kcs(8, 3, 4), 8), late = filled(fk::ncw(2, 8, 5), 9);
    auto image = filled(fk::nchw(2, 8, 1, 6), 9);
    refuse<Signal>({"Residual", "z", "2 x 8 x 6 (N x K x Q)", "2 x 8 x 5"}, [&] {
        (void)Signal::bind({.weights = taps.any()}, {.z = late.any()})(device, tone.view<float const>());
    });
    refuse<Signal>({"Residual", "z", "2 x 8 x 6 (N x K x Q)", "2 x 8 x 1 x 6"}, [&] {
        (void)Signal::bind({.weights = taps.any()}, {.z = image.any()})(device, tone.view<float const>());
    });
    CHECK(own.untouched(true));
    good(device, x5, y5);
    CHECK(own.untouched());
    CHECK(!own.untouched(true));
}

TEST_CASE_METHOD(BadInput, "null pointers are refused") {
    auto const none = [](fk::Layout<4> const& layout) { return View(nullptr, layout); };
    fk::TensorView<float const, 1> const no_vector(nullptr, fk::channels(8)), no_statistic(nullptr, fk::channels(6));
    auto const good = Static::bind({.weights = w.any()}, {.bias = b.any()}, {});
    refuse<Static>({"Conv<filter(3, 3).pad(1)>", "weights", "a pointer to 8 x 6 x 3 x 3 elements", "null"},
                   [&] { Static::bind({.weights = none(w.layout)}, {.bias = b.any()}, {})(device, in(), out()); });
    refuse<Static>({"Bias", "bias", "a pointer to 8 elements", "null"},
                   [&] { Static::bind({.weights = w.any()}, {.bias = no_vector}, {})(device, in(), out()); });
    refuse<Static>({"x", "", "a pointer to 2 x 6 x 5 x 7 elements", "null"},
                   [&] { good(device, none(x.layout), out()); });
    refuse<Static>({"y", "", "a pointer to 2 x 8 x 5 x 7 elements", "null"},
                   [&] { good(device, in(), fk::TensorView<float>(nullptr, y.layout)); });
    refuse<Static>({"x", "", "a pointer", "null"}, [&] { (void)good(device, none(x.layout)); });
    refuse<Add>({"Residual", "z", "a pointer", "null"},
                [&] { Add::bind({.z = none(x.layout)})(device, in(), out6()); });
    for (int missing = 0; missing < 4; ++missing) {
        fk::TensorView<float const, 1> s[] = {statistic(), statistic(), statistic(), statistic()};
        s[missing] = no_statistic;
        char const* const names[] = {"mean", "variance", "scale", "shift"};
        refuse<Norm>({"BatchNormInference<Spatial>", names[missing], "a pointer to 6 elements", "null"},
                     [&] { Norm::bind({s[0], s[1], s[2], s[3]})(device, in(), out6()); });
    }
}

TEST_CASE_METHOD(BadInput, "an output that shares memory with an input or an argument is refused") {
    std::vector<float> shared(2000, 1.0f);
    auto const at = [&](std::int64_t offset, fk::Layout<4> const& layout) {
        return fk::TensorView<float>(shared.data() + offset, layout);
    };
    auto const same = std::vector<float>(shared);
    auto const relu = fk::Plan<fk::Activation<fk::Relu>>::bind({});
    Refusal const apart{"x", "", "memory apart from the output's", "overlaps"};
    auto const layout = fk::nhwc(2, 5, 7, 6);  // 420 elements
    for (std::int64_t const shift : {1, -1, 419, -419})
        refuse<fk::Plan<fk::Activation<fk::Relu>>>(apart,
                                                   [&] { relu(device, at(800, layout), at(800 + shift, layout)); });
    auto const backwards = fk::Layout<4>{layout.shape, {{-210, -1, -42, -6}}};
    refuse<fk::Plan<fk::Activation<fk::Relu>>>(apart, [&] { relu(device, at(1219, backwards), at(800, layout)); });
    refuse<Add>({"Residual", "z", "apart", "overlaps"},
                [&] { Add::bind({.z = at(0, layout)})(device, in(), at(419, layout)); });
    refuse<Static>({"Conv<filter(3, 3).pad(1)>", "weights", "apart", "overlaps"}, [&] {
        Static::bind({.weights = at(0, w.layout)}, {.bias = b.any()}, {})(device, in(), at(431, y.layout));
    });
    refuse<Static>({"Bias", "bias", "apart", "overlaps"}, [&] {
        fk::TensorView<float const, 1> const inside(shared.data() + 100, fk::channels(8));
        Static::bind({.weights = w.any()}, {.bias = inside}, {})(device, in(), at(0, y.layout));
    });
    refuse<Norm>({"BatchNormInference<Spatial>", "shift", "apart", "overlaps"}, [&] {
        fk::TensorView<float const, 1> const inside(shared.data() + 400, fk::channels(6));
        Norm::bind({statistic(), statistic(), statistic(), inside})(device, in(), at(0, layout));
    });
    CHECK(shared == same);

    relu(device, at(0, layout), at(420, layout));  // adjacent regions share nothing
    relu(device, at(1219, backwards), at(1220, layout));
    CHECK(shared == same);
}

TEST_CASE_METHOD(BadInput, "an epsilon out of range is refused") {
    for (float const epsilon : {-1.0f, -1e-9f, infinity, -infinity, not_a_number})
        refuse<Norm>({"BatchNormInference<Spatial>", "epsilon", "a finite number, 0 or more", ""}, [&] {
            Norm::bind({statistic(), statistic(), statistic(), statistic(), epsilon})(device, in(), out6());
        });
    auto const view = map.view<float const>();
    refuse<fk::Plan<fk::BatchNormInference<fk::PerActivation>>>(
        {"BatchNormInference<PerActivation>", "epsilon", "finite", "-0.5"}, [&] {
            fk::Plan<fk::BatchNormInference<fk::PerActivation>>::bind({view, view, view, view, -0.5f})(device, in(),
                                                                                                       out6());
        });
    fk::TensorView<float const, 3> const wrong(view.data, fk::chw(6, 7, 5));
    refuse<fk::Plan<fk::BatchNormInference<fk::PerActivation>>>(
        {"BatchNormInference<PerActivation>", "scale", "6 x 5 x 7", "6 x 7 x 5"}, [&] {
            fk::Plan<fk::BatchNormInference<fk::PerActivation>>::bind({view, view, wrong, view})(device, in(), out6());
        });
    Norm::bind({statistic(), statistic(), statistic(), statistic(), 0.0f})(device, in(), out6());
    CHECK(!y6.untouched(true));
}

TEST_CASE_METHOD(BadInput, "element types that differ are refused") {
    auto halves = filled(fk::krsc(8, 3, 3, 6), 9, fk::DataType::float16);
    auto brains = filled(fk::nhwc(2, 5, 7, 6), 9, fk::DataType::bfloat16);
    refuse<Static>({"Conv<filter(3, 3).pad(1)>", "weights", "float", "half"},
                   [&] { Static::bind({.weights = halves.any()}, {.bias = b.any()}, {})(device, in(), out()); });
    refuse<Static>({"Conv<filter(3, 3).pad(1)>", "weights", "bfloat16", "float"}, [&] {
        (void)Static::bind({.weights = w.any()}, {.bias = b.any()}, {})(device, brains.view<fk::bfloat16 const>());
    });
}

TEST_CASE_METHOD(BadInput, "extents below 0 or whose product overflows are refused") {
    auto const good = Static::bind({.weights = w.any()}, {.bias = b.any()}, {});
    auto const relu = fk::Plan<fk::Activation<fk::Relu>>::bind({});
    float* const data = out().data;
    for (auto const& shape :
         {fk::Index<4>{{-1, 6, 5, 7}}, fk::Index<4>{{2, 6, -5, 7}}, fk::Index<4>{{0, 6, huge, huge}},
          fk::Index<4>{{huge, 6, huge, 7}}, fk::Index<4>{{1, 6, huge, 1 << 20}},
          fk::Index<4>{{std::numeric_limits<std::int64_t>::max(), 6, 1, 1}}}) {
        fk::Layout<4> const layout{shape, {{1, 1, 1, 1}}};
        Refusal const refusal{"x", "", "extents of 0 or more", fk::to_string(shape)};
        refuse<Static>(refusal, [&] { good(device, View(in().data, layout), out()); });
        refuse<Static>(refusal, [&] { (void)good(device, View(in().data, layout)); });
        refuse<fk::Plan<fk::Activation<fk::Relu>>>(
            refusal, [&] { relu(device, View(in().data, layout), fk::TensorView<float>(data, layout)); });
    }
    // The number of output channels makes the output, not the input, too large.
    View const many(w.view<float const>().data, {{{std::int64_t{1} << 60, 6, 3, 3}}, {{0, 1, 18, 6}}});
    refuse<Dynamic>({"y", "", "extents of 0 or more", "2 x 1152921504606846976 x 5 x 7"},
                    [&] { (void)Dynamic::bind({.weights = many, .filter = fk::filter(3, 3).pad(1)})(device, in()); });
}

TEST_CASE_METHOD(BadInput, "strides that leave the address space are refused") {
    auto const relu = fk::Plan<fk::Activation<fk::Relu>>::bind({});
    using Relu = fk::Plan<fk::Activation<fk::Relu>>;
    std::int64_t const far = std::int64_t{1} << 62;
    fk::Layout<4> const layout{{{2, 6, 5, 7}}, {{far, 1, 42, 6}}}, three{{{3, 6, 5, 7}}, {{far, 1, 42, 6}}};
    refuse<Relu>({"x", "", "strides", ""}, [&] { relu(device, View(in().data, layout), out6()); });
    refuse<Relu>({"y", "", "strides", ""}, [&] { relu(device, in(), fk::TensorView<float>(out6().data, layout)); });
    refuse<Relu>({"x", "", "strides", ""}, [&] { (void)relu(device, View(in().data, three)); });
}

TEST_CASE_METHOD(BadInput, "an output whose strides do not nest is refused") {
    auto const relu = fk::Plan<fk::Activation<fk::Relu>>::bind({});
    for (auto const& stride :
         {fk::Index<4>{{0, 1, 42, 6}}, fk::Index<4>{{210, 0, 42, 6}}, fk::Index<4>{{210, 1, 42, 5}},
          fk::Index<4>{{209, 1, 42, 6}}, fk::Index<4>{{-209, 1, 42, 6}}, fk::Index<4>{{1, 1, 1, 1}}})
        refuse<fk::Plan<fk::Activation<fk::Relu>>>(
            {"y", "", "strides that each exceed the reach of all smaller ones", fk::to_string(stride)},
            [&] { relu(device, in(), fk::TensorView<float>(out6().data + 300, {x.layout.shape, stride})); });
    fk::Layout<4> const single{{{1, 1, 1, 1}}, {{0, 0, 0, 0}}};  // one element overlaps no other
    relu(device, View(in().data, single), fk::TensorView<float>(out6().data, single));
    CHECK(!y6.untouched(true));
}

TEST_CASE("elements more than 2^31 apart are reached") {
    struct Unmap {
        std::size_t bytes;
        void operator()(void* memory) const { munmap(memory, bytes); }
    };
    std::int64_t const apart = (std::int64_t{5} << 30) + 12345, elements = apart + 4096;  // offset of the second image
    auto const map = [&](std::int64_t count) {
        std::size_t const bytes = static_cast<std::size_t>(count) * sizeof(float);
        void* const memory =
            mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        REQUIRE(memory != MAP_FAILED);
        return std::unique_ptr<float, Unmap>(static_cast<float*>(memory), Unmap{bytes});
    };
    auto const x_memory = map(elements), y_memory = map(elements), w_memory = map(elements);
    fk::host::Device device(2);
    for (bool const last : {true, false}) {
        fk::Layout<4> layout = last ? fk::nhwc(2, 4, 5, 3) : fk::nchw(2, 3, 4, 5), weights = fk::krsc(3, 1, 1, 3);
        layout.stride[0] = apart;
        weights.stride[0] = apart / 2 - 1;
        fk::TensorView<float> const x(x_memory.get(), layout), y(y_memory.get(), layout), w(w_memory.get(), weights);
        for (int n = 0; n < 2; ++n)
            for (int c = 0; c < 3; ++c)
                for (int i = 0; i < 20; ++i) x(n, c, i / 5, i % 5) = static_cast<float>(60 * n + 20 * c + i);
        for (int k = 0; k < 3; ++k)
            for (int c = 0; c < 3; ++c) w(k, c, 0, 0) = static_cast<float>(k == 2 - c);
        fk::Plan<fk::Conv<fk::filter(1, 1)>>::bind({.weights = w})(device, x, y);  // channels in reverse
        int wrong = 0;
        for (int n = 0; n < 2; ++n)
            for (int c = 0; c < 3; ++c)
                for (int i = 0; i < 20; ++i)
                    wrong += y(n, c, i / 5, i % 5) != static_cast<float>(60 * n + 20 * (2 - c) + i);
        CHECK(wrong == 0);
        fk::Plan<fk::Scale>::bind({.factor = -2})(device, x, y);
        CHECK(y(1, 2, 3, 4) == -2 * 119);
        CHECK(y(1, 0, 0, 0) == -2 * 60);
    }
}
