! SPDX-License-Identifier: BSD-3-Clause
! One rank stops without MPI_Finalize.
! ranks: 2 3
! expect: T09 ranks 1 ending with 1
program stops_without_finalize
  use mpi_f08
  implicit none
  integer :: rank
  integer :: x
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  x = rank
  if (rank == 1) stop
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_Finalize()
end program stops_without_finalize
