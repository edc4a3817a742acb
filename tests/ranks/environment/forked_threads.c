// SPDX-License-Identifier: BSD-3-Clause
// The same with MPI_THREAD_MULTIPLE.
// ranks: 1 2 4
// args: threads
#include "forked.c"
