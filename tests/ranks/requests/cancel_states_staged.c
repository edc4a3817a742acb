// SPDX-License-Identifier: BSD-3-Clause
// Large messages in pieces through the segment: cancelled between two of them.
// ranks: 2
// env: TUTTI_ARENA=no TUTTI_CMA=no TUTTI_XPMEM=no
#include "cancel_states.c"
