! SPDX-License-Identifier: BSD-3-Clause
! Rank 0 has finished; the others wait for its values.
! ranks: 2 3
! expect: T05 ranks 1
! expect nodes: T05 one of 1-last
program finished_early
  use mpi
  implicit none
  integer :: rank, ierror
  real :: values(10)
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  if (rank > 0) call MPI_Recv(values, 10, MPI_REAL, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)   ! HERE 1-last
  call MPI_Finalize(ierror)
end program
