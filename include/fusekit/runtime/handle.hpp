// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "fusekit/runtime/form.hpp"
#include "fusekit/tensor/workspace.hpp"

namespace fusekit {

namespace host {
class Device;
}
namespace hip {
class Device;
class Stream;
}  // namespace hip

namespace runtime {

/// Type: stream on which runs are enqueued; for a backend without streams, the device.
template <class Device>
struct StreamOf {
    using Type = Device;
};
template <>
struct StreamOf<hip::Device> {
    using Type = hip::Stream const;
};
template <class Device>
using Stream = typename StreamOf<Device>::Type;

/// Type-erased Prepared run. Immutable; may be run from many threads and streams at once. The memory of the bound
/// arguments must outlive its runs.
template <class Device>
class AnyRun {
public:
    FUSEKIT_H virtual ~AnyRun() = default;
    FUSEKIT_H virtual std::size_t workspace_bytes() const = 0;
    /// Enqueues the run on `stream`; allocates nothing. Returns the errors of Prepared::try_run, and then leaves y
    /// unchanged.
    FUSEKIT_H virtual Refusal run(Stream<Device>& stream, void const* x, void* y,
                                  WorkspaceView workspace = {}) const = 0;

protected:
    FUSEKIT_H AnyRun() = default;
    FUSEKIT_H AnyRun(AnyRun const&) = default;
    FUSEKIT_H AnyRun& operator=(AnyRun const&) = default;
};
template <class Device>
using Run = std::unique_ptr<AnyRun<Device>>;

namespace detail {

/// True if the windows of a plan that begins with `first` do not fit x, so that y has no rows or columns, or if an
/// extent of y is below 0. A product with weights of no rows has a y of no columns.
FUSEKIT_H inline bool lacks_outputs(Kind first, View const& x, Index<4> const& y) {
    bool const of_matrices = first == Kind::gemm || first == Kind::batched_gemm;
    for (int mode = 0; mode < x.rank && mode < 4; ++mode)
        if (y[mode] < 0 || (y[mode] == 0 && mode >= 2 && !of_matrices && x.extents[mode] != 0)) return true;
    return false;
}

inline namespace FUSEKIT_FLAGS {

/// Arguments of one call of a plan: stream, arguments of the operators, x and y.
template <class Device>
struct Call {
    Stream<Device>& stream;
    Reader reader;
    View const& x;
    View const& y;
    int alignment;
};

/// Functions of a plan that was compiled for a device, as pointers whose types do not depend on the plan.
template <class Device>
struct Operations {
    void (*output_shape)(Reader const&, View const& x, Index<4>& shape);
    void (*workspace_bytes)(Call<Device> const&, std::size_t& bytes);
    void (*prepare)(Call<Device> const&, Run<Device>& run);
    void (*run)(Call<Device> const&, WorkspaceView workspace);
};

/// Functions that are compiled for one plan of a set and one type of device. In units that use them but do not
/// instantiate them, declare `extern template struct Compiled<Device, Form<...>>`.
template <class Device, class TheForm>
struct Compiled {
    FUSEKIT_H static void output_shape(Reader const&, View const& x, Index<4>& shape);
    FUSEKIT_H static void workspace_bytes(Call<Device> const&, std::size_t& bytes);
    FUSEKIT_H static void prepare(Call<Device> const&, Run<Device>& run);
    FUSEKIT_H static void run(Call<Device> const&, WorkspaceView workspace);
};
template <class Device, class TheForm>
inline constexpr Operations<Device> operations = {&Compiled<Device, TheForm>::output_shape,
                                                  &Compiled<Device, TheForm>::workspace_bytes,
                                                  &Compiled<Device, TheForm>::prepare, &Compiled<Device, TheForm>::run};

}  // namespace FUSEKIT_FLAGS
}  // namespace detail

/// The plan of a set for one sequence of descriptors: an immutable value that several threads and streams may use. The
/// `arguments` of its functions match the descriptors in number and order. On an error y is unchanged.
template <class Device>
class Handle {
public:
    FUSEKIT_H Handle(FormInfo const* the_form, detail::Operations<Device> const* the_operations,
                     Matching const& the_matching, Descriptors given)
        : form(the_form), operations(the_operations), matching(the_matching), count(given.size) {
        for (int i = 0; i < count; ++i) descriptors[i] = given[i];
    }

    /// Name of the plan: "Plan<Conv<dynamic>, Optional<Bias>, AnyActivation>".
    FUSEKIT_H Text name() const { return form->name(); }
    FUSEKIT_H Types types() const { return form->types; }
    FUSEKIT_H int size() const { return count; }
    FUSEKIT_H Descriptor const& descriptor(int i) const { return descriptors[i]; }

    /// Extents of y for an x of these extents. Reads no pointers, which may be null. If x or the weights have an extent
    /// of 0, y may have one.
    FUSEKIT_H Result<Index<4>> output_shape(ArgumentList arguments, View const& x) const {
        Refusal refusal;
        Index<4> shape{};
        if (takes(arguments, refusal)) operations->output_shape(reader(arguments, x, true, refusal), x, shape);
        if (!refusal && detail::lacks_outputs(descriptors[0].kind, x, shape))
            refusal = Error(form->name(), "x", "", "extents that give an output", to_string(shape));
        if (refusal) return *refusal;
        return shape;
    }

    /// Bytes of workspace that a run needs. Pointers may be null; other pointers must be to memory of the device.
    template <class On>
    FUSEKIT_H Result<std::size_t> workspace_bytes(On&& stream, ArgumentList arguments, View const& x,
                                                  View const& y) const {
        Refusal refusal;
        std::size_t bytes = 0;
        if (takes(arguments, refusal))
            operations->workspace_bytes({stream, reader(arguments, x, true, refusal), x, y, 16}, bytes);
        if (refusal) return *refusal;
        return bytes;
    }

    /// Prepares `run` for tensors of these layouts. Ignores the pointers of x and y, and assumes that later addresses
    /// are multiples of `alignment` bytes, or of the element size if that is larger. Allocates.
    template <class On>
    FUSEKIT_H Refusal prepare(On&& stream, ArgumentList arguments, View const& x, View const& y, Run<Device>& run,
                              int alignment = 16) const {
        Refusal refusal;
        if (takes(arguments, refusal))
            operations->prepare({stream, reader(arguments, x, false, refusal), x, y, alignment}, run);
        return refusal;
    }

    /// Binds the arguments and runs the plan on a stream or a device; allocates nothing. Uses `workspace` or, if none
    /// is given, the one of the stream or device.
    template <class On>
    FUSEKIT_H Refusal run(On&& stream, ArgumentList arguments, View const& x, View const& y,
                          WorkspaceView workspace = {}) const {
        Refusal refusal;
        if (takes(arguments, refusal))
            operations->run({stream, reader(arguments, x, false, refusal), x, y, 0}, workspace);
        return refusal;
    }

private:
    FormInfo const* form;
    detail::Operations<Device> const* operations;
    Matching matching;
    int count;
    Descriptor descriptors[max_operators] = {};

    FUSEKIT_H bool takes(ArgumentList arguments, Refusal& refusal) const {
        if (arguments.size == count) return true;
        refusal = Error(form->name(), "arguments", "", "those of " + Text::number(count) + " operators",
                        Text::number(arguments.size));
        return false;
    }
    FUSEKIT_H detail::Reader reader(ArgumentList arguments, View const& x, bool stands_in, Refusal& refusal) const {
        return {descriptors, arguments.data, matching.at, x.rank, stands_in, form->name, refusal};
    }
};

}  // namespace runtime

}  // namespace fusekit
