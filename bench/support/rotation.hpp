// SPDX-License-Identifier: MIT
#pragma once

#include <fusekit/tensor/tensor.hpp>

#include <cstdint>
#include <vector>

namespace bench {

/// Pairs of input and output, used in rotation, that together exceed a number of bytes: twice the largest cache, so
/// that every call misses the cache. All inputs hold the same random values, all outputs start as NaN.
template <class T, class Device>
class Rotation {
public:
    Rotation(Device& device, fusekit::Layout<4> const& input, fusekit::Layout<4> const& output, std::int64_t fill) {
        values.resize(static_cast<std::size_t>(input.span()));
        std::vector<T> const poison(static_cast<std::size_t>(output.span()), T(__builtin_nanf("")));
        inputs.push_back(fusekit::random<T>(device, input));
        inputs.front().copy_to(values.data());
        std::int64_t const bytes = (input.span() + output.span()) * static_cast<std::int64_t>(sizeof(T));
        std::int64_t const pairs = 1 + fill / bytes;
        for (std::int64_t i = 0; i < pairs; ++i) {
            if (i > 0) inputs.emplace_back(device, input).copy_from(values.data());
            outputs.emplace_back(device, output).copy_from(poison.data());
        }
    }

    fusekit::Tensor<T, Device>& x(std::int64_t call) { return inputs[slot(call)]; }
    fusekit::Tensor<T, Device>& y(std::int64_t call) { return outputs[slot(call)]; }
    std::int64_t size() const { return static_cast<std::int64_t>(inputs.size()); }

    /// Elements of the input in memory order.
    std::vector<T> const& host_input() const { return values; }

    void poison_output(std::int64_t call) {
        std::vector<T> const poison(static_cast<std::size_t>(y(call).layout().span()), T(__builtin_nanf("")));
        y(call).copy_from(poison.data());
    }

private:
    std::vector<fusekit::Tensor<T, Device>> inputs, outputs;
    std::vector<T> values;

    std::size_t slot(std::int64_t call) const { return static_cast<std::size_t>(call) % inputs.size(); }
};

}  // namespace bench
