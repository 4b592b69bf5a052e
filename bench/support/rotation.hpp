// SPDX-License-Identifier: MIT
#pragma once

#include <fusekit/tensor/tensor.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "support/machine.hpp"

namespace bench {

/// Pairs of input and output, together past twice the largest cache, taken in turn: no call finds its input or
/// output in the cache. All inputs hold the same random values, all outputs start as NaN.
template <class T, class Device>
class Rotation {
public:
    Rotation(Device& device, fusekit::Layout<4> const& input, fusekit::Layout<4> const& output) {
        values.resize(static_cast<std::size_t>(input.span()));
        std::vector<T> const poison(static_cast<std::size_t>(output.span()), T(__builtin_nanf("")));
        inputs.push_back(fusekit::random<T>(device, input));
        inputs.front().copy_to(values.data());
        std::int64_t const bytes = (input.span() + output.span()) * static_cast<std::int64_t>(sizeof(T));
        std::int64_t const pairs = 1 + std::min(2 * cache_bytes(), most_bytes) / bytes;
        for (std::int64_t i = 0; i < pairs; ++i) {
            if (i > 0) inputs.emplace_back(device, input).copy_from(values.data());
            outputs.emplace_back(device, output).copy_from(poison.data());
        }
    }

    fusekit::Tensor<T, Device>& x(std::int64_t call) { return inputs[slot(call)]; }
    fusekit::Tensor<T, Device>& y(std::int64_t call) { return outputs[slot(call)]; }
    std::size_t size() const { return inputs.size(); }

    /// The input's elements in memory order.
    std::vector<T> const& host_input() const { return values; }

    void poison_output(std::int64_t call) {
        std::vector<T> const poison(static_cast<std::size_t>(y(call).layout().span()), T(__builtin_nanf("")));
        y(call).copy_from(poison.data());
    }

private:
    static constexpr std::int64_t most_bytes = std::int64_t{256} << 20;
    std::vector<fusekit::Tensor<T, Device>> inputs, outputs;
    std::vector<T> values;

    std::size_t slot(std::int64_t call) const { return static_cast<std::size_t>(call) % inputs.size(); }
};

}  // namespace bench
