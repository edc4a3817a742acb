! SPDX-License-Identifier: BSD-3-Clause
! A user-defined operator, with MPI_IN_PLACE.
! ranks: 2 3
program own_operator
  use mpi
  implicit none
  integer :: rank, ierror
  integer :: x(2), op
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  x = rank
  call MPI_Op_create(add, .true., op, ierror)
  call MPI_Allreduce(MPI_IN_PLACE, x, 2, MPI_INTEGER, op, MPI_COMM_WORLD, ierror)
  call MPI_Op_free(op, ierror)
  call MPI_Finalize(ierror)
contains
  subroutine add(in, inout, n, type)
    integer :: n, type, in(n), inout(n)
    inout = inout + in
  end subroutine add
end program own_operator
