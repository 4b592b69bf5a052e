// SPDX-License-Identifier: MIT
//
// Gradients of the zoo's convolutions behind a C interface, for gradients.py: takes pointers to GPU memory and a stream
// that the caller owns. Filters are template arguments of gradients' plans, so each has a unit of
// gradients_unit.cpp.in.
#include "zoo/gradients.hpp"

#include <stdexcept>

#include "support/c_calls.hpp"

namespace bench::zoo {

std::vector<MakeGradients>& makers() {
    static std::vector<MakeGradients> all;
    return all;
}

}  // namespace bench::zoo

using bench::succeeds, bench::zoo::Gradients;

extern "C" {

/// Message of the last call that failed.
char const* zoo_message() { return bench::message.c_str(); }

/// Gradients of a problem; null on error.
void* zoo_plans(ZooProblem const* problem) {
    Gradients* made = nullptr;
    succeeds([&] {
        for (auto const make : bench::zoo::makers())
            if (auto gradients = make(*problem)) made = gradients.release();
        if (!made) throw std::runtime_error("libzoo_gradients.so has no plan of this filter and element type");
    });
    return made;
}

/// Enqueue a kernel on the problem's stream; 1 on success.
int zoo_by_input(void* of, void const* dy, void const* weights, void* dx) {
    return succeeds([&] { static_cast<Gradients*>(of)->by_input(dy, weights, dx); });
}
int zoo_by_weights(void* of, void const* dy, void const* x, void* dw) {
    return succeeds([&] { static_cast<Gradients*>(of)->by_weights(dy, x, dw); });
}

void zoo_delete(void* of) { delete static_cast<Gradients*>(of); }
}
