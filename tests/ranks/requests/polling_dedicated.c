// SPDX-License-Identifier: BSD-3-Clause
// The same where every rank is said to have a core of its own.
// ranks: 2
// env: TUTTI_WAIT=dedicated
#include "polling.c"
