// SPDX-License-Identifier: BSD-3-Clause
// Gather by the root's own copies, with small pieces.
// ranks: 2 3 4
// env: TUTTI_COLL=gather=receiver_reading:piece=4K,alltoall=rotated:direct=1K,allgather=receiver_reading:piece=1K
#include "movements.c"
