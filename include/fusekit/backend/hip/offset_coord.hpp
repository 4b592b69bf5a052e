// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/thread_coord.hpp"

namespace fusekit::hip {

/// True if a view of one image, K x P x Q, has the strides of y along K, P and Q.
FUSEKIT_HD constexpr bool lies_alike(TensorView<float const, 3> const& view, Index<4> const& stride) {
    Index<3> const& own = view.layout.stride;
    return ((own[0] - stride[1]) | (own[1] - stride[2]) | (own[2] - stride[3])) == 0;
}

/// OutputCoord that also knows its offset in y, in elements, from the image's first element. Operators read views with
/// y's strides at that offset, without index arithmetic.
struct OffsetCoord : ThreadCoord {
    std::int64_t distance;
    Index<4> const& stride;

    FUSEKIT_HD OffsetCoord(OutputCoord const& at, std::int64_t the_distance, Index<4> const& the_stride)
        : ThreadCoord(at), distance(the_distance), stride(the_stride) {}

    using OutputCoord::load;
    FUSEKIT_HD float load(AnyView<4> const& view) const {
        if (view.layout.stride == stride) return view.load(n * stride[0] + distance);
        return OutputCoord::load(view);
    }
    FUSEKIT_HD float load(TensorView<float const, 3> const& view) const {
        if (lies_alike(view, stride)) return view.data[distance];
        return OutputCoord::load(view);
    }
    FUSEKIT_HD void store(AnyOutput const& view, float value) const {
        if (view.layout.stride == stride) view.store(n * stride[0] + distance, value);
        else OutputCoord::store(view, value);
    }
};

/// `width` consecutive elements of y: operators read them one by one, and store() writes all of them at once.
template <int width>
struct OffsetCoords {
    OutputCoord const* at;
    std::int64_t distance;  ///< offset of the first element in y from the first element of its image, in elements
    Index<4> const& stride;

    FUSEKIT_HD OffsetCoord operator[](int i) const { return {at[i], distance + i, stride}; }

    FUSEKIT_HD void store(AnyOutput const& view, float const (&values)[width]) const {
        view.visit([&]<class T>(T* data) {
            T* const to = data + at[0].n * stride[0] + distance;
            using Whole = Packet<T, width>;
            if (view.layout.stride == stride && reinterpret_cast<std::uintptr_t>(to) % sizeof(Whole) == 0) {
                Whole all;
                for (int i = 0; i < width; ++i) all.values[i] = T(values[i]);
                *reinterpret_cast<Whole*>(to) = all;
            } else {
                for (int i = 0; i < width; ++i) (*this)[i].store(view, values[i]);
            }
        });
    }
};

/// One of `width` consecutive elements of y whose per-pixel parameters are also contiguous. Each parameter is loaded by
/// itself, from an address of known alignment: the compiler merges the loads. Precondition: PacketProbe accepted the
/// views.
template <int width>
struct PacketCoord : OutputCoord {
    std::int64_t distance;
    int lane;

    FUSEKIT_HD PacketCoord(OutputCoord const& at, std::int64_t the_distance, int the_lane)
        : OutputCoord(at), distance(the_distance), lane(the_lane) {}

    using OutputCoord::load;
    FUSEKIT_HD float load(TensorView<float const, 3> const& view) const {
        return static_cast<float const*>(__builtin_assume_aligned(view.data + (distance - lane), 4 * width))[lane];
    }
};

/// Passed to operators in place of a coordinate, to test whether PacketCoord may load their views; loads nothing.
/// Clears `fit` unless every per-pixel view has y's strides and is aligned to `width` floats.
template <int width>
struct PacketProbe : OutputCoord {
    Index<4> const& stride;
    bool& fit;

    FUSEKIT_HD PacketProbe(Index<4> const& the_stride, bool& the_fit)
        : OutputCoord{0, 0, 0, 0}, stride(the_stride), fit(the_fit) {}

    FUSEKIT_HD float load(AnyView<4> const&) const {
        fit = false;
        return 0;
    }
    FUSEKIT_HD float load(AnyView<1> const&) const { return 0; }  // per-channel parameters may have any layout
    FUSEKIT_HD float load(TensorView<float const, 3> const& view) const {
        fit &= lies_alike(view, stride) & (reinterpret_cast<std::uintptr_t>(view.data) % (4 * width) == 0);
        return 0;
    }
};

}  // namespace fusekit::hip
