// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "plans.hpp"
#include "session.hpp"

namespace fusekit::compat {

/// Index of the first operator of the second launch for a sequence of operators; all.size if one launch runs them all.
///
/// No kernel of the library adds two tensors that vary over pixels, or adds one before a batch norm; without a
/// convolution none has a bias before a batch norm. For these sequences the second launch begins at the second tensor
/// or at the batch norm.
int second_launch(runtime::Descriptors all);

/// The launches that run a sequence of operators from x to y: one, or two, the second of which reads and writes y, so
/// that intermediate results are rounded to y's type.
class Launches {
public:
    Launches() = default;
    /// Finds the plans for tensors of these types on the session's device. Throws Failure if the library has none.
    Launches(Session const& session, std::vector<runtime::Descriptor> const& descriptors, runtime::Types types);

    /// Compiles kernels that were not compiled in advance, and returns the bytes of workspace that a run needs. The
    /// pointers of the arguments may be null. Throws Failure if a plan does not support the layouts.
    std::size_t compile(Session const& session, std::vector<runtime::Arguments> const& arguments,
                        runtime::View const& x, runtime::View const& y) const;

    /// Prepares all launches. Uses only the layouts of x and y.
    void prepare(Session const& session, std::vector<runtime::Arguments> const& arguments, runtime::View const& x,
                 runtime::View const& y, int alignment);
    void reset();
    bool are_prepared() const { return !launches.empty() && launches.back().run; }

    /// Bytes of workspace that a run of the prepared launches needs.
    std::size_t workspace_bytes() const;
    /// Runs the prepared launches. Throws Failure, and writes nothing, if a tensor of the second overlaps y.
    void run(Session& session, void const* x, void* y, WorkspaceView workspace) const;

private:
    struct Launch {
        std::shared_ptr<FoundPlan> plan;
        int first;  ///< index of its first operator in the sequence
        PreparedRun run = {};  ///< empty until it is prepared
    };
    std::vector<Launch> launches;
    std::vector<runtime::Arguments> arguments_of_second;
    runtime::View output;  ///< layout of y of the second launch

    void check_apart_from(void* y) const;
    /// Arguments of a launch's operators.
    static runtime::ArgumentList part(Launch const& launch, std::vector<runtime::Arguments> const& all) {
        return {all.data() + launch.first, launch.plan->size()};
    }
};

}  // namespace fusekit::compat
