// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/device.hpp"
#include "fusekit/backend/hip/dispatch/conv.hpp"
#include "fusekit/backend/hip/dispatch/predict.hpp"
#include "fusekit/backend/hip/runtime/device.hpp"

namespace fusekit::hip {

static_assert(fusekit::Device<Device>);

namespace detail {

/// Class template whose functions prepare launches of plans with one kind of head (plan/structure.hpp): with the
/// schedule that the library selects for a stream, or with the one that the caller named. This header has those of Conv
/// and Gemm, prepare.hpp the others.
template <detail::HeadKind kind>
struct PrepareHead;

template <>
struct PrepareHead<detail::HeadKind::conv> {
    template <Orders orders>
    FUSEKIT_H static auto prepare(Stream const& stream, auto const&... arguments) {
        return prepare_conv<orders>(stream.gpu(), arguments..., stream.own_workspace_bytes());
    }
    FUSEKIT_H static auto prepare_tuned(TunedTable const& tuned, Stream const& stream, auto const&... arguments) {
        return prepare_conv(stream.gpu(), arguments..., stream.own_workspace_bytes(), &tuned);
    }
    template <class Schedule>
    FUSEKIT_H static auto prepare_with(auto const&... arguments) {
        return prepare_conv_with<Schedule>(arguments...);
    }
};

/// A Gemm is computed as a 1x1 convolution.
template <>
struct PrepareHead<detail::HeadKind::gemm> : PrepareHead<detail::HeadKind::conv> {};

/// Launches a prepared call on the stream. Throws the Error in `prepared`, if any, and an Error if the workspace of the
/// stream is too small or HIP reports a failure.
template <class Params>
FUSEKIT_H void run(Result<Launch<Params>> const& prepared, Stream const& stream) {
    Launch<Params> const& launch = prepared.value();
    launch.require_workspace(stream);
    launch.start(stream).raise();
}

}  // namespace detail

template <class BoundPlan, Element T, detail::OutputElement U>
FUSEKIT_H auto Stream::prepare(BoundPlan const& bound, detail::ImageView<T const> const& x,
                               detail::ImageView<U> const& y) const {
    return detail::PrepareHead<BoundPlan::Plan::head_kind>::template prepare<Orders::any>(*this, bound, x, y);
}

template <class BoundPlan, Element T, detail::OutputElement U>
FUSEKIT_H void Stream::run(BoundPlan const& bound, detail::ImageView<T const> const& x,
                           detail::ImageView<U> const& y) const {
    detail::run(prepare(bound, x, y), *this);
}

/// Base of a stream object whose calls are prepared by Own::prepare(). Refers to the stream or device from which it was
/// constructed.
template <class Own, class Schedule = void>
class Directed : public Memory, public Accepts<Schedule> {
public:
    using TensorDevice = Device;
    static constexpr bool is_handle = true;  ///< calls may run on a const object

    template <class BoundPlan, Element T, detail::OutputElement U>
    FUSEKIT_H void run(BoundPlan const& bound, detail::ImageView<T const> const& x,
                       detail::ImageView<U> const& y) const {
        detail::run(static_cast<Own const*>(this)->prepare(bound, x, y), *stream);
    }
    FUSEKIT_H Memory output_memory() const { return stream->output_memory(); }
    FUSEKIT_H void check_accessible(Check const& in, char const* argument, void const* data) const {
        stream->check_accessible(in, argument, data);
    }

protected:
    FUSEKIT_H explicit Directed(Stream const& the_stream) : Memory(the_stream), stream(&the_stream) {}

    Stream const* stream;
};

/// Stream on which all calls run with the schedule that the caller named.
template <class Schedule>
class Scheduled : public Directed<Scheduled<Schedule>, Schedule> {
public:
    FUSEKIT_H explicit Scheduled(Stream const& the_stream) : Directed<Scheduled, Schedule>(the_stream) {}

    template <class BoundPlan, Element T, detail::OutputElement U>
    FUSEKIT_H auto prepare(BoundPlan const& bound, detail::ImageView<T const> const& x,
                           detail::ImageView<U> const& y) const {
        using Head = detail::PrepareHead<BoundPlan::Plan::head_kind>;
        return Head::template prepare_with<Schedule>(this->stream->gpu(), bound, x, y);
    }
};

/// Stream on which convolutions that are in a tuned table run with the table's schedules. The table must outlive the
/// stream.
class Tuned : public Directed<Tuned> {
public:
    FUSEKIT_H Tuned(Stream const& the_stream, TunedTable const& the_table) : Directed(the_stream), table(&the_table) {}

    template <class BoundPlan, Element T, detail::OutputElement U>
    FUSEKIT_H auto prepare(BoundPlan const& bound, detail::ImageView<T const> const& x,
                           detail::ImageView<U> const& y) const {
        using Head = detail::PrepareHead<BoundPlan::Plan::head_kind>;
        if constexpr (requires { Head::prepare_tuned(*table, *stream, bound, x, y); })
            return Head::prepare_tuned(*table, *stream, bound, x, y);
        else return stream->prepare(bound, x, y);
    }

private:
    TunedTable const* table;
};

/// Stream for whose calls only kernels for channels-last tensors are compiled. Exception: the y of a weight gradient is
/// filters, in any layout.
class ChannelsLast : public Directed<ChannelsLast> {
public:
    FUSEKIT_H explicit ChannelsLast(Stream const& the_stream) : Directed(the_stream) {}

    template <class BoundPlan, Element T, detail::OutputElement U>
    FUSEKIT_H auto prepare(BoundPlan const& bound, detail::ImageView<T const> const& x,
                           detail::ImageView<U> const& y) const {
        using Plan = typename BoundPlan::Plan;
        using Head = detail::PrepareHead<Plan::head_kind>;
        using Prepared = decltype(Head::template prepare<Orders::channels_last>(*stream, bound, x, y));
        Refusal refusal = detail::refuse_other_orders(type_name<Plan>, "x", x.collapsed_layout());
        if constexpr (!Plan::has_weight_gradient)
            if (!refusal) refusal = detail::refuse_other_orders(type_name<Plan>, "y", y.collapsed_layout());
        if (refusal) return Prepared(*refusal);
        return Head::template prepare<Orders::channels_last>(*stream, bound, x, y);
    }
};

FUSEKIT_H inline Tuned Stream::tuned(TunedTable const& table) const { return Tuned(*this, table); }
FUSEKIT_H inline ChannelsLast Stream::channels_last() const { return ChannelsLast(*this); }

}  // namespace fusekit::hip
