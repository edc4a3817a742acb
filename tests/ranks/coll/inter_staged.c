/* SPDX-License-Identifier: BSD-3-Clause */
/* The same where no buffer can be reached: everything goes through staging memory. */
// ranks: 2 3 5
// env: TUTTI_ARENA=no TUTTI_CMA=no
#include "inter.c"
