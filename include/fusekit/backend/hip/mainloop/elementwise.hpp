// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/overlap.hpp"
#include "fusekit/backend/hip/arch/reload.hpp"
#include "fusekit/backend/hip/offset_coord.hpp"
#include "fusekit/backend/hip/params.hpp"
#include "fusekit/backend/hip/schedule/elementwise.hpp"

namespace fusekit::hip {

/// Elementwise plan without a Conv, bound by memory bandwidth. A thread has a packet (vector) of `lanes` adjacent
/// elements and processes the same packet in `iterations` images of the batch; for channelwise plans with channels
/// last, the same channels of `iterations` pixels. `unroll` loads are issued before the arithmetic. Operators'
/// parameters are prepared once, before the iterations: per element, or per channel for the one or two channels of a
/// packet. With channels last, the CTA prepares the parameters of its tile of channels in SMEM.
template <class Plan, class Schedule, Element T, detail::OutputElement U, int lanes>
class Streaming {
    using Epilogue = typename Plan::Epilogue;
    using State = typename Epilogue::PixelState;
    static constexpr int unroll = Schedule::unroll;
    /// number of elements of a packet (a thread's vector) whose parameters are loaded as one vector
    static constexpr int width = (min)(lanes, 4);
    /// true if the elements of an operator's tensor are loaded as vectors
    static constexpr bool reads_packets = Epilogue::reads_one_view && width > 1;

public:
    static constexpr int threads = Schedule::threads, blocks = Schedule::blocks;
    static constexpr bool waits_for_previous_kernel = true;
    using Params = StreamParams<Plan, T, U>;

    /// True if a result depends only on the element's value and its channel.
    static constexpr bool only_channel = Epilogue::channelwise && !Epilogue::pixelwise;

    /// shares_channels: true if the CTA prepares the parameters of its tile's channels in SMEM, for channels-last
    /// tensors. tile_packets: maximum number of packets (vectors of channels) per tile, so that one thread prepares
    /// each channel.
    static constexpr bool shares_channels = only_channel && lanes > 1;
    static constexpr int tile_packets = (max)(1, threads / lanes);

private:
    /// A State (the epilogue's prepared parameters of one channel) as 32-bit words. In SMEM, word i of adjacent
    /// channels is contiguous, so that one vector load reads it for several channels.
    struct Words {
        unsigned word[(sizeof(State) + 3) / 4];
    };
    static constexpr int state_words = shares_channels ? sizeof(Words) / 4 : 1;

public:
    struct Shared {
        alignas(16) unsigned words[state_words][shares_channels ? tile_packets * lanes : 1];
    };

    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned block) {
        unsigned group = block, tile = 0;
        if constexpr (shares_channels) group = params.tiles.divide(block), tile = block - group * params.tiles.value();
        unsigned const packets = params.packets.value(), id = group * threads + thread,
                       split = params.packets.divide(id);
        unsigned const own = id - split * packets, packet = tile * packets + own;
        std::int64_t x = static_cast<std::int64_t>(std::uint64_t{packet} * lanes), y = x;
        if constexpr (lanes == 1) {
            OutputCoord const at = params.order.coord(packet);
            x = params.x.layout.offset({{0, at.k, at.p, at.q}});
            y = params.y.layout.offset({{0, at.k, at.p, at.q}});
        }
        std::int64_t const distance = y;
        // packets of several elements are used only if x and y have equal strides
        std::int64_t const x_step = lanes == 1 ? params.x_step : params.y_step;
        std::int64_t const x_stride = lanes == 1 ? params.x_stride : params.y_stride;
        x += split * x_step;
        y += split * params.y_step;

        Packet<T, lanes> values[unroll];
        std::int64_t iteration = split < params.splits && packet < params.all_packets ? split : params.iterations;
        auto const load = [&] {
#pragma unroll
            for (int i = 0; i < unroll; ++i)
                if (iteration + i * params.splits < params.iterations)
                    values[i] = load_once(reinterpret_cast<Packet<T, lanes> const*>(params.x.data + x + i * x_stride));
        };
        wait_for_previous_kernel();
        load();  // in flight while the parameters are prepared

        OutputCoord at[lanes] = {};
        ViewPacket<lanes, width> view_packet;
        auto const run_iterations = [&](auto const& states) {
            while (iteration < params.iterations) {
#pragma unroll
                for (int i = 0; i < unroll; ++i) {
                    if (iteration >= params.iterations) return;
                    auto const state = states();
                    Packet<U, lanes> other;
                    auto& results = in_place_or(other, values[i]);
#pragma unroll
                    for (int first = 0; first < lanes; first += width) {
                        State of_lanes[width];
#pragma unroll
                        for (int lane = 0; lane < width; ++lane) of_lanes[lane] = state(first + lane);
#pragma unroll
                        for (int lane = first; lane < first + width; ++lane) at[lane].n = iteration;
                        OffsetCoords<width> const plain{at + first, distance + first, params.y.layout.stride};
                        auto const coords = [&] {
                            if constexpr (!reads_packets) return plain;
                            else return loaded(params, view_packet, plain, iteration, packet * lanes, first);
                        }();
                        T const* const from = values[i].values + first;
                        U* const result = results.values + first;
                        if constexpr (Epilogue::stores) {
                            float inputs[width];
#pragma unroll
                            for (int lane = 0; lane < width; ++lane) inputs[lane] = from[lane];
                            Epilogue::apply_each(inputs, coords, of_lanes, params.bound.epilogue);
#pragma unroll
                            for (int lane = 0; lane < width; ++lane) result[lane] = U(inputs[lane]);
                        } else {
#pragma unroll
                            for (int lane = 0; lane < width; ++lane)
                                result[lane] = U(Epilogue::apply(static_cast<float>(from[lane]), coords[lane],
                                                                 of_lanes[lane], params.bound.epilogue));
                        }
                    }
                    if constexpr (Element<U>)
                        store_once(reinterpret_cast<Packet<U, lanes>*>(params.y.data + y), results);
                    iteration += params.splits, x += x_stride, y += params.y_stride;
                }
                load();
            }
        };
        if constexpr (Epilogue::pixelwise) {
            at[0] = params.order.coord(packet * lanes);
#pragma unroll
            for (int lane = 1; lane < lanes; ++lane) at[lane] = params.order.next(at[lane - 1]);
            if constexpr (reads_packets)
                view_packet = {Epilogue::read_view(params.bound.epilogue), at, params.order.channels_last,
                               params.order.columns.value()};
            State states[lanes];
            prepare(params, distance, at, states);
            run_iterations([&] { return [&](int lane) -> State const& { return states[lane]; }; });
        } else if constexpr (shares_channels) {
            if (params.order.channels_last) {
                prepare_tile(params, shared, thread, tile * packets * lanes);
                run_iterations(
                    [&] { return [&](int lane) { return of_tile(shared, slot(own, static_cast<unsigned>(lane))); }; });
            } else {  // with channels first, a packet has elements of at most two channels
                unsigned const index = packet * lanes, k = params.order.plane.divide(index),
                               plane = params.order.plane.value();
                int const others = static_cast<int>(plane - (index - k * plane));
                State const first = of_channel(params, k), last = of_channel(params, others < lanes ? k + 1 : k);
                run_iterations([&] {
                    return [&, of_first = opaque(others)](int lane) -> State const& {
                        return lane < of_first ? first : last;
                    };
                });
            }
        } else {
            State const state = of_channel(params, params.order.coord(packet).k);
            run_iterations([&] { return [&](int) { return state; }; });
        }
    }

private:
    /// Loads the operator's tensor at the `width` coordinates from element `first` of a packet on, whose element 0 has
    /// index `index` in its image n.
    __device__ static LoadedCoords<width> loaded(Params const& params, ViewPacket<lanes, width> const& packet,
                                                 OffsetCoords<width> const& coords, std::int64_t n, unsigned index,
                                                 int first) {
        LoadedCoords<width> result{coords, {}};
        packet.template load<U, true>(
            Epilogue::read_view(params.bound.epilogue), n, first / width, params.order.channels_last,
            [&](int lane) { return params.order.coord(index + static_cast<unsigned>(first + lane)); }, result.values);
        return result;
    }

    /// Returns the registers for the results of a packet (a thread's vector): those of x's elements if the types of x
    /// and y are equal, so that no second packet is needed; otherwise `other`.
    template <class Results, class Values>
    __device__ static Results& in_place_or([[maybe_unused]] Results& other, [[maybe_unused]] Values& values) {
        if constexpr (std::is_same_v<Results, Values>) return values;
        else return other;
    }

    __device__ static State of_channel(Params const& params, std::int64_t k) {
        return Epilogue::prepare(OutputCoord{0, k, 0, 0}, params.bound.epilogue);
    }

    __device__ static void prepare(Params const& params, std::int64_t offset_y, OutputCoord const (&at)[lanes],
                                   State (&states)[lanes]) {
        auto const& epilogue = params.bound.epilogue;
        bool fit = true;
        static_cast<void>(Epilogue::prepare(PacketProbe<width>(params.y.layout.stride, fit), epilogue));
        auto const prepare_each = [&](auto const& coord_at) {
#pragma unroll
            for (int lane = 0; lane < lanes; ++lane) states[lane] = Epilogue::prepare(coord_at(lane), epilogue);
        };
        if (fit) prepare_each([&](int lane) { return PacketCoord<width>(at[lane], offset_y + lane, lane % width); });
        else prepare_each([&](int lane) { return at[lane]; });
    }

    /// Prepares the parameters of the channels of the tile that begins at channel `first`, in SMEM. All threads of the
    /// CTA call it.
    __device__ static void prepare_tile(Params const& params, Shared& shared, unsigned thread, unsigned first) {
#pragma unroll 1
        for (unsigned i = thread; i < params.packets.value() * lanes && first + i < params.order.channels.value();
             i += threads) {
            auto const words = config::bit_cast<Words>(of_channel(params, first + i));
#pragma unroll
            for (int w = 0; w < state_words; ++w) shared.words[w][slot(i / lanes, i % lanes)] = words.word[w];
        }
        __syncthreads();
    }
    /// Returns the index in Shared::words of the channel of element `lane` of the tile's packet (vector of channels)
    /// number `packet`. `width` consecutive elements of a packet are contiguous, followed by the same elements of the
    /// next packet, which the next thread loads.
    __device__ static unsigned slot(unsigned packet, unsigned lane) {
        return (lane / width * tile_packets + packet) * width + lane % width;
    }
    __device__ static State of_tile(Shared const& shared, unsigned i) {
        Words words;
#pragma unroll
        for (int w = 0; w < state_words; ++w) words.word[w] = shared.words[w][i];
        return config::bit_cast<State>(words);
    }
};

}  // namespace fusekit::hip
