// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/result.hpp"
#include "fusekit/runtime/arguments.hpp"
#include "fusekit/runtime/descriptor.hpp"
#include "fusekit/tensor/any_output.hpp"
#include "fusekit/tensor/optional_view.hpp"
#include "fusekit/tensor/stand_in.hpp"

namespace fusekit::runtime {

namespace detail {

/// True if an address is a multiple of the element's size.
FUSEKIT_H inline bool is_aligned(void const* data, DataType type) {
    return (reinterpret_cast<std::uintptr_t>(data) & static_cast<std::uintptr_t>(size_of(type) - 1)) == 0;
}

}  // namespace detail

/// Run-time arguments of one operator, for OperatorOf<Op>::read() (runtime/operator.hpp): returns views with the rank
/// and element type of a field of Args. If a tensor is omitted, or its rank, type or address is invalid, stores an
/// Error in `refusal`; the view that is then returned is not used.
class Given {
public:
    Descriptor const& descriptor;
    Arguments const& arguments;

    /// If `the_stand_ins` is not negative, null pointers are replaced by the addresses of stand_in()
    /// (tensor/stand_in.hpp) with numbers from `the_stand_ins` on: for queries that read layouts alone.
    FUSEKIT_H Given(Descriptor const& the_descriptor, Arguments const& the_arguments, int the_rank_of_x,
                    int the_stand_ins, Text (*the_plan)(), Text (*the_operator_name)(), Refusal& the_refusal)
        : descriptor(the_descriptor),
          arguments(the_arguments),
          rank_of_x(the_rank_of_x),
          stand_ins(the_stand_ins),
          plan(the_plan),
          operator_name(the_operator_name),
          refusal(the_refusal) {}

    [[gnu::cold]] FUSEKIT_H void fail(char const* argument, Text expected, Text given) const {
        if (!refusal) refusal = Error(plan(), operator_name(), argument, std::move(expected), std::move(given));
    }

    /// True if the caller passed the tensor of this role.
    FUSEKIT_H bool has(Role role) const { return arguments[role].rank != 0 && pointer(role) != nullptr; }

    FUSEKIT_H static float number(double value) { return static_cast<float>(value); }

    /// View of the tensor of a role, of Rank modes and any element type.
    template <int Rank>
    FUSEKIT_H AnyView<Rank> view(Role role) const {
        takes(role, Rank, Rank);
        return any<Rank>(role);
    }

    /// View of the activation tensor of a role, of 2 to 5 modes.
    FUSEKIT_H AnyActivations activations(Role role) const {
        switch (takes(role, 2, 5)) {
            case 2: return any<2>(role);
            case 3: return any<3>(role);
            case 5: return any<5>(role);
            default: return any<4>(role);
        }
    }

    /// View of the writable activation tensor of a role, of 2 to 5 modes.
    FUSEKIT_H AnyOutput output(Role role) const {
        switch (takes(role, 2, 5)) {
            case 2: return any_written<2>(role);
            case 3: return any_written<3>(role);
            case 5: return any_written<5>(role);
            default: return any_written<4>(role);
        }
    }

    /// View of per-channel values of any element type: K, or 1 x K and further modes of extent 1.
    FUSEKIT_H AnyChannelParameters any_channels(Role role) const {
        switch (takes(role, 1, 5)) {
            case 2: return any<2>(role);
            case 3: return any<3>(role);
            case 4: return any<4>(role);
            case 5: return any<5>(role);
            default: return any<1>(role);
        }
    }

    /// View of floats per channel: K, or 1 x K and further modes of extent 1.
    FUSEKIT_H ChannelParameters channels(Role role) const {
        is_float(role);
        switch (takes(role, 1, 5)) {
            case 2: return floats<2>(role);
            case 3: return floats<3>(role);
            case 4: return floats<4>(role);
            case 5: return floats<5>(role);
            default: return floats<1>(role);
        }
    }
    /// View of floats per pixel: K x P x Q or 1 x K x P x Q.
    FUSEKIT_H PixelParameters pixels(Role role) const {
        is_float(role);
        View const image = image_of(role);
        takes(role, rank_of_x - 1, rank_of_x);
        switch (image.rank) {
            case 2: return TensorView<float const, 2>(static_cast<float*>(pointer(role)), image.layout<2>());
            case 4: return TensorView<float const, 4>(static_cast<float*>(pointer(role)), image.layout<4>());
            default: return TensorView<float const, 3>(static_cast<float*>(pointer(role)), image.layout<3>());
        }
    }

    /// View of writable floats per channel; empty if the caller omits the tensor.
    FUSEKIT_H OptionalView<float, 1> written_channels(Role role) const {
        if (!has(role)) return {};
        is_float(role);
        switch (takes(role, 1, 5)) {
            case 2: return written<float>(role, arguments[role].layout<2>());
            case 3: return written<float>(role, arguments[role].layout<3>());
            case 4: return written<float>(role, arguments[role].layout<4>());
            case 5: return written<float>(role, arguments[role].layout<5>());
            default: return written<float>(role, arguments[role].layout<1>());
        }
    }
    /// View of writable floats per pixel; empty if the caller omits the tensor.
    FUSEKIT_H OptionalView<float, 3> written_pixels(Role role) const {
        if (!has(role)) return {};
        is_float(role);
        View const image = image_of(role);
        takes(role, rank_of_x - 1, rank_of_x);
        switch (image.rank) {
            case 2: return written<float>(role, image.layout<2>());
            case 4: return written<float>(role, image.layout<4>());
            default: return written<float>(role, image.layout<3>());
        }
    }
    [[deprecated("call pixels")]] FUSEKIT_H PixelParameters places(Role role) const { return pixels(role); }
    [[deprecated("call written_pixels")]] FUSEKIT_H OptionalView<float, 3> written_places(Role role) const {
        return written_pixels(role);
    }

private:
    int rank_of_x;
    int stand_ins;
    Text (*plan)();
    Text (*operator_name)();
    Refusal& refusal;

    FUSEKIT_H void* pointer(Role role) const {
        void* const data = arguments[role].data;
        return data || stand_ins < 0 ? data : detail::stand_in(stand_ins + static_cast<int>(role));
    }

    template <int Rank>
    FUSEKIT_H TensorView<float const, Rank> floats(Role role) const {
        return {static_cast<float const*>(pointer(role)), arguments[role].layout<Rank>()};
    }
    template <int Rank>
    FUSEKIT_H AnyView<Rank> any(Role role) const {
        AnyView<Rank> result(floats<Rank>(role));
        result.type = arguments[role].type;
        return result;
    }
    template <class T, int Rank>
    FUSEKIT_H TensorView<T, Rank> written(Role role, Layout<Rank> const& layout) const {
        return {static_cast<T*>(pointer(role)), layout};
    }

    template <int Rank>
    FUSEKIT_H AnyOutput any_written(Role role) const {
        Layout<Rank> const layout = arguments[role].layout<Rank>();
        DataType const type = arguments[role].type;
#define FUSEKIT_WRITTEN(Type, data_type, number) \
    if (type == DataType::data_type) return written<Type>(role, layout);
        FUSEKIT_CONVERTED_ELEMENTS(FUSEKIT_WRITTEN)
#undef FUSEKIT_WRITTEN
        if (type == DataType::float64) return written<double>(role, layout);
        return written<float>(role, layout);
    }

    /// Returns the rank of the tensor of a role. Stores an error if the tensor is omitted, its pointer is null or
    /// misaligned, or it has fewer than `least` or more than `most` modes.
    FUSEKIT_H int takes(Role role, int least, int most) const {
        int const rank = arguments[role].rank;
        if (rank == 0) fail(name(role), "a tensor", "none");
        else if (!pointer(role) && !fusekit::detail::has_no_elements(arguments[role].extents, rank))
            fail(name(role), "a pointer", "a null pointer");
        else if (!detail::is_aligned(pointer(role), arguments[role].type))
            fail(name(role), "an address aligned to the element's size", "a misaligned address");
        else if (rank < least || rank > most)
            fail(name(role), (least == most ? Text() : Text::number(least) + " to ") + Text::number(most) + " modes",
                 Text::number(rank));
        return rank;
    }
    FUSEKIT_H void is_float(Role role) const {
        DataType const type = arguments[role].type;
        if (arguments[role].rank != 0 && type != DataType::float32) fail(name(role), "float", fusekit::name(type));
    }
    /// The tensor of a role without its batch mode: K x P x Q for 1 x K x P x Q.
    FUSEKIT_H View image_of(Role role) const {
        View image = arguments[role];
        if (image.rank != rank_of_x || image.extents[0] != 1) return image;
        for (int mode = 1; mode < image.rank; ++mode) {
            image.extents[mode - 1] = image.extents[mode];
            image.strides[mode - 1] = image.strides[mode];
        }
        --image.rank;
        return image;
    }
};

}  // namespace fusekit::runtime
