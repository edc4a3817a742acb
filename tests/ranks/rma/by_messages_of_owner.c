/* SPDX-License-Identifier: BSD-3-Clause */
/* by_messages.c where the owner of the memory must do everything itself. */
// ranks: 2 4
// env: TUTTI_ARENA=no TUTTI_CMA=no TUTTI_XPMEM=no
#include "by_messages.c"
