! SPDX-License-Identifier: BSD-3-Clause
! The first rank broadcasts, the others reduce. One of the calls has returned when the error is reported; its location
! is found although the library of the Fortran binding is between the program and MPI.
! ranks: 2
! expect: T03 ranks 0-1
program bcast_against_reduce
  use mpi
  implicit none
  integer :: rank, x, total, ierror
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  x = rank
  if (rank == 0) then
    call MPI_Bcast(x, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)   ! HERE 0
  else
    call MPI_Reduce(x, total, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierror)   ! HERE 1
  end if
  call MPI_Finalize(ierror)
end program
