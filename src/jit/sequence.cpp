// SPDX-License-Identifier: MIT
#include "sequence.hpp"

#include "forms.hpp"
#include "fusekit/plan/weight_gradient.hpp"
#include "gradients.hpp"
#include "operators.hpp"

namespace fusekit::jit {

using runtime::Descriptor;
using runtime::Descriptors;
using runtime::Explanation;
using runtime::Kind;

namespace {

constexpr runtime::detail::FormList no_forms{nullptr, 0};

Text name_of_one(Descriptor const& of) {
    OperatorEntry const* const own = of.kind == Kind::own ? operator_of(of) : nullptr;
    return own ? Text(own->name.c_str()) : runtime::detail::written(no_forms, of);
}

constexpr char compiled_operators[] =
    "an operator of plans that are compiled at run time: a convolution or a gradient of one, a Gemm, a batch norm in "
    "training, upsampling or a pixel shuffle as the first operator, a norm of rows or a softmax, else a bias, an "
    "inference batch norm, an "
    "activation, a scale, a residual, a binary operator, or one that is given as source, and a pool as the last";

/// Condition that the operator at `position` of a plan with a ConvWeightGradient breaks; null if it breaks none.
char const* broken_weight_gradient(Descriptors descriptors, int position) {
    namespace sentences = fusekit::detail::weight_gradient_sentences;
    if (descriptors[position].kind == Kind::conv_weight_gradient) return position > 0 ? sentences::begins : nullptr;
    if (descriptors[0].kind != Kind::conv_weight_gradient) return nullptr;
    OperatorEntry const* const one = operator_of(descriptors[position]);
    return !one || one->reads_channels || one->facts.of_pixels ? sentences::by_pixel : nullptr;
}

unsigned rounded_up(unsigned value, unsigned multiple) { return (value + multiple - 1) / multiple * multiple; }

Operators operators_of(Descriptors descriptors, int first, int end) {
    Operators result;
    result.first = first;
    for (int i = first; i < end; ++i) {
        OperatorEntry const* const one = operator_of(descriptors[i]);
        unsigned const offset = rounded_up(result.used, one->alignment);
        result.all.push_back(one);
        result.offsets.push_back(offset);
        result.used = offset + one->bytes;
    }
    result.used = rounded_up(result.used, 8);
    return result;
}

}  // namespace

Text name_of(Descriptors descriptors) {
    Text text;
    for (int i = 0; i < descriptors.size; ++i) text += (i ? ", " : "") + name_of_one(descriptors[i]);
    return "Plan<" + text + ">";
}

Explanation explain(Descriptors given, runtime::Types const* types) {
    namespace rules = fusekit::detail::rules;
    Explanation result;
    int const most = given.size < runtime::max_operators ? given.size : runtime::max_operators;
    result.sequence = name_of(given.first(most));
    auto const because = [&](Explanation::Reason reason, int position, Text expected, Text was) {
        result.reason = reason;
        result.position = position;
        result.operator_name = position < most ? name_of_one(given[position]) : "sequence";
        result.expected = std::move(expected);
        result.given = std::move(was);
        return result;
    };
    auto const breaks = [&](runtime::detail::Broken const& first, int position, Text was) {
        result.sentence = first.sentence;
        result.rule = first.rule();
        return because(Explanation::broken_rule, position, Text("one kernel: ") + first.sentence, std::move(was));
    };
    if (given.size == 0 && !types) return result;
    if (given.size == 0)
        return breaks({rules::HasOperators::sentence, runtime::detail::static_name<rules::HasOperators>}, 0, "none");
    if (given.size > runtime::max_operators)
        return because(Explanation::no_plan, most, "at most " + Text::number(runtime::max_operators) + " operators",
                       Text::number(given.size));
    fusekit::detail::OperatorFacts facts[runtime::max_operators];
    for (int i = 0; i < given.size; ++i) {
        Descriptor const& of = given[i];
        OperatorEntry const* const entry = operator_of(of);
        fusekit::detail::OperatorFacts const* const known = entry ? &entry->facts : runtime::detail::library_facts(of);
        if (!known && of.kind == Kind::own)
            return because(Explanation::unknown_operator, i, "a mode of fusekit_jit_add_operator()",
                           Text::number(of.mode));
        if (!known)
            return because(Explanation::unknown_operator, i, "a kind of operator that the library has",
                           Text::number(static_cast<int>(of.kind)));
        if (of.kind != Kind::own && (of.mode < 0 || of.mode > runtime::last_mode(of.kind)))
            return because(Explanation::unknown_operator, i,
                           "a mode from 0 to " + Text::number(runtime::last_mode(of.kind)), Text::number(of.mode));
        facts[i] = *known;
        auto const first = runtime::detail::broken({facts, i + 1}, static_cast<rules::InOrder const*>(nullptr));
        if (first.rule) return breaks(first, i, "this operator at position " + Text::number(i + 1));
    }
    bool const of_gradient = is_gradient(given);
    for (int i = 0; of_gradient && i < given.size; ++i)
        if (char const* const broken = broken_gradient(given, i))
            return because(Explanation::no_plan, i, broken, "this operator at position " + Text::number(i + 1));
    for (int i = 0; i < given.size; ++i)
        if (char const* const broken = broken_weight_gradient(given, i))
            return because(Explanation::no_plan, i, broken, "this operator at position " + Text::number(i + 1));
    Shape const shape = of_gradient ? Shape{} : shape_of(given);
    for (int i = 0; i < given.size && !of_gradient; ++i) {
        if (char const* const broken = broken_geometry(given[i]))
            return because(Explanation::no_plan, i, broken, given[i].filter.to_string());
        bool const is_operator = operator_of(given[i]) && given[i].kind != Kind::requantize;
        if (i != shape.at && i < shape.end && !is_operator)
            return because(Explanation::no_plan, i, compiled_operators,
                           "this operator at position " + Text::number(i + 1));
    }
    for (int i = shape.first, readers = 0; i < shape.end && is_product(shape.head); ++i) {
        OperatorEntry const& one = *operator_of(given[i]);
        readers += one.reads_tensor || one.facts.of_pixels;
        if (readers > 1)
            return because(Explanation::no_plan, i,
                           "after a Conv or Gemm, one residual, binary operator or batch norm per activation in a plan "
                           "that is compiled at run time",
                           "a second one at position " + Text::number(i + 1));
    }
    if (shape.head == Head::transposed_conv) {
        if (shape.end < given.size)
            return because(Explanation::no_plan, shape.end,
                           "no pool after a TransposedConv in a plan that is compiled at run time",
                           "this operator at position " + Text::number(shape.end + 1));
        for (int i = shape.first; i < shape.end; ++i)
            if (operator_of(given[i])->facts.of_pixels)
                return because(Explanation::no_plan, i,
                               "no parameters per pixel after a TransposedConv in a plan that is compiled at run time",
                               "this operator at position " + Text::number(i + 1));
    }
    Spec const spec = spec_of(given);
    for (Operators const* const of : {&spec.before, &spec.after})
        if (of->used + 8 > words_bytes)
            return because(Explanation::no_plan, of->first,
                           "operators whose arguments have at most " + Text::number(words_bytes - 8) + " bytes",
                           Text::number(of->used));
    if (types && !host_code(spec, *types)) {
        because(Explanation::other_types, 0, "float, half or bfloat16, the same for x, y and the weights",
                Text(fusekit::name(types->x)) + " to " + fusekit::name(types->y) + " with weights of " +
                    fusekit::name(types->weights));
        result.operator_name = "types";
    }
    return result;
}

Spec spec_of(Descriptors descriptors) {
    Spec spec;
    if (is_gradient(descriptors)) {
        spec.head = head_of_gradient(descriptors);
        spec.head_type = text_of_gradient(descriptors);
        GradientShape const shape = gradient_shape(descriptors);
        if (shape.residual >= 0) spec.reads = Reads::tensors;
        std::int8_t* to = spec.at;
        if (shape.norm >= 0) *to++ = static_cast<std::int8_t>(shape.norm);
        if (shape.residual >= 0) *to++ = static_cast<std::int8_t>(shape.residual);
        *to = static_cast<std::int8_t>(shape.activation);
        return spec;
    }
    Shape const shape = shape_of(descriptors);
    spec.head = shape.head;
    if (shape.at >= 0) spec.head_type = text_of_head(descriptors[shape.at], shape.head);
    if (shape.end < descriptors.size) spec.pool_type = text_of_head(descriptors[shape.end], shape.head);
    spec.geometry = descriptors[shape.end < descriptors.size ? shape.end : 0];
    spec.geometry_name = name_of_one(spec.geometry);
    spec.before = operators_of(descriptors, 0, shape.at < 0 ? 0 : shape.at);
    spec.after = operators_of(descriptors, shape.first, shape.end);
    if (!spec.before.all.empty()) spec.at[1] = static_cast<std::int8_t>(spec.before.all.size());
    for (OperatorEntry const* const one : spec.after.all) {
        Reads const reads = one->reads_tensor      ? Reads::tensors
                            : one->facts.of_pixels ? Reads::pixel_parameters
                            : one->reads_channels  ? Reads::channels
                                                   : Reads::nothing;
        if (reads > spec.reads) spec.reads = reads;
    }
    return spec;
}

}  // namespace fusekit::jit
