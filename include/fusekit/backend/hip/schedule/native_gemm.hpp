// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/schedule/gemm.hpp"

namespace fusekit::hip {

namespace detail {

/// Multiply-adds per cycle of an SM or compute unit, on its fastest unit for an element type.
FUSEKIT_H constexpr double native_products(DataType type, GpuRates const& rates) {
    bool const is_half = type == DataType::float16, is_bfloat16 = type == DataType::bfloat16,
               is_int8 = type == DataType::int8,
               is_float8 = type == DataType::float8_e4m3 || type == DataType::float8_e5m2,
               is_fnuz = type == DataType::float8_e4m3_fnuz || type == DataType::float8_e5m2_fnuz;
    bool const native = with_tag(rates.architecture, [&]<class Tag>(Tag) {
        return (is_half && multiplies_natively<half, Tag>) || (is_bfloat16 && multiplies_natively<bfloat16, Tag>) ||
               (is_int8 && multiplies_natively<int8, Tag>) || (is_float8 && multiplies_natively<e4m3, Tag>) ||
               (is_fnuz && multiplies_natively<e4m3_fnuz, Tag>);
    });
    if (!native) return rates.products;
    return is_half || is_bfloat16 ? rates.half_products : rates.int8_products;
}

}  // namespace detail

/// Entry of NativeGemm in the list of schedules (dispatch/list.hpp): its name, conditions and estimated time.
struct NativeGemmEntry : ConvEntry {
    static constexpr char const* name = "NativeGemm";

    template <class Schedule>
    static constexpr bool describes = NativeSchedule<Schedule>;

    template <class Schedule>
    using CanImplement = detail::IsSimtTile<Schedule>;
    template <class Schedule>
    static constexpr ScheduleFacts facts{.m = Schedule::tile_m, .n = Schedule::tile_n, .k = Schedule::tile_k};
    FUSEKIT_H static Text written(ScheduleFacts const& of) {
        return "NativeGemm<" + detail::list_of(of.m, of.n, of.blocks, of.k) + ">";
    }
    FUSEKIT_H static constexpr Estimate cost(ScheduleFacts const& schedule, ConvCase const& of, CostTable const& table,
                                             GpuRates const& rates) {
        bool const is_half = of.type == DataType::float16 || of.type == DataType::bfloat16;
        if (is_half && of.on_matrix_units) return {};
        return detail::gemm_estimate(schedule, of, table, rates, table.native, detail::native_products(of.type, rates));
    }
};

}  // namespace fusekit::hip
