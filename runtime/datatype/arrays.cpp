// SPDX-License-Identifier: BSD-3-Clause
// Parts of arrays: MPI_Type_create_subarray and MPI_Type_create_darray (MPI 3.1, 4.1.3 and 4.1.4). A part is built one
// dimension at a time, from the fastest in memory outwards; the whole array is its extent.
#include "runtime/datatype/assembly.hpp"

namespace tutti {

TypeBuilder::Type TypeBuilder::subarray(Numbers sizes, Numbers subsizes, Numbers starts, Datatype const& old) {
    std::int64_t step = old.extent_;
    Type part = duplicate(old);
    for (std::size_t d = sizes.size(); d-- > 0; step = type_product(step, sizes[d])) {
        Assembly plane;
        plane.add(*part, {{subsizes[d], step}}, type_product(starts[d], step));
        part = plane.finish(false);
    }
    return resized(*part, 0, step);
}

TypeBuilder::Type TypeBuilder::darray(std::span<Distribution const> dimensions, Datatype const& old) {
    std::int64_t step = old.extent_;
    Type part = duplicate(old);
    for (std::size_t d = dimensions.size(); d-- > 0; step = type_product(step, dimensions[d].size)) {
        Distribution const& of = dimensions[d];
        std::int64_t const all = of.processes * (of.kind == Distribution::Kind::none ? 0 : 1);
        std::int64_t block = of.argument;
        if (of.kind == Distribution::Kind::none) block = of.size;
        else if (block == 0) block = of.kind == Distribution::Kind::cyclic ? 1 : (of.size + all - 1) / all;
        // This process has the blocks that start at first, first + round, …; the last one may be cut short.
        std::int64_t const first = all == 0 ? 0 : of.coordinate * block, round = all == 0 ? of.size : all * block;
        std::int64_t const reach = std::max<std::int64_t>(of.size - first, 0);
        std::int64_t const whole = reach / round + (reach % round >= block ? 1 : 0);
        std::int64_t const rest = reach % round >= block ? 0 : reach % round;
        Assembly plane;
        std::int64_t const stride = whole > 1 ? type_product(round, step) : 0;
        plane.add(*part, {{block, step}, {whole, stride}}, whole > 0 ? type_product(first, step) : 0);
        plane.add(*part, {{rest, step}}, rest > 0 ? type_product(first + whole * round, step) : 0);
        part = plane.finish(false);
    }
    return resized(*part, 0, step);
}

}   // namespace tutti
