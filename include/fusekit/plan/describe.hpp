// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <cstring>

#include "fusekit/plan/flops.hpp"
#include "fusekit/plan/plan.hpp"

namespace fusekit {

/// One operator in a Description: its name, equation, output shape, FLOPs and bytes.
struct Step {
    Text name;                    ///< as written in the plan: "Conv<filter(3, 3).pad(1)>"
    Text equation;                ///< as the operator states it; may be empty
    CollapsedShape<4> output;     ///< shape of its result, N x K x P x Q
    double flops = 0;             ///< FLOPs over all elements of its result
    double parameter_bytes = 0;  ///< bytes of the tensors in its Args that its check() visits
    double activation_bytes = 0;  ///< bytes of its input and result, which it moves if it is a kernel of its own

    FUSEKIT_H Step() = default;
    FUSEKIT_H Step(Step const&) = default;
    FUSEKIT_H Step(Step&&) = default;
    FUSEKIT_H Step& operator=(Step const&) = default;
    FUSEKIT_H Step& operator=(Step&&) = default;
    FUSEKIT_H ~Step() = default;
};

template <int Count>
struct Description;

namespace detail {

template <class... Ops>
FUSEKIT_H Description<sizeof...(Ops)> describe_collapsed(BoundPlan<FusedPlan<Ops...>> const&, CollapsedShape<4> const&,
                                                         DataType);

/// Formats `value` with three significant digits, a metric prefix and the unit: "14.8 GFLOP".
FUSEKIT_H inline Text quantity(double value, char const* unit) {
    char const* prefix = "";
    for (char const* larger : {"k", "M", "G", "T", "P"}) {
        if (value < 999.5) break;
        value /= 1000;
        prefix = larger;
    }
    char text[48];
    std::snprintf(text, sizeof text, "%.3g %s%s", value, prefix, unit);
    return text;
}

FUSEKIT_H inline Text padded(Text text, std::size_t width) {
    while (text.size() < width) text += " ";
    return text + "  ";
}

/// Rewrites an operator's equation for use after a Gemm: [k] becomes [n], and [n,k,p,q] becomes [m,n].
FUSEKIT_H inline Text of_columns(char const* equation) {
    Text result;
    for (char const* c = equation; *c;) {
        if (std::strncmp(c, "[k]", 3) == 0) result += "[n]", c += 3;
        else if (std::strncmp(c, "[n,k,p,q]", 9) == 0) result += "[m,n]", c += 9;
        else if (std::strncmp(c, "over n, p, q", 12) == 0) result += "over m", c += 12;
        else result += Text(c++, 1);
    }
    return result;
}

/// Escapes text as a Mermaid label.
FUSEKIT_H inline Text label(Text const& text) {
    Text result = "\"";
    for (char const* c = text.c_str(); *c; ++c)
        result += *c == '<' ? "#lt;" : *c == '>' ? "#gt;" : *c == '"' ? "#quot;" : Text(c, 1);
    return result + "\"";
}

}  // namespace detail

/// Equations, FLOPs and bytes of a plan for one input shape: as numbers, and as a Text that prints a table (`std::cout
/// << about`, `fmt::print("{}", about)`, `std::puts(about.c_str())`). A multiply-add counts as two FLOPs; a tensor's
/// bytes count once for each kernel that reads or writes it.
template <int Count>
struct Description : Text {
    Text plan;
    CollapsedShape<4> input;  ///< shape of x, N x C x H x W
    DataType type;
    Step steps[static_cast<std::size_t>(Count)];

    FUSEKIT_H Description(Text the_plan, CollapsedShape<4> const& the_input, DataType the_type)
        : plan(static_cast<Text&&>(the_plan)), input(the_input), type(the_type) {}
    FUSEKIT_H Description(Description const&) = default;
    FUSEKIT_H Description(Description&&) = default;
    FUSEKIT_H Description& operator=(Description const&) = default;
    FUSEKIT_H Description& operator=(Description&&) = default;
    FUSEKIT_H ~Description() = default;

    FUSEKIT_H double flops() const { return sum(&Step::flops); }

    /// Bytes moved by the plan as one kernel: input, parameters and output once each.
    FUSEKIT_H double fused_bytes() const {
        double const ends = detail::elements(input) + detail::elements(steps[Count - 1].output);
        return ends * size_of(type) + sum(&Step::parameter_bytes);
    }
    /// Bytes moved with one kernel per operator: each intermediate tensor is written once and read once.
    FUSEKIT_H double unfused_bytes() const { return sum(&Step::activation_bytes) + sum(&Step::parameter_bytes); }

    /// Arithmetic intensity in FLOPs per byte: as one kernel, and with one kernel per operator.
    FUSEKIT_H double fused_intensity() const { return flops() / fused_bytes(); }
    FUSEKIT_H double unfused_intensity() const { return flops() / unfused_bytes(); }

    FUSEKIT_H Text to_string() const { return *this; }

    /// Mermaid flowchart of the plan as one kernel, and of one kernel per operator with memory between them.
    FUSEKIT_H Text mermaid() const {
        Text fused = subgraph("fused", 1, fused_bytes()), unfused = subgraph("unfused", Count, unfused_bytes());
        fused += "        x([x])" + arrow(input) + "op0\n        subgraph kernel[\" \"]\n";
        unfused += "        unfused_x([x])" + arrow(input) + "kernel0\n";
        for (int i = 0; i < Count; ++i) {
            Text const number = Text::number(i), next = Text::number(i + 1), out = arrow(steps[i].output);
            Text const name = detail::label(steps[i].name);
            bool const last = i + 1 == Count;
            fused += "            op" + number + "[" + name + "]" + (last ? "" : " --> op" + next) + "\n";
            unfused += "        kernel" + number + "[[" + name + "]]" + out;
            unfused +=
                last ? Text("unfused_y([y])\n") : "memory" + number + "[(memory)]" + out + "kernel" + next + "\n";
        }
        fused += "        end\n        op" + Text::number(Count - 1) + arrow(steps[Count - 1].output) + "y([y])\n";
        return "flowchart LR\n" + fused + "    end\n" + unfused + "    end\n";
    }

private:
    template <class... Ops>
    FUSEKIT_H friend Description<sizeof...(Ops)> detail::describe_collapsed(BoundPlan<detail::FusedPlan<Ops...>> const&,
                                                                            CollapsedShape<4> const&, DataType);

    FUSEKIT_H Text table() const {
        std::size_t names = 8, shapes = 6;
        for (Step const& step : steps) {
            if (step.name.size() > names) names = step.name.size();
            if (fusekit::to_string(step.output).size() > shapes) shapes = fusekit::to_string(step.output).size();
        }
        using detail::padded, detail::quantity;
        Text text = plan + "\nof " + fusekit::to_string(input) + ", " + fusekit::name(type) + "\n\n  ";
        text += padded("operator", names) + padded("output", shapes) + padded("work", 10) + padded("parameters", 10) +
                "equation\n";
        for (Step const& step : steps)
            text += "  " + padded(step.name, names) + padded(fusekit::to_string(step.output), shapes) +
                    padded(quantity(step.flops, "FLOP"), 10) + padded(quantity(step.parameter_bytes, "B"), 10) +
                    (step.equation.empty() ? "(states no equation)" : step.equation) + "\n";
        return text + "\n  fused:    " + cost(fused_bytes()) + "\n  unfused:  " + cost(unfused_bytes()) + "\n";
    }
    FUSEKIT_H double sum(double Step::* part) const {
        double total = 0;
        for (Step const& step : steps) total += step.*part;
        return total;
    }
    FUSEKIT_H Text cost(double bytes) const {
        using detail::padded, detail::quantity;
        return quantity(flops(), "FLOP") + ", " + quantity(bytes, "B") + ", " +
               quantity(bytes > 0 ? flops() / bytes : 0, "FLOP/B");
    }
    FUSEKIT_H static Text arrow(CollapsedShape<4> const& shape) {
        return " -->|" + detail::label(fusekit::to_string(shape)) + "| ";
    }
    FUSEKIT_H Text subgraph(char const* name, int kernels, double bytes) const {
        Text const title = Text::number(kernels) + (kernels == 1 ? " kernel: " : " kernels: ");
        return Text("    subgraph ") + name + "[" + detail::label(title + cost(bytes)) + "]\n        direction TB\n";
    }
};

namespace detail {

template <class... Ops>
FUSEKIT_H Description<sizeof...(Ops)> describe_collapsed(BoundPlan<FusedPlan<Ops...>> const& bound,
                                                         CollapsedShape<4> const& x, DataType type) {
    using ThePlan = FusedPlan<Ops...>;
    Check in = check_of<ThePlan>(x, type);
    check_extents(in, "", x);
    in.y = ThePlan::has_prologue ? x : bound.epilogue_shape(x);

    Description<sizeof...(Ops)> result(type_name<ThePlan>(), x, type);
    Step* step = result.steps;
    CollapsedShape<4> input = x;
    bool after_gemm = false;
    auto const add = [&]<class Op>(Op const*, typename Op::Args const& args) {
        if constexpr (MainloopOp<Op>) in.y = bound.epilogue_shape(x);
        step->name = type_name<Op>();
        step->output = in.y;
        if constexpr (requires { Op::equation; })
            step->equation = after_gemm ? of_columns(Op::equation) : Text(Op::equation);
        after_gemm = after_gemm || MatrixOp<Op>;
        in.bytes = &step->parameter_bytes;
        check_op<Op>(args, in);
        check_extents(in, "", in.y);

        if constexpr (PoolingOp<Op>) step->output = Op::output(in.y);
        double const inputs = elements(input), outputs = elements(step->output);
        step->flops = flops_of<Op>(in.y, args);
        step->activation_bytes = (inputs + outputs) * size_of(type);
        input = step->output;
        ++step;
    };
    [&]<int... Nth>(std::integer_sequence<int, Nth...>) {
        (add(static_cast<Ops const*>(nullptr), ThePlan::template argument<Nth>(bound)), ...);
    }(std::make_integer_sequence<int, sizeof...(Ops)>{});
    static_cast<Text&>(result) = result.table();
    return result;
}

}  // namespace detail

/// Describes `bound` for an input of extents `x` and element type `type`. Throws Error if a run on this input would
/// throw.
template <class ThePlan, int Rank>
FUSEKIT_H auto describe(BoundPlan<ThePlan> const& bound, Index<Rank> const& x, DataType type = DataType::float32) {
    return detail::describe_collapsed(bound, ThePlan::collapse(x), type);
}

/// Describes `bound` for an input layout, without memory: describe(layer, fk::nchw(64, 256, 14, 14),
/// fk::DataType::float16).
template <class ThePlan, int Rank>
FUSEKIT_H auto describe(BoundPlan<ThePlan> const& bound, Layout<Rank> const& x, DataType type = DataType::float32) {
    return detail::describe_collapsed(bound, ThePlan::collapse(x).shape, type);
}

/// Describes `bound` for the shape and element type of the tensor x.
template <class ThePlan, detail::Activations X>
FUSEKIT_H auto describe(BoundPlan<ThePlan> const& bound, X const& x) {
    auto const view = x.const_view();
    return describe(bound, view.layout, data_type<std::remove_cvref_t<decltype(*view.data)>>);
}

}  // namespace fusekit
