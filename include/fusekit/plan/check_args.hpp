// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "fusekit/tensor/check.hpp"

namespace fusekit::detail {

/// Object that converts to any type, so that it initializes any field of an aggregate: takes<Args, count> counts fields
/// with it.
struct AnyField {
    template <class T>
    FUSEKIT_H operator T() const;
};

template <class Args, int... Nth>
consteval bool has_fields(std::integer_sequence<int, Nth...>) {
    return requires { Args{(static_cast<void>(Nth), AnyField{})...}; };
}
template <class Args, int count>
inline constexpr bool takes = has_fields<Args>(std::make_integer_sequence<int, count>{});

/// Smallest number of initializers that Args accepts: all fields without a default must have one.
template <class Args, int count = 0>
consteval int fewest_fields() {
    if constexpr (count > static_cast<int>(sizeof(Args)) || takes<Args, count>) return count;
    else return fewest_fields<Args, count + 1>();
}
/// Largest number of initializers that Args accepts, by bisection. Precondition: `low` initializers are accepted, and
/// `high` are not.
template <class Args, int low, int high>
consteval int max_fields() {
    constexpr int middle = low + (high - low) / 2;
    if constexpr (high - low <= 1) return low;
    else if constexpr (takes<Args, middle>) return max_fields<Args, middle, high>();
    else return max_fields<Args, low, middle>();
}

/// Object that converts to the next field in an aggregate initializer and passes the corresponding field of `aggregate`
/// to `visit`. Precondition: each field is at the next address that satisfies its alignment. Elements of an array count
/// as fields.
template <class Visit>
struct FieldOf {
    char const* aggregate;
    std::size_t size;
    std::size_t& end;  ///< end of the previous field, in bytes from the start of the aggregate
    Visit& visit;

    template <class T>
    FUSEKIT_H operator T() const {
        std::size_t const begin = (end + alignof(T) - 1) / alignof(T) * alignof(T);
        end = begin + sizeof(T);
        T const& field = *reinterpret_cast<T const*>(aggregate + (end <= size ? begin : 0));
        visit(field);
        return field;
    }
};

/// Passes every field of an aggregate to `visit`, in order. Returns true if the fields fill the aggregate. In an
/// aggregate with bit-fields, references or alignas they do not, and `visit` receives wrong addresses.
template <class Args, class Visit>
FUSEKIT_H bool visit_fields(Args const& args, Visit& visit) {
    constexpr int low = fewest_fields<Args>(), count = max_fields<Args, low, static_cast<int>(sizeof(Args)) + 1>();
    std::size_t end = 0;
    FieldOf<Visit> const field{reinterpret_cast<char const*>(&args), sizeof(Args), end, visit};
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-braces"  // elements of an array are initialised without inner braces
    [&]<int... Nth>(std::integer_sequence<int, Nth...>) {
        static_cast<void>(Args{(static_cast<void>(Nth), field)...});
    }(std::make_integer_sequence<int, count>{});
#pragma GCC diagnostic pop
    return (end + alignof(Args) - 1) / alignof(Args) * alignof(Args) == sizeof(Args);
}

/// Visitor of an operator's Args that checks every view against the shape of y, by the view's rank: 1 is K, 3 is K x P
/// x Q, 4 is N x K x P x Q. A mode of extent 1 and stride 0 is broadcast.
class CheckViews {
public:
    template <class Args>
    FUSEKIT_H CheckViews(Args const& args, Check const& check) : in(check) {
        (*this)(args);
        if (views > 0 && !plain)
            in.fail("Args", "plain fields, or a check of the operator's own",
                    "views together with bit-fields, references or alignas");
        counted = true;
        views = 0;
        (*this)(args);
    }

    template <class Field>
    FUSEKIT_H void operator()(Field const& field) {
        if constexpr (requires { view(field); }) {
            ++views;
            if (counted) view(field);
        } else if constexpr (std::is_class_v<Field> && std::is_aggregate_v<Field>) {
            plain &= visit_fields(field, *this);
        }
    }

private:
    Check const& in;
    bool counted = false, plain = true;
    int views = 0;

    /// Rank of a view of Rank modes after it is collapsed: a signal's C x W becomes C x 1 x W, and a volume's N x C x D
    /// x H x W becomes N x C x (D H) x W.
    template <int Rank>
    static constexpr int collapsed = Rank + (Rank == 2) - (Rank == 5);

    template <int Rank>
    FUSEKIT_H void view(AnyView<Rank> const& given) {
        view(collapse<collapsed<Rank>>(given));
    }
    template <class T, int Rank>
    FUSEKIT_H void view(TensorView<T, Rank> const& given) {
        view(collapse<collapsed<Rank>>(given));
    }
    template <int Rank>
    FUSEKIT_H void view(CollapsedView<AnyView<Rank>> const& given) {
        in.readable(name(), given, expected(given.collapsed_layout()), modes[Rank]);
    }
    template <class T, int Rank>
    FUSEKIT_H void view(CollapsedView<TensorView<T, Rank>> const& given) {
        auto const shape = expected(given.collapsed_layout());
        if constexpr (std::is_const_v<T>) in.readable(name(), given, shape, modes[Rank]);
        else in.writable(name(), given, shape, modes[Rank]);
    }
    template <class T, int Rank>
    FUSEKIT_H void view(OptionalView<T, Rank> const& given) {
        if (given.given()) view(given.view());
    }
    FUSEKIT_H void view(AnyOutput const& given) {
        in.writable(name(), given, expected<4>({given.layout, given.from}), modes[4]);
    }
    FUSEKIT_H void view(OptionalOutput const& given) {
        if (given.given()) view(static_cast<AnyOutput const&>(given));
    }

    template <int Rank>
    FUSEKIT_H CollapsedShape<Rank> expected(CollapsedLayout<Rank> const& given) const {
        CollapsedShape<Rank> shape;
        if constexpr (Rank == 1) shape = Index<1>{{in.y[1]}};
        else if constexpr (Rank == 3) shape = image(in.y);
        else shape = in.y;
        // a view N x C x H x W may be given where y is a volume: its rows then are those of all slices, D H
        if (given.shape.from.kind == CollapsedFrom::images) shape.from = {};
        for (int mode = 0; mode < Rank; ++mode)
            if (given.shape[mode] == 1 && given.stride[mode] == 0) shape[mode] = 1;
        return shape;
    }

    static constexpr char const* modes[] = {"", "K", "", "K x P x Q", "N x K x P x Q"};

    /// Name of the checked view for messages: its number among the fields, because C++ has no names of fields.
    FUSEKIT_H char const* name() const {
        static constexpr char const* names[] = {"view 1 of Args",      "view 2 of Args", "view 3 of Args",
                                                "view 4 of Args",      "view 5 of Args", "view 6 of Args",
                                                "a later view of Args"};
        constexpr int last = sizeof names / sizeof *names - 1;
        return names[views <= last ? views - 1 : last];
    }
};

/// Calls Op::check if the operator has one; else checks the shapes of the views in its Args against y's.
template <class Op>
FUSEKIT_H void check_args(typename Op::Args const& args, Check const& in) {
    using Args = typename Op::Args;
    if constexpr (requires { Op::check(args, in); }) {
        Op::check(args, in);
    } else if constexpr (std::is_aggregate_v<Args> && sizeof(Args) >= sizeof(TensorView<float, 1>)) {
        CheckViews(args, in);
    }
}

}  // namespace fusekit::detail
