// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/schedule/plan_traits.hpp"

#include <catch2/catch_test_macros.hpp>

#include "fusekit/fusekit.hpp"

namespace fk = fusekit;
using namespace fk::hip;

namespace {

using Conv = fk::Conv<fk::filter(3, 3)>;
using Relu = fk::Activation<fk::Relu>;

template <class T, class... Ops>
constexpr PlanTraits traits = traits_of<fk::Plan<Ops...>, T>();

static_assert(traits<fk::half, Conv> == PlanTraits{.same_weights = true});
static_assert(traits<fk::half, Conv, fk::Bias, Relu> == traits<fk::half, Conv>);
static_assert(traits<fk::half, fk::Conv<fk::filter(3, 3), fk::Weights<fk::int8>>> == PlanTraits{});
static_assert(traits<float, fk::Conv<fk::filter(3, 3), fk::Products<float>>>.products_of_float);
static_assert(!traits<float, fk::Conv<fk::filter(3, 3), fk::Products<fk::tf32>>>.products_of_float);
static_assert(traits<float, Relu, Conv>.prologue && !traits<float, Conv, Relu>.prologue);
static_assert(traits<float, Conv, fk::Pool<fk::Max, 2, 2>>.pools && !traits<float, Conv>.pools);
static_assert(traits<float, Conv, fk::ChannelStatistics>.totals && !traits<float, Conv, fk::Bias>.totals);
static_assert(traits<float, Conv, fk::Residual>.by_pixel && traits<float, Conv, fk::Store>.by_pixel);
static_assert(!traits<float, Conv, fk::Bias>.by_pixel);

// Without a mainloop only the totals of a reduction matter.
static_assert(traits<float, fk::Bias> == PlanTraits{});
static_assert(traits<float, fk::BatchNormTraining<fk::Spatial>>.total_bytes > 0);

// Each unsupported property has a condition of its own.
constexpr PlanTraits plain = traits<float, Conv>;
static_assert(PlanConditions::of_epilogue(plain).met() && !PlanConditions::of_epilogue(plain, false).met());
static_assert(!PlanConditions::of_epilogue(traits<float, Relu, Conv>).prologue);
static_assert(!PlanConditions::of_epilogue(traits<float, Conv, fk::Pool<fk::Max, 2, 2>>).pool);
static_assert(!PlanConditions::of_epilogue(traits<float, Conv, fk::ChannelStatistics>).totals);
static_assert(PlanConditions::of_epilogue(traits<float, Conv, fk::Residual>).met());
static_assert(!PlanConditions{.by_pixel = false}.met() && !PlanConditions{.products = false}.met());

using View = fk::TensorView<fk::half const>;
static_assert(std::is_same_v<ElementOf<View>, fk::half>);

}  // namespace

TEST_CASE("HIP: traits of a plan name the properties that schedules test") { SUCCEED("the assertions above hold"); }
