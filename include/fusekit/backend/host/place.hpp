// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/host/vector.hpp"
#include "fusekit/ops/operator.hpp"

namespace fusekit::host {

/// What the lanes of a vector run along: neighbouring channels, or neighbouring pixels of one image, row after row.
enum class Axis { channel, pixel };

/// Where the lanes of one vector are in the output: what a Located operator gets in place of an OutputCoord.
template <Axis axis>
struct Place {
    OutputCoord first;
    int count;       ///< lanes in use, from the first
    std::int64_t q;  ///< columns of the output, Q

    OutputCoord lane(int i) const {
        OutputCoord at = first;
        if constexpr (axis == Axis::channel) {
            at.k += i;
        } else {
            std::int64_t const column = at.q + i;
            at.p += column / q;
            at.q = column % q;
        }
        return at;
    }

    /// The elements of `view` at the lanes' places; zero in lanes that are not in use.
    Vector load(AnyView<4> const& view) const {
        std::int64_t const offset = view.layout.offset({{first.n, first.k, first.p, first.q}});
        switch (view.type) {
            case DataType::float16: return load(view, view.float16 + offset);
            case DataType::bfloat16: return load(view, view.bfloat16 + offset);
            default: return load(view, view.float32 + offset);
        }
    }
    Vector load(TensorView<float const, 3> const& view) const { return load(view, &view(first.k, first.p, first.q)); }

private:
    template <class View, Element T>
    Vector load(View const& view, T const* at) const {
        constexpr int rank = decltype(view.layout)::rank;
        auto const& stride = view.layout.stride;
        if constexpr (axis == Axis::channel) {
            return host::load(at, stride[rank - 3], count);
        } else {
            if (first.q + count <= q || stride[rank - 2] == q * stride[rank - 1])
                return host::load(at, stride[rank - 1], count);
            Vector v{};
            for (int i = 0; i < count; ++i) {
                OutputCoord const there = lane(i);
                v[i] = at[(there.p - first.p) * stride[rank - 2] + (there.q - first.q) * stride[rank - 1]];
            }
            return v;
        }
    }
};

}  // namespace fusekit::host
