// SPDX-License-Identifier: BSD-3-Clause
// Reductions over the levels of a machine that is pretended.
// ranks: 2 3 5
// env: TUTTI_TOPOLOGY="socket:2 numa:2 core:2" TUTTI_COLL=reduce=hierarchical,allreduce=hierarchical
#include "reductions.c"
