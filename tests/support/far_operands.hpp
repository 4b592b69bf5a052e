// SPDX-License-Identifier: MIT
#pragma once

#include <sys/mman.h>

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include "fusekit/fusekit.hpp"
#include "support/filled.hpp"
#include "support/oracle.hpp"
#include "support/refusal.hpp"

namespace test {

/// Memory for one tensor with elements more than 2^32 elements apart, and for others beside it. Only touched pages are
/// committed.
template <class Device>
class FarMemory {
    static constexpr std::int64_t far_bytes = ((std::int64_t{1} << 32) + (1 << 20)) * 4, near_bytes = 1 << 20;
    static constexpr bool on_host = std::is_base_of_v<fk::host::Memory, Device>;

public:
    explicit FarMemory(Device& device) : device(device) {
        if constexpr (on_host) {
            memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (memory == MAP_FAILED) memory = nullptr;
        } else {
            try {
                memory = device.allocate(bytes);
            } catch (fk::Error const&) {
            }
        }
        if (!memory) SKIP("this needs 17 GB of addresses");
    }
    FarMemory(FarMemory const&) = delete;
    FarMemory& operator=(FarMemory const&) = delete;
    ~FarMemory() {
        if constexpr (on_host) munmap(memory, bytes);
        else device.release(memory);
    }

    /// Stores these values, in canonical order; a single value fills all elements.
    template <class T, int Rank>
    fk::TensorView<T, Rank> store(fk::Layout<Rank> const& layout, std::vector<double> const& values) {
        std::int64_t low = 0, high = 0;
        for (int mode = 0; mode < Rank; ++mode)
            ((layout.stride[mode] < 0) ? low : high) += (layout.shape[mode] - 1) * layout.stride[mode];
        auto const size = static_cast<std::int64_t>(sizeof(T));
        bool const is_far = (high - low + 1) * size > near_bytes / 8;
        REQUIRE((is_far ? near_bytes + (high - low + 1) * size : used + (high + 1) * size) <=
                (is_far ? near_bytes + far_bytes : near_bytes));
        auto* const bytes_at = static_cast<unsigned char*>(memory) + (is_far ? near_bytes : used);
        if (!is_far) used += (high - low + 1) * size + 256 - (high - low + 1) * size % 256;
        fk::TensorView<T, Rank> const view{reinterpret_cast<T*>(bytes_at) - low, layout};
        std::size_t i = 0;
        each(layout, [&](std::int64_t offset) {
            T const value(static_cast<float>(values[values.size() == 1 ? 0 : i++]));
            device.copy_in(view.data + offset, &value, sizeof value);
        });
        return view;
    }
    /// Frees everything that was placed.
    void clear() { used = 0; }

    /// Counts elements that differ from `expected`.
    template <class T>
    int wrong(fk::TensorView<T> const& view, std::vector<double> const& expected) {
        std::size_t i = 0;
        int wrong = 0;
        each(view.layout, [&](std::int64_t offset) {
            T value;
            device.copy_out(&value, view.data + offset, sizeof value);
            wrong += static_cast<double>(static_cast<float>(value)) != expected[expected.size() == 1 ? 0 : i++];
        });
        return wrong;
    }

private:
    static constexpr std::size_t bytes = static_cast<std::size_t>(far_bytes + near_bytes);

    Device& device;
    void* memory = nullptr;
    std::int64_t used = 0;

    template <int Rank, class F>
    static void each(fk::Layout<Rank> const& layout, F const& f) {
        fk::Index<Rank> at{};
        for (std::int64_t i = 0; i < layout.size(); ++i) {
            f(layout.offset(at));
            for (int mode = Rank - 1; mode >= 0 && ++at[mode] == layout.shape[mode]; --mode) at[mode] = 0;
        }
    }
};

/// A run whose operand `operand` has stride `stride` in `mode`, and, if there is a `second` mode, `second_stride`
/// there. With `refused`, a GEMM with 32-bit offsets refuses it and names the operand.
struct FarOperand {
    char operand;  // x, w, b, z, v (values that are stored) or y
    int mode;
    std::int64_t stride;
    bool refused = false;
    oracle::Shape image{2, 2, 2, 2};
    oracle::Window window{};
    int second = -1;
    std::int64_t second_stride = 0;
};

inline std::vector<double> values_of(oracle::Tensor const& tensor) {
    std::vector<double> values;
    for (Bounded v : tensor.at) values.push_back(v.value);
    return values;
}

/// Runs Conv, Bias, Residual and Store on operands of which one has the far stride. `gemm`: the device uses 32-bit
/// offsets.
template <class T, class Device>
void check_far_conv(FarMemory<Device>& memory, auto& device, char const* word, FarOperand const& far, bool gemm) {
    INFO(word << ": " << far.operand << " mode " << far.mode << " stride " << far.stride << ", "
              << fk::name(fk::data_type<T>));
    using Plan = fk::Plan<fk::Conv<fk::dynamic>, fk::Bias, fk::Residual, fk::Store>;
    memory.clear();
    oracle::Window const& f = far.window;
    oracle::Shape const in = far.image, filter{2, in.c / f.groups, f.r, f.s};
    oracle::Shape const out{in.n, 2, f.output_height(in.h), f.output_width(in.w)};
    auto const layout = [&](char operand, oracle::Shape shape) {
        fk::Layout<4> at = layout_of(word, shape);
        if (operand == far.operand) {
            at.stride[far.mode] = far.stride;
            if (far.second >= 0) at.stride[far.second] = far.second_stride;
        }
        return at;
    };
    auto const x = integers(in.size(), -3, 3, 1), w = integers(filter.size(), -3, 3, 2), b = integers(2, -9, 9, 3),
               z = integers(out.size(), -9, 9, 4);
    auto const expected = values_of(oracle::residual(oracle::bias(oracle::conv({in, x}, w, 2, f), b), z, 2));
    fk::Layout<1> const channels{{{2}}, {{far.operand == 'b' ? far.stride : 1}}};
    constexpr double untouched = 77;
    auto const values = memory.template store<T>(layout('v', out), {untouched}),
               y = memory.template store<T>(layout('y', out), {untouched});
    auto const layer =
        Plan::bind({.weights = memory.template store<T>(layout('w', filter), w), .filter = filter_of(f)},
                   {.bias = memory.template store<T>(channels, b)},
                   {.z = memory.template store<T>(layout('z', out), z), .alpha2 = 2}, {.values = values});
    auto const input = memory.template store<T>(layout('x', in), x);
    std::string const text = refusal([&] { layer(device, input, y); });
    if (gemm && far.refused) {
        std::string const named = far.operand == 'w' ? "Conv.weights" : std::string(1, far.operand) + ".strides";
        CHECK(text.starts_with("Plan<Conv<dynamic>, Bias, Residual, Store>: " + named + ": expected "));
        auto const given = layout(far.operand, far.operand == 'w' ? filter : far.operand == 'x' ? in : out).stride;
        CHECK(text.ends_with("got strides " + std::string(fk::to_string(given).c_str())));
        CHECK(memory.wrong(y, {untouched}) == 0);
        CHECK(memory.wrong(values, {untouched}) == 0);
    } else {
        CHECK(text == "accepted");
        CHECK(memory.wrong(y, expected) == 0);
        CHECK(memory.wrong(values, expected) == 0);
    }
}

/// Each operand of a convolution with a far stride in each of its modes, of either sign, and at the 32-bit limit.
template <class T, class Device>
void check_far_convs(FarMemory<Device>& memory, auto& device, bool gemm) {
    constexpr std::int64_t far = (std::int64_t{1} << 32) + 5, edge = std::int64_t{1} << 31;
    oracle::Window const square{.r = 2, .s = 2}, tall{.r = 3, .s = 1, .top = 2, .bottom = 2}, grouped{.groups = 2};
    FarOperand const all[] = {{'w', 0, far},
                              {'w', 0, -far},
                              {'w', 1, far, true},
                              {'w', 1, -far, true},
                              {'w', 2, far, true, {2, 2, 2, 2}, square},
                              {'w', 3, -far, true, {2, 2, 2, 2}, square},
                              {'w', 1, edge - 1},
                              {'w', 1, edge, true},
                              {'w', 1, -edge},
                              {'w', 1, -edge - 1, true},
                              {'w', 1, edge / 2, true, {2, 2, 2, 2}, square, 2, edge / 2 + 20},
                              {'w', 1, edge / 2, false, {2, 2, 2, 2}, square, 2, edge / 2 - 20},
                              {'w', 1, edge / 2, false, {2, 2, 2, 2}, square, 2, -edge / 2 - 20},
                              {'x', 0, far},
                              {'x', 0, -far},
                              {'x', 1, far, true},
                              {'x', 1, -far, true},
                              {'x', 2, far},
                              {'x', 2, -far},
                              {'x', 2, far, true, {2, 2, 2, 2}, square},
                              {'x', 3, -far, true, {2, 2, 2, 2}, square},
                              {'x', 3, far},
                              {'x', 1, edge - 1},
                              {'x', 1, edge, true},
                              {'x', 1, -edge},
                              {'x', 1, -edge - 1, true},
                              {'x', 1, -far, false, {2, 2, 2, 2}, grouped},
                              {'x', 2, edge / 2 - 1, false, {2, 1, 2, 2}, tall},
                              {'x', 2, edge / 2, true, {2, 1, 2, 2}, tall},
                              {'x', 2, -edge / 2, false, {2, 1, 2, 2}, tall},
                              {'x', 2, -edge / 2 - 1, true, {2, 1, 2, 2}, tall},
                              {'x', 2, 2 * far, false, {2, 2, 1, 2}, tall},
                              {'x', 2, -2 * far, false, {2, 2, 1, 2}, tall},
                              {'b', 0, far},
                              {'b', 0, -far},
                              {'z', 0, far},
                              {'z', 1, -far},
                              {'z', 2, far},
                              {'z', 3, -far},
                              {'v', 0, far},
                              {'v', 1, far},
                              {'v', 2, far},
                              {'v', 3, far},
                              {'v', 0, -far},
                              {'y', 0, far},
                              {'y', 0, -far},
                              {'y', 1, -far, true},
                              {'y', 3, -far},
                              {'y', 1, far, true},
                              {'y', 1, edge - 1},
                              {'y', 1, edge, true},
                              {'y', 2, far},
                              {'y', 3, far}};
    for (char const* word : {"nchw", "nhwc"})
        for (FarOperand const& one : all) check_far_conv<T>(memory, device, word, one, gemm);
}

/// Plans without a Conv: every view of a pointwise plan, of one that reduces, and of a pool.
template <class T, class Device>
void check_far_images(FarMemory<Device>& memory, auto& device) {
    constexpr std::int64_t far = (std::int64_t{1} << 32) + 5;
    using Norm = fk::BatchNormInference<fk::PerActivation>;
    using Train = fk::BatchNormTraining<fk::Spatial>;
    oracle::Shape const shape{2, 2, 2, 2};
    auto const numbers = integers(shape.size(), -9, 9, 1), z = integers(shape.size(), -9, 9, 2),
               mean = integers(8, -9, 9, 3);
    oracle::Statistics const statistics{mean, std::vector<double>(8, 0.75), std::vector<double>(8, 2),
                                        std::vector<double>(8, 1), 0.25};
    std::vector<double> batch;  // 0, 1, 2 and 3 twice per channel: variance 1.25
    for (int i = 0; i < 16; ++i) batch.push_back(i % 4);
    oracle::Tensor const x(shape, numbers);
    auto const mapped = values_of(oracle::residual(oracle::batch_norm_per_activation(x, statistics), z, 1));
    auto const pooled = values_of(oracle::pool(x, true, 2, 2));
    std::vector<double> trained;
    for (double value : batch) trained.push_back((value - 1.5) / 2);
    for (char const operand : {'x', 'm', 'z', 'v', 'y'})
        for (int mode = 0; mode < 4; ++mode)
            for (std::int64_t const stride : {far, -far}) {
                if (operand == 'm' && mode == 3) continue;
                INFO(operand << " mode " << mode << " stride " << stride << ", " << fk::name(fk::data_type<T>));
                auto const layout = [&](char one, fk::Layout<4> at) {
                    if (one == operand && at.shape[mode] > 1) at.stride[mode] = stride;
                    return at;
                };
                memory.clear();
                auto const input = [&](std::vector<double> const& values) {
                    return memory.template store<T>(layout('x', fk::nchw(2, 2, 2, 2)), values);
                };
                auto const output = [&](char one, std::int64_t rows) {
                    return memory.template store<T>(layout(one, fk::nchw(2, 2, rows, rows)), {77});
                };
                fk::Layout<3> map = fk::chw(2, 2, 2);
                auto const near = map;
                if (operand == 'm') map.stride[mode] = stride;
                auto const floats = [&](auto const& layout, double value) {
                    return memory.template store<float>(layout, {value});
                };
                auto const values = output('v', 2);
                auto y = output('y', 2);
                auto const means = memory.template store<float>(map, mean);
                auto const added = memory.template store<T>(layout('z', fk::nchw(2, 2, 2, 2)), z);
                auto const view = input(numbers);
                fk::Plan<Norm, fk::Residual, fk::Store>::bind({.mean = means,
                                                               .variance = floats(near, 0.75),
                                                               .scale = floats(near, 2),
                                                               .shift = floats(near, 1),
                                                               .epsilon = 0.25f},
                                                              {.z = added}, {.values = values})(device, view, y);
                CHECK(memory.wrong(y, mapped) == 0);
                CHECK(memory.wrong(values, mapped) == 0);
                if (operand != 'x' && operand != 'y') continue;

                memory.clear();
                y = output('y', 2);
                auto const one = floats(fk::channels(2), 1), none = floats(fk::channels(2), 0);
                fk::Plan<Train>::bind({.scale = one, .shift = none, .epsilon = 2.75f})(device, input(batch), y);
                CHECK(memory.wrong(y, trained) == 0);

                memory.clear();
                auto const corner = output('y', 1);
                fk::Plan<fk::Pool<fk::Max, 2, 2>>::bind({})(device, input(numbers), corner);
                CHECK(memory.wrong(corner, pooled) == 0);
            }
}

}  // namespace test
