// SPDX-License-Identifier: MIT
#pragma once

#include <list>
#include <string>
#include <vector>

#include "compat/owned.hpp"
#include "support/difference.hpp"
#include "support/oracle_training.hpp"
#include "support/placed.hpp"
#include "support/problem.hpp"

/// Problems of the oracle, computed by MIOpen's calls.
namespace test::miopen {

inline miopenDataType_t type_of(fk::DataType type) {
    switch (type) {
        case fk::DataType::float16: return miopenHalf;
        case fk::DataType::bfloat16: return miopenBFloat16;
        case fk::DataType::float64: return miopenDouble;
        case fk::DataType::int8: return miopenInt8;
        default: return miopenFloat;
    }
}

inline Tensor described(fk::DataType type, fk::Layout<4> const& layout) {
    int extents[4], strides[4];
    for (int i = 0; i < 4; ++i)
        extents[i] = static_cast<int>(layout.shape[i]), strides[i] = static_cast<int>(layout.stride[i]);
    Tensor made;
    succeeds(miopenSetTensorDescriptor(made, type_of(type), 4, extents, strides));
    return made;
}

/// Tensor in device memory, with its descriptor.
struct DeviceTensor {
    Placed<MemoryDevice, 4> memory;
    Tensor descriptor;

    DeviceTensor(fk::DataType type, fk::Layout<4> const& layout, std::vector<double> const& values)
        : memory(memory_device(), type, layout, values), descriptor(described(type, layout)) {}
    /// Poisoned output.
    DeviceTensor(fk::DataType type, fk::Layout<4> const& layout)
        : memory(memory_device(), type, layout, 64), descriptor(described(type, layout)) {}

    void* data() { return const_cast<void*>(memory.any().data()); }
};

/// Handle that cases share.
inline miopenHandle_t session() {
    static Session const made;
    return made;
}

/// True if the library was built with plans for this element type; always true for float.
inline bool has_plans_of(fk::DataType type) {
    Plan const plan(tensor({1, 1, 1, 1}, type_of(type)));
    miopenFusionOpDescriptor_t op;
    succeeds(miopenCreateOpConvForward(plan, &op, convolution(), tensor({1, 1, 1, 1}, type_of(type))));
    bool const has = miopenCompileFusionPlan(session(), plan) == miopenStatusSuccess;
    REQUIRE((has || type != fk::DataType::float32));
    return has;
}

/// Fusion plan for the operators of a problem's form, with the operators' arguments.
class Fused {
public:
    explicit Fused(Problem const& the_problem)
        : problem(the_problem),
          about(problem.about),
          x(about.type, layout_of<4>(about.x_layout, about.x), problem.x),
          y(about.type, layout_of<4>(about.y_layout, about.y())),
          plan(x.descriptor) {
        std::size_t next = 0;
        for (char const letter : about.form) letter == 'C' ? add_convolution() : add(problem.steps[next++]);
    }

    /// Compiles and executes the plan; returns the difference of y.
    std::string run(oracle::Tensor const& expected) {
        succeeds(miopenCompileFusionPlan(session(), plan));
        succeeds(miopenExecuteFusionPlan(session(), plan, x.descriptor, x.data(), y.descriptor, y.data(), arguments));
        return difference(expected, y.memory.fetch());
    }

    /// Difference of a statistic of batch norm in training.
    std::string compare(std::size_t index, oracle::Tensor const& expected) {
        return difference(expected, std::next(written.begin(), static_cast<std::ptrdiff_t>(index))->memory.fetch());
    }

private:
    Problem const& problem;
    Case const& about;
    DeviceTensor x, y;
    Plan plan;
    Arguments arguments;
    std::list<DeviceTensor> read, written;  // lists: descriptors' users keep addresses
    double const one = 1, zero = 0;         // as some callers pass them; MIOpen does not read them

    DeviceTensor& parameters(std::vector<double> const& values, bool per_activation, fk::DataType type) {
        return read.emplace_back(type, parameter_layout(per_activation), values);
    }
    fk::Layout<4> parameter_layout(bool per_activation) const {
        oracle::Shape const of = about.y();
        fk::Index<4> const shape = {{1, of.c, per_activation ? of.h : 1, per_activation ? of.w : 1}};
        return fk::packed_like(shape, layout_of<4>(about.y_layout, of));
    }

    void add_convolution() {
        oracle::Window const& f = about.window;
        Convolution convolution;
        succeeds(miopenInitConvolutionDescriptor(convolution, miopenConvolution, static_cast<int>(f.top),
                                                 static_cast<int>(f.left), static_cast<int>(f.u), static_cast<int>(f.v),
                                                 static_cast<int>(f.d), static_cast<int>(f.e)));
        succeeds(miopenSetConvolutionGroupCount(convolution, static_cast<int>(f.groups)));
        auto const layout = layout_of<4>(about.w_layout, {about.k, about.x.c / f.groups, f.r, f.s});
        DeviceTensor& weights = read.emplace_back(about.type, layout, problem.weights);
        miopenFusionOpDescriptor_t op;
        succeeds(miopenCreateOpConvForward(plan, &op, convolution, weights.descriptor));
        succeeds(miopenSetOpArgsConvForward(arguments, op, &one, &zero, weights.data()));
    }

    void add(Step const& step) {
        bool const per_activation = step.letter == 'M' || step.letter == 'U';
        miopenBatchNormMode_t const mode = per_activation ? miopenBNPerActivation : miopenBNSpatial;
        auto const floats = [&](std::vector<double> const& values) -> DeviceTensor& {
            return parameters(values, per_activation, fk::DataType::float32);
        };
        miopenFusionOpDescriptor_t op;
        switch (step.letter) {
            case 'B': {
                DeviceTensor& bias = parameters(step.values, false, about.parameters);
                succeeds(miopenCreateOpBiasForward(plan, &op, bias.descriptor));
                succeeds(miopenSetOpArgsBiasForward(arguments, op, nullptr, nullptr, bias.data()));
                break;
            }
            case 'N':
            case 'M': {
                oracle::Statistics const& s = step.statistics;
                DeviceTensor &scale = floats(s.scale), &shift = floats(s.shift), &mean = floats(s.mean),
                             &variance = floats(s.variance);
                succeeds(miopenCreateOpBatchNormInference(plan, &op, mode, scale.descriptor));
                succeeds(miopenSetOpArgsBatchNormInference(arguments, op, &one, &zero, scale.data(), shift.data(),
                                                           mean.data(), variance.data(), s.epsilon));
                break;
            }
            case 'T':
            case 'U': {
                oracle::Statistics const& s = step.statistics;
                DeviceTensor &scale = floats(s.scale), &shift = floats(s.shift);
                for (int i = 0; i < 2; ++i)
                    written.emplace_back(fk::DataType::float32, parameter_layout(per_activation));
                bool const runs = count() > 1;
                for (auto const& moved : {s.mean, s.variance})
                    written.emplace_back(fk::DataType::float32, parameter_layout(per_activation), moved);
                std::vector<void*> to;
                for (DeviceTensor& each : written) to.push_back(each.data());
                succeeds(miopenCreateOpBatchNormForward(plan, &op, mode, runs));
                succeeds(miopenSetOpArgsBatchNormForward(arguments, op, &one, &zero, scale.data(), shift.data(), to[0],
                                                         to[1], to[2], to[3], momentum, s.epsilon));
                break;
            }
            default:
                succeeds(miopenCreateOpActivationForward(plan, &op, activation_mode(step.mode)));
                succeeds(miopenSetOpArgsActivForward(arguments, op, &one, &zero, step.mode.alpha, step.mode.beta,
                                                     step.mode.gamma));
        }
    }

public:
    static constexpr double momentum = 0.25;
    /// Values per mean.
    double count() const {
        std::int64_t const pixels = about.form[0] == 'U' ? 1 : about.x.h * about.x.w;
        return static_cast<double>(about.x.n * pixels);
    }

    static miopenActivationMode_t activation_mode(oracle::Mode const& mode) {
        char const* const names[] = {"passthru", "logistic",    "tanh",      "relu", "softrelu", "abs",
                                     "power",    "clippedrelu", "leakyrelu", "elu",  "clamp"};
        for (int i = 0; i < 11; ++i)
            if (mode.name == names[i]) return static_cast<miopenActivationMode_t>(i);
        FAIL("MIOpen has no activation " << mode.name);
        return miopenActivationPASTHRU;
    }
};

/// Runs forward with all outputs of training; returns the difference.
inline std::string run_fused(Problem const& problem, oracle::Tensor const& expected) {
    Fused fused(problem);
    std::string wrong = fused.run(expected);
    if (!problem.in_training()) return wrong;
    oracle::Statistics const& s = problem.steps[0].statistics;
    auto const batch =
        oracle::batch_statistics({problem.about.x, problem.x}, problem.about.form[0] == 'U', !problem.about.real);
    wrong += fused.compare(0, batch.mean);
    wrong += fused.compare(1, oracle::inverse_deviations(batch, s.epsilon));
    if (batch.count <= 1) return wrong;
    Bounded const unbiased = Bounded{batch.count} / Bounded{batch.count - 1};
    wrong += fused.compare(
        2, batch.mean.each([&](Bounded v, std::size_t g) { return oracle::moved(s.mean[g], v, Fused::momentum); }));
    wrong += fused.compare(3, batch.variance.each([&](Bounded v, std::size_t g) {
        return oracle::moved(s.variance[g], v * unbiased, Fused::momentum);
    }));
    return wrong;
}

/// Runs backward from a problem's dy, with x's statistics; returns the difference.
inline std::string run_fused_backward(Problem const& problem) {
    Case const& about = problem.about;
    oracle::Statistics const& s = problem.steps[0].statistics;
    bool const per_activation = about.form[0] == 'U';
    oracle::Tensor const x(about.x, problem.x);
    auto const batch = oracle::batch_statistics(x, per_activation, true);
    Format const floats = format_of(fk::DataType::float32);
    oracle::Saved saved;
    for (Bounded v : batch.mean.at) saved.mean.push_back(floats.round(v.value));
    for (Bounded v : oracle::inverse_deviations(batch, s.epsilon).at)
        saved.inverse_deviation.push_back(floats.round(v.value));
    oracle::Mode const mode = problem.steps.back().mode;
    auto const expected = oracle::training_gradients(x, problem.dy, mode, s, saved, per_activation);

    auto const layout = layout_of<4>(about.x_layout, about.x);
    fk::Index<4> const shape = {{1, about.x.c, per_activation ? about.x.h : 1, per_activation ? about.x.w : 1}};
    auto const of_parameters = fk::packed_like(shape, layout);
    auto const type = fk::DataType::float32;
    DeviceTensor input(about.type, layout, problem.x), dy(about.type, layout, problem.dy), dx(about.type, layout);
    DeviceTensor scale(type, of_parameters, s.scale), shift(type, of_parameters, s.shift),
        mean(type, of_parameters, saved.mean), inverse(type, of_parameters, saved.inverse_deviation),
        scale_gradient(type, of_parameters), shift_gradient(type, of_parameters);

    Plan const plan(dy.descriptor);
    Arguments const args;
    miopenFusionOpDescriptor_t norm, activation;
    succeeds(miopenCreateOpBatchNormBackward(plan, &norm, per_activation ? miopenBNPerActivation : miopenBNSpatial));
    succeeds(miopenCreateOpActivationBackward(plan, &activation, Fused::activation_mode(mode)));
    succeeds(miopenSetOpArgsBatchNormBackward(args, norm, nullptr, nullptr, input.data(), scale.data(), shift.data(),
                                              scale_gradient.data(), shift_gradient.data(), mean.data(),
                                              inverse.data()));
    succeeds(miopenSetOpArgsActivBackward(args, activation, nullptr, nullptr, nullptr, nullptr, mode.alpha, mode.beta,
                                          mode.gamma));
    succeeds(miopenCompileFusionPlan(session(), plan));
    succeeds(miopenExecuteFusionPlan(session(), plan, dy.descriptor, dy.data(), dx.descriptor, dx.data(), args));
    return difference(expected.dx, dx.memory.fetch()) + difference(expected.scale, scale_gradient.memory.fetch()) +
           difference(expected.shift, shift_gradient.memory.fetch());
}

}  // namespace test::miopen
