// SPDX-License-Identifier: BSD-3-Clause
// Cartesian topologies (MPI 3.1, 7.5.1, 7.5.2, 7.5.5 to 7.5.8). Ranks keep their order: on one node, all placements of
// a grid's points are equally near, so `reorder` has no effect.
#include "coll/call/collectives.hpp"
#include "coll/comm/derive.hpp"
#include "mpi_h/communicators/communicators.hpp"
#include "runtime/objects/virtual_topology.hpp"

using namespace tutti;

namespace {

std::vector<bool> to_bool(std::span<int const> values) {
    std::vector<bool> result;
    for (int value : values) result.push_back(value != 0);
    return result;
}

CartTopology checked_grid(Call const& call, Comm const& c, int ndims, int const* dims, int const* periods) {
    auto sizes = checked_array(call, ndims, dims, "ndims", "dims"),
         wraps = checked_array(call, ndims, periods, "ndims", "periods");
    return CartTopology::make(sizes, to_bool(wraps), c.size(), c.rank());
}

CartTopology& grid_of(Comm& c) { return topology_of<CartTopology>(c, "a cartesian topology"); }

/// Throws Error(arg) unless `maxdims` values are enough for one per dimension.
void check_maxdims(int maxdims, CartTopology const& grid) {
    int ndims = static_cast<int>(grid.dims.size());
    if (maxdims < ndims) fail(ErrorClass::arg, "maxdims is ", maxdims, " but the grid has ", ndims, " dimensions");
}

}   // namespace

TUTTI_FUNCTION(Dims_create);
int PMPI_Dims_create(int nnodes, int ndims, int dims[]) {
    return enter(args(nnodes, ndims, dims), [&](Call& call) {
        checked_array(call, ndims, dims, "ndims", "dims");
        balance_dims(nnodes, {dims, static_cast<std::size_t>(ndims)});
    });
}

TUTTI_FUNCTION(Cart_create);
int PMPI_Cart_create(MPI_Comm comm, int ndims, int const dims[], int const periods[], int reorder,
                     MPI_Comm* comm_cart) {
    return enter(args(comm, ndims, dims, periods, reorder, comm_cart), [&](Call& call) {
        Comm& parent = call.intracomm(comm);
        call.pointer(comm_cart, "comm_cart");
        CartTopology grid = checked_grid(call, parent, ndims, dims, periods);
        *comm_cart = MPI_COMM_NULL;
        Ref<Group> members = first_ranks(parent, grid.size());
        coll::record_call(parent, call.function);
        *comm_cart = with_topology(coll::create(parent, std::move(members)), std::move(grid));
    });
}

TUTTI_FUNCTION(Cart_map);
int PMPI_Cart_map(MPI_Comm comm, int ndims, int const dims[], int const periods[], int* newrank) {
    return enter(args(comm, ndims, dims, periods, newrank), [&](Call& call) {
        Comm& c = call.intracomm(comm);
        call.pointer(newrank, "newrank");
        int size = checked_grid(call, c, ndims, dims, periods).size();
        *newrank = c.rank() < size ? c.rank() : MPI_UNDEFINED;
    });
}

TUTTI_FUNCTION(Cartdim_get);
int PMPI_Cartdim_get(MPI_Comm comm, int* ndims) {
    return enter(args(comm, ndims), [&](Call& call) {
        CartTopology& grid = grid_of(call.any_comm(comm));
        call.pointer(ndims, "ndims");
        *ndims = static_cast<int>(grid.dims.size());
    });
}

TUTTI_FUNCTION(Cart_get);
int PMPI_Cart_get(MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[]) {
    return enter(args(comm, maxdims, dims, periods, coords), [&](Call& call) {
        CartTopology& grid = grid_of(call.any_comm(comm));
        check_maxdims(maxdims, grid);
        if (grid.dims.empty()) return;
        call.pointer(dims, "dims");
        call.pointer(periods, "periods");
        call.pointer(coords, "coords");
        std::ranges::copy(grid.dims, dims);
        std::ranges::copy(grid.periodic, periods);
        std::ranges::copy(grid.coords, coords);
    });
}

TUTTI_FUNCTION(Cart_rank);
int PMPI_Cart_rank(MPI_Comm comm, int const coords[], int* rank) {
    return enter(args(comm, coords, rank), [&](Call& call) {
        CartTopology& grid = grid_of(call.any_comm(comm));
        call.pointer(rank, "rank");
        *rank = grid.rank_at(checked_array(call, static_cast<int>(grid.dims.size()), coords, "ndims", "coords"));
    });
}

TUTTI_FUNCTION(Cart_coords);
int PMPI_Cart_coords(MPI_Comm comm, int rank, int maxdims, int coords[]) {
    return enter(args(comm, rank, maxdims, coords), [&](Call& call) {
        Comm& c = call.any_comm(comm);
        CartTopology& grid = grid_of(c);
        check_member(c, rank);
        check_maxdims(maxdims, grid);
        if (!grid.dims.empty()) call.pointer(coords, "coords");
        std::ranges::copy(grid.coords_of(rank), coords);
    });
}

TUTTI_FUNCTION(Cart_shift);
int PMPI_Cart_shift(MPI_Comm comm, int direction, int disp, int* rank_source, int* rank_dest) {
    return enter(args(comm, direction, disp, rank_source, rank_dest), [&](Call& call) {
        CartTopology& grid = grid_of(call.any_comm(comm));
        int ndims = static_cast<int>(grid.dims.size());
        if (direction < 0 || direction >= ndims)
            fail(ErrorClass::arg, "direction is ", direction, " but the grid has ", ndims,
                 " dimensions, numbered from 0");
        call.pointer(rank_source, "rank_source");
        call.pointer(rank_dest, "rank_dest");
        *rank_source = grid.shifted(direction, -static_cast<std::int64_t>(disp)).value_or(MPI_PROC_NULL);
        *rank_dest = grid.shifted(direction, disp).value_or(MPI_PROC_NULL);
    });
}

TUTTI_FUNCTION(Cart_sub);
int PMPI_Cart_sub(MPI_Comm comm, int const remain_dims[], MPI_Comm* newcomm) {
    return enter(args(comm, remain_dims, newcomm), [&](Call& call) {
        Comm& parent = call.intracomm(comm);
        CartTopology& grid = grid_of(parent);
        call.pointer(newcomm, "newcomm");
        auto remain =
            to_bool(checked_array(call, static_cast<int>(grid.dims.size()), remain_dims, "ndims", "remain_dims"));
        int const mine = grid.sub_index(remain, parent.rank());
        std::vector<int> members;
        for (int rank = 0; rank < parent.size(); ++rank)
            if (grid.sub_index(remain, rank) == mine) members.push_back(parent.world_rank(rank));
        auto group = Ref<Group>::adopt(new Group(std::move(members), parent.process.rank()));
        *newcomm = MPI_COMM_NULL;
        coll::record_call(parent, call.function);
        *newcomm = with_topology(coll::create(parent, std::move(group)), grid.sub(remain));
    });
}
