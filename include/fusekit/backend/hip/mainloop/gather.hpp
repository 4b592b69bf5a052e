// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/device.hpp"
#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/image_packet_params.hpp"
#include "fusekit/backend/hip/thread_coord.hpp"
#include "fusekit/plan/load_element.hpp"

namespace fusekit::hip {

/// Plan whose head is a GatherOp. A thread computes `lanes` outputs that are adjacent along `axis` and contiguous in y:
/// channels, which are contiguous in x too and are loaded as vectors, or pixels of a row, and the head loads
/// single elements for each; or one output. Consecutive threads compute consecutive packets of y.
template <class Plan, Element T, detail::OutputElement U, int lanes, detail::Axis axis>
class Gather {
    using Epilogue = typename Plan::Epilogue;
    using Op = typename Plan::Head;
    static constexpr bool along_channels = axis == detail::Axis::channel;

    /// Values of `lanes` channels of a pixel.
    struct Values {
        float values[lanes] = {};

        __device__ Values operator+(Values const& other) const {
            Values sum;
#pragma unroll
            for (int lane = 0; lane < lanes; ++lane) sum.values[lane] = values[lane] + other.values[lane];
            return sum;
        }
        __device__ Values operator*(float factor) const {
            Values product;
#pragma unroll
            for (int lane = 0; lane < lanes; ++lane) product.values[lane] = values[lane] * factor;
            return product;
        }
    };
    /// Loads the channels of a packet, from the first channel on. where(): those with the tap; the others are 0.
    struct LoadChannels {
        using Value = Values;
        TensorView<T const> const& x;

        __device__ Values operator()(OutputCoord const& from) const {
            auto const packet = *reinterpret_cast<Packet<T, lanes> const*>(&x(from.n, from.k, from.p, from.q));
            Values result;
#pragma unroll
            for (int lane = 0; lane < lanes; ++lane) result.values[lane] = static_cast<float>(packet.values[lane]);
            return result;
        }
        __device__ Values where(TensorView<int8 const, 4> const& taps, OutputCoord const& from, int tap) const {
            auto const of = *reinterpret_cast<Packet<int8, lanes> const*>(&taps(from.n, from.k, from.p, from.q));
            Values result = (*this)(from);
#pragma unroll
            for (int lane = 0; lane < lanes; ++lane)
                result.values[lane] = of.values[lane].value == tap ? result.values[lane] : 0;
            return result;
        }
    };

public:
    /// Blocks of a processor: the loads of 8 pixels, each with addresses of its own, need more than 64 registers.
    static constexpr int threads = 256, blocks = !along_channels && lanes > 4 ? 3 : 4;
    using Params = ImagePacketParams<Plan, T, U>;
    struct Shared {};

    __device__ static void run(Params const& params, Shared&, unsigned thread, unsigned block) {
        Slabs::Start const start = params.slabs.of(block);
        unsigned const packet = (block - start.block) * threads + thread;
        if (packet >= params.packets) return;
        unsigned const output = packet * lanes, in_slab = params.image.divide(output);
        OutputCoord to = params.order.coord(output - in_slab * params.image.value());
        to.n = std::int64_t{start.image} + in_slab;
        if (to.n >= params.y.layout.shape[0]) return;
        Values gathered;
        if constexpr (along_channels) {
            gathered =
                Op::gather(to, params.x.layout.shape, params.y.layout.shape, params.bound.head, LoadChannels{params.x});
        } else {
#pragma unroll
            for (int lane = 0; lane < lanes; ++lane)
                gathered.values[lane] = Op::gather(at(to, lane), params.x.layout.shape, params.y.layout.shape,
                                                   params.bound.head, detail::LoadElement<float, T>{params.x});
        }
        auto state = Epilogue::prepare(to.k, params.bound.epilogue);
        Packet<U, lanes> result;
#pragma unroll
        for (int lane = 0; lane < lanes; ++lane) {
            if (along_channels && lane > 0) state = Epilogue::prepare(to.k + lane, params.bound.epilogue);
            result.values[lane] =
                U(Epilogue::apply(gathered.values[lane], ThreadCoord(at(to, lane)), state, params.bound.epilogue));
        }
        if constexpr (Element<U>) *reinterpret_cast<Packet<U, lanes>*>(&params.y(to.n, to.k, to.p, to.q)) = result;
    }

private:
    __device__ static OutputCoord at(OutputCoord first, int lane) {
        (along_channels ? first.k : first.q) += lane;
        return first;
    }
};

}  // namespace fusekit::hip
