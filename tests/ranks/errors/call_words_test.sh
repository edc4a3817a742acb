#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Reports of errors name the call with its arguments in the program's words.
. "$(dirname "$0")/../../common.sh" "$1"

# says MISTAKE CALL: the report of this mistake of call_words.cpp names this call.
says() {
    run -n 2 "$build/tests/ranks_errors_call_words" "$1"
    [[ "$(tr -s ' ' <<<"$err")" == *" $2 in main() of "* ]] ||
        wrong "$1 is reported otherwise than as '$2': $err"
}
says send 'MPI_Send(4 MPI_INT to rank 7, tag 3, a communicator of 2 ranks)'
says receive 'MPI_Recv(-1 MPI_INT from any source, any tag, grid)'
says sendrecv 'MPI_Sendrecv(1 MPI_INT to MPI_PROC_NULL, tag 0, 2 MPI_FLOAT from rank 1, tag -7, grid)'
says probe 'MPI_Probe(from rank 9, tag 3, grid)'
says gatherv 'MPI_Gatherv(4 MPI_INT, root 7, MPI_COMM_WORLD)'
says scatterv 'MPI_Scatterv(-4 MPI_INT, root 0, grid)'
says alltoallv 'MPI_Alltoallv(MPI_INT, received as MPI_FLOAT, grid)'
says allreduce 'MPI_Allreduce(MPI_IN_PLACE, -1 MPI_INT, MPI_SUM, grid)'
says barrier 'MPI_Barrier(MPI_COMM_NULL)'
says put 'MPI_Put(1 MPI_INT to rank 1, displacement -1, window "w")'
says get 'MPI_Get(4 MPI_INT from rank 9, displacement 0, as 2 MPI_DOUBLE, window "w")'
says accumulate 'MPI_Accumulate(1 MPI_INT to rank 1, displacement 0, MPI_NO_OP, window "w")'
says fetch 'MPI_Fetch_and_op(MPI_INT at rank 1, displacement -2, MPI_SUM, window "w")'
says lock 'MPI_Win_lock(MPI_LOCK_SHARED, rank 9, MPI_MODE_NOCHECK, window "w")'
says win_free 'MPI_Win_free(window "w")'
says wait 'MPI_Wait(receive of 1 MPI_INT from rank 1, tag 5, MPI_COMM_WORLD)'
says waitall 'MPI_Waitall(2 requests, of which 1: receive of 1 MPI_INT from rank 0, tag 5, MPI_COMM_WORLD)'
says test 'MPI_Test(no request)'
says start 'MPI_Start(request NULL)'
says vector 'MPI_Type_vector(count 2, blocklength -3, stride 4, MPI_INT)'
says type_free 'MPI_Type_free(MPI_INT)'
says info 'MPI_Info_set(an info object of 0 keys, key "", value "a value?")'
says split 'MPI_Comm_split(grid, color -7, key 0)'
says comm_free 'MPI_Comm_free(MPI_COMM_WORLD)'
says group 'MPI_Group_incl(a group of 2 ranks, n 9)'
says abort 'MPI_Abort(grid, errorcode 3)'
says errhandler 'MPI_Comm_call_errhandler(grid, errorcode 15)'
# also where it is a deadlock
says blocked_free 'MPI_Win_free(window "w")'
says blocked_fence 'MPI_Win_fence(window "w")'
says after 'MPI_Comm_rank(MPI_COMM_WORLD)'
finish
