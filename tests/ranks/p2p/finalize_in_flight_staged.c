// SPDX-License-Identifier: BSD-3-Clause
// The same where CMA is not allowed.
// ranks: 2
// may warn: T07 T08
// env: TUTTI_CMA=no
#include "finalize_in_flight.c"
