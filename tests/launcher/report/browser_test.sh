#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The pages of report_test.sh, opened by a browser in light and dark.
. "$(dirname "$0")/../common.sh" "$1"
need_package chromium chromium
LOOK=--browser bash "$here/report_test.sh" "$build" || exit 1
