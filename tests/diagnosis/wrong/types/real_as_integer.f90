! SPDX-License-Identifier: BSD-3-Clause
! A real number is received as an integer.
! ranks: 2
! expect: T06 ranks 0-1
program real_as_integer
  use mpi
  implicit none
  integer :: rank, error, n
  real :: x
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  x = 1.5
  if (rank == 0) call MPI_Send(x, 1, MPI_REAL, 1, 0, MPI_COMM_WORLD, error)
  if (rank == 1) then
    call MPI_Recv(n, 1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)   ! HERE 1
  end if
  call MPI_Finalize(error)
end program
