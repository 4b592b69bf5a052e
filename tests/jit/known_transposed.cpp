// SPDX-License-Identifier: MIT
//
// Kernels of a TransposedConv whose filter has no class of its own (src/jit/device/known_transposed.hpp), emulated.
#include "device/known_transposed.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "fusekit/hip.hpp"
#include "transposed_class.hpp"

namespace {

namespace fk = fusekit;

/// KnownTransposed with the functions of the host that fusekit_jit's own plans have: a plan that runs by itself.
template <fk::Filter<2> representative, fk::Filter<2> known>
struct Whole : fk::jit::KnownTransposed<representative, known> {
    using Args = typename fk::TransposedConv<representative>::Args;
    static constexpr fk::detail::TransposedShapes<2, 2> shapes{known, known};

    static constexpr fk::CollapsedShape<4> output(fk::CollapsedShape<4> const& x, Args const& args) {
        return shapes.least(x, args.weights.layout.shape[1]);
    }
    static constexpr fk::CollapsedShape<4> output(fk::CollapsedShape<4> const& x, Args const& args,
                                                  fk::CollapsedShape<4> const& given) {
        return shapes.selected(x, args.weights.layout.shape[1], given);
    }
    static fk::Text outputs(fk::CollapsedShape<4> const& x, Args const& args) {
        return shapes.range(x, args.weights.layout.shape[1]);
    }
    static void check(Args const& args, fk::Check const& in) { shapes.template check<void>(args, in); }
};

/// Compares dx with its definition: sums of small integers are exact.
template <class T, fk::Filter<2> known>
void compare(int n, int c, int h, int w, int k) {
    constexpr bool strided = fk::detail::has_strides(known);
    constexpr auto representative =
        fk::jit::transposed_representatives[strided ? fk::jit::transposed_other : fk::jit::transposed_other_unstrided];
    using Plan = fk::Plan<Whole<representative, known>>;
    REQUIRE(fk::jit::has_other_filters(fk::jit::transposed_class(known)));
    int const p = static_cast<int>(known.output(0, h)), q = static_cast<int>(known.output(1, w)), r = known.size[0],
              s = known.size[1], groups = known.group_count, of_group = c / groups;
    fk::hip::Device device;
    auto const filled = [&](fk::Layout<4> const& layout, int seed, std::vector<float>& values) {
        std::vector<T> all;
        std::int64_t const count = layout.shape[0] * layout.shape[1] * layout.shape[2] * layout.shape[3];
        for (std::int64_t i = 0; i < count; ++i) {
            values.push_back(static_cast<float>((i * 7 + seed) % 5 - 2));
            all.push_back(T(values.back()));
        }
        fk::Tensor<T, fk::hip::Device, 4> result(device, layout);
        result.copy_from(all.data());
        return result;
    };
    std::vector<float> of_dy, of_weights, of_dx;
    auto const dy = filled(fk::nhwc(n, p, q, k), 1, of_dy);
    auto const weights = filled(fk::nhwc(k, r, s, of_group), 2, of_weights);
    auto dx = filled(fk::nhwc(n, h, w, c), 3, of_dx);
    Plan::bind({.weights = weights})(device, dy, dx);
    std::vector<T> result(of_dx.size());
    device.synchronize();
    dx.copy_to(result.data());

    std::vector<float> expected(of_dx.size());
    auto const at = [](int i, int j, int y, int x, int channels, int rows, int columns) {
        return static_cast<std::size_t>(((i * rows + y) * columns + x) * channels + j);
    };
    for (int i = 0; i < n; ++i)
        for (int filter = 0; filter < k; ++filter)
            for (int channel = 0; channel < of_group; ++channel)
                for (int y = 0; y < p; ++y)
                    for (int x = 0; x < q; ++x)
                        for (int row = 0; row < r; ++row)
                            for (int column = 0; column < s; ++column) {
                                int const to_y = y * known.strides[0] - known.pad_before[0] + row * known.dilations[0],
                                          to_x =
                                              x * known.strides[1] - known.pad_before[1] + column * known.dilations[1],
                                          to = filter / (k / groups) * of_group + channel;
                                if (to_y >= 0 && to_y < h && to_x >= 0 && to_x < w)
                                    expected[at(i, to, to_y, to_x, c, h, w)] +=
                                        of_dy[at(i, filter, y, x, k, p, q)] *
                                        of_weights[at(filter, channel, row, column, of_group, r, s)];
                            }
    for (std::size_t i = 0; i < expected.size(); ++i) {
        INFO(known.to_string().c_str() << " element " << i);
        REQUIRE(static_cast<float>(result[i]) == expected[i]);
    }
}

}  // namespace

TEST_CASE("jit: kernels of transposed convolutions of any filter agree with the definition") {
    compare<fk::half, fk::filter(3, 5).pad(1).groups(4)>(2, 4, 9, 8, 4);     // depthwise
    compare<fk::half, fk::filter(2, 3).groups(2)>(1, 16, 7, 8, 8);           // groups of 8 and 4 channels
    compare<float, fk::filter(1, 1).pad(1)>(1, 5, 6, 7, 3);            // padding of one tap
    compare<fk::half, fk::filter(17, 1).pad(2)>(1, 3, 20, 4, 8);             // more taps than a mask has bits
    compare<fk::half, fk::filter(3, 3).pad(2).stride(2).dilation(2)>(1, 8, 9, 10, 8);
    compare<float, fk::filter(2, 2).stride(5)>(2, 3, 12, 11, 4);
    compare<fk::half, fk::filter(7, 7).pad(3).stride(2).groups(4)>(1, 4, 9, 9, 4);
}
