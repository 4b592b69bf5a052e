// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mainloop/split_gemm.hpp"

#include <cmath>
#include <cstring>
#include <vector>

#include "backend/hip/gpu.hpp"
#include "backend/hip/runner.hpp"
#include "support/check_case.hpp"
#include "support/matrix_products.hpp"
#include "support/run_case.hpp"

using namespace test;

namespace {

using fk::hip::GroupWorkspace;

/// A device whose plans with a Conv or Gemm have tiles that so many blocks share.
class Parted : public fk::hip::Memory, public fk::hip::Suits<void> {
public:
    using Memory = fk::hip::Memory;

    Parted(fk::hip::Device& the_device, int the_parts) : Memory(the_device), device(&the_device), parts(the_parts) {}

    template <class BoundPlan, class T, class U>
    auto prepare(BoundPlan const& bound, fk::detail::ImageView<T const> const& x,
                 fk::detail::ImageView<U> const& y) const {
        return fk::hip::with_tuning(device->architecture(), [&]<class Tuning>(Tuning) {
            return fk::hip::prepare_conv_with<fk::hip::DefaultSplit<Tuning>>(device->gpu(), bound, x, y, parts);
        });
    }
    template <class BoundPlan, class T, class U>
    void run(BoundPlan const& bound, fk::detail::ImageView<T const> const& x, fk::detail::ImageView<U> const& y) const {
        fk::hip::detail::run(prepare(bound, x, y), *device);
    }
    void check_accessible(fk::Check const& in, char const* argument, void const* data) const {
        device->check_accessible(in, argument, data);
    }

private:
    fk::hip::Device* device;
    int parts;
};

using Relu = fk::Activation<fk::Relu>;
using Norm = fk::BatchNormInference<fk::Spatial>;
using PerActivation = fk::BatchNormInference<fk::PerActivation>;

bool same_bits(std::vector<float> const& a, std::vector<float> const& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

std::vector<float> integers(std::int64_t count, int step) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>(static_cast<int>((i * 7 + static_cast<std::size_t>(step)) * 31 % 15) - 7);
    return values;
}

/// A product of 49 pixels and 24 channels, one tile whose GemmK is 576.
struct OneTile {
    using Plan = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>, fk::Activation<fk::Abs>>;
    fk::hip::Device& device;
    Floats x, w;

    explicit OneTile(fk::hip::Device& the_device)
        : device(the_device), x(the_device, fk::nchw(1, 64, 7, 7)), w(the_device, fk::kcrs(24, 64, 3, 3)) {
        x.copy_from(integers(x.size(), 1).data());
        w.copy_from(integers(w.size(), 2).data());
    }

    auto layer() const { return Plan::bind({.weights = w}, {}); }
    Floats output() const {
        Floats y(device, fk::nchw(1, 24, 7, 7));
        spoil(y);
        return y;
    }
    static void spoil(Floats& y) {
        y.copy_from(std::vector<float>(static_cast<std::size_t>(y.size()), std::nanf("")).data());
    }
    std::vector<float> unsplit() const { return numbers(layer()(device.with<fk::hip::Gemm<64, 64, 16, 6>>(), x)); }
};

}  // namespace

TEST_CASE("HIP: tiles whose GemmK blocks share are right in every layout, at every size") {
    fk::hip::Device device = gpu();
    for (int const parts : {2, 4, 8}) {
        Parted parted(device, parts);
        for (char const* text : {"n2c58h9w8k16r3s3pt1l1b1r1u1v1d1e1g1 nhwc krsc float CBA relu #3",
                                 "n1c57h5w7k67r3s4pt1l0b0r2u1v2d1e1g1 nchw kcrs float CBA relu #5",
                                 "n1c513h3w3k130r1s1pt0l0b0r0u1v1d1e1g1 nhwc>nchw kcrs float CBA relu #7",
                                 "n1c1024h4w3k60r1s1pt0l0b0r0u1v1d1e1g1 nchw>nhwc krsc+1 float CBA relu #9",
                                 "n1c192h5w5k15r3s3pt1l1b1r1u2v1d1e1g3 nhwc kcrs float CBA relu #11"})
            check_case(Case::parse(text), run_conv<Parted, float, fk::dynamic, fk::Bias, Relu>, parted);
        check_case(Case::parse("n2c64h6w7k9r3s3pt1l1b1r1u1v1d1e1g1 nchw kcrs float CMA relu #6"),
                   run_conv<Parted, float, fk::dynamic, PerActivation, Relu>, parted);
        check_case(Case::parse("n2c64h6w7k9r3s3pt1l1b1r1u1v1d1e1g1 nhwc krsc float CBR #8"),
                   run_conv<Parted, float, fk::dynamic, fk::Bias, fk::Residual>, parted);
    }
}

TEST_CASE("HIP: products of matrices whose GemmK blocks share are right") {
    fk::hip::Device device = gpu();
    Parted parted(device, 4);
    check_product<float, 2>(parted, {0, 37, 70, 300, "mk", "mk", "mk", "mk"});
    check_product<float, 2>(parted, {0, 9, 24, 259, "km+2", "km*3", "mk+1", "km-k"});
    check_product<float, 3>(parted, {3, 5, 7, 515, "bmk", "mk", "mbk", "bmk"});
}

TEST_CASE("HIP: tiles whose GemmK blocks share end in pools, and begin with what stands before a Conv") {
    fk::hip::Device device = gpu();
    using Pooled = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>, Relu, fk::Pool<fk::Max, 2, 2>>;
    using After = fk::Plan<Norm, Relu, fk::Conv<fk::filter(3, 3).pad(1)>>;
    fk::Tensor<float, fk::hip::Device, 1> ones(device, fk::channels(64));
    ones.copy_from(std::vector<float>(64, 1).data());
    for (auto const& layout : {fk::nchw(1, 64, 10, 6), fk::nhwc(1, 10, 6, 64)}) {
        Floats x(device, layout), w(device, fk::kcrs(24, 64, 3, 3));
        x.copy_from(integers(x.size(), 1).data());
        w.copy_from(integers(w.size(), 2).data());
        auto const pooled = Pooled::bind({.weights = w}, {}, {});
        auto const after = After::bind({.mean = ones, .variance = ones, .scale = ones, .shift = ones, .epsilon = 0}, {},
                                       {.weights = w});
        auto whole = device.with<fk::hip::Gemm<64, 64, 16, 6>>();
        for (int const parts : {2, 4, 8}) {
            Parted parted(device, parts);
            Floats of_pool(device, fk::packed_like(pooled.output_shape(layout.shape), layout));
            Floats of_after(device, fk::packed_like(after.output_shape(layout.shape), layout));
            OneTile::spoil(of_pool);
            OneTile::spoil(of_after);
            pooled(parted, x, of_pool);
            after(parted, x, of_after);
            CHECK(same_bits(numbers(of_pool), numbers(pooled(whole, x))));
            CHECK(same_bits(numbers(of_after), numbers(after(whole, x))));
        }
    }
}

TEST_CASE("HIP: blocks that share tiles leave workspace ready for the next run, whatever lies in it") {
    fk::hip::Device device = gpu();
    OneTile const product(device);
    std::vector<float> const expected = product.unsplit();
    for (int const parts : {2, 4, 8}) {
        Floats y = product.output();
        auto const run = product.layer().prepare(Parted(device, parts), product.x, y);
        CHECK((run.workspace_bytes() == 0) == fk::hip::launches_clusters(device.gpu()));
        fk::Workspace const one(device, run.workspace_bytes()), other(device, run.workspace_bytes());
        fk::hip::Stream const streams[] = {fk::hip::Stream(device), fk::hip::Stream::non_blocking(device)};
        for (fk::WorkspaceView const workspace : {one.view(), other.view()})
            if (workspace.bytes) {
                std::vector<unsigned char> const ones(workspace.bytes - GroupWorkspace::state_bytes, 0xff);
                auto* const values = static_cast<unsigned char*>(workspace.data) + GroupWorkspace::state_bytes;
                device.copy_in(values, ones.data(), ones.size());
            }
        for (int turn = 0; turn < 3; ++turn) {
            Floats of_other = product.output();
            OneTile::spoil(y);
            device.synchronize();
            run(streams[0], product.x, y, one);
            run(streams[1], product.x, of_other, other);
            streams[0].synchronize();
            streams[1].synchronize();
            CHECK(same_bits(numbers(y), expected));
            CHECK(same_bits(numbers(of_other), expected));
        }
    }
}

TEST_CASE("HIP: a product of reals that blocks share has the same bits in each run") {
    fk::hip::Device device = gpu();
    auto const x = fk::random<float>(device, fk::nchw(1, 96, 9, 8)),
               w = fk::random<float>(device, fk::kcrs(70, 96, 3, 3));
    auto const layer = fk::Plan<fk::Conv<fk::filter(3, 3)>>::bind({.weights = w});
    Parted parted(device, 8);
    std::vector<float> first;
    for (int turn = 0; turn < 4; ++turn) {
        Floats y(device, fk::nchw(1, 70, 7, 6));
        OneTile::spoil(y);
        layer(parted, x, y);
        if (turn == 0) first = numbers(y);
        CHECK(same_bits(numbers(y), first));
    }
}

TEST_CASE("HIP: the library shares tiles where its table says so, and a schedule of the caller's none") {
    fk::hip::Device device = gpu();
    auto const parts_on = [](auto const& stream, OneTile const& product, Floats& y) {
        auto const launch = stream.prepare(product.layer(), OneTile::Plan::collapse(product.x.const_view()),
                                           OneTile::Plan::collapse(y.view()));
        return launch.value().params.parts.count;
    };
    OneTile const product(device);
    Floats y = product.output();
    bool const chooses =
        fk::hip::with_tuning(device.architecture(), []<class Tuning>(Tuning) { return Tuning::chooses_split; });
    CHECK((parts_on(device, product, y) >= 2) == chooses);
    CHECK(parts_on(device.with<fk::hip::Gemm<64, 64, 16, 6>>(), product, y) == 1);
    bool const clusters = fk::hip::launches_clusters(device.gpu());
    fk::hip::Stream const without_workspace(device, device.stream());
    CHECK((parts_on(without_workspace, product, y) >= 2) == (chooses && clusters));
    auto const run = product.layer().prepare(device, product.x, y);
    CHECK((run.workspace_bytes() == 0) == (clusters || !chooses));
    std::vector<float> const expected = product.unsplit();
    run(device, product.x, y);
    CHECK(same_bits(numbers(y), expected));
    OneTile::spoil(y);
    Runner replays(device, 3);
    product.layer()(replays, product.x, y);
    CHECK(same_bits(numbers(y), expected));
    OneTile::spoil(y);
    product.layer()(without_workspace, product.x, y);
    CHECK(same_bits(numbers(y), expected));
}
