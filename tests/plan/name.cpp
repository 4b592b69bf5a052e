// SPDX-License-Identifier: MIT
#include "fusekit/plan/name.hpp"

#include <catch2/catch_test_macros.hpp>

#include "fusekit/fusekit.hpp"

namespace fk = fusekit;

namespace user {

struct Swish {
    static constexpr auto stage = fk::Stage::pointwise;
    struct Args {};
    static float apply(float x, Args const&) { return x; }
};
template <class, int>
struct Generic : Swish {};
class Mode : public fk::Relu {};
struct Named : Swish {
    static std::string name() { return "y = x"; }
};

}  // namespace user

namespace {

struct Hidden : user::Swish {};
struct HiddenMode : fk::Relu {};

}  // namespace

TEST_CASE("a plan's name reads like its source") {
    CHECK(fk::type_name<fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>, fk::Bias, fk::Activation<fk::Relu>>>() ==
          "Plan<Conv<filter(3, 3).pad(1)>, Bias, Activation<Relu>>");
    CHECK(fk::type_name<
              fk::Plan<fk::Conv<fk::dynamic>, fk::BatchNormInference<fk::Spatial>, fk::Residual, fk::Scale>>() ==
          "Plan<Conv<dynamic>, BatchNormInference<Spatial>, Residual, Scale>");
    CHECK(fk::type_name<fk::Plan<fk::BatchNormInference<fk::PerActivation>>>() ==
          "Plan<BatchNormInference<PerActivation>>");
}

TEST_CASE("users' operators are named without their namespaces") {
    CHECK(fk::type_name<user::Swish>() == "Swish");
    CHECK(fk::type_name<fk::Activation<user::Mode>>() == "Activation<Mode>");
    CHECK(fk::type_name<user::Generic<user::Swish, 3>>() == "Generic<Swish, 3>");
    CHECK(fk::type_name<user::Named>() == "y = x");
    CHECK(fk::type_name<Hidden>() == "Hidden");
    CHECK(fk::type_name<fk::Plan<Hidden, fk::Activation<HiddenMode>>>() == "Plan<Hidden, Activation<HiddenMode>>");
    struct Local : user::Swish {};
    CHECK(fk::type_name<Local>() == "Local");
}
