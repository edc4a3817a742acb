// SPDX-License-Identifier: BSD-3-Clause
// Pages T01 to T05, T19 and T20, and the lookup of a page.
#include "launcher/diagnosis/explanations/explanations.hpp"

#include <algorithm>
#include <vector>

#include "launcher/base/job.hpp"
#include "launcher/diagnosis/explanations/pages.hpp"
#include "runtime/base/error.hpp"
#include "topo/text.hpp"

namespace tutti::launcher {
namespace {

constexpr Explanation first_pages[] = {
    {"T01", "ranks wait for each other", R"(
A rank waits for something that only another rank can do, that one waits for a third, and so on, and the
last one waits for the first: none of them will ever go on. mpiexec is certain of it when it says so: it
has asked the ranks to look once more, and nothing was under way to them.

Wrong: both receive first.

    MPI_Recv(in, n, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(out, n, MPI_INT, other, 0, MPI_COMM_WORLD);

Right: one call in which neither has to be first.

    MPI_Sendrecv(out, n, MPI_INT, other, 0, in, n, MPI_INT, other, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);

Or MPI_Irecv before MPI_Send and MPI_Wait behind it, or even ranks send first and odd ones receive.

Both sending first is as wrong, though it seems to work while messages are small: MPI may keep a small
message until it is received (MPI 3.1, 3.5), and need not. A large one waits for its receive.

Ranks that share two communicators wait for each other, too, when one of them calls a collective on the
first and the other one on the second: the order must be the same everywhere.

A rank with several threads waits when all of them do; each has a line of its own. Threads that only join
those, or sleep until somebody wakes them, cannot send what is missing.
)"},
    {"T02", "the tag of a message is not the one that is waited for", R"(
A message has come from the rank that is waited for, on the same communicator, with another tag. A receive
takes only messages with its own tag (MPI 3.1, 3.2.4), so it waits, without end if the sender waits for it.

Wrong:

    if (rank == 0) MPI_Send(&x, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(&x, 1, MPI_INT, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);

Right: the same tag on both sides, with a name so that it stays the same,

    enum { edge_tag = 7 };

or MPI_ANY_TAG in the receive, which then finds the tag in its status.

Tags keep messages apart that are under way between the same two ranks at the same time: the rows of a
matrix from its columns, data from "there is no more".
)"},
    {"T03", "ranks call different collectives", R"(
A collective is a call of all ranks of its communicator together: each rank must call the same functions on
it in the same order (MPI 3.1, 5.1). The n-th call of one rank meets the n-th call of the others, whatever
it is. Where these differ, the call may hang, or return with wrong numbers.

Wrong: the others are in another branch.

    if (rank == 0) MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
    else MPI_Reduce(&n, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);

Right: no branch around a collective; what depends on the rank is an argument.

    MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Reduce(&n, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);

Often it is a loop that one rank leaves a step earlier than the others, because each of them decides by
numbers of its own: decide by a number that all have, such as the result of an MPI_Allreduce.

With two communicators or windows that have ranks in common, the order over both must be the same as well:
blocking collectives and fences wait for each other. Starts of persistent collectives may come in any order,
but all ranks start each of them equally often.
)"},
    {"T04", "the arguments of a collective do not match", R"(
All ranks of a communicator call the same collective, but with different roots, different operators, or
with amounts of data that do not fit together. MPI says of each collective which arguments must be the same:
root and operator always, and count and datatype so that as much is received as is sent (MPI 3.1, 5.1). What a
rank sends to itself must fit as well.

Wrong: each rank thinks that another one is the root.

    MPI_Bcast(&n, 1, MPI_INT, rank, MPI_COMM_WORLD);

Right:

    MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);

Counts that differ by rank need the forms that take them: MPI_Gatherv in place of MPI_Gather, and so on. A
count that is computed on each rank should be computed from numbers that all ranks have.

Other types may be given as long as they hold the same numbers in the same order: 4 MPI_INT match one
element of a contiguous type of 4. MPI_INT and MPI_UNSIGNED are different types.

Calls are compared when the ranks make their next ones, or at the latest when the communicator is freed or
MPI_Finalize is called, so the report may come after the call. What MPI_Gatherv, MPI_Alltoallv and the other v
and w forms exchange is compared with mpiexec --check only. With it, all ranks also wait for each other in
each blocking collective, which MPI allows.
)"},
    {"T05", "ranks wait for a rank that has ended", R"(
A rank has called MPI_Finalize, and others still wait for something that only it could do: a message that it
never sent, a receive that it never made, a collective that it never called.

Wrong: rank 0 sends nine messages, and rank 1 receives ten.

    if (rank == 0)
        for (int i = 1; i < 10; ++i) MPI_Send(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    if (rank == 1)
        for (int i = 0; i < 10; ++i) MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);

Right: both sides count alike, or the sender says that there is no more:

    MPI_Send(&x, 0, MPI_INT, 1, last_tag, MPI_COMM_WORLD);   /* the receiver looks at the status' tag */

Before MPI_Finalize each rank must have finished all communication in which it takes part (MPI 3.1, 8.7).
)"},
    {"T19", "ranks poll without progress, and nothing moves", R"(
For 30 seconds, or as many as TUTTI_POLLING_LIMIT says, nothing has moved in the whole job: every rank waits
in MPI, has ended, or calls MPI_Test, MPI_Iprobe or the like again and again and finds nothing. That is no
proof, for a rank may do other things between its calls (wait for a file, say), so it is a notice, and the job
goes on. It is reported once.

Wrong: the program tests a request whose message no rank sends.

    MPI_Irecv(&x, 1, MPI_INT, 1, 8, MPI_COMM_WORLD, &request);   /* rank 1 sends tag 7 */
    while (!done) MPI_Test(&request, &done, MPI_STATUS_IGNORE);

Right: the same tag and communicator on both sides; and where there is nothing else to do, MPI_Wait, in
which mpiexec finds such mistakes within a second.

    MPI_Wait(&request, MPI_STATUS_IGNORE);
)"},
    {"T20", "a persistent request was not started, and another rank waits for it", R"(
MPI_Send_init and MPI_Recv_init only prepare a request. Each time that it is to move data, MPI_Start or
MPI_Startall starts it, and MPI_Wait or MPI_Test completes it; then it is inactive again (MPI 3.1, 3.9). To wait
for an inactive request is allowed and returns immediately, so a start that is missing is not noticed where it is
missing, but at the other rank, whose message never comes.

Wrong:

    MPI_Send_init(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);

Right:

    MPI_Send_init(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
    for (step = 0; step < steps; ++step) {
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
)"},
};

}   // namespace

std::span<Explanation const> explanations() {
    static std::vector<Explanation> const all = [] {
        std::vector<Explanation> pages;
        auto const add = [&](std::span<Explanation const> some) {
            pages.insert(pages.end(), some.begin(), some.end());
        };
        add(first_pages), add(messages_and_ends()), add(checks());
        std::ranges::sort(pages, {}, &Explanation::code);
        add(errors_of_calls()), add(errors_of_objects());
        return pages;
    }();
    return all;
}

std::string help_for(std::string_view code) {
    std::span<Explanation const> const all = explanations();
    auto const found = std::ranges::find(all, code, &Explanation::code);
    return found == all.end() ? "" : std::string(found->help);
}

std::string explain(std::string_view code) {
    std::string list;
    std::size_t width = 0;
    std::span<Explanation const> const all = explanations();
    for (Explanation const& one : all) width = std::max(width, one.code.size());
    for (Explanation const& one : all) {
        if (topo::lower(std::string(code)) == topo::lower(std::string(one.code)))
            return join(one.code, ": ", one.title, "\n", one.page);
        list += join("  ", one.code, std::string(width - one.code.size() + 2, ' '), one.title, "\n");
    }
    if (code == "list") return list;
    throw Complaint(join("--explain: there is no code '", std::string(code), "'; --explain list shows all"));
}

}   // namespace tutti::launcher
