#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The only step of the Dockerfile: installs the packages, builds Tutti, installs it in /opt/tutti, and removes what was
# needed for the build alone, so that the image has one layer without it. Only for a system that may be changed like this.
. "$(dirname "$0")/common.sh"
[ "${1:-}" = --in-image ] || fail "removes packages of the system; called by the Dockerfile with --in-image"
make_scratch
need_packages build image
build_and_install "$scratch/build" /opt/tutti
# shellcheck disable=SC2046  # a list of names
apt-mark -qq auto $(packages_of build)
# shellcheck disable=SC2046
apt-mark -qq manual $(packages_of image)
DEBIAN_FRONTEND=noninteractive apt-get -qq autoremove --purge -o APT::AutoRemove::RecommendsImportant=false
apt-get clean
rm -rf /var/lib/apt/lists/* /var/cache/* /var/log/*
