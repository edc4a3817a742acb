#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A dozen of ScaLAPACK's own testers, unmodified: each area once, every number type; tests/run.sh --scalapack runs all.
exec bash "$(dirname "$0")/scalapack.sh" "$1" \
    xCbtest xFbtest spb1tst dpb2tst cpb3tst xslu xdllt xcqr xzls xdtrd xssep xcinv
