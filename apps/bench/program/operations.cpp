// SPDX-License-Identifier: BSD-3-Clause
// The blocking operations and their expected results; all groups of operations.
#include "operation.hpp"

// Communicator creation and MPI_Comm_free as one call, so that work that one of them leaves to the other one counts.

namespace bench {
namespace {

int half_of(Call const& c) { return c.rank < (c.ranks + 1) / 2 ? 0 : 1; }
int ranks_in_half(Call const& c) { return half_of(c) == 0 ? (c.ranks + 1) / 2 : c.ranks / 2; }
int rank_in_half(Call const& c) { return half_of(c) == 0 ? c.rank : c.rank - (c.ranks + 1) / 2; }

MPI_Group group_of_my_half(Call const& c) {
    int range[1][3] = {{c.rank - rank_in_half(c), c.rank - rank_in_half(c) + ranks_in_half(c) - 1, 1}};
    MPI_Group all, half;
    MPI_Comm_group(c.comm, &all);
    MPI_Group_range_incl(all, 1, range, &half);
    MPI_Group_free(&all);
    return half;
}

MPI_Comm dup(Call const& c) {
    MPI_Comm copy;
    MPI_Comm_dup(c.comm, &copy);
    return copy;
}
MPI_Comm split(Call const& c) {
    MPI_Comm half;
    MPI_Comm_split(c.comm, half_of(c), c.rank, &half);
    return half;
}
MPI_Comm create(Call const& c) {
    MPI_Group group = group_of_my_half(c);
    MPI_Comm half;
    MPI_Comm_create(c.comm, group, &half);
    MPI_Group_free(&group);
    return half;
}
MPI_Comm create_group(Call const& c) {
    MPI_Group group = group_of_my_half(c);
    MPI_Comm half;
    MPI_Comm_create_group(c.comm, group, 0, &half);
    MPI_Group_free(&group);
    return half;
}

template <MPI_Comm (*make)(Call const&)>
void run(Call const& c) {
    MPI_Comm created = make(c);
    MPI_Comm_free(&created);
}

/// Creates one more communicator, checks and uses it: it must have the right size, this rank in its place, and a sum
/// over exactly its ranks.
template <MPI_Comm (*make)(Call const&), bool halves>
std::string check_result(Call const& c) {
    MPI_Comm created = make(c);
    int rank = -1, ranks = -1;
    if (created != MPI_COMM_NULL) {
        MPI_Comm_rank(created, &rank);
        MPI_Comm_size(created, &ranks);
    }
    int const own_rank = halves ? rank_in_half(c) : c.rank, own_ranks = halves ? ranks_in_half(c) : c.ranks;
    int good = rank == own_rank && ranks == own_ranks, all_good = 0;
    // All ranks use it or none, so that no rank waits in a communicator that other ranks lack.
    MPI_Allreduce(&good, &all_good, 1, MPI_INT, MPI_MIN, c.comm);
    if (!all_good) return "the communicator has the wrong size or order";
    int sum = 0, own_sum = 0;
    int const first = c.rank - own_rank;
    for (int member = first; member < first + own_ranks; ++member) own_sum += member;
    MPI_Allreduce(&c.rank, &sum, 1, MPI_INT, MPI_SUM, created);
    MPI_Comm_free(&created);
    good = sum == own_sum;
    MPI_Allreduce(&good, &all_good, 1, MPI_INT, MPI_MIN, c.comm);
    return all_good ? "" : "a sum did not include exactly the ranks of the communicator";
}

template <MPI_Comm (*make)(Call const&), bool halves>
Operation make_operation(std::string const& name, std::string const& description) {
    Operation operation{name, description, Blocks::none, Blocks::none, false, 1, run<make>, nullptr, nullptr};
    operation.check_result = check_result<make, halves>;
    return operation;
}

}   // namespace

std::vector<Operation> communicator_operations() {
    return {
        make_operation<dup, false>("comm_dup", "MPI_Comm_dup, and MPI_Comm_free of the copy"),
        make_operation<split, true>("comm_split", "MPI_Comm_split into two halves, and MPI_Comm_free"),
        make_operation<create, true>("comm_create",
                                     "MPI_Comm_create of each rank's half, with its group, and MPI_Comm_free"),
        make_operation<create_group, true>("comm_create_group", "the same by MPI_Comm_create_group"),
    };
}

// Neighborhood collectives: each rank of the grid with the four ranks around it, as in a two-dimensional stencil.

namespace {

double from_neighbor(Call const& call, std::size_t index, int iteration) {
    return value(call.grid.around[index / std::size_t(call.count)], index % std::size_t(call.count), iteration);
}

/// The neighbor before this rank sends the block that it has for the rank after it, and vice versa. In a dimension of
/// one or two ranks, both neighbors are the same rank, and MPIs differ in which of its two blocks comes first.
double my_block_of_neighbor(Call const& call, std::size_t index, int iteration) {
    const std::size_t count = std::size_t(call.count), block = index / count, other = block ^ 1;
    int const neighbor = call.grid.around[block];
    double const same = value(neighbor, index, iteration);
    if (call.grid.extent[block / 2] <= 2 && call.receive[index] == same) return same;
    return value(neighbor, other * count + index % count, iteration);
}

void run_neighbor_allgather(Call const& c) {
    MPI_Neighbor_allgather(c.send, c.count, MPI_DOUBLE, c.receive, c.count, MPI_DOUBLE, c.comm);
}
void run_neighbor_alltoall(Call const& c) {
    MPI_Neighbor_alltoall(c.send, c.count, MPI_DOUBLE, c.receive, c.count, MPI_DOUBLE, c.comm);
}
void run_neighbor_alltoallv(Call const& c) {
    MPI_Neighbor_alltoallv(c.send, c.counts, c.displacements, MPI_DOUBLE, c.receive, c.counts, c.displacements,
                           MPI_DOUBLE, c.comm);
}

}   // namespace

std::vector<Operation> neighborhood_operations() {
    constexpr Blocks one = Blocks::one, each = Blocks::one_per_neighbor;
    return {
        {"neighbor_allgather", "MPI_Neighbor_allgather", one, each, false, 1, run_neighbor_allgather, always,
         from_neighbor},
        {"neighbor_alltoall", "MPI_Neighbor_alltoall", each, each, false, 1, run_neighbor_alltoall, always,
         my_block_of_neighbor},
        {"neighbor_alltoallv", "MPI_Neighbor_alltoallv", each, each, false, 1, run_neighbor_alltoallv, always,
         my_block_of_neighbor},
    };
}

namespace {

bool never(Call const&) { return false; }
bool at_root(Call const& call) { return call.rank == call.root; }
bool not_first(Call const& call) { return call.rank > 0; }

double sum_of(int first, int last, std::size_t index, int iteration) {
    double sum = 0;
    for (int rank = first; rank < last; ++rank) sum += value(rank, index, iteration);
    return sum;
}

double from_root(Call const& call, std::size_t index, int iteration) { return value(call.root, index, iteration); }
double from_all(Call const& call, std::size_t index, int iteration) {
    return value(int(index / call.count), index % call.count, iteration);
}
double my_share_of_root(Call const& call, std::size_t index, int iteration) {
    return value(call.root, index + std::size_t(call.rank) * call.count, iteration);
}
double my_share_of_all(Call const& call, std::size_t index, int iteration) {
    return value(int(index / call.count), index % call.count + std::size_t(call.rank) * call.count, iteration);
}
double sum_of_all(Call const& call, std::size_t index, int iteration) {
    return sum_of(0, call.ranks, index, iteration);
}
double sum_of_my_share(Call const& call, std::size_t index, int iteration) {
    return sum_of(0, call.ranks, index + std::size_t(call.rank) * call.count, iteration);
}
double sum_up_to_me(Call const& call, std::size_t index, int iteration) {
    return sum_of(0, call.rank + 1, index, iteration);
}
double sum_before_me(Call const& call, std::size_t index, int iteration) {
    return sum_of(0, call.rank, index, iteration);
}

bool in_pair(Call const& call) { return call.rank < 2; }
double from_partner(Call const& call, std::size_t index, int iteration) {
    return value(1 - call.rank, index, iteration);
}

void run_pingpong(Call const& c) {
    if (!in_pair(c)) return;
    if (c.rank == 0) MPI_Send(c.send, c.count, MPI_DOUBLE, 1, 1, c.comm);
    MPI_Recv(c.receive, c.count, MPI_DOUBLE, 1 - c.rank, 1, c.comm, MPI_STATUS_IGNORE);
    if (c.rank == 1) MPI_Send(c.send, c.count, MPI_DOUBLE, 0, 1, c.comm);
}

double from_left(Call const& call, std::size_t index, int iteration) {
    return value((call.rank + call.ranks - 1) % call.ranks, index, iteration);
}
void run_sendrecv(Call const& c) {
    MPI_Sendrecv(c.send, c.count, MPI_DOUBLE, (c.rank + 1) % c.ranks, 1, c.receive, c.count, MPI_DOUBLE,
                 (c.rank + c.ranks - 1) % c.ranks, 1, c.comm, MPI_STATUS_IGNORE);
}

void run_barrier(Call const& c) { MPI_Barrier(c.comm); }
void run_bcast(Call const& c) {
    // The root broadcasts from its send buffer, so that a broadcast without effect is detected.
    MPI_Bcast(c.rank == c.root ? const_cast<double*>(c.send) : c.receive, c.count, MPI_DOUBLE, c.root, c.comm);
}
bool not_root(Call const& call) { return call.rank != call.root; }
void run_reduce(Call const& c) { MPI_Reduce(c.send, c.receive, c.count, MPI_DOUBLE, MPI_SUM, c.root, c.comm); }
void run_allreduce(Call const& c) { MPI_Allreduce(c.send, c.receive, c.count, MPI_DOUBLE, MPI_SUM, c.comm); }
void run_gather(Call const& c) {
    MPI_Gather(c.send, c.count, MPI_DOUBLE, c.receive, c.count, MPI_DOUBLE, c.root, c.comm);
}
void run_gatherv(Call const& c) {
    MPI_Gatherv(c.send, c.count, MPI_DOUBLE, c.receive, c.counts, c.displacements, MPI_DOUBLE, c.root, c.comm);
}
void run_scatter(Call const& c) {
    MPI_Scatter(c.send, c.count, MPI_DOUBLE, c.receive, c.count, MPI_DOUBLE, c.root, c.comm);
}
void run_scatterv(Call const& c) {
    MPI_Scatterv(c.send, c.counts, c.displacements, MPI_DOUBLE, c.receive, c.count, MPI_DOUBLE, c.root, c.comm);
}
void run_allgather(Call const& c) {
    MPI_Allgather(c.send, c.count, MPI_DOUBLE, c.receive, c.count, MPI_DOUBLE, c.comm);
}
void run_allgatherv(Call const& c) {
    MPI_Allgatherv(c.send, c.count, MPI_DOUBLE, c.receive, c.counts, c.displacements, MPI_DOUBLE, c.comm);
}
void run_alltoall(Call const& c) { MPI_Alltoall(c.send, c.count, MPI_DOUBLE, c.receive, c.count, MPI_DOUBLE, c.comm); }
void run_alltoallv(Call const& c) {
    MPI_Alltoallv(c.send, c.counts, c.displacements, MPI_DOUBLE, c.receive, c.counts, c.displacements, MPI_DOUBLE,
                  c.comm);
}
void run_alltoallw(Call const& c) {
    MPI_Alltoallw(c.send, c.counts, c.byte_displacements, c.types, c.receive, c.counts, c.byte_displacements, c.types,
                  c.comm);
}
void run_reduce_scatter(Call const& c) { MPI_Reduce_scatter(c.send, c.receive, c.counts, MPI_DOUBLE, MPI_SUM, c.comm); }
void run_reduce_scatter_block(Call const& c) {
    MPI_Reduce_scatter_block(c.send, c.receive, c.count, MPI_DOUBLE, MPI_SUM, c.comm);
}
void run_scan(Call const& c) { MPI_Scan(c.send, c.receive, c.count, MPI_DOUBLE, MPI_SUM, c.comm); }
void run_exscan(Call const& c) { MPI_Exscan(c.send, c.receive, c.count, MPI_DOUBLE, MPI_SUM, c.comm); }

std::vector<Operation> blocking_operations() {
    constexpr Blocks none = Blocks::none, one = Blocks::one, each = Blocks::one_per_rank;
    Operation pingpong{
        "pingpong",  "half a round trip between ranks 0 and 1", one, one, false, 0.5, run_pingpong, in_pair,
        from_partner};
    pingpong.least_ranks = 2;
    return {
        pingpong,
        {"sendrecv", "MPI_Sendrecv, each rank to the next one, all at the same time", one, one, false, 1, run_sendrecv,
         always, from_left},
        {"barrier", "MPI_Barrier", none, none, false, 1, run_barrier, never, from_root},
        {"bcast", "MPI_Bcast", one, one, true, 1, run_bcast, not_root, from_root},
        {"reduce", "MPI_Reduce, sum of doubles", one, one, true, 1, run_reduce, at_root, sum_of_all},
        {"allreduce", "MPI_Allreduce, sum of doubles", one, one, false, 1, run_allreduce, always, sum_of_all},
        {"gather", "MPI_Gather", one, each, true, 1, run_gather, at_root, from_all},
        {"gatherv", "MPI_Gatherv", one, each, true, 1, run_gatherv, at_root, from_all},
        {"scatter", "MPI_Scatter", each, one, true, 1, run_scatter, always, my_share_of_root},
        {"scatterv", "MPI_Scatterv", each, one, true, 1, run_scatterv, always, my_share_of_root},
        {"allgather", "MPI_Allgather", one, each, false, 1, run_allgather, always, from_all},
        {"allgatherv", "MPI_Allgatherv", one, each, false, 1, run_allgatherv, always, from_all},
        {"alltoall", "MPI_Alltoall", each, each, false, 1, run_alltoall, always, my_share_of_all},
        {"alltoallv", "MPI_Alltoallv", each, each, false, 1, run_alltoallv, always, my_share_of_all},
        {"alltoallw", "MPI_Alltoallw", each, each, false, 1, run_alltoallw, always, my_share_of_all},
        {"reduce_scatter", "MPI_Reduce_scatter, sum of doubles", each, one, false, 1, run_reduce_scatter, always,
         sum_of_my_share},
        {"reduce_scatter_block", "MPI_Reduce_scatter_block, sum of doubles", each, one, false, 1,
         run_reduce_scatter_block, always, sum_of_my_share},
        {"scan", "MPI_Scan, sum of doubles", one, one, false, 1, run_scan, always, sum_up_to_me},
        {"exscan", "MPI_Exscan, sum of doubles", one, one, false, 1, run_exscan, not_first, sum_before_me},
    };
}

std::vector<Group> make_groups() {
    const std::vector<Operation> blocking = blocking_operations(), neighborhood = neighborhood_operations();
    std::vector<Operation> all = blocking;
    all.insert(all.end(), neighborhood.begin(), neighborhood.end());
    const std::vector<Operation> nonblocking = nonblocking_operations(all);
    return {{"blocking", "a single call", blocking},
            {"neighborhood", "the same between neighbors on a two-dimensional grid that is periodic in both dimensions",
             neighborhood},
            {"nonblocking", "a call that starts the operation, and MPI_Wait", nonblocking},
            {"persistent", "MPI_Start and MPI_Wait of a request that was created before",
             persistent_operations(nonblocking)},
            {"communicators", "creating and freeing a communicator", communicator_operations()},
            {"rma",
             "one-sided operations from rank 0 to rank 1, with their synchronization; and synchronizations alone, of "
             "all ranks",
             one_sided_operations()}};
}

}   // namespace

std::vector<Group> const& groups() {
    static const std::vector<Group> all = make_groups();
    return all;
}

std::string Operation::collective() const {
    for (const std::string form : {"_block", "v", "w"})   // forms with other sizes, of the same data
        if (blocking.ends_with(form)) return blocking.substr(0, blocking.size() - form.size());
    return blocking;
}

Operation const* find_operation(std::string const& name) {
    for (Group const& group : groups())
        for (Operation const& operation : group.operations)
            if (operation.name == name) return &operation;
    return nullptr;
}

}   // namespace bench
