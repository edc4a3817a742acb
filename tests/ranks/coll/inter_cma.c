/* SPDX-License-Identifier: BSD-3-Clause */
/* The same outside arenas: single copy by the system. */
// ranks: 2 3 5
// env: TUTTI_ARENA=no
#include "inter.c"
