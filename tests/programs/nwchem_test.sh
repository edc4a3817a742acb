#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# NWChem as Debian built it against MPICH, unmodified, computes the energy of a water molecule that its own tests
# state. Its arrays are in windows of ARMCI-MPI, with passive epochs and with datatypes on both sides.
# cores: 2
. "$(dirname "$0")/../common.sh" "$1"
need_package nwchem-mpich nwchem.mpich
cd "$folder" || exit 1
cat >water.nw <<'END'
start water
geometry units au
  O  0  0      0
  H  0  1.430 -1.107
  H  0 -1.430 -1.107
end
basis
  * library 6-31g*
end
task scf
END
for ranks in 1 2 4; do
    rm -f water.db water.movecs
    timeout -k 5 "$limit_s" "$mpiexec" --drop-in -n $ranks nwchem.mpich water.nw >out 2>&1 </dev/null ||
        { echo "on $ranks ranks it failed:"; tail -n 5 out; exit 1; }
    energy=$(sed -nE 's/^ *Total SCF energy = *(-?[0-9.]+)$/\1/p' out)
    [[ $energy == -76.010538* ]] || { echo "on $ranks ranks the energy is '$energy' instead of -76.010538"; exit 1; }
done
