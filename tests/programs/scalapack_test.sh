#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A dozen of ScaLAPACK's own testers, unmodified: each area once, every number type; tests/run.sh --scalapack runs all.
# xslu is not among them: psgerfs hands pslacon an EST that it never set (valgrind: created by a stack allocation in
# psgerfs), and what lies there decides, rank by rank, whether they take the same way or wait for each other for ever.
exec bash "$(dirname "$0")/scalapack.sh" "$1" \
    xCbtest xFbtest spb1tst dpb2tst cpb3tst xdgblu xdllt xcqr xzls xdtrd xssep xcinv
