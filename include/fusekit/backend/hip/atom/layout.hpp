// SPDX-License-Identifier: MIT
#pragma once

namespace fusekit::hip::detail {

/// Whether each element of a product of Atom::m x Atom::n is one sum of one thread.
template <class Atom>
consteval bool sums_are_a_bijection() {
    bool found[Atom::m * Atom::n] = {};
    for (int thread = 0; thread < Atom::threads; ++thread)
        for (int e = 0; e < Atom::sums_per_thread; ++e) {
            bool& one = found[Atom::row(thread, e) * Atom::n + Atom::column(thread, e)];
            if (one) return false;
            one = true;
        }
    return Atom::threads * Atom::sums_per_thread == Atom::m * Atom::n;
}

/// Whether each factor of Atom::m rows and Atom::k indices is held by so many threads.
template <class Atom>
consteval bool factors_are_held(int times) {
    int found[Atom::m * Atom::k] = {};
    for (int thread = 0; thread < Atom::threads; ++thread)
        for (int e = 0; e < Atom::factors_per_thread; ++e)
            ++found[Atom::factor_row(thread, e) * Atom::k + Atom::factor_k(thread, e)];
    for (int const count : found)
        if (count != times) return false;
    return true;
}

}  // namespace fusekit::hip::detail
