// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/runtime/handle.hpp"
#include "words.hpp"

namespace fusekit::jit {

/// Arguments of one call of a plan that is compiled at run time.
struct Call {
    hip::Stream const& stream;
    runtime::detail::Reader reader;
    runtime::View const& x;
    runtime::View const& y;
    int alignment;  ///< of later addresses of x and y; 0: they have those of this call
};

/// A run before its kernel is compiled.
struct Launchable {
    KernelEntry const* kernel = nullptr;  ///< null if the run writes nothing
    Filter<2> filter = {};  ///< of a Conv's launch: folded (fold_windows.hpp), it is not the plan's
    runtime::Run<hip::Device> run;
};

/// Functions of the host for one host plan and one element type.
struct HostCode {
    void (*output_shape)(runtime::detail::Reader const& reader, runtime::View const& x, Index<4>& shape);
    void (*prepare)(Call const& call, Launchable& result);
};

/// Null if plans of these types are not compiled at run time.
HostCode const* host_code(Spec const& spec, runtime::Types types);

}  // namespace fusekit::jit
