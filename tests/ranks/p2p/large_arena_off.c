// SPDX-License-Identifier: BSD-3-Clause
// The same with other ways to the peers' memory.
// ranks: 2 4
// env: TUTTI_ARENA=no
#include "large.c"
