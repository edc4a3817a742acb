// SPDX-License-Identifier: BSD-3-Clause
// `wide`: a function compiled for the wide vectors of newer processors too, and chosen when the program starts.
#pragma once

#if defined(__x86_64__)
#define wide __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define wide
#endif
