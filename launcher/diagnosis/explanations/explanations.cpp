// SPDX-License-Identifier: BSD-3-Clause
// Pages T01 to T05, T19 and T20, and the lookup of a page.
#include "launcher/diagnosis/explanations/explanations.hpp"

#include <algorithm>
#include <vector>

#include "apps/manual.hpp"
#include "launcher/base/job.hpp"
#include "runtime/base/error.hpp"
#include "topo/nearest.hpp"
#include "topo/text.hpp"

namespace tutti::launcher {
namespace {

constexpr Explanation first_pages[] = {
    {"T01", "ranks wait for each other", R"(
A rank waits for an action of another rank, that rank waits for a third one, and so on, and the last one waits for the
first: none of them can proceed. A reported deadlock is certain: mpiexec has made the ranks poll once more, and no
message was in transit to them.

Wrong: both receive first.

    MPI_Recv(in, n, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(out, n, MPI_INT, other, 0, MPI_COMM_WORLD);

Right: one call in which neither has to be first.

    MPI_Sendrecv(out, n, MPI_INT, other, 0, in, n, MPI_INT, other, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);

Alternatively, call MPI_Irecv before MPI_Send and MPI_Wait after it, or let even ranks send first and odd ranks
receive first.

It is also wrong if both send first, although it seems to work while messages are small: MPI may buffer a small
message until it is received (MPI 3.1, 3.4), but need not. The send of a large message waits for its receive.

A rank in a collective waits for the ranks of the communicator that have not called it. If a rank must first receive a
message that is sent after the collective, move one of the two; if it never calls the collective, see T03.

Ranks that share two communicators also deadlock if one of them calls a collective on the first and the other one on
the second: the order must be the same on all ranks.

A rank with several threads waits if all of its threads wait; the report has a line for each. Threads that only join
others, or sleep until another thread wakes them, cannot send the missing message.
)"},
    {"T02", "the tag of a message differs from that of the receive", R"(
A message from the awaited rank has arrived on the same communicator, but with another tag. A receive matches only
messages with its own tag (MPI 3.1, 3.2.4), so it waits, and never returns if the sender waits for this rank.

Wrong:

    if (rank == 0) MPI_Send(&x, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(&x, 1, MPI_INT, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);

Right: the same tag on both sides, defined by a name so that it stays the same,

    enum { edge_tag = 7 };

or MPI_ANY_TAG in the receive, which then finds the tag in its status.

Tags distinguish messages that are in transit between the same two ranks at the same time, such as the rows of a
matrix from its columns, or data from an end marker.
)"},
    {"T03", "ranks call different collectives", R"(
All ranks of a communicator must call the same collectives on it in the same order (MPI 3.1, 5.1). The n-th call of
one rank is combined with the n-th call of the others. If these differ, the call may hang or return wrong results.

Wrong: the others are in another branch.

    if (rank == 0) MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
    else MPI_Reduce(&n, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);

Right: no branch around a collective; only arguments depend on the rank.

    MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Reduce(&n, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);

A common cause is a loop that one rank leaves an iteration earlier than the others, because each rank decides by its
own data. Decide by a value that all ranks have, such as the result of an MPI_Allreduce.

If two communicators or windows have ranks in common, the order of calls on both must also be the same on these ranks,
because blocking collectives and fences wait for each other. Persistent collectives may be started in any order, but
all ranks must start each of them equally often.
)"},
    {"T04", "the arguments of a collective do not match", R"(
All ranks of a communicator call the same collective, but with different roots, different operators, or with amounts
of data that do not match. MPI specifies for each collective which arguments must be the same: root and operator
always, count and datatype such that as much is received as is sent (MPI 3.1, 5.1). This also holds for the part that
a rank sends to itself.

Wrong: each rank passes another root.

    MPI_Bcast(&n, 1, MPI_INT, rank, MPI_COMM_WORLD);

Right:

    MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);

If counts differ between ranks, use the variants for this purpose: MPI_Gatherv instead of MPI_Gather, and so on. If
each rank computes a count, it should use values that all ranks have.

Ranks may pass different datatypes if these contain the same basic types in the same order: 4 MPI_INT match one
element of a contiguous type of 4. MPI_INT and MPI_UNSIGNED are different types.

Calls are compared when the ranks make their next calls, at the latest when the communicator is freed or MPI_Finalize
is called, so the report may appear after the call. The amounts of MPI_Gatherv, MPI_Alltoallv and the other v and w
variants are compared only under mpiexec --check, which also makes every blocking collective synchronising, as MPI
allows.
)"},
    {"T05", "ranks wait for a rank that has ended", R"(
A rank has called MPI_Finalize while other ranks still wait for a message that it never sent, a receive that it never
called, or a collective that it never called.

Wrong: rank 0 sends nine messages, and rank 1 receives ten.

    if (rank == 0)
        for (int i = 1; i < 10; ++i) MPI_Send(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    if (rank == 1)
        for (int i = 0; i < 10; ++i) MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);

Right: both sides use the same number, or the sender sends an end marker:

    MPI_Send(&x, 0, MPI_INT, 1, last_tag, MPI_COMM_WORLD);   /* the receiver looks at the status' tag */

Before MPI_Finalize each rank must complete all communication in which it is involved (MPI 3.1, 8.7).
)"},
    {"T19", "ranks poll without progress", R"(
No rank of the job has made progress for 30 seconds (TUTTI_POLLING_LIMIT): every rank waits in MPI, has ended, or
repeatedly calls MPI_Test, MPI_Iprobe or a similar function without result. This is no proof of a deadlock, because a
rank may do other things between its calls, such as waiting for a file. It is therefore a warning, reported once, and
the job continues.

Wrong: the program tests a request whose message no rank sends.

    MPI_Irecv(&x, 1, MPI_INT, 1, 8, MPI_COMM_WORLD, &request);   /* rank 1 sends tag 7 */
    while (!done) MPI_Test(&request, &done, MPI_STATUS_IGNORE);

Right: the same tag and communicator on both sides. If there is nothing else to do, call MPI_Wait: mpiexec detects
such errors in it within a second.

    MPI_Wait(&request, MPI_STATUS_IGNORE);
)"},
    {"T20", "a persistent request was not started, and another rank waits for it", R"(
MPI_Send_init and MPI_Recv_init only prepare a request. For each transfer, MPI_Start or MPI_Startall starts it, and
MPI_Wait or MPI_Test completes it; then it is inactive again (MPI 3.1, 3.9). Waiting for an inactive request is
allowed and returns immediately, so a missing start is not noticed on its own rank, but on the other rank, whose
message never arrives.

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
    {"T21", "an algorithm of a collective waits for a flag that no rank writes", R"(
All ranks are in the same collective call, or have left it, and yet wait for each other. The program is correct; the
algorithm that Tutti ran is not. The report names the algorithm, the flag for which a rank waits, the rank that must
write it, and the step awaited and present. Flags are named after the functions that write them (coll/env/env.hpp).

Wrong: an algorithm whose ranks never publish the step that others await.

    copy_bytes(env.slot(bytes), data, bytes);
    co_return;

Right:

    copy_bytes(env.slot(bytes), data, bytes);
    env.publish();

TUTTI_TEST_ALGORITHMS=bcast/relay build/bin/tests_coll_threads runs one algorithm with ranks of one process, and reports
the case immediately. If the algorithm is one of Tutti's own, please report it; another one can be chosen meanwhile, as
in mpiexec --coll bcast=binomial.
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
    constexpr std::size_t column = 32;   // longer than the names of all classes
    std::string const wanted = topo::upper(code);
    std::vector<std::string_view> known;
    std::string list;
    for (Explanation const& one : explanations()) {
        std::string const name = topo::upper(one.code);
        if (name == wanted || name == "MPI_" + wanted)
            return apps::wrapped_paragraphs(join(one.code, ": ", one.title, "\n", one.page));
        known.push_back(one.code);
        list += apps::help_entry(std::string(one.code), std::string(one.title), column);
    }
    if (code == "list") return list;
    std::string const hint = topo::nearest_hint(wanted, known);
    throw LaunchError(join("--explain: there is no code '", code, "'",
                           hint.empty() ? "; --explain list shows all" : hint + " (--explain list shows all)"));
}

}   // namespace tutti::launcher
