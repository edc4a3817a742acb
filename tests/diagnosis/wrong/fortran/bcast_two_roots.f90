! SPDX-License-Identifier: BSD-3-Clause
! Each rank passes itself as the root.
! ranks: 2 3
! expect: T04 one of all
program bcast_two_roots
  use mpi_f08
  implicit none
  integer :: rank
  integer :: x
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  x = rank
  call MPI_Bcast(x, 1, MPI_INTEGER, rank, MPI_COMM_WORLD)
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_Finalize()
end program bcast_two_roots
