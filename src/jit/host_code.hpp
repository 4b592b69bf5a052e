// SPDX-License-Identifier: MIT
#pragma once

#include "forms.hpp"
#include "fusekit/runtime/compiled.hpp"
#include "host_plan.hpp"

namespace fusekit::jit {

/// Form of a host plan for x of Rank modes.
template <class Plan, class T, int Rank, class Y = T>
struct HostForm : runtime::detail::FormOf<runtime::Form<Plan, T, Y>> {
    static constexpr int rank = Rank;
};

/// Calls f with the form for x's modes, one of `ranks`; stores an error if they are others.
template <class Plan, class T, class Y, Ranks ranks, int rank = ranks.least, class F>
void with_form(runtime::detail::Reader const& reader, runtime::View const& x, F const& f) {
    if (x.rank == rank) f(static_cast<HostForm<Plan, T, rank, Y>*>(nullptr));
    else if constexpr (rank < ranks.most) with_form<Plan, T, Y, ranks, rank + 1>(reader, x, f);
    else
        runtime::detail::refuse(reader, "x", "",
                                (ranks.least < ranks.most ? Text::number(ranks.least) + " to " : Text()) +
                                    Text::number(ranks.most) + " modes",
                                Text::number(x.rank));
}

/// Host code of a host plan for x of element type T and y of Y: a unit per type, or per head, compiles it.
template <class Plan, class T, class Y, Ranks ranks>
inline constexpr HostCode host_code_of_plan = {
    [](runtime::detail::Reader const& reader, runtime::View const& x, Index<4>& shape) {
        with_form<Plan, T, Y, ranks>(reader, x, [&]<class Form>(Form*) {
            if (!runtime::detail::is_of(reader, "x", x, data_type<T>, Form::rank)) return;
            auto const bound = Form::bind(reader);
            if (reader.refusal) return;
            auto const y = bound.output_shape(x.template layout<Form::rank>().shape);
            for (int mode = 0; mode < Form::rank; ++mode) shape[mode] = y[mode];
        });
    },
    [](Call const& call, Launchable& result) {
        with_form<Plan, T, Y, ranks>(call.reader, call.x, [&]<class Form>(Form*) {
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
template <Head head, Reads reads, class T, bool has_before = false>
inline constexpr HostCode const& host_code_of =
    host_code_of_plan<HostPlan<head, reads, has_before>, T, T, ranks_of(head)>;

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
    else if constexpr (is_gradient(head))
        return spec.reads == Reads::tensors ? &host_code_of<head, Reads::tensors, T>
                                            : &host_code_of<head, Reads::nothing, T>;
    else if constexpr (head == Head::none)
        return host_code_of_any<head, T, Reads::nothing, Reads::channels, Reads::tensors>(spec.reads);
    else if constexpr (is_of_rows(head))
        return spec.before.all.empty() ? &host_code_of<head, Reads::tensors, T>
                                       : &host_code_of<head, Reads::tensors, T, true>;
    else return &host_code_of<head, Reads::tensors, T>;
}

#ifndef FUSEKIT_JIT_TYPES
#define FUSEKIT_JIT_TYPES float, half, bfloat16
#endif
/// True for the element types that the library is built for.
template <class T, class... All>
inline constexpr bool is_among = (std::same_as<T, All> || ...);
template <class T>
inline constexpr bool is_built = is_among<T, FUSEKIT_JIT_TYPES>;

/// Host code of a plan with one of these heads and element type T; null if it has another head, or T is not built. Each
/// combination of a head and a type is instantiated in one unit.
template <class T, Head... heads>
HostCode const* code_of_type(Spec const& spec) {
    HostCode const* found = nullptr;
    if constexpr (is_built<T>) ((spec.head == heads && (found = host_code_for<heads, T>(spec))), ...);
    return found;
}
template <Head... heads>
HostCode const* typed_host_code(Spec const& spec, DataType type) {
    if (type == DataType::float32) return code_of_type<float, heads...>(spec);
    if (type == DataType::float16) return code_of_type<half, heads...>(spec);
    return type == DataType::bfloat16 ? code_of_type<bfloat16, heads...>(spec) : nullptr;
}

}  // namespace fusekit::jit
