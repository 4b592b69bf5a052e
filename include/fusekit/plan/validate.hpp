// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/plan/check_args.hpp"
#include "fusekit/plan/epilogue.hpp"
#include "fusekit/plan/name.hpp"
#include "fusekit/tensor/check.hpp"
#include "fusekit/tensor/no_output.hpp"

namespace fusekit::detail {

template <class Extents>
FUSEKIT_H void check_extents(Check const& in, char const* argument, Extents const& shape) {
    std::int64_t bytes = size_of(in.type);
    for (int mode = 0; mode < Extents::rank; ++mode)
        if (shape[mode] < 0 || (shape[mode] > 0 && __builtin_mul_overflow(bytes, shape[mode], &bytes)))
            in.fail(argument, "extents of 0 or more whose size in bytes fits 63 bits", to_string(shape));
}

/// Stores an error in `in` if `scratch`, for the statistics of tiles after a Conv or Gemm, is not contiguous or has
/// fewer than `least` floats.
FUSEKIT_H inline void check_scratch(OptionalView<float, 1> const& scratch, std::int64_t least, Check const& in) {
    std::int64_t const size = scratch.layout.shape[0], stride = scratch.layout.stride[0];
    if (least == 0) return;
    if (!scratch.given() || size < least)
        in.fail("scratch", "at least " + Text::number(least) + " floats, for totals of tiles after a Conv or Gemm",
                scratch.given() ? Text::number(size) : "none");
    if (stride != 1) in.fail("scratch", "contiguous floats", "a stride of " + Text::number(stride));
    in.writable("scratch", TensorView<float, 1>(scratch.data, channels(least)), {{least}}, "floats");
}

/// Stores an error in `in` if batch statistics would be computed over zero values for a channel or pixel of y.
template <class Op>
FUSEKIT_H void check_values(Check const& in) {
    Index<4> const& y = in.y;
    constexpr bool per_pixel = totals_per_pixel<Op>();
    bool const none = y[0] == 0 || (!per_pixel && (y[2] == 0 || y[3] == 0));
    if (none && y[1] > 0 && (!per_pixel || (y[2] > 0 && y[3] > 0)))
        in.fail("", "at least 1 value per mean, because batch statistics of no values are undefined",
                "values of " + to_string(in.y));
}

template <class Op>
FUSEKIT_H void check_op(typename Op::Args const& args, Check const& in) {
    if (in.refused()) return;
    Check own = in;
    own.operator_name = type_name<Op>;
    if constexpr (requires { typename Op::template Accumulator<float>; }) check_values<Op>(own);
    check_args<Op>(args, own);
    if constexpr (TileStatisticsOp<Op>)
        if (in.totals_tiles) check_scratch(args.scratch, scratch_floats<Op>(in.y), own);
}

template <class... Ops, class Args>
FUSEKIT_H void check_epilogue(Epilogue<Ops...> const*, Args const& args, Check const& in) {
    [&]<int... Nth>(std::integer_sequence<int, Nth...>) {
        (check_op<Ops>(get<Nth>(args), in), ...);
    }(std::make_integer_sequence<int, sizeof...(Ops)>{});
}

/// Stores an error in `in` if the run writes nothing: y is fk::no_output, and no operator writes a tensor or a maximum.
FUSEKIT_H inline void check_writes(AliasChecker const& aliases, Check const& in) {
    for (Region const& region : aliases)
        if (region.access == Access::written) return;
    in.fail("", "a y to write to, because no operator of the plan writes a tensor", "no_output");
}

/// Check, the context of argument checks and their messages, for a run of Plan on x of these extents and type.
template <class Plan>
FUSEKIT_H Check check_of(CollapsedShape<4> const& x, DataType type) {
    return {.x = x,
            .y = {},
            .type = type,
            .plan = type_name<Plan>,
            .operator_name = [] { return Text("x"); },
            .totals_tiles = Plan::totals_tiles};
}

/// Names of y's modes in messages, written for two spatial modes: "N x K x P x Q".
template <class Plan>
consteval char const* modes_of_y() {
    if constexpr (requires { Plan::Head::output_modes; }) return Plan::Head::output_modes;
    else return "N x K x P x Q";
}

/// Order in which a run accesses x. read_in_place, if y may be x: each element is read for the same element of y alone,
/// before that is written. Else read: in any order.
template <class Plan>
inline constexpr Access access_to_x = Plan::runs_in_place ? Access::read_in_place : Access::read;

/// True if several shapes of y are valid for one x, as for a TransposedConv with a stride above 1: the shape of the
/// caller's y selects one.
template <class Plan>
inline constexpr bool has_several_outputs = !Plan::pools && requires(typename Plan::Head::Args const& args) {
    Plan::Head::output(CollapsedShape<4>{}, args, CollapsedShape<4>{});
};

/// When the addresses of x and y are known. `known`: now. `later`: a later run passes and checks them. `never`: nothing
/// is run, and also pointers in the arguments may be null.
enum class Addresses { known, later, never };

/// Checks that `bound` can be applied to x on `device` and that y can hold the result: throws Error, or stores it in
/// `refusal` if that is not null. Adds the memory of all arguments to `aliases`, x's first if its address is known. `y`
/// is null if it is not allocated yet, or not written. Returns the extents of the output, N x K x P x Q.
template <class BoundPlan, Element T, OutputElement U, int Rank, class Device>
FUSEKIT_H CollapsedShape<4> validate(BoundPlan const& bound, TensorView<T const, Rank> const& x,
                                     TensorView<U, Rank> const* y, Device const& device, AliasChecker& aliases,
                                     Addresses addresses, Refusal* refusal) {
    using Plan = typename BoundPlan::Plan;
    Check in = check_of<Plan>(Plan::collapse(x.layout.shape), data_type<T>);
    in.refusal = refusal;
    in.runs = addresses != Addresses::never;
    if constexpr (requires { device.check_accessible(in, "", nullptr); }) {
        in.device = &device;
        in.check_accessible = [](void const* self, Check const& check, char const* argument, void const* data) {
            static_cast<Device const*>(self)->check_accessible(check, argument, data);
        };
    }
    check_extents(in, "", x.layout.shape);
    if (in.refused()) return {};
    in.y = bound.epilogue_shape(in.x);
    CollapsedShape<4> y_shape = bound.collapsed_output_shape(in.x);
    if constexpr (has_several_outputs<Plan>)
        if (y) in.y = y_shape = Plan::Head::output(in.x, bound.head, Plan::collapse(y->layout.shape));

    Check out = in;
    if constexpr (Element<U>) out.type = data_type<U>;
    out.operator_name = [] { return Text("y"); };
    bool const known = addresses == Addresses::known;
    Region of_y;
    if (y) of_y = out.region("", known ? y->data : nullptr, out.type, Plan::collapse(y->layout), Access::written);
    if (in.refused()) return {};
    if (y && known) in.output = &of_y;
    in.aliases = &aliases;
    if (known) in.readable("", Plan::collapse(x), in.x, "N x C x H x W", access_to_x<Plan>);
    else {
        in.extents("", Plan::collapse(x.layout), in.x, "N x C x H x W");
        static_cast<void>(in.region("", nullptr, in.type, x.layout));
    }
    if constexpr (Plan::has_prologue) {
        Check check_of_x = in;
        check_of_x.y = in.x;
        check_epilogue(static_cast<typename Plan::Prologue*>(nullptr), bound.prologue, check_of_x);
    }
    check_op<typename Plan::Head>(bound.head, in);
    if (in.refused()) return {};
    check_extents(out, "", in.y);
    check_epilogue(static_cast<typename Plan::Epilogue*>(nullptr), bound.epilogue, in);
    if constexpr (!Element<U>) {
        if (!has_no_elements(y_shape)) check_writes(aliases, out);
    } else if (y && !in.refused()) {
        if constexpr (has_several_outputs<Plan>)
            if (Index<Rank> const& given = y->layout.shape; !(expand<Rank>(y_shape) == given))
                out.fail("", Plan::Head::outputs(in.x, bound.head), to_string(given));
        if (known) out.readable("", Plan::collapse(*y), y_shape, modes_of_y<Plan>());
        else out.extents("", Plan::collapse(y->layout), y_shape, modes_of_y<Plan>());
        if (!is_nested(y->layout)) out.fail("", nested_strides, to_string(y->layout.stride));
    }
    return y_shape;
}

/// Validates a run on x and y: throws Error if an argument is invalid. Writes nothing. Returns the extents of the
/// output.
template <class BoundPlan, Element T, OutputElement U, int Rank, class Device>
FUSEKIT_H CollapsedShape<4> validate(BoundPlan const& bound, TensorView<T const, Rank> const& x,
                                     TensorView<U, Rank> const* y, Device const& device) {
    AliasCheckerOf<BoundPlan> aliases;
    return validate(bound, x, y, device, aliases, Addresses::known, nullptr);
}

/// Validates a run into a new y of element type U: throws Error if an argument is invalid. Returns y's layout: packed,
/// channels first or last as in x.
template <OutputElement U, class BoundPlan, Element T, int Rank, class Device>
FUSEKIT_H Layout<Rank> validate_new(BoundPlan const& bound, TensorView<T const, Rank> const& x, Device const& device) {
    TensorView<U, Rank> const* const none = nullptr;
    return packed_like(expand<Rank>(validate(bound, x, none, device)), x.layout);
}

}  // namespace fusekit::detail
