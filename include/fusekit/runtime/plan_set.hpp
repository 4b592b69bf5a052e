// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/runtime/compiled.hpp"
#include "fusekit/runtime/explain.hpp"

namespace fusekit::runtime {

namespace detail {

/// Hash of a sequence of descriptors, from the kinds of its operators and the element types; activation modes and
/// filters do not change it. This function returns the hash of no operators.
FUSEKIT_H constexpr std::uint64_t hash_of(Types types) {
    return 0x9e3779b97f4a7c15u * (1 + static_cast<std::uint64_t>(types.x) + 8 * static_cast<std::uint64_t>(types.y) +
                                  64 * static_cast<std::uint64_t>(types.weights));
}
FUSEKIT_H constexpr std::uint64_t hash_with(std::uint64_t hash, Kind kind) {
    hash = (hash ^ (1 + static_cast<std::uint64_t>(kind))) * 0xff51afd7ed558ccdu;
    return hash ^ (hash >> 32);
}

/// Hash table of a set's plans. A plan has an entry for each sequence of operator kinds for which it is used: with and
/// without each optional operator. Open addressing: plans of equal hash are stored in the order of the set, before the
/// next empty entry.
template <int Count>
struct HashTable {
    static constexpr int capacity = [] {
        int power = 2;
        while (power < 2 * Count) power *= 2;
        return power;
    }();
    std::uint64_t hashes[static_cast<std::size_t>(capacity)] = {};
    std::int16_t forms[static_cast<std::size_t>(capacity)] = {};

    FUSEKIT_H constexpr void add(std::uint64_t hash, int form) {
        int index = first(hash);
        while (forms[index] != 0) index = next(index);
        hashes[index] = hash;
        forms[index] = static_cast<std::int16_t>(form + 1);
    }
    FUSEKIT_H static constexpr int first(std::uint64_t hash) { return static_cast<int>(hash & (capacity - 1)); }
    FUSEKIT_H static constexpr int next(int index) { return (index + 1) & (capacity - 1); }
};

FUSEKIT_H constexpr int sequences_of(FormInfo const& form) {
    int count = 1;
    for (int i = 0; i < form.size; ++i) count *= form.entries[i].optional ? 2 : 1;
    return count;
}
template <class Table>
FUSEKIT_H constexpr void add_sequences(Table& table, FormInfo const& form, int index, int slot, std::uint64_t hash) {
    if (slot == form.size) return table.add(hash, index);
    if (form.entries[slot].optional) add_sequences(table, form, index, slot + 1, hash);
    add_sequences(table, form, index, slot + 1, hash_with(hash, form.entries[slot].descriptor.kind));
}

}  // namespace detail

/// Plans that are compiled in advance and found at run time, by the descriptors of their operators and the element
/// types. A Plan in the list is for float; Form<Plan, X, Y> is for other types. If several plans match a sequence, the
/// first in the list is found.
///
///     using Layer = Plan<Conv<dynamic>, runtime::Optional<Bias>, runtime::AnyActivation>;
///     using Set = runtime::PlanSet<host::Device, Layer>;
///     auto const found = Set::find({runtime::conv(filter(3, 3).pad(1)), runtime::bias()}, DataType::float32);
template <class Device, class... Forms>
class PlanSet {
public:
    static constexpr int size = sizeof...(Forms);

    /// Finds the plan for a sequence of descriptors. If there is none, returns the Error of explain(), with the reason.
    FUSEKIT_H static Result<Handle<Device>> find(Descriptors descriptors, Types types) {
        if (auto const found = find_or_none(descriptors, types)) return *found;
        return explain(descriptors, types).error();
    }
    /// Finds the plan as find() does, but returns no reason if there is none.
    FUSEKIT_H static fusekit::detail::Maybe<Handle<Device>> find_or_none(Descriptors descriptors, Types types) {
        if (descriptors.size < 1 || descriptors.size > max_operators) return {};
        std::uint64_t hash = detail::hash_of(types);
        for (int i = 0; i < descriptors.size; ++i) hash = detail::hash_with(hash, descriptors[i].kind);
        auto const& [forms, operations, hashed] = tables();
        for (int index = hashed.first(hash); hashed.forms[index] != 0; index = hashed.next(index)) {
            int const form = hashed.forms[index] - 1;
            if (hashed.hashes[index] != hash || !(forms[form]->types == types)) continue;
            Matching const matching = detail::match(*forms[form], descriptors);
            if (matching.fits) return Handle<Device>(forms[form], operations[form], matching, descriptors);
        }
        return {};
    }
    template <std::size_t Count>
    FUSEKIT_H static Result<Handle<Device>> find(Descriptor const (&descriptors)[Count], Types types) {
        return find(Descriptors(descriptors), types);
    }

    /// Explains why there is no plan for a sequence: the operator and the rule that it breaks, or the nearest plans of
    /// the set.
    FUSEKIT_H static Explanation explain(Descriptors descriptors, Types types) {
        return detail::explain(all(), descriptors, &types, false);
    }
    /// Explains whether a sequence, to which operators may be added, is the beginning of some plan of the set.
    FUSEKIT_H static Explanation accepts_prefix(Descriptors descriptors) {
        return detail::explain(all(), descriptors, nullptr, true);
    }

    /// Run-time descriptions of the plans, in the order of the set.
    FUSEKIT_H static detail::FormList all() { return {tables().forms, size}; }

private:
    /// Tables of the functions of all plans of the set, compiled with the flags of the calling unit (abi.hpp).
    struct Tables {
        FormInfo const* forms[sizeof...(Forms) + 1];
        detail::Operations<Device> const* operations[sizeof...(Forms) + 1];
        detail::HashTable<(0 + ... + detail::sequences_of(detail::FormOf<Forms>::info))> hashed = {};
    };
    FUSEKIT_H static Tables const& tables() {
        static constexpr Tables own = [] {
            Tables result = {{&detail::FormOf<Forms>::info...},
                             {&detail::operations<Device, typename detail::FormOf<Forms>::Self>...}};
            for (int i = 0; i < size; ++i)
                detail::add_sequences(result.hashed, *result.forms[i], i, 0, detail::hash_of(result.forms[i]->types));
            return result;
        }();
        return own;
    }
};

}  // namespace fusekit::runtime
