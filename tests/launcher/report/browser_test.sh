#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs report_test.sh with a browser, which opens each page in light and dark mode, in windows of several widths, uses it
# with the keyboard alone, and prints it.
. "$(dirname "$0")/../common.sh" "$1"
need_package chromium chromium
need_package poppler-utils pdftotext
LOOK=--browser bash "$here/report_test.sh" "$build" || exit 1
