// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/dispatch/grouped.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "backend/hip/gpu.hpp"
#include "fusekit/hip.hpp"

using namespace test;

namespace {

using fk::half;
using fk::hip::Architecture;
using Plan = fk::Plan<fk::Conv<fk::dynamic>, fk::Activation<fk::Relu>>;
using Tensor = fk::Tensor<half, fk::hip::Device>;

/// A convolution of integers, whose sums are exact in half.
struct Problem {
    fk::hip::Device& device;
    fk::Filter<2> filter;
    Tensor w;

    Problem(fk::hip::Device& the_device, int c, int k, int groups)
        : device(the_device), filter(fk::filter(3, 3).pad(1).groups(groups)), w(device, fk::krsc(k, 3, 3, c / groups)) {
        fill(w);
    }
    static half value(std::int64_t i) { return half(static_cast<float>(i * 7 % 5 - 2)); }
    static void fill(Tensor& tensor) {
        std::vector<half> values(static_cast<std::size_t>(tensor.size()));
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = value(static_cast<std::int64_t>(i));
        tensor.copy_from(values.data());
    }
    auto layer() const { return Plan::bind({.weights = w, .filter = filter}, {}); }

    fk::hip::ScheduleKind predicted(fk::TensorView<half const> const& x, fk::TensorView<half> const& y) const {
        return fk::hip::predict_run(device, layer(), x, y).schedule.kind;
    }
    /// True if the library selects Grouped for these views.
    bool selects(fk::TensorView<half const> const& x, fk::TensorView<half> const& y) const {
        using Mainloop = fk::hip::GroupedConv<Plan, fk::hip::DefaultGrouped, half, half>;
        using OfSm90a = fk::hip::GroupedTmaConv<Plan, fk::hip::DefaultGrouped, half, half>;
        auto const launch = device.prepare(layer(), Plan::collapse(x), Plan::collapse(y)).value();
        return launch.kernel == fk::hip::kernel_of<Plan, Mainloop>().function ||
               launch.kernel == fk::hip::kernel_of<Plan, OfSm90a>().function;
    }
};

/// True for the schedules that compute several groups on sm_90a's tensor cores.
bool has_groups(fk::hip::ScheduleKind kind) {
    using enum fk::hip::ScheduleKind;
    return kind == grouped || kind == halo || kind == warp_specialized;
}

/// A view of 2 x c x 7 x 6 elements in a buffer, whose pixels are `pitch` elements apart from element `first` on.
struct Pixels {
    std::int64_t c, pitch, first;
    Tensor buffer;

    Pixels(fk::hip::Device& device, std::int64_t the_c, std::int64_t the_pitch, std::int64_t the_first)
        : c(the_c), pitch(the_pitch), first(the_first), buffer(device, fk::nhwc(1, 1, 1, 2 * 7 * 6 * pitch + 8)) {
        std::vector<half> values(static_cast<std::size_t>(buffer.size()), half(__builtin_nanf("")));
        for (std::int64_t pixel = 0; pixel < 2 * 7 * 6; ++pixel)
            for (std::int64_t i = 0; i < c; ++i)
                values[static_cast<std::size_t>(first + pixel * pitch + i)] = Problem::value(pixel * c + i);
        buffer.copy_from(values.data());
    }
    fk::TensorView<half> view() {
        fk::TensorView<half> result{buffer.data() + first, fk::nhwc(2, 7, 6, c)};
        result.layout.stride = {{42 * pitch, 1, 6 * pitch, pitch}};
        return result;
    }
    std::vector<half> numbers() {
        std::vector<half> all(static_cast<std::size_t>(buffer.size())), result;
        buffer.copy_to(all.data());
        for (std::int64_t pixel = 0; pixel < 2 * 7 * 6; ++pixel)
            for (std::int64_t i = 0; i < c; ++i)
                result.push_back(all[static_cast<std::size_t>(first + pixel * pitch + i)]);
        return result;
    }
};

}  // namespace

TEST_CASE("HIP: the library selects a schedule of groups, and another one for misaligned pixels") {
    fk::hip::Device device = gpu();
    bool const runs = fk::hip::GroupedEntry::runs_on(device.architecture());
    bool const of_sm90a = fk::hip::detail::is_sm90a(device.architecture());
    for (auto const& [c, k, groups] : {std::tuple{32, 64, 8}, {48, 48, 2}, {64, 64, 8}, {64, 32, 2}, {128, 128, 4}}) {
        INFO(c << " " << k << " " << groups);
        Problem const problem(device, c, k, groups);
        Pixels x(device, c, c, 0), y(device, k, k, 0);
        CHECK((of_sm90a ? has_groups(problem.predicted(x.view(), y.view()))
                        : problem.selects(x.view(), y.view()) == runs));
        problem.layer()(device, x.view(), y.view());
        std::vector<half> const expected = y.numbers();
        struct Slices {
            int x_pitch, x_first, y_pitch, y_first;
            bool aligned;
        };
        for (Slices const& at : {Slices{c + 8, 0, k + 16, 0, true},
                                 {c, 8, k, 8, true},
                                 {c, 1, k, 0, false},
                                 {c, 0, k, 4, false},
                                 {c + 4, 0, k, 0, false},
                                 {c, 0, k + 1, 0, false}}) {
            INFO(at.x_pitch << " " << at.x_first << " " << at.y_pitch << " " << at.y_first);
            Pixels other_x(device, c, at.x_pitch, at.x_first), other_y(device, k, at.y_pitch, at.y_first);
            if (of_sm90a) CHECK((!at.aligned || has_groups(problem.predicted(other_x.view(), other_y.view()))));
            else CHECK(problem.selects(other_x.view(), other_y.view()) == (runs && at.aligned));
            problem.layer()(device, other_x.view(), other_y.view());
            int wrong = 0;
            std::vector<half> const got = other_y.numbers();
            for (std::size_t i = 0; i < got.size(); ++i)
                wrong += static_cast<float>(got[i]) != static_cast<float>(expected[i]);
            CHECK(wrong == 0);
        }
    }
}

TEST_CASE("HIP: the library selects Grouped for groups of 4 channels, not for one group or fewer channels") {
    fk::hip::Device device = gpu();
    auto const selects = [&](int c, int k, int groups, fk::Layout<4> const& x_layout, fk::Layout<4> const& y_layout) {
        Problem const problem(device, c, k, groups);
        Tensor x(device, x_layout), y(device, y_layout);
        return problem.selects(x.const_view(), y.view());
    };
    // groups of 4 channels, which no other schedule with tiles computes
    bool const runs = fk::hip::GroupedEntry::runs_on(device.architecture());
    CHECK(selects(128, 128, 32, fk::nhwc(2, 56, 56, 128), fk::nhwc(2, 56, 56, 128)) == runs);
    CHECK(selects(128, 128, 32, fk::nchw(16, 128, 56, 56), fk::nchw(16, 128, 56, 56)) == runs);
    CHECK_FALSE(selects(32, 32, 1, fk::nhwc(1, 7, 6, 32), fk::nhwc(1, 7, 6, 32)));
    CHECK_FALSE(selects(32, 32, 32, fk::nhwc(1, 7, 6, 32), fk::nhwc(1, 7, 6, 32)));
    CHECK_FALSE(selects(32, 32, 16, fk::nhwc(1, 7, 6, 32), fk::nhwc(1, 7, 6, 32)));
    CHECK_FALSE(selects(40, 40, 8, fk::nhwc(1, 7, 6, 40), fk::nhwc(1, 7, 6, 40)));
    CHECK_FALSE(selects(0, 32, 1, fk::nhwc(1, 7, 6, 0), fk::nhwc(1, 7, 6, 32)));
}

TEST_CASE("HIP: Grouped is predicted for layers of ResNeXt and RegNet from sm_80 on") {
    struct Layer {
        int c, hw, k, stride, groups;
    };
    for (auto const& where : {Architecture::sm(75), Architecture::sm(80), Architecture::sm(90)})
        for (auto const& [c, hw, k, stride, groups] : {Layer{128, 56, 128, 1, 32},
                                                       {256, 56, 256, 2, 32},
                                                       {256, 28, 256, 1, 32},
                                                       {512, 14, 512, 1, 32},
                                                       {1024, 14, 1024, 2, 32},
                                                       {1024, 7, 1024, 1, 32},
                                                       {48, 56, 48, 1, 6},
                                                       {168, 28, 168, 1, 7}})
            for (std::int64_t const n : {1, 32}) {
                auto const layer =
                    Plan::bind({.weights = fk::TensorView<half const>(nullptr, fk::krsc(k, 3, 3, c / groups)),
                                .filter = fk::filter(3, 3).pad(1).stride(stride).groups(groups)},
                               {});
                auto const prediction =
                    layer.predict<half>(where, fk::nhwc(n, hw, hw, c), fk::nhwc(n, hw / stride, hw / stride, k));
                INFO(c << " " << hw << " " << groups << " " << n << ": " << prediction.to_string().c_str());
                bool const is_grouped = prediction.schedule.kind == fk::hip::ScheduleKind::grouped;
                if (where == Architecture::sm(90)) CHECK(has_groups(prediction.schedule.kind));
                else CHECK(is_grouped == (where != Architecture::sm(75)));
            }
}
