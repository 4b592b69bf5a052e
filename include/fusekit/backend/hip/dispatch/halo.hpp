// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/dispatch/launcher.hpp"
#include "fusekit/backend/hip/mainloop/halo.hpp"

namespace fusekit::hip::detail {

template <>
struct Launcher<HaloEntry> {
    template <class Schedule, class Plan, Element T, OutputElement U>
    FUSEKIT_H static Maybe<Launch<ConvParams<Plan, T, U>>> launch(Gpu const& gpu,
                                                                  ConvOperands<Plan, T, U> const& operands, int) {
        ConvParams<Plan, T, U> params{operands.bound, operands.x, operands.y};
        auto const kernel = kernel_of<Plan, HaloGemm<Plan, Schedule, T, U>>();
        if (!kernel.is_launchable(gpu.index())) return {};
        Refusal refusal;
        DeviceGuard const guard(gpu.index(), &refusal);
        Index<4> const of_y = params.y.layout.shape;
        HaloShapeOf<Schedule, T, U> const shape(static_cast<int>(of_y[2]), static_cast<int>(of_y[3]),
                                                window_filter(operands.filter));
        auto const stored = typed<T>(Plan::Head::filters(params.bound.head)),
                   w = has_transposed_conv<Plan> ? transposed(stored, 0, 1) : stored;
        if (refusal || !encode_rows(params.maps, params.x, w, params.y, shape, Schedule::channels)) return {};
        if constexpr (reads_in_bulk<Plan, T, U>)
            if (!encode_read<typename Plan::Epilogue>(
                    params.read, params.bound.epilogue, params.y,
                    [&](TensorMap& map, auto const& z) { return encode_rows_of_y(map, z, shape); }))
                return {};
        std::int64_t const tiles = of_y[0] * divide_up(of_y[2], shape.rows);
        std::int64_t most = gpu.processors();
        if constexpr (Plan::totals_tiles) {  // the workspace holds one warpgroup's totals per 64 pixels
            std::int64_t const held = divide_up(of_y[0] * of_y[2] * of_y[3], 64);
            if (held < Schedule::consumers && tiles > held) return {};
            std::int64_t const blocks = held > Schedule::consumers ? held / Schedule::consumers : 1;
            if (blocks < most) most = blocks;
        }
        return *prepare_launch(gpu, kernel, params, tiles < most ? tiles : most, LaunchMode::plain,
                               Plan::totals_tiles ? GridShares::workspace_bytes : 0);
    }

    template <class Schedule, class Plan, Element T, OutputElement U>
    FUSEKIT_H static Unmet unmet_by_layout(Gpu const& gpu, ConvOperands<Plan, T, U> const& operands, int) {
        auto const stored = typed<T>(Plan::Head::filters(operands.bound.head)),
                   w = has_transposed_conv<Plan> ? transposed(stored, 0, 1) : stored;
        Index<4> const& y = operands.y.layout.shape;
        HaloShapeOf<Schedule, T, U> const shape(static_cast<int>(y[2]), static_cast<int>(y[3]),
                                                window_filter(operands.filter));
        std::int64_t const tiles = y[0] * divide_up(y[2], shape.rows);
        return first_unmet(unmet_by_code(gpu, kernel_of<Plan, HaloGemm<Plan, Schedule, T, U>>()),
                           unmet_by_layouts<T const, T const, U>(operands.x, w, operands.y), unmet_by_read(operands),
                           at_least("pixels of y", Plan::totals_tiles && tiles > 1 ? y[0] * y[2] * y[3] : 65, 65,
                                    "ChannelStatistics of several tiles need 65: use WarpSpecialized"),
                           holds(false, "TMA does not address the operands", "use MatrixGemm"));
    }
};

}  // namespace fusekit::hip::detail
