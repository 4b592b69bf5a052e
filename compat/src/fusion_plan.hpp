// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "compiled_plan.hpp"
#include "plans.hpp"

namespace fusekit::compat {

/// Object of a miopenFusionPlanDescriptor_t: operators in order, on an input, and the plan that is compiled for each
/// session. Owns the operators; copies all descriptors.
class FusionPlan {
public:
    static constexpr ObjectKind kind = ObjectKind::plan;
    static constexpr char const* name = "a fusion plan";
    using Handle = miopenFusionPlanDescriptor_t;

    /// `the_input` is the layout of the plan's input. Throws Failure if no plan of the library supports it.
    explicit FusionPlan(TensorDescriptor const& the_input);
    FusionPlan(FusionPlan const&) = delete;
    FusionPlan& operator=(FusionPlan const&) = delete;
    ~FusionPlan();

    TensorDescriptor const& input() const { return x; }
    /// Layout of the result of the operators added so far; channels first or last as in the input.
    TensorDescriptor const& output() const { return y; }

    int size() const { return static_cast<int>(operators.size()); }
    FusionOp const& op(int index) const { return *operators[static_cast<std::size_t>(index)]; }
    bool has(runtime::Kind wanted) const;
    /// Explains whether the library has a plan that begins with the operators added so far, then `next`.
    runtime::Explanation explain(runtime::Descriptor const& next) const;

    /// Adds an operator with the result layout `output`, and discards compiled plans. If no plan of the library begins
    /// with the sequence, throws Failure and adds nothing.
    FusionOp const& add(FusionOp op, TensorDescriptor const& output);

    /// Selects the plan for a session, compiles its kernels, and stores it.
    void compile(miopenHandle_t handle, Session& session);

    /// Plan that is compiled for a session; null if there is none, or if an operator was added after it was compiled.
    std::shared_ptr<CompiledPlan> compiled_for(miopenHandle_t handle) const;

    /// Same as compile(), without storing the plan.
    std::shared_ptr<CompiledPlan> compile_once(Session const& session) const;

private:
    TensorDescriptor x, y;
    std::vector<std::unique_ptr<FusionOp>> operators;

    struct Compiled {
        miopenHandle_t handle;
        std::shared_ptr<CompiledPlan> plan;
    };
    mutable std::mutex mutex;  ///< guards `compiled`: sessions of several threads may use the plan
    std::vector<Compiled> compiled;
};

}  // namespace fusekit::compat
