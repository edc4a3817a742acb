// SPDX-License-Identifier: BSD-3-Clause
// The same where CMA is not allowed: large messages go through the segment in pieces.
// ranks: 2 3
// env: TUTTI_CMA=no
#include "modes.c"
