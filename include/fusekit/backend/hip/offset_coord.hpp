// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/thread_coord.hpp"

namespace fusekit::hip {

/// True if a view of one image, K x P x Q, has the strides of y (`stride`: N, K, P, Q) along K, P and Q.
FUSEKIT_HD constexpr bool has_strides_of(TensorView<float const, 3> const& view, Index<4> const& stride) {
    Index<3> const& own = view.layout.stride;
    return ((own[0] - stride[1]) | (own[1] - stride[2]) | (own[2] - stride[3])) == 0;
}

/// OutputCoord with `distance`, its offset in y in elements from the first element of its image. load() and store() use
/// this offset for views with y's strides, without index arithmetic.
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
        if (has_strides_of(view, stride)) return view.data[distance];
        return OutputCoord::load(view);
    }
    FUSEKIT_HD void store(AnyOutput const& view, float value) const {
        if (view.layout.stride == stride) view.store(n * stride[0] + distance, value);
        else OutputCoord::store(view, value);
    }
};

/// Coordinates of `width` consecutive elements of y: operators load them one by one, and store() writes all of them at
/// once.
template <int width>
struct OffsetCoords {
    OutputCoord const* at;
    std::int64_t distance;  ///< offset in y, in elements, of the first of them from the first element of its image
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

/// Loads of a view of y's shape, of any strides, at the `lanes` coordinates of a packet in y, in vectors of `width`
/// elements. Along a line of y (the channels of a pixel or the pixels of a channel) a vector's elements are contiguous,
/// one element repeated, or equidistant. Offsets are worked out once for all images n.
template <int lanes, int width>
class ViewPacket {
public:
    __device__ ViewPacket() {}
    /// at: coordinates of the packet, of adjacent elements along y's channels if `along_channels`, else along its
    /// pixels, with rows of `columns`.
    __device__ ViewPacket(AnyView<4> const& view, OutputCoord const (&at)[lanes], bool along_channels,
                          std::int64_t columns) {
        Index<4> const& stride = view.layout.stride;
        bool const rows_follow = stride[2] == columns * stride[3];
#pragma unroll
        for (int i = 0; i < lanes / width; ++i) {
            OutputCoord const &first = at[i * width], &last = at[i * width + width - 1];
            offsets[i] = first.k * stride[1] + first.p * stride[2] + first.q * stride[3];
            bool const is_line = along_channels ? last.k - first.k == width - 1
                                                : first.k == last.k && (rows_follow || first.p == last.p);
            lines |= static_cast<unsigned>(is_line) << i;
        }
    }

    /// Loads vector number `i` in image n. U: y's element type. coord(lane) returns a coordinate of the vector; it is
    /// called where the vector's elements are in two lines: for one lane after another if `one_by_one`, which takes 50
    /// registers less on AMD's GPUs, else with constants.
    template <class U, bool one_by_one, class Coord>
    __device__ void load(AnyView<4> const& view, std::int64_t n, int i, bool along_channels, Coord const& coord,
                         float (&values)[width]) const {
        std::int64_t const offset = n * view.layout.stride[0] + offsets[i],
                           step = view.layout.stride[along_channels ? 1 : 3];
        bool const is_line = lines >> i & 1;
        if constexpr (!std::is_same_v<U, float> && Element<U>)
            if (is_line && view.type == data_type<U>)
                return load_line(detail::typed<U>(view).data + offset, step, values);
        if (is_line && view.type == DataType::float32)
            return load_line(detail::typed<float>(view).data + offset, step, values);
        constexpr int at_once = one_by_one ? 1 : width;
#pragma unroll at_once
        for (int lane = 0; lane < width; ++lane) {
            OutputCoord const at = coord(lane);
            float const value = view.load(view.layout.offset({{n, at.k, at.p, at.q}}));
#pragma unroll
            for (int j = 0; j < width; ++j) values[j] = j == lane ? value : values[j];
        }
    }

private:
    std::int64_t offsets[lanes / width] = {};  ///< of the first element of each vector, in image 0
    unsigned lines = 0;  ///< bit i: vector i is in one line

    template <class T>
    __device__ static void load_line(T const* from, std::int64_t step, float (&values)[width]) {
        using Whole = Packet<T, width>;
        if (step == 1 && reinterpret_cast<std::uintptr_t>(from) % sizeof(Whole) == 0) {
            Whole const all = *reinterpret_cast<Whole const*>(from);
#pragma unroll
            for (int i = 0; i < width; ++i) values[i] = all.values[i];
        } else if (step == 0) {
            float const value = *from;
#pragma unroll
            for (int i = 0; i < width; ++i) values[i] = value;
        } else {
#pragma unroll
            for (int i = 0; i < width; ++i) values[i] = from[i * step];
        }
    }
};

/// OffsetCoords for plans in which one operator reads one view of y's shape (Epilogue::reads_one_view): `values` are
/// its elements at these coordinates (ViewPacket), and load() returns them.
template <int width>
struct LoadedCoords : OffsetCoords<width> {
    float values[width];

    struct Coord : OffsetCoord {
        float value;
        using OffsetCoord::load;
        __device__ float load(AnyView<4> const&) const { return value; }
    };
    __device__ Coord operator[](int i) const { return {OffsetCoords<width>::operator[](i), values[i]}; }
};

/// Coordinate of element `lane` of a packet, `width` consecutive elements of y whose per-pixel parameters are
/// contiguous too. Each parameter is loaded separately from an address of known alignment, so that the compiler merges
/// the loads. Precondition: PacketProbe has left `fit` true for the operator's views.
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

/// Argument in place of a coordinate that tests whether PacketCoord may load an operator's views: load() reads nothing,
/// and sets `fit` to false for a per-pixel view that has other strides than y or is not aligned to `width` floats.
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
    FUSEKIT_HD float load(AnyView<1> const&) const { return 0; }  // fits: per-channel parameters may have any layout
    FUSEKIT_HD float load(TensorView<float const, 3> const& view) const {
        fit &= has_strides_of(view, stride) & (reinterpret_cast<std::uintptr_t>(view.data) % (4 * width) == 0);
        return 0;
    }
};

}  // namespace fusekit::hip
