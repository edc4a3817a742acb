#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Error reports contain the call with its arguments as the program passes them.
. "$(dirname "$0")/../../common.sh" "$1"

# expect_call ERROR CALL: checks that the report of this error of call_words.cpp contains this call.
expect_call() {
    run -n 2 "$build/tests/ranks_errors_call_words" "$1"
    [[ "$(tr -s ' ' <<<"$err")" == *" $2 in main() of "* ]] ||
        wrong "the report of $1 lacks '$2': $err"
}
expect_call send 'MPI_Send(4 MPI_INT to rank 7, tag 3, a communicator of 2 ranks)'
expect_call receive 'MPI_Recv(-1 MPI_INT from any source, any tag, grid)'
expect_call sendrecv 'MPI_Sendrecv(1 MPI_INT to MPI_PROC_NULL, tag 0, 2 MPI_FLOAT from rank 1, tag -7, grid)'
expect_call probe 'MPI_Probe(from rank 9, tag 3, grid)'
expect_call gatherv 'MPI_Gatherv(4 MPI_INT, root 7, MPI_COMM_WORLD)'
expect_call scatterv 'MPI_Scatterv(-4 MPI_INT, root 0, grid)'
expect_call alltoallv 'MPI_Alltoallv(MPI_INT, received as MPI_FLOAT, grid)'
expect_call allreduce 'MPI_Allreduce(MPI_IN_PLACE, -1 MPI_INT, MPI_SUM, grid)'
expect_call barrier 'MPI_Barrier(MPI_COMM_NULL)'
expect_call put 'MPI_Put(1 MPI_INT to rank 1, displacement -1, window "w")'
expect_call get 'MPI_Get(4 MPI_INT from rank 9, displacement 0, as 2 MPI_DOUBLE, window "w")'
expect_call accumulate 'MPI_Accumulate(1 MPI_INT to rank 1, displacement 0, MPI_NO_OP, window "w")'
expect_call fetch 'MPI_Fetch_and_op(MPI_INT at rank 1, displacement -2, MPI_SUM, window "w")'
expect_call lock 'MPI_Win_lock(MPI_LOCK_SHARED, rank 9, MPI_MODE_NOCHECK, window "w")'
expect_call win_free 'MPI_Win_free(window "w")'
expect_call wait 'MPI_Wait(receive of 1 MPI_INT from rank 1, tag 5, MPI_COMM_WORLD)'
expect_call waitall 'MPI_Waitall(2 requests, of which 1: receive of 1 MPI_INT from rank 0, tag 5, MPI_COMM_WORLD)'
expect_call test 'MPI_Test(no request)'
expect_call start 'MPI_Start(request NULL)'
expect_call vector 'MPI_Type_vector(count 2, blocklength -3, stride 4, MPI_INT)'
expect_call type_free 'MPI_Type_free(MPI_INT)'
expect_call info 'MPI_Info_set(an info object of 0 keys, key "", value "a value?")'
expect_call split 'MPI_Comm_split(grid, color -7, key 0)'
expect_call comm_free 'MPI_Comm_free(MPI_COMM_WORLD)'
expect_call group 'MPI_Group_incl(a group of 2 ranks, n 9)'
expect_call abort 'MPI_Abort(grid, errorcode 3)'
expect_call errhandler 'MPI_Comm_call_errhandler(grid, errorcode 15)'
# also in a deadlock report
expect_call blocked_free 'MPI_Win_free(window "w")'
expect_call blocked_fence 'MPI_Win_fence(window "w")'
expect_call after 'MPI_Comm_rank(MPI_COMM_WORLD)'
finish
