// SPDX-License-Identifier: BSD-3-Clause
// The movements through staging memory in pieces that the user has set below one line: they become one line.
// ranks: 3
// env: TUTTI_ARENA=no TUTTI_CMA=no TUTTI_COLL=gather=sender_writing:piece=1,scatter=receiver_reading:piece=1,allgather=receiver_reading:piece=1,alltoall=rotated:piece=1
#include "movements.c"
