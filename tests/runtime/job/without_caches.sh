#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# without_caches.sh COMMAND...: runs a command where /sys describes no caches, as in many virtual machines. Needs root
# to mount file systems in the command's mount namespace.
# shellcheck disable=SC2016  # expanded by the inner shell
exec unshare --mount sh -c '
    for folder in /sys/devices/system/cpu/cpu[0-9]*/cache; do
        [ ! -d "$folder" ] || mount -t tmpfs none "$folder" || exit 1
    done
    exec "$@"' sh "$@"
