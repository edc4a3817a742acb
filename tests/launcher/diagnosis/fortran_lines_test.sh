#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Source lines of sleeping Fortran programs.
. "$(dirname "$0")/source_lines.sh" "$1"
need_package gfortran gfortran

cat > show.c <<'END'
#include "show.h"
int show_(void) { printf("%p\n", __builtin_return_address(0)); fflush(stdout); while (1) pause(); }
END
cat > mesh.f90 <<'END'
module mesh
contains
  subroutine step(n)
    integer, intent(inout) :: n
    call show()   ! HERE
    n = n + 1
  end subroutine
end module
program waves
  use mesh
  integer :: n
  n = 1
#ifdef DIRECTLY
  call show()   ! HERE_TOO
#else
  call step(n)
#endif
  print *, n
end program
END

gcc -c show.c
try "mesh.f90:$(line_of mesh.f90 HERE) in step() of module mesh" gfortran -cpp -g mesh.f90 show.o
try "in step() of module mesh of a" gfortran -cpp mesh.f90 show.o
try "mesh.f90:$(line_of mesh.f90 HERE_TOO) in main program" gfortran -cpp -g -DDIRECTLY mesh.f90 show.o
try "in main program of a" gfortran -cpp -DDIRECTLY mesh.f90 show.o
finish
