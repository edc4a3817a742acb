#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Checks the rules of the source tree (tree_check.py) and the language of its comments, messages and pages
# (language_check.py). Prints each offender.
# cores: 1
folder=$(dirname "$0")
python3 "$folder/tree_check.py" "$folder/.."
tree=$?
python3 "$folder/language_check.py" "$folder/.." && exit $tree
