// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/device.hpp"
#include "fusekit/backend/host/integer.hpp"
#include "fusekit/backend/host/vector.hpp"
#include "fusekit/ops/operator.hpp"
#include "fusekit/problem/facts.hpp"

namespace fusekit::host::inline FUSEKIT_FLAGS {

/// Output coordinates of the lanes of one vector, passed to Located operators instead of an OutputCoord. If lanes are
/// pixels they may continue past the end of the row: first.q >= Q then refers to the rows below.
template <detail::Axis axis>
struct LaneCoord {
    OutputCoord first;
    int count;       ///< number of valid lanes, which come first
    std::int64_t q;  ///< columns of the output, Q

    OutputCoord lane(int i) const {
        OutputCoord at = first;
        if constexpr (axis == detail::Axis::channel) {
            at.k += i;
        } else {
            at.p += (first.q + i) / q;
            at.q = (first.q + i) % q;
        }
        return at;
    }

    /// Loads the elements of `view` at the lanes' coordinates; zero in invalid lanes.
    Vector load(AnyView<4> const& view) const {
#define FUSEKIT_LOAD(Type, data_type, number) \
    if (view.type == DataType::data_type) return load(view.layout, view.data_type + first.n * view.layout.stride[0]);
        FUSEKIT_CONVERTED_ELEMENTS(FUSEKIT_LOAD)
#undef FUSEKIT_LOAD
        if (view.type == DataType::float64) return load_each(view);
        return load(view.layout, view.float32 + first.n * view.layout.stride[0]);
    }
    Vector load(TensorView<float const, 3> const& view) const { return load(view.layout, view.data); }

    /// Loads the elements of the lanes' channels; if lanes are pixels, all have the same channel.
    Vector load(AnyView<1> const& view) const {
        std::int64_t const k = view.layout.stride[0];
        if constexpr (axis == detail::Axis::pixel) return Vector{} + view.load(first.k * k);
#define FUSEKIT_LOAD(Type, data_type, number) \
    if (view.type == DataType::data_type) return host::load(view.data_type + first.k * k, k, count);
        FUSEKIT_CONVERTED_ELEMENTS(FUSEKIT_LOAD)
#undef FUSEKIT_LOAD
        if (view.type == DataType::float64) return load_each(view);
        return host::load(view.float32 + first.k * k, k, count);
    }

    /// Stores to the elements of `view` at the coordinates of the valid lanes.
    void store(AnyOutput const& view, Vector v) const {
        Index<4> const& stride = view.layout.stride;
        view.visit([&]<class T>(T* data) {
            T* const at = data + view.layout.offset({{first.n, first.k, first.p, first.q}});
            if constexpr (std::is_same_v<T, double>) store_each(view, v);
            else if (axis == detail::Axis::channel) host::store(at, stride[1], count, v);
            else if (problem::rows_follow(stride[2], stride[3], q)) host::store(at, stride[3], count, v);
            else store_each(view, v);
        });
    }

    /// Raises a maximum to the largest magnitude in the valid lanes.
    template <int number>
    void raise(float* maximum, Vector v) const {
        std::uint32_t largest = 0;
        for (int i = 0; i < count; ++i) {
            std::uint32_t const magnitude = detail::magnitude_bits(v[i]);
            largest = magnitude > largest ? magnitude : largest;
        }
        detail::raise_to(maximum, largest);
    }

private:
    void store_each(AnyOutput const& view, Vector v) const {
        for (int i = 0; i < count; ++i) lane(i).store(view, v[i]);
    }

    template <int Rank>
    Vector load_each(AnyView<Rank> const& view) const {
        Vector v{};
        for (int i = 0; i < count; ++i) v[i] = lane(i).load(view);
        return v;
    }

    template <int Rank, Element T>
    Vector load(Layout<Rank> const& layout, T const* image) const {
        std::int64_t const k = layout.stride[Rank - 3], row = layout.stride[Rank - 2], column = layout.stride[Rank - 1];
        T const* const at = image + first.k * k + first.p * row + first.q * column;
        if constexpr (axis == detail::Axis::channel) return host::load(at, k, count);
        if (problem::rows_follow(row, column, q)) return host::load(at, column, count);
        Vector v{};
        for (int i = 0; i < count; ++i) {
            OutputCoord const there = lane(i);
            v[i] = image[there.k * k + there.p * row + there.q * column];
        }
        return v;
    }
};

/// Operators' parameters of channel k in every lane or, with lanes along channels, of the `used` channels from k on.
template <class Operators, detail::Axis axis>
auto prepare_vector(std::int64_t k, [[maybe_unused]] int used, auto const& args) {
    if constexpr (axis == detail::Axis::channel) return Operators::template prepare_lanes<Vector>(k, used, args);
    else return Operators::template broadcast<Vector>(Operators::prepare(k, args));
}
/// Calls prepare_vector() for vector number v of `channels` channels or, unless channel_lanes, for channel v.
template <class Operators>
auto prepare_vector(bool channel_lanes, std::int64_t v, std::int64_t channels, auto const& args) {
    if (!channel_lanes) return prepare_vector<Operators, detail::Axis::pixel>(v, lanes, args);
    std::int64_t const first = v * lanes;
    return prepare_vector<Operators, detail::Axis::channel>(first, static_cast<int>((min)(lanes, channels - first)),
                                                            args);
}

}  // namespace fusekit::host::inline FUSEKIT_FLAGS
