! SPDX-License-Identifier: BSD-3-Clause
! A receive is never completed.
! ranks: 2
! expect: warning T07 ranks 0
program irecv
  use mpi
  implicit none
  integer :: rank, error, request
  integer, save :: n
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  if (rank == 0) call MPI_Irecv(n, 1, MPI_INTEGER, 1, 4, MPI_COMM_WORLD, request, error)   ! HERE 0
  call MPI_Finalize(error)
end program
