/* SPDX-License-Identifier: BSD-3-Clause */
/* computing_target.c where the owner of the memory must do everything itself. */
// ranks: 2 3
// env: TUTTI_ARENA=no TUTTI_CMA=no TUTTI_XPMEM=no
#include "computing_target.c"
