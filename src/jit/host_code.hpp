// SPDX-License-Identifier: MIT
#pragma once

#include "forms.hpp"
#include "fusekit/runtime/compiled.hpp"

namespace fusekit::jit {

/// Host code of plans of element type T: what a unit per type compiles.
template <Reads reads, class T>
inline constexpr HostCode host_code_of = {
    [](runtime::detail::Reader const& reader, runtime::View const& x, Index<4>& shape) {
        runtime::detail::Compiled<hip::Device, runtime::Form<HostPlan<reads>, T>>::output_shape(reader, x, shape);
    },
    [](Call const& call, Launchable& result) {
        using Form = runtime::detail::FormOf<runtime::Form<HostPlan<reads>, T>>;
        runtime::detail::Call<hip::Device> const own{call.stream, call.reader, call.x, call.y, call.alignment};
        runtime::detail::with_prepared<Form>(own, call.alignment, [&]<class Prepared>(Prepared const& prepared) {
            auto const address = reinterpret_cast<std::uintptr_t>(prepared.prepared_launch().kernel);
            result.kernel = reinterpret_cast<KernelEntry const*>(address);
            result.filter = prepared.prepared_launch().params.bound.head.filter;
            result.run.reset(new runtime::detail::Holding<hip::Device, Prepared>(prepared));
        });
    }};

template <class T>
HostCode const* host_code_for(Reads reads) {
    switch (reads) {
        case Reads::channels: return &host_code_of<Reads::channels, T>;
        case Reads::pixel_parameters: return &host_code_of<Reads::pixel_parameters, T>;
        case Reads::one_tensor: return &host_code_of<Reads::one_tensor, T>;
    }
    return nullptr;
}

}  // namespace fusekit::jit
