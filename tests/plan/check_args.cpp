// SPDX-License-Identifier: MIT
#include "fusekit/plan/check_args.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "fusekit/fusekit.hpp"
#include "support/refusal.hpp"

namespace fk = fusekit;

namespace {

/// y = x: only the arguments can be refused.
template <class TheArgs>
struct Own {
    static constexpr auto stage = fk::Stage::pointwise;
    using Args = TheArgs;
    static float apply(float x, Args const&) { return x; }
    static float slope(float, Args const&) { return 1; }
};
template <class TheArgs>
struct Unchecked : Own<TheArgs> {
    static void check(TheArgs const&, fk::Check const&) {}
};

struct PerChannel {
    fk::AnyView<1> values;
};
struct PerPixel {
    fk::TensorView<float const, 3> values;
};
struct Whole {
    fk::AnyView<4> values;
};
struct Volumes {
    fk::TensorView<float const, 5> values;
};
struct AnyRank {
    fk::AnyActivations values;
    fk::PixelParameters map;
};
struct Written {
    fk::AnyOutput values;
    fk::OptionalView<float, 1> totals = {};
};
struct Inner {
    bool flag;
    fk::OptionalView<float const, 1> values = {};
};
struct Mixed {
    char letter;
    double numbers[3];
    fk::OptionalView<float const, 1> pair[2];
    Inner inner[2];
    float* pointer;
    fk::TensorView<float const, 1> last;
};
struct Aligned {
    float first;
    alignas(16) float others[4];
    fk::TensorView<float const, 1> values;
};

/// Message of a run of the operator on 2 x 3 x 4 x 5; "accepted" if it runs. Checks that a refused run writes nothing.
struct Runs {
    fk::host::Device device{1};
    std::vector<float> x = std::vector<float>(120, 1), y = std::vector<float>(120, -7),
                       other = std::vector<float>(120, 2);

    template <class Op>
    std::string run(typename Op::Args const& args, fk::Layout<4> const& layout = fk::nchw(2, 3, 4, 5)) {
        return run_on<Op>(args, layout);
    }
    template <class Op, int Rank>
    std::string run_on(typename Op::Args const& args, fk::Layout<Rank> const& layout) {
        std::string const text = test::refusal([&] {
            fk::Plan<Op>::bind(args)(device, fk::TensorView<float const, Rank>(x.data(), layout),
                                     fk::TensorView<float, Rank>(y.data(), layout));
        });
        if (text == "accepted") {
            CHECK(y[0] == 1);
            y.assign(120, -7);
            return text;
        }
        for (float const value : y) REQUIRE(value == -7);
        return text.substr(text.find(": ") + 2);
    }
    template <int Rank>
    fk::TensorView<float const, Rank> in(fk::Layout<Rank> const& layout) const {
        return {other.data(), layout};
    }
    template <int Rank>
    fk::TensorView<float, Rank> out(fk::Layout<Rank> const& layout) {
        return {other.data(), layout};
    }
};

}  // namespace

TEST_CASE_METHOD(Runs, "an operator without a check has its views held to y") {
    std::string const own = "Own<PerChannel>.view 1 of Args: expected 3 (K), got ";
    CHECK(run<Own<PerChannel>>({in(fk::channels(3))}) == "accepted");
    CHECK(run<Own<PerChannel>>({in(fk::channels(2))}) == own + "2");
    CHECK(run<Own<PerChannel>>({in(fk::channels(4))}) == own + "4");

    CHECK(run<Own<PerPixel>>({in(fk::hwc(4, 5, 3))}) == "accepted");
    CHECK(run<Own<PerPixel>>({in(fk::chw(3, 5, 4))}) ==
          "Own<PerPixel>.view 1 of Args: expected 3 x 4 x 5 (K x P x Q), got 3 x 5 x 4");

    std::string const whole = "Own<Whole>.view 1 of Args: expected 2 x 3 x 4 x 5 (N x K x P x Q), got ";
    CHECK(run<Own<Whole>>({in(fk::nhwc(2, 4, 5, 3))}) == "accepted");
    CHECK(run<Own<Whole>>({in(fk::nchw(1, 3, 4, 5))}) ==
          whole + "1 x 3 x 4 x 5: write fk::broadcast(view, 2, 3, 4, 5)");
    CHECK(run<Own<Whole>>({fk::TensorView<float const>(y.data(), fk::nchw(2, 3, 4, 5))}) ==
          "Own<Whole>.view 1 of Args: expected memory apart from the output's, got memory that overlaps it");
    CHECK(run<Own<Whole>>({fk::TensorView<float const>(nullptr, fk::nchw(2, 3, 4, 5))}) ==
          "Own<Whole>.view 1 of Args: expected a pointer to 2 x 3 x 4 x 5 elements, got a null pointer");

    CHECK(run<Own<Written>>({out(fk::nchw(2, 3, 4, 5))}) == "accepted");
    CHECK(run<Own<Written>>({out(fk::nchw(2, 3, 4, 4))}) ==
          "Own<Written>.view 1 of Args: expected 2 x 3 x 4 x 5 (N x K x P x Q), got 2 x 3 x 4 x 4");
    CHECK(
        run<Own<Written>>({out(fk::nchw(2, 3, 4, 5)), out(fk::channels(3))}) ==
        "Own<Written>.view 2 of Args: expected memory apart from that of Own<Written>.view 1 of Args, got memory that "
        "overlaps it");
}

TEST_CASE_METHOD(Runs, "a view of extent 1 and stride 0 is a broadcast, and one with a stride is too short") {
    CHECK(run<Own<PerChannel>>({in(fk::Layout<1>{{{1}}, {{0}}})}) == "accepted");
    CHECK(run<Own<PerChannel>>({in(fk::channels(1))}) == "Own<PerChannel>.view 1 of Args: expected 3 (K), got 1");
    CHECK(run<Own<Whole>>({in(fk::Layout<4>{{{1, 3, 1, 1}}, {{0, 1, 0, 0}}})}) == "accepted");
    CHECK(run<Own<Whole>>({in(fk::Layout<4>{{{1, 3, 1, 1}}, {{0, 1, 1, 0}}})}) ==
          "Own<Whole>.view 1 of Args: expected 1 x 3 x 4 x 1 (N x K x P x Q), got 1 x 3 x 1 x 1: write "
          "fk::broadcast(view, 1, 3, 4, 1)");
    CHECK(run<Own<Whole>>({in(fk::Layout<4>{{{1, 2, 1, 1}}, {{0, 1, 0, 0}}})}) ==
          "Own<Whole>.view 1 of Args: expected 1 x 3 x 1 x 1 (N x K x P x Q), got 1 x 2 x 1 x 1");
}

TEST_CASE_METHOD(Runs, "views of signals and volumes are held to theirs") {
    auto const volume = fk::ncdhw(2, 3, 2, 2, 5);
    CHECK(run_on<Own<Volumes>>({in(fk::ndhwc(2, 2, 2, 5, 3))}, volume) == "accepted");
    CHECK(run_on<Own<Volumes>>({in(fk::ncdhw(2, 3, 4, 1, 5))}, volume) ==
          "Own<Volumes>.view 1 of Args: expected 2 x 3 x 2 x 2 x 5 (N x K x O x P x Q), got 2 x 3 x 4 x 1 x 5");
    CHECK(run_on<Own<AnyRank>>({in(volume), in(fk::cdhw(3, 2, 2, 5))}, volume) == "accepted");
    CHECK(run_on<Own<AnyRank>>({in(volume), in(fk::cdhw(3, 2, 2, 4))}, volume) ==
          "Own<AnyRank>.view 2 of Args: expected 3 x 2 x 2 x 5 (K x O x P x Q), got 3 x 2 x 2 x 4");
    CHECK(run_on<Own<Whole>>({in(fk::nchw(2, 3, 4, 5))}, volume) == "accepted");  // rows numbered as in OutputCoord
    CHECK(run_on<Own<AnyRank>>({in(fk::ncw(2, 3, 20)), in(fk::cw(3, 20))}, fk::ncw(2, 3, 20)) == "accepted");
    CHECK(run_on<Own<AnyRank>>({in(fk::ncw(2, 3, 20)), in(fk::cw(3, 19))}, fk::ncw(2, 3, 20)) ==
          "Own<AnyRank>.view 2 of Args: expected 3 x 20 (K x Q), got 3 x 19");
}

TEST_CASE_METHOD(Runs, "views are found among any fields") {
    auto const good = in(fk::channels(3)), bad = in(fk::channels(2));
    CHECK(run<Own<Mixed>>({'a', {}, {}, {}, nullptr, good}) == "accepted");
    CHECK(run<Own<Mixed>>({'a', {1, 2, 3}, {good, good}, {{true, good}, {true, good}}, x.data(), good}) == "accepted");
    std::string const says = " of Args: expected 3 (K), got 2";
    CHECK(run<Own<Mixed>>({'a', {}, {}, {}, nullptr, bad}) == "Own<Mixed>.view 5" + says);
    CHECK(run<Own<Mixed>>({'a', {1, 2, 3}, {good, bad}, {{true, good}, {true, good}}, x.data(), good}) ==
          "Own<Mixed>.view 2" + says);
    CHECK(run<Own<Mixed>>({'a', {1, 2, 3}, {good, good}, {{true, good}, {true, bad}}, x.data(), good}) ==
          "Own<Mixed>.view 4" + says);
    CHECK(run<Own<Aligned>>({1, {}, good}) ==
          "Own<Aligned>.Args: expected plain fields, or a check of the operator's own, got views together with "
          "bit-fields, "
          "references or alignas");
}

TEST_CASE_METHOD(Runs, "an operator with a check of its own has no other") {
    CHECK(run<Unchecked<PerChannel>>({in(fk::channels(2))}) == "accepted");
    CHECK(run<Unchecked<Aligned>>({1, {}, in(fk::channels(2))}) == "accepted");
}

TEST_CASE_METHOD(Runs, "a gradient holds the views of its plan's operators too") {
    auto const values = in(fk::channels(2));
    auto const layer = fk::Plan<Own<PerChannel>>::bind({values});
    auto const view = in(fk::nchw(2, 3, 4, 5));
    CHECK_THROWS_AS(fk::Backward<fk::Plan<Own<PerChannel>>>::bind(layer, view)(device, view), fk::Error);
    auto const long_enough = fk::Plan<Own<PerChannel>>::bind({in(fk::channels(3))});
    CHECK_NOTHROW(fk::Backward<fk::Plan<Own<PerChannel>>>::bind(long_enough, view)(device, view));
}

TEST_CASE_METHOD(Runs, "a description counts the bytes of an operator's views") {
    auto const about =
        fk::describe(fk::Plan<Own<Mixed>>::bind({'a', {}, {}, {}, nullptr, in(fk::channels(3))}), fk::nchw(2, 3, 4, 5));
    CHECK(about.steps[0].parameter_bytes == 12);
}
