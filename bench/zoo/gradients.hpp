// SPDX-License-Identifier: MIT
#pragma once

#include <fusekit/hip.hpp>

#include <cstdint>
#include <memory>
#include <vector>

/// Part of the interface of libzoo_gradients.so, so not in a namespace: gradients.py declares the same struct. `type`
/// is 0 for float, 1 for half, 2 for bfloat16. Kernels run on `stream`.
struct ZooProblem {
    std::int64_t n, c, h, w, k, p, q;
    int r, s, pad_h, pad_w, stride, dilation, groups, type, channels_last, device;
    void* stream;
};

namespace bench::zoo {

namespace fk = fusekit;

/// Both gradients of a convolution, on pointers to tensors of the problem's layout.
struct Gradients {
    virtual ~Gradients() = default;
    virtual void by_input(void const* dy, void const* weights, void* dx) = 0;
    virtual void by_weights(void const* dy, void const* x, void* dw) = 0;
};

/// Returns null if the problem's filter or type is another.
using MakeGradients = std::unique_ptr<Gradients> (*)(ZooProblem const&);

/// Filled by static objects of the generated units, one for each filter of layers.csv.
std::vector<MakeGradients>& makers();

template <class T>
inline constexpr int type_number = -1;
template <>
inline constexpr int type_number<float> = 0;
template <>
inline constexpr int type_number<fk::half> = 1;
template <>
inline constexpr int type_number<fk::bfloat16> = 2;

template <fk::Filter<2> Filter, class T>
class GradientsOf final : public Gradients {
public:
    explicit GradientsOf(ZooProblem const& p)
        : device(p.device, static_cast<decltype(device.stream())>(p.stream)),
          of_x(layout(p, p.n, p.c, p.h, p.w)),
          of_y(layout(p, p.n, p.k, p.p, p.q)),
          of_weights(layout(p, p.k, p.c / p.groups, p.r, p.s)) {}

    void by_input(void const* dy, void const* weights, void* dx) override {
        fk::Plan<fk::TransposedConv<Filter>>::bind({.weights = input(weights, of_weights)})(device, input(dy, of_y),
                                                                                            output(dx, of_x));
    }
    void by_weights(void const* dy, void const* x, void* dw) override {
        fk::Plan<fk::ConvWeightGradient<Filter>>::bind({.dy = input(dy, of_y)})(device, input(x, of_x),
                                                                                output(dw, of_weights));
    }

private:
    fk::hip::Device device;
    fk::Layout<4> of_x, of_y, of_weights;

    static fk::Layout<4> layout(ZooProblem const& problem, std::int64_t n, std::int64_t c, std::int64_t h,
                                std::int64_t w) {
        return problem.channels_last ? fk::nhwc(n, h, w, c) : fk::nchw(n, c, h, w);
    }
    static fk::TensorView<T const> input(void const* data, fk::Layout<4> const& layout) {
        return {static_cast<T const*>(data), layout};
    }
    static fk::TensorView<T> output(void* data, fk::Layout<4> const& layout) { return {static_cast<T*>(data), layout}; }
};

/// MakeGradients for a filter and element types.
template <fk::Filter<2> Filter, class... Types>
std::unique_ptr<Gradients> make_gradients(ZooProblem const& p) {
    auto const given =
        fk::filter(p.r, p.s).pad(p.pad_h, p.pad_w).stride(p.stride).dilation(p.dilation).groups(p.groups);
    std::unique_ptr<Gradients> made;
    if (given == Filter)
        ((type_number<Types> == p.type && (made = std::make_unique<GradientsOf<Filter, Types>>(p))), ...);
    return made;
}

}  // namespace bench::zoo
