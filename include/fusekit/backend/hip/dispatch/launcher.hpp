// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/backend/hip/dispatch/conv_case.hpp"
#include "fusekit/backend/hip/params.hpp"
#include "fusekit/backend/hip/runtime/launch.hpp"

namespace fusekit::hip {

namespace detail {

/// True if the GPU runs sm_90a code.
FUSEKIT_H inline bool is_sm90a(Gpu const& gpu) { return is_sm90a(gpu.architecture()); }

/// Class template whose function prepares launches with one schedule; specialized for each entry of dispatch/list.hpp.
/// Members:
///   prepare<Schedule, orders>(gpu, operands, split_k, limits)     returns a Result of a Launch
/// or, for entries by_tma,
///   launch<Schedule>(gpu, operands, split_k, unmet)               returns a Maybe of a Launch; empty, with the first
///                                                               failed condition in `unmet`, if an operand's layout,
///                                                               the program or the GPU does not support it
template <class Entry>
struct Launcher;

/// Returns an unmet condition if this program has no code of the kernel for the GPU.
template <class Params>
FUSEKIT_H Unmet unmet_by_code(Gpu const& gpu, Kernel<Params> const& kernel) {
    return holds(kernel.is_launchable(gpu.index()), "the program has no code for sm_90a that runs on the GPU",
                 "compile for it, or use NativeGemm");
}

/// Returns the first unmet condition on the tensor that an operator of the epilogue reads at each pixel of y, such as
/// Residual's z: TMA loads one such tensor, of y's extents and type, that meets unmet_by_tma() or unmet_by_pixels().
/// `loads`: true if the kernel loads such a tensor.
template <bool loads, class Plan, Element T, OutputElement U>
[[gnu::cold]] FUSEKIT_H Unmet unmet_by_read([[maybe_unused]] ConvOperands<Plan, T, U> const& operands,
                                            [[maybe_unused]] decltype(unmet_by_tma)& unmet_by_layout) {
    Unmet unmet;
    if constexpr (loads)
        Plan::Epilogue::views(operands.bound.epilogue, [&]<class View>(View const& view) {
            if constexpr (std::is_base_of_v<AnyView<4>, View>) {
                AnyView<4> const& z = view;
                if (!unmet)
                    unmet =
                        first_unmet(holds(z.type == data_type<U> && z.layout.shape == operands.y.layout.shape,
                                          "an operator's tensor is not of y's extents and type", "use MatrixGemm"),
                                    unmet_by_layout(z.layout, z.data(), sizeof(U),
                                                    {"an operator's tensor is not at a multiple of 16 bytes",
                                                     "the channel stride of an operator's tensor",
                                                     {"bytes from one image of an operator's tensor to the next",
                                                      "bytes from one row of an operator's tensor to the next",
                                                      "bytes from one pixel of an operator's tensor to the next"}}));
            }
        });
    return unmet;
}

template <class Plan, Element T, OutputElement U>
[[gnu::cold]] FUSEKIT_H Unmet unmet_by_read(ConvOperands<Plan, T, U> const& operands,
                                            decltype(unmet_by_tma)& unmet_by_layout) {
    return unmet_by_read<reads_in_bulk<Plan, T, U>>(operands, unmet_by_layout);
}

/// Encodes a launch's tensor maps by calling encode() with the GPU as the current device. Returns false and sets
/// `unmet` if encode() returns false or the GPU cannot be selected.
template <class Encode>
[[gnu::cold]] FUSEKIT_H bool encode_maps(Gpu const& gpu, Unmet& unmet, Encode const& encode) {
    Refusal refusal;
    DeviceGuard const guard(gpu.index(), &refusal);
    if (!refusal && encode()) return true;
    unmet = not_encoded;
    return false;
}

/// Encodes the tensor map of the tensor that an operator reads at each pixel of y, by calling encode_view(map, view),
/// or, for a plan with phases, the tensor maps of all phases by encode_view(maps, view). Returns false if that fails or
/// there are several such tensors; true also if TMA does not load the tensor.
template <bool loads, class Plan, class T, class U, class EncodeView>
[[gnu::cold]] FUSEKIT_H bool encode_read([[maybe_unused]] ConvParams<Plan, T, U>& params,
                                         [[maybe_unused]] EncodeView const& encode_view) {
    if constexpr (!loads) {
        return true;
    } else {
        int views = 0;
        bool encoded = true;
        Plan::Epilogue::views(params.bound.epilogue, [&]<class View>(View const& view) {
            if constexpr (std::is_base_of_v<AnyView<4>, View>) {
                auto const z = typed<U>(static_cast<AnyView<4> const&>(view));
                if constexpr (ConvParams<Plan, T, U>::phases > 1)
                    encoded = ++views == 1 && encode_view(params.read.maps, z);
                else encoded = ++views == 1 && encode_view(params.read.map, z);
            }
        });
        return encoded && views == 1;
    }
}

template <class Plan, class T, class U, class EncodeView>
[[gnu::cold]] FUSEKIT_H bool encode_read(ConvParams<Plan, T, U>& params, EncodeView const& encode_view) {
    return encode_read<reads_in_bulk<Plan, T, U>>(params, encode_view);
}

/// Kernel argument of a convolution of x to y with the members that do not depend on the schedule.
template <class Plan, Element T, OutputElement U>
FUSEKIT_H ConvParams<Plan, T, U> conv_params(ConvOperands<Plan, T, U> const& operands) {
    ImageView<T const> const& x = operands.x;
    ImageView<U> const& y = operands.y;
    ConvParams<Plan, T, U> params{operands.bound, without_idle_strides(x), y};
    if constexpr (Plan::Head::collapsed_space == 3) params.slices = problem::slices_of<3>(x.from, y.from);
    auto& weights = params.bound.head.weights.layout;
    if (has_no_elements(weights.shape)) weights.stride = {};
    return params;
}

}  // namespace detail

}  // namespace fusekit::hip
