// SPDX-License-Identifier: BSD-3-Clause
// Groups: inquiry and construction (MPI 3.1, 6.3).
#include "mpi_h/communicators/communicators.hpp"

using namespace tutti;

namespace {

/// Functions that create a group from two groups.
[[gnu::always_inline]] inline int combine(MPI_Group first, MPI_Group second, MPI_Group* result,
                                          Ref<Group> (*operation)(Group const&, Group const&),
                                          Function function = __builtin_FUNCTION()) {
    return enter(function, args(first, second), [&](Call& call) {
        call.pointer(result, "newgroup");
        *result = handle_of(operation(call.group(first, "group1"), call.group(second, "group2")));
    });
}

/// Functions that create a group from another one and a list of ranks.
[[gnu::always_inline]] inline int select_ranks(MPI_Group group, int n, int const* ranks, MPI_Group* result,
                                               Ref<Group> (*operation)(Group const&, std::span<int const>),
                                               Function function = __builtin_FUNCTION()) {
    return enter(function, args(group, n, ranks), [&](Call& call) {
        Group& of = call.group(group);
        call.pointer(result, "newgroup");
        *result = handle_of(operation(of, checked_array(call, n, ranks, "n", "ranks")));
    });
}

/// Functions that create a group from another one and a list of ranges.
[[gnu::always_inline]] inline int select_ranges(MPI_Group group, int n, int (*ranges)[3], MPI_Group* result,
                                                Ref<Group> (*operation)(Group const&, std::span<RankRange const>),
                                                Function function = __builtin_FUNCTION()) {
    return enter(function, args(group, n, ranges), [&](Call& call) {
        Group& of = call.group(group);
        call.pointer(result, "newgroup");
        std::vector<RankRange> copy;
        for (auto const& range : checked_array(call, n, ranges, "n", "ranges"))
            copy.push_back({range[0], range[1], range[2]});
        *result = handle_of(operation(of, copy));
    });
}

int translated(Group const& from, Group const& to, int rank) {
    if (rank == MPI_PROC_NULL) return MPI_PROC_NULL;
    if (rank < 0 || rank >= from.size())
        fail(ErrorClass::rank, "ranks1 contains ", rank, " but group1 has ", from.size(), " ranks");
    int found = to.rank_of(from.world_rank(rank));
    return found < 0 ? MPI_UNDEFINED : found;
}

}   // namespace

TUTTI_FUNCTION(Group_size);
int PMPI_Group_size(MPI_Group group, int* size) {
    return enter(args(group, size), [&](Call& call) {
        Group& g = call.group(group);
        call.pointer(size, "size");
        *size = g.size();
    });
}

TUTTI_FUNCTION(Group_rank);
int PMPI_Group_rank(MPI_Group group, int* rank) {
    return enter(args(group, rank), [&](Call& call) {
        Group& g = call.group(group);
        call.pointer(rank, "rank");
        *rank = g.rank() < 0 ? MPI_UNDEFINED : g.rank();
    });
}

TUTTI_FUNCTION(Group_translate_ranks);
int PMPI_Group_translate_ranks(MPI_Group group1, int n, int const ranks1[], MPI_Group group2, int ranks2[]) {
    return enter(args(group1, n, ranks1, group2, ranks2), [&](Call& call) {
        Group &from = call.group(group1, "group1"), &to = call.group(group2, "group2");
        auto ranks = checked_array(call, n, ranks1, "n", "ranks1");
        if (n > 0) call.pointer(ranks2, "ranks2");
        for (int rank : ranks) *ranks2++ = translated(from, to, rank);
    });
}

TUTTI_FUNCTION(Group_compare);
int PMPI_Group_compare(MPI_Group group1, MPI_Group group2, int* result) {
    return enter(args(group1, group2, result), [&](Call& call) {
        Group &first = call.group(group1, "group1"), &second = call.group(group2, "group2");
        call.pointer(result, "result");
        *result = number_of(compare(first, second));
    });
}

TUTTI_FUNCTION(Group_union);
int PMPI_Group_union(MPI_Group group1, MPI_Group group2, MPI_Group* newgroup) {
    return combine(group1, group2, newgroup, group_union);
}

TUTTI_FUNCTION(Group_intersection);
int PMPI_Group_intersection(MPI_Group group1, MPI_Group group2, MPI_Group* newgroup) {
    return combine(group1, group2, newgroup, group_intersection);
}

TUTTI_FUNCTION(Group_difference);
int PMPI_Group_difference(MPI_Group group1, MPI_Group group2, MPI_Group* newgroup) {
    return combine(group1, group2, newgroup, group_difference);
}

TUTTI_FUNCTION(Group_incl);
int PMPI_Group_incl(MPI_Group group, int n, int const ranks[], MPI_Group* newgroup) {
    return select_ranks(group, n, ranks, newgroup, group_incl);
}

TUTTI_FUNCTION(Group_excl);
int PMPI_Group_excl(MPI_Group group, int n, int const ranks[], MPI_Group* newgroup) {
    return select_ranks(group, n, ranks, newgroup, group_excl);
}

TUTTI_FUNCTION(Group_range_incl);
int PMPI_Group_range_incl(MPI_Group group, int n, int ranges[][3], MPI_Group* newgroup) {
    return select_ranges(group, n, ranges, newgroup, group_range_incl);
}

TUTTI_FUNCTION(Group_range_excl);
int PMPI_Group_range_excl(MPI_Group group, int n, int ranges[][3], MPI_Group* newgroup) {
    return select_ranges(group, n, ranges, newgroup, group_range_excl);
}

/// MPI_GROUP_EMPTY may be freed like any other empty group, because programs do not check which one they received.
TUTTI_FUNCTION(Group_free);
int PMPI_Group_free(MPI_Group* group) {
    return enter(args(group), [&](Call& call) {
        call.pointer(group, "group");
        call.group(*group);
        if (*group != MPI_GROUP_EMPTY) {
            record_freed(*group);
            library().tables.groups.remove(*group);
        }
        *group = MPI_GROUP_NULL;
    });
}
