#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Fortran's allocate statement uses the shared allocator.
. "$(dirname "$0")/allocators.sh" "$1"
need_package gfortran gfortran
need_package libmpich-dev "/usr/include/*/mpich/mpi.h"
cat >"$folder/place.f90" <<'END'
program place
  use, intrinsic :: iso_c_binding
  implicit none
  include 'mpif.h'
  interface
    function is_shared(p) bind(c)
      import
      type(c_ptr), value :: p
      integer(c_int) :: is_shared
    end function
  end interface
  double precision, allocatable, target :: a(:)
  integer :: error
  call MPI_Init(error)
  allocate (a(100000))
  a = 1
  if (is_shared(c_loc(a)) /= 0) then
    print '(a)', 'shared'
  else
    print '(a)', 'private'
  end if
  deallocate (a)
  call MPI_Finalize(error)
end program
END
printf '#include "tests/ranks/memory/arena_check.h"\nint is_shared(void *p) { return is_shared_block(p); }\n' >"$folder/shared.c"
"$build/bin/mpicc" -I"$source" -c "$folder/shared.c" -o "$folder/shared.o" || exit 1
"$build/bin/mpifort" "$folder/place.f90" "$folder/shared.o" -o "$folder/place_f" || exit 1
expect shared "$mpiexec" -n 2 "$folder/place_f"
finish
