// SPDX-License-Identifier: MIT
#include "fusion_op.hpp"

#include <fusekit/tensor/region.hpp>
#include <initializer_list>

namespace fusekit::compat {

using runtime::Role;

runtime::View view_of(TensorDescriptor const& tensor) {
    runtime::View view;
    view.type = element_type(tensor.type, "tensor");
    view.rank = tensor.rank;
    for (int i = 0; i < tensor.rank; ++i) view.extents[i] = tensor.extents[i], view.strides[i] = tensor.strides[i];
    return view;
}

void check_address(runtime::View const& view, char const* argument) {
    auto const bytes = static_cast<std::uintptr_t>(size_of(view.type));
    if (reinterpret_cast<std::uintptr_t>(view.data) % bytes != 0)
        fail(miopenStatusBadParm, Text(argument) + ": expected an address aligned to " +
                                      Text::number(static_cast<int>(bytes)) + " bytes, the element's size, got less");
}

runtime::View view_of(TensorDescriptor const& tensor, void const* data, char const* argument) {
    if (!data && tensor.size() != 0) fail(miopenStatusBadParm, Text(argument) + ": expected a pointer, got null");
    runtime::View view = view_of(tensor);
    view.data = const_cast<void*>(data);
    check_address(view, argument);
    return view;
}

namespace {

/// Memory of a tensor, whose strides are not negative. A null pointer has none.
fusekit::detail::Region region_of(runtime::View const& view) {
    std::int64_t const size = size_of(view.type);
    fusekit::detail::Region region{.first = reinterpret_cast<std::uintptr_t>(view.data), .type = view.type};
    region.rank = view.rank;
    std::int64_t last = 0;
    for (int i = 0; i < view.rank; ++i) {
        if (view.extents[i] == 0) return region;
        region.extent[i] = view.extents[i], region.stride[i] = view.strides[i] * size;
        last += (view.extents[i] - 1) * region.stride[i];
    }
    if (view.data) region.begin = region.first, region.end = region.first + static_cast<std::uintptr_t>(last + size);
    return region;
}

}  // namespace

bool share_memory(runtime::View const& a, runtime::View const& b) {
    return fusekit::detail::share_memory(region_of(a), region_of(b));
}

void check_apart(WorkspaceView workspace, runtime::View const& view, char const* argument) {
    auto const from = reinterpret_cast<std::uintptr_t>(workspace.data);
    fusekit::detail::Region const own = region_of(view);
    if (from < own.end && own.begin < from + workspace.bytes)
        fail(miopenStatusBadParm, Text("workspace: expected memory apart from ") + argument + ", got some of it");
}

runtime::Arguments FusionOp::tensors(TensorDescriptor const& x) const {
    runtime::Arguments arguments;
    auto const all = [&](std::initializer_list<Role> list) {
        for (Role const role : list) arguments[role] = view_of(parameters);
    };
    switch (descriptor.kind) {
        case runtime::Kind::conv: all({Role::weights}); break;
        case runtime::Kind::bias: all({Role::bias}); break;
        case runtime::Kind::residual: all({Role::z}); break;
        case runtime::Kind::batch_norm_inference: all({Role::mean, Role::variance, Role::scale, Role::shift}); break;
        case runtime::Kind::batch_norm_training:
            all({Role::scale, Role::shift, Role::saved_mean, Role::saved_inverse_deviation, Role::running_mean,
                 Role::running_variance});
            break;
        case runtime::Kind::batch_norm_backward:
            all({Role::scale, Role::shift, Role::saved_mean, Role::saved_inverse_deviation, Role::scale_gradient,
                 Role::shift_gradient});
            arguments[Role::x] = view_of(x);
            break;
        default: break;
    }
    return arguments;
}

char const* name_of(runtime::Kind kind) {
    switch (kind) {
        case runtime::Kind::conv: return "a convolution";
        case runtime::Kind::bias:
        case runtime::Kind::residual: return "a bias";
        case runtime::Kind::batch_norm_inference: return "a batch norm at inference";
        case runtime::Kind::batch_norm_training: return "a batch norm in training, forward";
        case runtime::Kind::batch_norm_backward: return "a batch norm in training, backward";
        case runtime::Kind::activation: return "an activation, forward";
        case runtime::Kind::activation_backward: return "an activation, backward";
        default: return "another operator";
    }
}

}  // namespace fusekit::compat
