// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/plan/prepared.hpp"
#include "fusekit/runtime/handle.hpp"

/// Definitions of the functions that handle.hpp declares for each Form of a PlanSet. A unit that includes this header
/// includes the device's backend before it.
namespace fusekit::runtime::detail::inline FUSEKIT_FLAGS {

template <class Device, class Prepared>
struct Holding : AnyRun<Device> {
    Prepared prepared;
    using X = typename Prepared::X;
    using Y = typename Prepared::Y;

    FUSEKIT_H explicit Holding(Prepared const& the_prepared) : prepared(the_prepared) {}
    FUSEKIT_H std::size_t workspace_bytes() const override { return prepared.workspace_bytes(); }
    FUSEKIT_H Refusal run(Stream<Device>& stream, void const* x, void* y, WorkspaceView workspace) const override {
        return prepared.try_run(stream, static_cast<X const*>(x), static_cast<Y*>(y), workspace);
    }
};

[[gnu::cold, gnu::noinline]] FUSEKIT_H inline void refuse(Reader const& of, char const* tensor, char const* field,
                                                          Text expected, Text given) {
    if (!of.refusal) of.refusal = Error(of.plan(), tensor, field, std::move(expected), std::move(given));
}

/// Stores an error in the reader if the element type, rank or alignment of a tensor is not that of the compiled plan.
FUSEKIT_H inline bool is_of(Reader const& of, char const* tensor, View const& view, DataType type, int rank) {
    if (view.type != type) refuse(of, tensor, "", fusekit::name(type), fusekit::name(view.type));
    else if (view.rank != rank) refuse(of, tensor, "", Text::number(rank) + " modes", Text::number(view.rank));
    else if (!is_aligned(view.data, type))
        refuse(of, tensor, "", "an address aligned to the element's size", "a misaligned address");
    else return true;
    return false;
}

/// Binds a call's arguments, prepares the run, and calls f(prepared). On an error, stores it in call.reader and does
/// not call f.
template <class Form, class Device, class F>
FUSEKIT_H void with_prepared(Call<Device> const& call, int alignment, F const& f) {
    using X = typename Form::X;
    using Y = typename Form::Y;
    constexpr int rank = Form::rank;
    if (!is_of(call.reader, "x", call.x, data_type<X>, rank) || !is_of(call.reader, "y", call.y, data_type<Y>, rank))
        return;
    auto const bound = Form::bind(call.reader);
    if (call.reader.refusal) return;
    Layout<rank> const x = call.x.template layout<rank>(), y = call.y.template layout<rank>();
    auto const prepared =
        alignment != 0 ? bound.template try_prepare<X, Y>(call.stream, x, y, alignment)
                       : bound.try_prepare(call.stream, TensorView<X const, rank>(static_cast<X*>(call.x.data), x),
                                           TensorView<Y, rank>(static_cast<Y*>(call.y.data), y));
    if (!prepared) call.reader.refusal = prepared.error();
    else f(*prepared);
}

template <class Device, class TheForm>
FUSEKIT_H void Compiled<Device, TheForm>::output_shape(Reader const& reader, View const& x, Index<4>& shape) {
    using Form = FormOf<TheForm>;
    if (!is_of(reader, "x", x, data_type<typename Form::X>, Form::rank)) return;
    auto const bound = Form::bind(reader);
    if (reader.refusal) return;
    auto const y = bound.output_shape(x.template layout<Form::rank>().shape);
    for (int mode = 0; mode < Form::rank; ++mode) shape[mode] = y[mode];
}

template <class Device, class TheForm>
FUSEKIT_H void Compiled<Device, TheForm>::workspace_bytes(Call<Device> const& call, std::size_t& bytes) {
    with_prepared<FormOf<TheForm>>(call, call.alignment,
                                   [&](auto const& prepared) { bytes = prepared.workspace_bytes(); });
}

template <class Device, class TheForm>
FUSEKIT_H void Compiled<Device, TheForm>::prepare(Call<Device> const& call, Run<Device>& run) {
    with_prepared<FormOf<TheForm>>(call, call.alignment, [&]<class Prepared>(Prepared const& prepared) {
        run.reset(new Holding<Device, Prepared>(prepared));
    });
}

template <class Device, class TheForm>
FUSEKIT_H void Compiled<Device, TheForm>::run(Call<Device> const& call, WorkspaceView workspace) {
    using Form = FormOf<TheForm>;
    with_prepared<Form>(call, 0, [&](auto const& prepared) {
        call.reader.refusal = prepared.try_run(call.stream, static_cast<typename Form::X const*>(call.x.data),
                                               static_cast<typename Form::Y*>(call.y.data), workspace);
    });
}

}  // namespace fusekit::runtime::detail::inline FUSEKIT_FLAGS
