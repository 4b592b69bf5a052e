// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "fusekit/plan/log.hpp"
#include "fusekit/plan/name.hpp"
#include "fusekit/plan/validate.hpp"
#include "fusekit/tensor/tensor.hpp"
#include "fusekit/tensor/workspace.hpp"

namespace fusekit {

/// A bound plan prepared for tensors of known layouts: arguments are validated, schedule and grid are chosen. Immutable
/// and trivially copyable; may be run from many threads and on many streams at once. The tensors to which the plan is
/// bound must outlive its runs.
///
/// TheLaunch is the backend's type. It has `workspace_bytes`; `check_device(in, stream)`, which stores an error in `in`
/// if the stream belongs to another device than the one of the preparation; and `start(stream, x, y, workspace)`, which
/// enqueues the run.
template <class BoundPlan, Element T, detail::OutputElement U, int Rank, class TheLaunch>
class Prepared {
    using Plan = typename BoundPlan::Plan;
    using Stream = typename TheLaunch::Stream;
    using Aliases = detail::AliasCheckerOf<BoundPlan>;
    static constexpr bool has_y = Element<U>;

public:
    using X = T;
    using Y = U;

    /// Constructs a Prepared from the launch that a backend's prepare() returned. Of `the_x` and `the_y` only layouts
    /// and alignment are kept; `arguments` are the memory regions of the bound tensors, which x and y of a run must not
    /// overlap.
    FUSEKIT_H Prepared(TheLaunch const& the_launch, TensorView<T const, Rank> const& the_x,
                       TensorView<U, Rank> const& the_y, detail::AliasChecker const& arguments)
        : launch(the_launch), x_memory(the_x), y_memory(the_y) {
        for (detail::Region const& region : arguments) regions[region_count++] = region;
        in_place = Plan::runs_in_place && has_y &&
                   detail::same_elements(x_memory.at(nullptr, Access::read), y_memory.at(nullptr, Access::written));
    }

    /// Bytes of workspace that one run needs.
    FUSEKIT_H std::size_t workspace_bytes() const { return launch.workspace_bytes; }

    /// The backend's launch, for code that inspects it, such as src/jit/.
    FUSEKIT_H TheLaunch const& prepared_launch() const { return launch; }

    /// Runs on `stream` from x into y: pointers, or tensors of the prepared layouts. Allocates nothing. Uses
    /// `workspace` or, if none is given, the stream's own. Throws Error, and leaves y unchanged, if a pointer is null,
    /// has less than the prepared alignment, is not accessible to the device, or points to memory that overlaps y's.
    template <class Given, class X, class Y>
    FUSEKIT_H void operator()(Given&& stream, X const& x, Y&& y, WorkspaceView workspace = {}) const {
        try_run(stream, x, y, workspace).raise();
    }

    /// Does the same as operator(), but returns the error instead of throwing it.
    template <class Given, class X, class Y>
    [[nodiscard("try_run returns an error if it did not run: test the result")]] FUSEKIT_H Refusal
    try_run(Given&& stream, X const& x, Y&& y, WorkspaceView workspace = {}) const {
        constexpr bool runs = std::is_convertible_v<Given, Stream&>;
        static_assert(runs, "the stream's device is of another type than the one that the run was prepared on");
        constexpr bool reads =
            std::is_convertible_v<X const&, T const*> || requires { alike<T>(x.const_view(), x_memory); };
        static_assert(reads,
                      "x must be a pointer to, or a tensor of, elements of the type that the run was prepared for");
        constexpr bool writes = std::is_convertible_v<Y, U*> || requires { alike<U>(y.view(), y_memory); };
        static_assert(
            writes,
            "y must be a pointer to, or a tensor of, non-const elements of the type that the run was prepared for");
        if constexpr (runs && reads && writes) {
            if constexpr (!std::is_convertible_v<X const&, T const*>) {
                auto const view = x.const_view();
                if (!alike<T>(view, x_memory)) return refuse_layout("x", view.layout, x_memory.layout);
                return try_run(stream, view.data, y, workspace);
            } else if constexpr (!std::is_convertible_v<Y, U*>) {
                auto const view = y.view();
                if (!alike<U>(view, y_memory)) return refuse_layout("y", view.layout, y_memory.layout);
                return try_run(stream, x, view.data, workspace);
            } else {
                return run(stream, x, y, workspace);
            }
        } else {
            return {};
        }
    }

    /// For backends whose runs pack weights: packs the weights and the operators' parameters to `workspace`, of
    /// packed_bytes() bytes, and returns a run that reads them there. Its runs need this workspace, one at a time.
    template <class Given>
    FUSEKIT_H Prepared pack(Given& stream, WorkspaceView workspace) const
        requires requires(TheLaunch const& of_backend) { of_backend.pack(stream, workspace); }
    {
        Prepared packed = *this;
        packed.launch = launch.pack(stream, workspace);
        return packed;
    }
    FUSEKIT_H std::size_t packed_bytes() const
        requires requires(TheLaunch const& of_backend) { of_backend.packed_bytes; }
    {
        return launch.packed_bytes;
    }

private:
    /// Layout, byte range and alignment of x or y; addresses are relative to the data pointer that a run passes.
    struct Memory {
        Layout<Rank> layout;
        DataType type = data_type<T>;
        std::uintptr_t begin, end;  ///< byte offsets from the data pointer to the first byte, and past the last
        std::uintptr_t alignment;  ///< required alignment of the data pointer, in bytes

        template <class Data>
        FUSEKIT_H explicit Memory(TensorView<Data, Rank> const& view)
            : layout(view.layout), alignment(reinterpret_cast<std::uintptr_t>(view.data)) {
            if constexpr (Element<std::remove_const_t<Data>>) type = data_type<std::remove_const_t<Data>>;
            detail::Region const own = at(nullptr, Access::read);
            begin = own.begin, end = own.end;
        }
        FUSEKIT_H detail::Region at(void const* data, Access access) const {
            return detail::check_of<Plan>({}, type).region("", data, type, Plan::collapse(layout), access);
        }
        FUSEKIT_H bool has_no_elements() const { return begin == end; }
        /// True if a run may pass this address for the tensor: non-null and a multiple of `alignment`. For a tensor
        /// without elements every address is valid, also null.
        FUSEKIT_H bool takes(std::uintptr_t address) const {
            return has_no_elements() || (address != 0 && (address & (alignment - 1)) == 0);
        }
    };

    TheLaunch launch;
    Memory x_memory, y_memory;
    detail::Region regions[Aliases::most] = {};
    int region_count = 0;
    bool in_place;  ///< true if the layouts and types allow y to be x

    template <class Stored, class Data>
    FUSEKIT_H static bool alike(TensorView<Data, Rank> const& view, Memory const& memory)
        requires std::is_same_v<std::remove_const_t<Data>, Stored>
    {
        return view.layout == memory.layout;
    }

    FUSEKIT_H Refusal run(Stream& stream, T const* x, U* y, WorkspaceView workspace) const {
        auto const from = reinterpret_cast<std::uintptr_t>(x), to = reinterpret_cast<std::uintptr_t>(y);
        // Overlapping address ranges may still have no byte in common (strided tensors): refuse() compares them
        // exactly.
        bool fits = x_memory.takes(from) && (x_memory.has_no_elements() || stream.has_reached(x)) &&
                    (!has_y || (y_memory.takes(to) && (y_memory.has_no_elements() || stream.has_reached(y)))) &&
                    launch.is_for(stream) && suffices(stream, workspace);
        auto const meets = [](std::uintptr_t begin, std::uintptr_t end, auto const& other) {
            return begin < other.end && other.begin < end;
        };
        std::uintptr_t const x_begin = from + x_memory.begin, x_end = from + x_memory.end;
        std::uintptr_t const y_begin = to + y_memory.begin, y_end = has_y ? to + y_memory.end : y_begin;
        fits = fits && ((in_place && from == to) || !(x_begin < y_end && y_begin < x_end));
        for (int i = 0; i < region_count; ++i)
            fits = fits && !meets(y_begin, y_end, regions[i]) &&
                   !(regions[i].access == Access::written && meets(x_begin, x_end, regions[i]));
        if (!fits)
            if (Refusal refusal = refuse(stream, x, y, workspace)) return refusal;
        return launch.start(stream, x, y, workspace);
    }

    FUSEKIT_H bool suffices(Stream const& stream, WorkspaceView const& workspace) const {
        if (workspace_bytes() == 0) return true;
        if (!workspace.data) return workspace_bytes() <= stream.own_workspace_bytes();
        return workspace_bytes() <= workspace.bytes && stream.has_reached(workspace.data) &&
               reinterpret_cast<std::uintptr_t>(workspace.data) % 64 == 0;
    }

    /// Slow path of run(): repeats the checks exactly and returns the error, in validate()'s words. Returns no error,
    /// and allocates nothing, if the fast checks failed only because the device's cache of accessible pointers was out
    /// of date.
    [[gnu::cold, gnu::noinline]] FUSEKIT_H Refusal refuse(Stream const& stream, T const* x, U* y,
                                                          WorkspaceView workspace) const {
        Refusal refusal;
        Check in = detail::check_of<Plan>(Plan::collapse(x_memory.layout.shape), data_type<T>);
        in.refusal = &refusal;
        launch.check_device(in, stream);
        auto const check = [&](void const* data, Memory const& memory) {
            auto const address = reinterpret_cast<std::uintptr_t>(data);
            if (memory.has_no_elements()) return;
            if (!data)
                in.fail("", "a pointer to " + to_string(Plan::collapse(memory.layout.shape)) + " elements",
                        "a null pointer");
            else if (!memory.takes(address))
                in.fail("", "memory aligned to " + Text::number(memory.alignment) + " bytes, as it was prepared for",
                        "a multiple of " + Text::number(address & -address));
            else reach(in, "", stream, data);
        };
        check(x, x_memory);
        in.operator_name = [] { return Text("y"); };
        if (has_y) check(y, y_memory);
        if (!refusal) {
            detail::Region const of_y = y_memory.at(y, Access::written);
            if (has_y) in.output = &of_y;
            Aliases aliases;
            in.aliases = &aliases;
            in.operator_name = [] { return Text("x"); };
            in.apart(x_memory.at(x, detail::access_to_x<Plan>));
            for (int i = 0; i < region_count; ++i) {
                in.operator_name = regions[i].operator_name;
                in.apart(regions[i]);
            }
        }
        in.operator_name = [] { return Text("workspace"); };
        auto const expected = [&] { return Text::number(workspace_bytes()) + " bytes"; };
        if (workspace_bytes() == 0) return refusal;
        if (!workspace.data) {
            std::size_t const own = stream.own_workspace_bytes();
            if (own < workspace_bytes())
                in.fail("", expected() + ", passed to the run or owned by the stream",
                        own ? Text::number(own) : "none");
        } else if (workspace.bytes < workspace_bytes()) {
            in.fail("", expected(), Text::number(workspace.bytes));
        } else if (auto const address = reinterpret_cast<std::uintptr_t>(workspace.data); address % 64 != 0) {
            in.fail("", "memory aligned to 64 bytes", "a multiple of " + Text::number(address & -address));
        } else {
            reach(in, "", stream, workspace.data);
        }
        return refusal;
    }

    FUSEKIT_H static void reach(Check const& in, char const* argument, Stream const& stream, void const* data) {
        if constexpr (requires { stream.check_accessible(in, argument, data); })
            stream.check_accessible(in, argument, data);
    }

    [[gnu::cold]] FUSEKIT_H static Refusal refuse_layout(char const* tensor, Layout<Rank> const& given,
                                                         Layout<Rank> const& expected) {
        bool const shapes = given.shape == expected.shape;
        auto const words = [&](Layout<Rank> const& layout) {
            return shapes ? to_string(layout.stride) : to_string(layout.shape);
        };
        return Error(type_name<Plan>(), tensor, shapes ? "strides" : "shape",
                     words(expected) + ", as it was prepared for", words(given));
    }
};

namespace detail {

/// Returns an address that is never dereferenced (tensor/stand_in.hpp) and is aligned to exactly `alignment` bytes, or
/// sizeof(T) if that is larger. If `alignment` is 0, the address has the alignment of `data`, but at most 16 bytes,
/// because no schedule requires more.
template <class T>
FUSEKIT_H T* address_aligned(T* data, int alignment) {
    constexpr int least = sizeof(T);
    auto const address = alignment ? static_cast<std::uintptr_t>(alignment < least ? least : alignment)
                                   : reinterpret_cast<std::uintptr_t>(data) | 16;
    return reinterpret_cast<T*>(address & -address);
}

[[gnu::cold, gnu::noinline]] FUSEKIT_H inline Error refuse_alignment(Text (*plan)(), int least, int given) {
    return Error(plan(), "prepare", "alignment", "a power of two, " + Text::number(least) + " or more",
                 Text::number(given));
}

/// Validates the bound plan for x and y, has the backend prepare it, and returns a Prepared or the error.
template <class BoundPlan, class Device, Element T, OutputElement U, int Rank>
FUSEKIT_H auto prepare(BoundPlan const& bound, Device& device, TensorView<T const, Rank> x, TensorView<U, Rank> y,
                       int alignment) {
    using Plan = typename BoundPlan::Plan;
    using Launch = std::remove_cvref_t<decltype(*device.prepare(bound, Plan::collapse(x), Plan::collapse(y)))>;
    using Run = Prepared<BoundPlan, T, U, Rank, Launch>;
    constexpr int least = !Element<U> || sizeof(T) < sizeof(U) ? sizeof(T) : sizeof(U);
    if (alignment != 0 && (alignment < least || (alignment & (alignment - 1)) != 0))
        return Result<Run>(refuse_alignment(type_name<Plan>, least, alignment));
    x.data = address_aligned(x.data, alignment);
    if constexpr (Element<U>) y.data = address_aligned(y.data, alignment);
    AliasCheckerOf<BoundPlan> aliases;
    Refusal refusal;
    auto const shape = validate(bound, x, Element<U> ? &y : nullptr, device, aliases, Addresses::later, &refusal);
    if (refusal) return Result<Run>(*refusal);
    if constexpr (!Element<U>) y.layout = packed_like(detail::expand<Rank>(shape), x.layout);
    auto launch = device.prepare(bound, Plan::collapse(x), Plan::collapse(y));
    if (!launch) return Result<Run>(launch.error());
    if (logs()) {
        DataType of_y = data_type<T>;
        if constexpr (Element<U>) of_y = data_type<U>;
        log_prepared(type_name<Plan>, x.layout, data_type<T>, Element<U> ? &y.layout : nullptr, of_y, *launch);
    }
    return Result<Run>(Run(*launch, x, y, aliases));
}

/// Allocates a new y in the order of the device's stream, if the device has one.
template <class Given, class Device, int Rank>
FUSEKIT_H auto new_output(Device& device, Layout<Rank> const& layout) {
    if constexpr (requires { device.output_memory(); })
        return Tensor<Given, typename Device::TensorDevice, Rank>::in_memory(device.output_memory(), layout);
    else return Tensor<Given, Device, Rank>(device, layout);
}

}  // namespace detail

}  // namespace fusekit
