// SPDX-License-Identifier: BSD-3-Clause
// The same without arenas.
// ranks: 1 2 4
// env: TUTTI_ARENA=no
#include "forked.c"
