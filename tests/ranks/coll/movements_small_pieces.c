// SPDX-License-Identifier: BSD-3-Clause
// The movements through staging memory in pieces that the user has set below one line: they become one line.
// ranks: 3
// env: TUTTI_ARENA=no TUTTI_CMA=no TUTTI_COLL_GATHER=sender_writing:piece=1 TUTTI_COLL_ALLTOALL=rotated:piece=1
// env: TUTTI_COLL_SCATTER=receiver_reading:piece=1 TUTTI_COLL_ALLGATHER=receiver_reading:piece=1
#include "movements.c"
