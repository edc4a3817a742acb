// SPDX-License-Identifier: BSD-3-Clause
// Intercommunicators: making and merging (MPI 3.1, 6.6.2). What they share with intracommunicators is in comms.cpp and
// comm_making.cpp.
#include "coll/call/collectives.hpp"
#include "coll/comm/inter.hpp"
#include "mpi_h/communicators/objects.hpp"

using namespace tutti;

namespace {

void check_leader(int value, Group const& group, char const* argument, char const* of) {
    if (value < 0 || value >= group.size())
        fail(ErrorClass::rank, argument, " is ", value, " but ", of, " has ", group.size(), " ranks: 0 to ",
             group.size() - 1);
}

/// peer_comm, remote_leader and tag, which only the local leader must give.
coll::Bridge checked_bridge(Call& call, Comm& local, MPI_Comm peer_comm, int remote_leader, int tag) {
    Comm* peer = library().tables.comms.find(peer_comm);
    if (!peer)
        fail(ErrorClass::comm, peer_comm == MPI_COMM_NULL ? "peer_comm is MPI_COMM_NULL at the local leader"
                                                          : "peer_comm is no communicator");
    check_leader(remote_leader, peer->peers(), "remote_leader", "peer_comm");
    if (local.group->rank_of(peer->peers().world_rank(remote_leader)) >= 0)
        fail(ErrorClass::rank, "remote_leader is ", remote_leader, ", which is in local_comm, but the groups must be ",
             "disjoint");
    call.tag(tag);
    return {peer, remote_leader, tag};
}

}   // namespace

/// A leader with wrong arguments tells its group, so that nobody waits for it.
TUTTI_FUNCTION(Intercomm_create)
int PMPI_Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader, int tag,
                          MPI_Comm* newintercomm) {
    return enter("MPI_Intercomm_create", given(local_comm, local_leader, peer_comm, remote_leader, tag, newintercomm),
                 [&](Call& call) {
                     Comm& local = call.intracomm(local_comm, "local_comm");
                     call.pointer(newintercomm, "newintercomm");
                     check_leader(local_leader, *local.group, "local_leader", "local_comm");
                     *newintercomm = MPI_COMM_NULL;
                     std::optional<coll::Bridge> bridge;
                     std::optional<Error> wrong;
                     try {
                         if (local.rank() == local_leader)
                             bridge = checked_bridge(call, local, peer_comm, remote_leader, tag);
                     } catch (Error const& error) { wrong = error; }
                     try {
                         coll::note(local, call.name, coll::Waits::for_others);
                         *newintercomm = handle_of(coll::connect(local, local_leader, bridge));
                     } catch (Error const&) {
                         if (wrong) throw *wrong;
                         throw;
                     }
                 });
}

TUTTI_FUNCTION(Intercomm_merge)
int PMPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm* newintracomm) {
    return enter("MPI_Intercomm_merge", given(intercomm, high, newintracomm), [&](Call& call) {
        Comm& inter = call.comm(intercomm);
        if (!inter.inter()) fail(ErrorClass::comm, "intercomm is an intracommunicator");
        call.pointer(newintracomm, "newintracomm");
        *newintracomm = MPI_COMM_NULL;
        coll::note(inter, call.name);
        *newintracomm = handle_of(coll::merge(inter, high != 0));
    });
}
