// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "compiled_plan.hpp"
#include "plans.hpp"

namespace fusekit::compat {

/// Behind a miopenFusionPlanDescriptor_t: operators in order, on an input, and what they were compiled to for each
/// session. It owns the operators and keeps copies of all descriptors.
class FusionPlan {
public:
    static constexpr ObjectKind kind = ObjectKind::plan;
    static constexpr char const* name = "a fusion plan";
    using Handle = miopenFusionPlanDescriptor_t;

    /// Failure where the library has no plan on such tensors.
    explicit FusionPlan(TensorDescriptor const& the_input);
    FusionPlan(FusionPlan const&) = delete;
    FusionPlan& operator=(FusionPlan const&) = delete;
    ~FusionPlan();

    TensorDescriptor const& input() const { return x; }
    /// What the operators so far make of the input, in the input's layout.
    TensorDescriptor const& output() const { return y; }

    int size() const { return static_cast<int>(operators.size()); }
    FusionOp const& op(int index) const { return *operators[static_cast<std::size_t>(index)]; }
    bool has(runtime::Kind wanted) const;
    /// Explains whether a plan of the library begins with the operators so far and `next`.
    runtime::Explanation explain(runtime::Descriptor const& next) const;

    /// Adds an operator whose result is `output`, and forgets what was compiled. Failure, and nothing is added, where
    /// no plan of the library begins so.
    FusionOp const& add(FusionOp op, TensorDescriptor const& output);

    /// Makes a session able to run the plan.
    void compile(miopenHandle_t handle, Session& session);

    /// What was compiled for a session; null where nothing was since the last operator was added.
    std::shared_ptr<CompiledPlan> compiled_for(miopenHandle_t handle) const;

    /// The same without keeping it.
    std::shared_ptr<CompiledPlan> compile_once(Session& session) const;

private:
    TensorDescriptor x, y;
    std::vector<std::unique_ptr<FusionOp>> operators;

    struct Compiled {
        miopenHandle_t handle;
        std::shared_ptr<CompiledPlan> plan;
    };
    mutable std::mutex mutex;  ///< of `compiled`: sessions of several threads may share the plan
    std::vector<Compiled> compiled;
};

}  // namespace fusekit::compat
