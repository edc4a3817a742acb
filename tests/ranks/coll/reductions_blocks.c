// SPDX-License-Identifier: BSD-3-Clause
// Reductions in blocks by one team and along chains, whatever the size.
// ranks: 2 3 5
// env: TUTTI_COLL=reduce=blocks,allreduce=blocks,reduce_scatter=blocks:chunk=1K,scan=chain:chunk=1K,exscan=chain
#include "reductions.c"
