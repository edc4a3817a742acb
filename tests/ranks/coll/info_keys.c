// SPDX-License-Identifier: BSD-3-Clause
// Selects algorithms by info key. The sum of 1e100, 1, -1e100, 1 shows which one ran: it is 1 in rank order, and 0 if
// the two ranks of each socket are added first.
// ranks: 4
// nodes: one, as the sums of sockets identify the algorithm
// env: TUTTI_TOPOLOGY="socket:2 core:2" TUTTI_COLL=allreduce=hierarchical TUTTI_QUIET=1
#include <string.h>

#include "tests/ranks/check.h"

static double sum(MPI_Comm comm) {
    static const double numbers[] = {1e100, 1, -1e100, 1};
    double result = -1;
    int rank;
    MPI_Comm_rank(comm, &rank);
    MPI_Allreduce(&numbers[rank], &result, 1, MPI_DOUBLE, MPI_SUM, comm);
    return result;
}

static MPI_Info info_with(const char *key, const char *value) {
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    return info;
}

static MPI_Comm dup_with(const char *key, const char *value) {
    MPI_Comm comm;
    MPI_Info info = info_with(key, value);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Info_free(&info);
    return comm;
}

int main(int argc, char **argv) {
    const double in_order = 1, by_socket = 0;
    MPI_Init(&argc, &argv);
    CHECK(sum(MPI_COMM_WORLD) == by_socket, "the algorithm of TUTTI_COLL gave %g", sum(MPI_COMM_WORLD));

    MPI_Comm flat = dup_with("tutti_coll_allreduce", "hierarchical:hierarchy=flat");
    CHECK(sum(flat) == in_order, "hierarchy=flat gave %g", sum(flat));
    MPI_Comm all = dup_with("tutti_coll", "bcast=slots,allreduce=exchange");
    CHECK(sum(all) == in_order, "tutti_coll gave %g", sum(all));
    CHECK(sum(MPI_COMM_WORLD) == by_socket, "other communicators changed: %g", sum(MPI_COMM_WORLD));

    MPI_Comm child;
    MPI_Comm_dup(flat, &child);
    CHECK(sum(child) == by_socket, "a duplicate inherits hints: %g", sum(child));   // MPI 4.0, 7.4.2
    MPI_Comm_free(&child);
    child = dup_with("tutti_coll_allreduce", "hierarchical:hierarchy=flat");
    MPI_Info info;
    char value[64] = "";
    int found = 0;
    MPI_Comm_get_info(child, &info);
    MPI_Info_get(info, "tutti_coll_allreduce", 63, value, &found);
    CHECK(found && strcmp(value, "hierarchical:hierarchy=flat") == 0, "the duplicate's info is '%s'", value);
    MPI_Info_free(&info);

    MPI_Info change = info_with("tutti_coll_allreduce", "hierarchical:hierarchy=socket");
    MPI_Comm_set_info(child, change);
    MPI_Info_free(&change);
    CHECK(sum(child) == by_socket, "MPI_Comm_set_info changed nothing: %g", sum(child));
    CHECK(sum(flat) == in_order, "the duplicate changed the parent: %g", sum(flat));

    MPI_Comm wrong = dup_with("tutti_coll_allreduce", "nix");
    CHECK(sum(wrong) == by_socket, "a wrong value is not ignored: %g", sum(wrong));

    MPI_Comm_free(&wrong);
    MPI_Comm_free(&child);
    MPI_Comm_free(&all);
    MPI_Comm_free(&flat);
    MPI_Finalize();
    return 0;
}
