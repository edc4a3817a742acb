// SPDX-License-Identifier: BSD-3-Clause
// The same where CMA is not allowed.
// ranks: 2
// env: TUTTI_CMA=no
#include "finalize_in_flight.c"
