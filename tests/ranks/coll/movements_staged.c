// SPDX-License-Identifier: BSD-3-Clause
// Without CMA, every large part goes through staging memory.
// ranks: 2 3 4
// env: TUTTI_CMA=no
#include "movements.c"
