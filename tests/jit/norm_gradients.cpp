// SPDX-License-Identifier: MIT
//
// The schedule, grid and workspace that fusekit_jit chooses for the gradient of a batch norm are those of the plan as a
// type.
#include "fusekit/plan/backward.hpp"
#include "schedules.hpp"

namespace {

using namespace test;
using namespace fusekit;
using rt::Role;

Units units;

template <class ForwardPlan>
void compare(std::vector<rt::Descriptor> const& descriptors, int count) {
    hip::Device device(0);
    std::mt19937 random(7);
    auto const pick = [&](std::vector<int> const& all) { return all[random() % all.size()]; };
    for (int i = 0; i < count; ++i) {
        Index<4> const shape = {{pick({1, 2, 32, 128}), pick({1, 3, 16, 64, 100, 512, 2048}), pick({1, 7, 14, 56}),
                                 pick({1, 7, 13, 28, 56})}};
        char const* const orders[] = {"nhwc", "nhwc", "nchw", "nhcw"};
        char const *const order = orders[random() % 4], *const other = random() % 6 ? order : orders[random() % 4];
        int const gap = random() % 8 ? 0 : pick({1, 4, 8});
        Problem problem;
        problem.descriptors = descriptors;
        problem.arguments.resize(descriptors.size());
        problem.x = view_of(shape, order, 1ull << 40, gap);
        problem.y = view_of(shape, order, 2ull << 40, gap);
        for (std::size_t at = 0; at < descriptors.size(); ++at) {
            rt::Arguments& of = problem.arguments[at];
            of[Role::x] = view_of(shape, other, 3ull << 40);
            of[Role::z] = view_of(shape, order, 4ull << 40), of[Role::output] = view_of(shape, order, 5ull << 40);
            std::uintptr_t address = 6ull << 40;
            for (Role const role : {Role::scale, Role::shift, Role::mean, Role::variance, Role::saved_mean,
                                    Role::saved_inverse_deviation, Role::scale_gradient, Role::shift_gradient})
                of[role] =
                    rt::View(TensorView<float, 1>(reinterpret_cast<float*>(address += 1 << 20), channels(shape[1])));
        }
        Chosen const expected = chosen_by_header<Backward<ForwardPlan>, half, half>(problem, device);
        Chosen const chosen = chosen_at_run_time(problem, DataType::float16, device);
        INFO(i << ": x " << to_string(shape).c_str() << " " << order << " " << other << " " << gap);
        REQUIRE(chosen.mainloop == expected.mainloop);
        REQUIRE(chosen.launch == expected.launch);
        REQUIRE_FALSE(chosen.mainloop.empty());
        units.add(chosen, type_name<ForwardPlan>().c_str());
    }
}

}  // namespace

TEST_CASE("jit norm gradients: schedules are those of a plan as a type") {
    using Norm = BatchNormTraining<Spatial>;
    using Inference = BatchNormInference<Spatial>;
    rt::Descriptor const norm = rt::batch_norm_backward(rt::NormMode::spatial),
                         inference = rt::batch_norm_inference(rt::NormMode::spatial), z = rt::residual_backward(),
                         relu = rt::activation_backward(rt::ActivationMode::relu),
                         gelu = rt::activation_backward(rt::ActivationMode::gelu);
    compare<Plan<Norm>>({norm}, 60);
    compare<Plan<Norm, Activation<Relu>>>({norm, relu}, 60);
    compare<Plan<Norm, Residual, Activation<Relu>>>({norm, z, relu}, 60);
    compare<Plan<Norm, Residual>>({norm, z}, 60);
    compare<Plan<Norm, Activation<Gelu>>>({norm, gelu}, 60);
    compare<Plan<Inference, Activation<Relu>>>({inference, relu}, 60);
    compare<Plan<Inference, Residual, Activation<Gelu>>>({inference, z, gelu}, 60);
    compare<Plan<Activation<Gelu>>>({gelu}, 60);
    compare<Plan<Residual, Activation<Relu>>>({z, relu}, 60);
    REQUIRE(units.size() >= 6);
    units.compile(compiles_each());
}
