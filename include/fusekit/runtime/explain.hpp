// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/runtime/facts.hpp"

namespace fusekit::runtime {

/// Result of the search for a plan of a PlanSet with the operators of a sequence of descriptors; the reason if there is
/// none.
struct Explanation {
    enum Reason {
        supported,
        unknown_operator,  ///< a descriptor has an unknown kind or mode (Descriptor::mode)
        broken_rule,  ///< the sequence breaks an ordering rule, which `sentence` states
        other_types,  ///< the set has the plan for other element types
        no_plan,  ///< the set has no plan for the valid sequence: `expected` names the nearest
    };
    Reason reason = supported;
    int position = 0;  ///< index of the first operator that is not supported, from 0
    char const* rule = "";  ///< name of the broken rule
    char const* sentence = "";  ///< message of the broken rule, as for a Plan
    Text sequence;  ///< the sequence written as a plan: "Plan<Conv<filter(3, 3)>, Bias>"
    Text operator_name, expected, given;

    FUSEKIT_H Explanation() = default;
    FUSEKIT_H Explanation(Explanation const&) = default;
    FUSEKIT_H Explanation(Explanation&&) = default;
    FUSEKIT_H Explanation& operator=(Explanation const&) = default;
    FUSEKIT_H Explanation& operator=(Explanation&&) = default;
    FUSEKIT_H ~Explanation() = default;

    FUSEKIT_H explicit operator bool() const { return reason == supported; }
    FUSEKIT_H Error error() const { return Error(sequence, operator_name, "", expected, given); }
};

namespace detail {

/// Name of a type as a string that is valid until the program ends.
template <class T>
[[gnu::cold]] FUSEKIT_H char const* static_name() {
    static Text const name = type_name<T>();
    return name.c_str();
}

/// Sentence and name of the first ordering rule (plan/ordering.hpp) that a sequence breaks; `rule` is null if it breaks
/// none.
struct Broken {
    char const* sentence = "";
    char const* (*rule)() = nullptr;
};
template <class... Rules>
FUSEKIT_H constexpr Broken broken(Sequence plan, rules::List<Rules...> const*) {
    Broken result;
    static_cast<void>(((Rules::holds(plan) || (result = {Rules::sentence, static_name<Rules>}, false)) && ...));
    return result;
}

/// Edit distance between a sequence of descriptors and a plan of the set: the number of operators that only one of the
/// two has, or that differ in Descriptor::mode or filter. With `of_beginning`, operators of the plan after the last
/// matched one are not counted.
FUSEKIT_H inline int distance(FormInfo const& form, Descriptors given, bool of_beginning) {
    int row[max_operators + 1];
    int end = given.size;
    for (int j = 0; j <= given.size; ++j) row[j] = j;
    int best = row[end];
    for (int i = 0; i < form.size; ++i) {
        int diagonal = row[0];
        int const skipped = form.entries[i].optional ? 0 : 1;
        row[0] += skipped;
        for (int j = 1; j <= given.size; ++j) {
            Descriptor const& of = given[j - 1];
            int const taken = diagonal + (form.entries[i].takes(of)                    ? 0
                                          : form.entries[i].descriptor.kind == of.kind ? 1
                                                                                       : 2);
            int least = row[j] + skipped < row[j - 1] + 1 ? row[j] + skipped : row[j - 1] + 1;
            diagonal = row[j];
            row[j] = taken < least ? taken : least;
        }
        best = row[end] < best ? row[end] : best;
    }
    return of_beginning ? best : row[end];
}

[[gnu::cold, gnu::noinline]] FUSEKIT_H inline Explanation explain(FormList forms, Descriptors given, Types const* types,
                                                                  bool of_beginning) {
    Explanation result;
    int const most = given.size < max_operators ? given.size : max_operators;
    result.sequence = written(forms, given.first(most));
    auto const because = [&](Explanation::Reason reason, int position, Text expected, Text was) {
        result.reason = reason;
        result.position = position;
        result.operator_name = position < most ? written(forms, given[position]) : "sequence";
        result.expected = std::move(expected);
        result.given = std::move(was);
        return result;
    };
    if (given.size == 0 && of_beginning) return result;
    if (given.size == 0) {
        result.sentence = rules::HasOperators::sentence;
        result.rule = static_name<rules::HasOperators>();
        return because(Explanation::broken_rule, 0, Text("one kernel: ") + result.sentence, "none");
    }
    if (given.size > max_operators)
        return because(Explanation::no_plan, max_operators, "at most " + Text::number(max_operators) + " operators",
                       Text::number(given.size));

    OperatorFacts facts[max_operators];
    for (int i = 0; i < given.size; ++i) {
        Slot const* const own = slot_for(forms, given[i]);
        OperatorFacts const* const known = own ? &own->facts : library_facts(given[i]);
        if (!known)
            return because(Explanation::unknown_operator, i, "a kind of operator that the set or the library has",
                           Text::number(static_cast<int>(given[i].kind)));
        if (!own && (given[i].mode < 0 || given[i].mode > last_mode(given[i].kind)))
            return because(Explanation::unknown_operator, i,
                           "a mode from 0 to " + Text::number(last_mode(given[i].kind)), Text::number(given[i].mode));
        facts[i] = *known;
        Broken const first = broken({facts, i + 1}, static_cast<rules::InOrder const*>(nullptr));
        if (!first.rule) continue;
        result.sentence = first.sentence;
        result.rule = first.rule();
        return because(Explanation::broken_rule, i, Text("one kernel: ") + first.sentence,
                       "this operator at position " + Text::number(i + 1));
    }

    bool fits = false;
    Text of_types;
    int reached = 0, nearest = 2 * max_operators;
    for (int i = 0; i < forms.size; ++i) {
        FormInfo const& form = *forms.at[i];
        if (match(form, given, of_beginning).fits) {
            if (!types || form.types == *types) return result;
            fits = true;
            Text const own =
                Text(fusekit::name(form.types.x)) +
                (form.types.y == form.types.x ? "" : Text(" to ") + fusekit::name(form.types.y)) +
                (form.types.weights == form.types.x ? ""
                                                    : Text(" with weights of ") + fusekit::name(form.types.weights));
            if (!of_types.contains(own.c_str())) of_types += (of_types.empty() ? "" : ", ") + own;
        }
        for (int count = reached + 1; count <= given.size; ++count)
            if (match(form, given.first(count), true).fits) reached = count;
        int const apart = distance(form, given, of_beginning);
        nearest = apart < nearest ? apart : nearest;
    }
    if (fits) {
        because(Explanation::other_types, 0, "elements of " + of_types,
                Text(fusekit::name(types->x)) + " to " + fusekit::name(types->y) + " with weights of " +
                    fusekit::name(types->weights));
        result.operator_name = "types";
        return result;
    }
    Text plans;
    int listed = 0;
    for (int i = 0; i < forms.size && listed < 3; ++i) {
        Text const name = forms.at[i]->name();
        if (distance(*forms.at[i], given, of_beginning) != nearest || plans.contains(name.c_str())) continue;
        plans += (listed++ ? ", " : "") + name;
    }
    int const position = reached < given.size ? reached : given.size - 1;
    return because(Explanation::no_plan, position, "a sequence that the set has a plan for; the nearest: " + plans,
                   reached < given.size ? "this operator at position " + Text::number(position + 1)
                                        : Text("no operator after this one"));
}

}  // namespace detail

}  // namespace fusekit::runtime
