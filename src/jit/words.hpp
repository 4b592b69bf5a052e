// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "heads.hpp"
#include "kernel_entry.hpp"
#include "operator_entry.hpp"

namespace fusekit::jit {

/// Bytes of the Args of all operators before or after the head: the same in every plan, so that the kernel's parameters
/// have one layout. In the unit's plan they end with Padding, an operator that fills them up (device/padding.hpp).
inline constexpr unsigned words_bytes = 512;

/// Kinds of memory that the operators after the head read: `channels` also if they read nothing after a Conv or Gemm,
/// `tensors` beside any of the others. The backend's selection of kernels and the layout of their parameters depend on
/// this and on nothing else of these operators.
enum class Reads { nothing, channels, pixel_parameters, tensors };

/// Operators before or after the head.
struct Operators {
    int first = 0;  ///< position in the sequence of the first one
    std::vector<OperatorEntry const*> all;
    std::vector<unsigned> offsets;  ///< of each operator's Args in Words::Args::bytes
    unsigned used = 0;  ///< bytes that they have in all
};

/// A plan that is compiled at run time: its head, and the operators before and after it, in whose place the backend
/// compiles Words.
struct Spec {
    Head head = Head::none;
    TypeText head_type, pool_type;  ///< empty without a head, without a pool
    runtime::Descriptor geometry = {};  ///< of a pool or a gather (any_geometry.hpp)
    Text geometry_name;
    Operators before, after;
    Reads reads = Reads::nothing;  ///< of the operators after the head; of a gradient: tensors with a residual
    /// Positions of the host plan's operators; -1 for one that the sequence omits. Words reads the arguments of all
    /// operators itself.
    std::int8_t at[3] = {};
};

/// The call that the thread is in.
struct Current {
    Spec const* spec = nullptr;
    runtime::detail::Reader const* reader = nullptr;
    OperatorEntry const* one = nullptr;  ///< the operator whose arguments are read or checked
    char const* plan = nullptr;  ///< name of the plan
};
inline thread_local Current current;

/// Names of the plan, and of the operator that is read or checked, for messages.
inline Text current_plan() { return current.plan ? current.plan : "fusekit_jit"; }
inline Text current_name() { return current.one ? current.one->name.c_str() : "operator"; }

/// One operator in place of all after the head or, if `before`, of all before it. Code of the host uses it to validate
/// arguments and to prepare launches; no kernel is compiled with it.
template <Reads reads, bool before = false>
struct Words {
    static constexpr auto stage = Stage::pointwise;
    struct Args {
        alignas(8) unsigned char bytes[words_bytes];
    };

    static Operators const& operators() { return before ? current.spec->before : current.spec->after; }

    FUSEKIT_H static Text name() { return "operators"; }
    FUSEKIT_H static void check(Args const& args, Check const& in) {
        Check own = in;
        Operators const& of = operators();
        for (std::size_t i = 0; i < of.all.size() && !in.refused(); ++i) {
            current.one = of.all[i];
            own.operator_name = current.one->operator_name;
            current.one->check(args.bytes + of.offsets[i], own);
        }
        current.one = nullptr;
    }

    /// The form of apply gives the plan the properties of `reads` (plan/epilogue.hpp).
    template <class V>
    struct Prepared {
        V value;
    };
    FUSEKIT_HD static constexpr Prepared<float> prepare(std::int64_t, Args const&)
        requires(reads == Reads::channels)
    {
        return {};
    }
    template <class At>
        requires(reads == Reads::pixel_parameters && std::derived_from<At, OutputCoord>)
    FUSEKIT_HD static constexpr Prepared<float> prepare(At const&, Args const&) {
        return {};
    }
    template <class V>
        requires(reads == Reads::nothing)
    FUSEKIT_HD static constexpr V apply(V x, Args const&) {
        return x;
    }
    template <class V>
        requires(reads == Reads::channels || reads == Reads::pixel_parameters)
    FUSEKIT_HD static constexpr V apply(V x, Prepared<V> const&) {
        return x;
    }
    template <class V, class At>
        requires(reads == Reads::tensors)
    FUSEKIT_HD static constexpr V apply(V x, At const&, Args const&) {
        return x;
    }
    FUSEKIT_H static void views(Args& args, auto const& f)
        requires(reads == Reads::tensors)
    {
        if (!current.spec) return;
        Operators const& of = operators();
        for (std::size_t i = 0; i < of.all.size(); ++i)
            if (of.all[i]->reads_tensor)
                f(*std::launder(reinterpret_cast<Required<AnyActivations, field::z>*>(args.bytes + of.offsets[i])));
    }
};

template <class Op>
inline constexpr bool is_words = false;
template <Reads reads, bool before>
inline constexpr bool is_words<Words<reads, before>> = true;

}  // namespace fusekit::jit

template <fusekit::jit::Reads reads, bool before>
struct fusekit::runtime::OperatorOf<fusekit::jit::Words<reads, before>> {
    static constexpr Descriptor descriptor = {Kind::own};
    using Words = jit::Words<reads, before>;

    static typename Words::Args read(Given const&) {
        typename Words::Args args{};
        detail::Reader const& reader = *jit::current.reader;
        jit::Operators const& of = Words::operators();
        for (std::size_t i = 0; i < of.all.size() && !reader.refusal; ++i) {
            jit::current.one = of.all[i];
            int const position = of.first + static_cast<int>(i), stand_ins = reader.stands_in ? position * roles : -1;
            jit::current.one->read({reader.descriptors[position], reader.arguments[position], reader.rank_of_x,
                                    stand_ins, reader.plan, jit::current_name, reader.refusal},
                                   args.bytes + of.offsets[i]);
        }
        jit::current.one = nullptr;
        return args;
    }
};
