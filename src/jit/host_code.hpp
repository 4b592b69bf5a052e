// SPDX-License-Identifier: MIT
#pragma once

#include "forms.hpp"
#include "fusekit/runtime/compiled.hpp"
#include "host_plan.hpp"

namespace fusekit::jit {

/// Form of a host plan for x of Rank modes.
template <class Plan, class T, int Rank>
struct HostForm : runtime::detail::FormOf<runtime::Form<Plan, T>> {
    static constexpr int rank = Rank;
};

/// Calls f with the form for x's modes, one of `ranks`; stores an error if they are others.
template <class Plan, class T, Ranks ranks, int rank = ranks.least, class F>
void with_form(runtime::detail::Reader const& reader, runtime::View const& x, F const& f) {
    if (x.rank == rank) f(static_cast<HostForm<Plan, T, rank>*>(nullptr));
    else if constexpr (rank < ranks.most) with_form<Plan, T, ranks, rank + 1>(reader, x, f);
    else
        runtime::detail::refuse(reader, "x", "",
                                (ranks.least < ranks.most ? Text::number(ranks.least) + " to " : Text()) +
                                    Text::number(ranks.most) + " modes",
                                Text::number(x.rank));
}

/// Host code of plans of element type T: what a unit per type, or per head, compiles.
template <Head head, Reads reads, class T, bool has_before = false>
inline constexpr HostCode host_code_of = {
    [](runtime::detail::Reader const& reader, runtime::View const& x, Index<4>& shape) {
        with_form<HostPlan<head, reads, has_before>, T, ranks_of(head)>(reader, x, [&]<class Form>(Form*) {
            if (!runtime::detail::is_of(reader, "x", x, data_type<T>, Form::rank)) return;
            auto const bound = Form::bind(reader);
            if (reader.refusal) return;
            auto const y = bound.output_shape(x.template layout<Form::rank>().shape);
            for (int mode = 0; mode < Form::rank; ++mode) shape[mode] = y[mode];
        });
    },
    [](Call const& call, Launchable& result) {
        with_form<HostPlan<head, reads, has_before>, T, ranks_of(head)>(call.reader, call.x, [&]<class Form>(Form*) {
            runtime::detail::Call<hip::Device> const own{call.stream, call.reader, call.x, call.y, call.alignment};
            runtime::detail::with_prepared<Form>(own, call.alignment, [&]<class Prepared>(Prepared const& prepared) {
                auto const address = reinterpret_cast<std::uintptr_t>(prepared.prepared_launch().kernel);
                result.kernel = reinterpret_cast<KernelEntry const*>(address);
                auto const& bound = prepared.prepared_launch().params.bound;
                if constexpr (requires { bound.head.filter; }) result.filter = bound.head.filter;
                result.run.reset(new runtime::detail::Holding<hip::Device, Prepared>(prepared));
            });
        });
    }};

/// Host code of a head whose host plans distinguish these Reads.
template <Head head, class T, Reads... all>
HostCode const* host_code_of_any(Reads reads) {
    HostCode const* found = nullptr;
    ((reads_of(head, reads) == all && (found = &host_code_of<head, all, T>)), ...);
    return found;
}
template <Head head, class T>
HostCode const* host_code_for(Spec const& spec) {
    if constexpr (head == Head::conv || head == Head::pooled_conv)
        return host_code_of_any<head, T, Reads::channels, Reads::pixel_parameters, Reads::tensors>(spec.reads);
    else if constexpr (is_product(head)) return host_code_of_any<head, T, Reads::channels, Reads::tensors>(spec.reads);
    else if constexpr (head == Head::none)
        return host_code_of_any<head, T, Reads::nothing, Reads::channels, Reads::tensors>(spec.reads);
    else if constexpr (is_of_rows(head))
        return spec.before.all.empty() ? &host_code_of<head, Reads::tensors, T>
                                       : &host_code_of<head, Reads::tensors, T, true>;
    else return &host_code_of<head, Reads::tensors, T>;
}

/// Host code of the first of these heads that the plan has, for a type; null if it has another. Each combination of a
/// head and a type is instantiated in one unit.
template <Head... heads>
HostCode const* typed_host_code(Spec const& spec, DataType type) {
    HostCode const* found = nullptr;
    auto const find = [&]<Head head>(std::integral_constant<Head, head>) {
        if (spec.head != head) return;
        if (type == DataType::float32) found = host_code_for<head, float>(spec);
        if (type == DataType::float16) found = host_code_for<head, half>(spec);
        if (type == DataType::bfloat16) found = host_code_for<head, bfloat16>(spec);
    };
    (find(std::integral_constant<Head, heads>{}), ...);
    return found;
}

}  // namespace fusekit::jit
