! SPDX-License-Identifier: BSD-3-Clause
! The first rank has finished; the others exchange their values.
! ranks: 3
program finished
  use mpi
  implicit none
  integer :: rank, ierror
  real :: value
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  value = rank
  if (rank == 1) call MPI_Send(value, 1, MPI_REAL, 2, 0, MPI_COMM_WORLD, ierror)
  if (rank == 2) call MPI_Recv(value, 1, MPI_REAL, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
  call MPI_Finalize(ierror)
end program
