#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# without_caches.sh COMMAND...: runs a command where /sys describes no caches, as in many virtual machines. Needs root,
# for mounts that only the command sees.
# shellcheck disable=SC2016  # the inner shell expands
exec unshare --mount sh -c '
    for folder in /sys/devices/system/cpu/cpu[0-9]*/cache; do
        [ ! -d "$folder" ] || mount -t tmpfs none "$folder" || exit 1
    done
    exec "$@"' sh "$@"
