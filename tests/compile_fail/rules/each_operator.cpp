// expect: Op::apply must give the type of x, float or V: a constant such as 2.0 makes it double
// expect: Op::apply must be static: an operator has no object, and what it needs comes in Args
// expect: Op::prepare(k, args) must give Prepared<float>, of a template struct Prepared of nothing but floats
// expect: Op is a lambda: write a struct with a stage, Args and a static apply
// expect: Op has no stage: for an activation's mode write Activation<Op>
// expect: Op is not an operator: it needs a public struct Args, which may be empty
// expect: Op::Args must be trivially copyable: numbers and views, and nothing that owns memory
// expect: Op::check must be static void check(Args const&, fk::Check const&)
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

#ifdef CORRECTED
using Result = float;
#define STATIC static
#else
using Result = double;
#define STATIC
#endif

struct Doubled {
    static constexpr auto stage = fk::Stage::pointwise;
    struct Args {};
    static Result apply(float x, Args const&) { return 2 * x; }
};
using A = fk::Plan<Doubled>;
auto const a = A::bind({});

struct NotStatic {
    static constexpr auto stage = fk::Stage::pointwise;
    struct Args {
        float by = 2;
    };
    STATIC float apply(float x, Args const& args) { return args.by * x; }
};
using B = fk::Plan<NotStatic>;
auto const b = B::bind({.by = 3});

struct Prepares {
    static constexpr auto stage = fk::Stage::pointwise;
    struct Args {};
    template <class V>
    struct Prepared {
        V factor;
    };
#ifdef CORRECTED
    static Prepared<float> prepare(std::int64_t, Args const&) { return {2}; }
#else
    static float prepare(std::int64_t, Args const&) { return 2; }
#endif
    template <class V>
    static V apply(V x, Prepared<V> const& channel) {
        return channel.factor * x;
    }
};
using C = fk::Plan<Prepares>;
auto const c = C::bind({});

auto const lambda = [](float x) { return 2 * x; };
struct NoArgs {
    static constexpr auto stage = fk::Stage::pointwise;
    static float apply(float x) { return 2 * x; }
};
struct Owns {
    static constexpr auto stage = fk::Stage::pointwise;
    struct Args {
        fk::Text text;
    };
    static float apply(float x, Args const&) { return 2 * x; }
};
struct ChecksOther {
    static constexpr auto stage = fk::Stage::pointwise;
    struct Args {};
    static float apply(float x, Args const&) { return 2 * x; }
    STATIC void check(Args const&, fk::Check const&) {}
};
using H = fk::Plan<ChecksOther>;
auto const h = H::bind({});
#ifdef CORRECTED
using D = fk::Plan<fk::Activation<fk::Relu>>;
#else
using D = fk::Plan<fk::Relu>;
using E = fk::Plan<decltype(lambda)>;
using F = fk::Plan<NoArgs>;
using G = fk::Plan<Owns>;
auto const e = E::bind({});
auto const f = F::bind({});
#endif
auto const d = D::bind({});
