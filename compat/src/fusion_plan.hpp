// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "compiled_plan.hpp"
#include "plans.hpp"

namespace fusekit::compat {

/// Object of a miopenFusionPlanDescriptor_t: operators in order, on an input, and the compiled plan of each session.
/// Owns the operators and copies all descriptors.
class FusionPlan {
public:
    static constexpr ObjectKind kind = ObjectKind::plan;
    static constexpr char const* name = "a fusion plan";
    using Handle = miopenFusionPlanDescriptor_t;

    /// Throws Failure if the library has no plan on such tensors.
    explicit FusionPlan(TensorDescriptor const& the_input);
    FusionPlan(FusionPlan const&) = delete;
    FusionPlan& operator=(FusionPlan const&) = delete;
    ~FusionPlan();

    TensorDescriptor const& input() const { return x; }
    /// Output of the operators added so far, in the input's layout.
    TensorDescriptor const& output() const { return y; }

    int size() const { return static_cast<int>(operators.size()); }
    FusionOp const& op(int index) const { return *operators[static_cast<std::size_t>(index)]; }
    bool has(runtime::Kind wanted) const;
    /// Explains whether the library has a plan that begins with the operators so far and `next`.
    runtime::Explanation explain(runtime::Descriptor const& next) const;

    /// Adds an operator with result `output`, and discards compiled plans. Throws Failure and adds nothing if no plan
    /// of the library begins with the sequence.
    FusionOp const& add(FusionOp op, TensorDescriptor const& output);

    /// Compiles the plan for a session.
    void compile(miopenHandle_t handle, Session& session);

    /// Compiled plan of a session; null if an operator was added since.
    std::shared_ptr<CompiledPlan> compiled_for(miopenHandle_t handle) const;

    /// Compiles for a session without storing the result.
    std::shared_ptr<CompiledPlan> compile_once(Session& session) const;

private:
    TensorDescriptor x, y;
    std::vector<std::unique_ptr<FusionOp>> operators;

    struct Compiled {
        miopenHandle_t handle;
        std::shared_ptr<CompiledPlan> plan;
    };
    mutable std::mutex mutex;  ///< guards `compiled`: sessions of several threads may share the plan
    std::vector<Compiled> compiled;
};

}  // namespace fusekit::compat
