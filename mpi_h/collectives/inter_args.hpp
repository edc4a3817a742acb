// SPDX-License-Identifier: BSD-3-Clause
// Arguments of collectives on intercommunicators: each group moves data to the other one; a root passes MPI_ROOT, the
// rest of its group MPI_PROC_NULL (MPI 3.1, 5.2.2 and 5.2.3). Ranks in the results are those of the union group.
#pragma once

#include "mpi_h/collectives/call_forms.hpp"

namespace tutti::inter {

/// Role of a rank in a rooted collective.
enum class Role { root, idle, remote };

struct Root {
    Role role;
    int rank;   ///< of the root; −1 in the rest of its group, which has no part in the call
};

/// Returns this rank's role and the root. `root`: as passed by the program. Throws Error(root) if it is invalid.
inline Root root_of(Comm const& comm, int root) {
    if (root == MPI_ROOT) return {Role::root, comm.union_group->rank()};
    if (root == MPI_PROC_NULL) return {Role::idle, -1};
    if (root < 0 || root >= comm.remote->size())
        fail(ErrorClass::root, "root is ", root, " but must be MPI_ROOT, MPI_PROC_NULL or a rank of the remote group, ",
             "which has ", comm.remote->size(), " ranks: 0 to ", comm.remote->size() - 1);
    return {Role::remote, comm.remote_offset + root};
}

/// An empty message, for ranks that send or receive nothing.
inline coll::Buffer empty_message() { return {nullptr, 0, library().tables.datatypes.find(MPI_BYTE)}; }

/// Restricts parts to those of the remote group.
inline coll::Parts with_remote(Comm const& comm, coll::Parts const& parts) {
    return parts.restricted_to(comm.remote_offset, comm.remote->size());
}

template <class Args>
Args args_of(Comm const& comm) {
    Args args{};
    args.first_group_size = comm.first_group_size();
    return args;
}

/// `data()` creates the message.
template <class Data>
coll::BcastArgs bcast(Comm& comm, int root, Data&& data) {
    auto args = args_of<coll::BcastArgs>(comm);
    Root const at = root_of(comm, root);
    args.data = at.role == Role::idle ? empty_message() : data();
    args.root = at.rank;
    return args;
}

/// Gather and scatter: `mine()` creates the message of a rank in the other group, `parts()` those of the root.
template <class Mine, class MakeParts>
coll::RootedArgs rooted(Comm& comm, int root, Mine&& mine, MakeParts&& parts) {
    auto args = args_of<coll::RootedArgs>(comm);
    Root const at = root_of(comm, root);
    args.mine = at.role == Role::remote ? mine() : empty_message();
    if (at.role == Role::root) args.parts = with_remote(comm, parts());
    args.root = at.rank;
    args.in_place_at_root = at.role == Role::root;
    args.equal_parts = false;
    return args;
}

inline coll::AllgatherArgs allgather(Comm& comm, coll::Buffer const& mine, coll::Parts const& parts) {
    auto args = args_of<coll::AllgatherArgs>(comm);
    args.mine = mine;
    args.parts = with_remote(comm, parts);
    no_alias(args.mine, args.parts[comm.remote_offset]);
    return args;
}

inline coll::AlltoallArgs alltoall(Comm& comm, coll::Parts const& send, coll::Parts const& receive) {
    auto args = args_of<coll::AlltoallArgs>(comm);
    args.send = with_remote(comm, send);
    args.receive = with_remote(comm, receive);
    args.equal_parts = false;
    no_alias(args.send[comm.remote_offset], args.receive[comm.remote_offset]);
    return args;
}

/// `operand()` creates the arguments of a rank in the group that contributes data, `result()` those of the root.
template <class Operand, class Result>
coll::ReduceArgs reduce(Comm& comm, int root, Operand&& operand, Result&& result) {
    Root const at = root_of(comm, root);
    coll::ReduceArgs args{};
    if (at.role == Role::remote) {
        args = operand();
    } else if (at.role == Role::root) {
        args = result();
    } else {
        args.type = empty_message().type;
        args.op = library().tables.ops.find(MPI_BOR);
    }
    args.first_group_size = comm.first_group_size();
    args.root = at.rank;
    return args;
}

}   // namespace tutti::inter
