// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/runtime/accepts_all.hpp"
#include "fusekit/backend/hip/runtime/gpu.hpp"
#include "fusekit/tensor/no_output.hpp"
#include "fusekit/tensor/workspace.hpp"

namespace fusekit::hip {

/// Upper limit in bytes of a run's workspace, and size of the workspace that a stream owns.
inline constexpr std::size_t max_workspace_bytes = std::size_t{1} << 20;

class Device;
template <class Schedule>
class Scheduled;
class Tuned;
class ChannelsLast;
struct TunedTable;

/// Ordered queue of runs on a GPU: a HIP stream that the object owns, or one of the application's. Runs are
/// asynchronous and may be captured into a graph; copies between tensors and the host synchronize with the stream. The
/// device must outlive its streams; one thread at a time may use a stream. Move-only.
///
/// Plans with split-K, reductions or statistics use a workspace: the stream's own, or one that the caller passes to the
/// run. Runs with the same workspace must be ordered, as runs on one stream are; graphs captured from one stream use
/// the stream's workspace.
class Stream : public Memory, public AcceptsAll {
public:
    using TensorDevice = Device;  ///< device type of the tensors that runs allocate
    static constexpr bool is_handle = true;  ///< a const Stream may launch runs

    /// Creates a stream with a workspace. The stream is ordered with the default stream, and so with an application's
    /// kernels and hipMemcpy there. While the stream is captured, no thread may use the default stream.
    FUSEKIT_H explicit Stream(Device const& device);

    /// Creates a stream that is not ordered with the default stream: order accesses to memory that both use by events
    /// or synchronize().
    FUSEKIT_H static Stream non_blocking(Device const& device);

    /// Wraps the application's stream, which must outlive this object. Queries and allocates nothing, so that an object
    /// per call is cheap. A program with a default stream per thread passes hipStreamPerThread.
    FUSEKIT_H Stream(Device const& device, hipStream_t stream, WorkspaceView workspace = {});

    FUSEKIT_H Stream(Stream&& other) noexcept
        : Memory(other),
          properties(other.properties),
          workspace_view(config::exchange(other.workspace_view, {})),
          owns_stream(config::exchange(other.owns_stream, false)),
          owns_workspace(config::exchange(other.owns_workspace, false)) {}
    FUSEKIT_H Stream& operator=(Stream&& other) noexcept {
        config::swap(static_cast<Memory&>(*this), static_cast<Memory&>(other));
        config::swap(properties, other.properties);
        config::swap(workspace_view, other.workspace_view);
        config::swap(owns_stream, other.owns_stream);
        config::swap(owns_workspace, other.owns_workspace);
        return *this;
    }
    FUSEKIT_H ~Stream() {
        if (owns_workspace) release(workspace_view.data);
        if (owns_stream && hipStreamDestroy(stream()) != hipSuccess) clear_last_error();
    }

    FUSEKIT_H Gpu const& gpu() const { return *properties; }
    FUSEKIT_H Text name() const { return properties->name(); }
    FUSEKIT_H Architecture architecture() const { return properties->architecture(); }
    FUSEKIT_H int processors() const { return properties->processors(); }
    FUSEKIT_H std::int64_t cache_bytes() const { return properties->cache_bytes(); }

    /// Workspace that the stream owns, for runs to which the caller passes none: its address, and its size in bytes.
    FUSEKIT_H void* own_workspace() const { return workspace_view.data; }
    FUSEKIT_H std::size_t own_workspace_bytes() const { return workspace_view.bytes; }

    /// Allocator of the new tensor y that a run returns: in stream order (hipMallocAsync) if the GPU supports it.
    FUSEKIT_H Memory output_memory() const {
        return properties->has_memory_pools() ? in_stream_order() : Memory(*this);
    }

    /// Returns a stream whose calls run with the given schedule (backend/hip/schedule/) instead of the library's
    /// selection: layer(device.with<fk::hip::Gemm<64, 64, 8>>(), x, y).
    template <class Schedule>
    FUSEKIT_H Scheduled<Schedule> with() const {
        return Scheduled<Schedule>(*this);
    }

    /// Returns a stream whose calls run with the schedules of `table`, which tools/tune measured as fastest on such a
    /// GPU, for convolutions in the table.
    FUSEKIT_H Tuned tuned(TunedTable const& table) const;

    /// Returns a stream for whose calls kernels are compiled for channel stride 1 only. A call with another layout of x
    /// or y throws Error.
    FUSEKIT_H ChannelsLast channels_last() const;

    /// Returns a stream for whose calls the layouts of x and y are constants: layer(device.with_layouts<fk::nhwc(8, 56,
    /// 56, 64), fk::nhwc(8, 56, 56, 64)>(), x, y). The schedule is selected at compile time, and only its kernel is
    /// compiled. Weights are packed, in x's order; all three are at multiples of 16 bytes. A Residual's z has y's type
    /// and layout, or any with device.with_layouts<x, y>().reading_any(). A call with other tensors throws Error.
    template <auto x, auto y>
    FUSEKIT_H auto with_layouts() const;
    /// Returns a stream for whose calls layouts are those of one of several problems, such as the layers of a network,
    /// with one schedule for each:
    /// layer(device.with_problems<fk::hip::Problems<fk::hip::Problem<x, y>, fk::hip::Problem<x2, y2>>>(), x, y). A
    /// Problem<x, y, weights> also has the layout of the weights.
    template <class Listed>
    FUSEKIT_H auto with_problems() const;

    /// Prepares the launch of a bound plan. Precondition: the arguments are validated, and x and y have the alignment
    /// of later runs.
    template <class BoundPlan, Element T, detail::OutputElement U>
    FUSEKIT_H auto prepare(BoundPlan const& bound, detail::ImageView<T const> const& x,
                           detail::ImageView<U> const& y) const;

    /// Launches the kernel of a bound plan on the stream. Precondition: the arguments are validated. Throws Error if
    /// the launch fails.
    template <class BoundPlan, Element T, detail::OutputElement U>
    FUSEKIT_H void run(BoundPlan const& bound, detail::ImageView<T const> const& x,
                       detail::ImageView<U> const& y) const;

    FUSEKIT_H bool has_reached(void const* data) const { return properties->has_reached(data); }
    FUSEKIT_H void check_accessible(Check const& in, char const* argument, void const* data) const {
        properties->check_accessible(in, argument, data);
    }

protected:
    enum class Kind { in_order, non_blocking, borrowed };

    /// Creates a stream with a workspace (Kind::in_order, non_blocking), or uses the caller's `stream` (borrowed).
    FUSEKIT_H Stream(Gpu const* the_properties, Kind kind, hipStream_t stream = nullptr)
        : Memory(the_properties->index(), stream), properties(the_properties) {
        DeviceGuard const guard(index());
        if (kind != Kind::borrowed) {
            hipStream_t own = nullptr;
            check(hipStreamCreateWithFlags(&own, kind == Kind::in_order ? hipStreamDefault : hipStreamNonBlocking),
                  index(), "hipStreamCreateWithFlags");
            static_cast<Memory&>(*this) = Memory(index(), own);
        }
        StreamOwner owner{kind == Kind::borrowed ? nullptr : this};
        Workspace<Memory> own(*this, max_workspace_bytes);
        workspace_view = own.give_up();
        owner.stream = nullptr;
        owns_stream = kind != Kind::borrowed;
        owns_workspace = true;
    }

private:
    Gpu const* properties;
    WorkspaceView workspace_view;
    bool owns_stream = false, owns_workspace = false;

    /// Scope guard that destroys the HIP stream if the constructor throws.
    struct StreamOwner {
        Stream* stream;
        FUSEKIT_H ~StreamOwner() {
            if (stream && hipStreamDestroy(stream->stream()) != hipSuccess) clear_last_error();
        }
    };
};

}  // namespace fusekit::hip
