! SPDX-License-Identifier: BSD-3-Clause
! The root is 1 at the first rank, because arrays begin at 1, and 0 at the others.
! ranks: 2 3
! expect: T04 ranks 0
! expect nodes: T01 or T04 one of 0-2
program other_root
  use mpi_f08
  implicit none
  integer :: rank, root
  real :: x(3)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  x = rank
  root = merge(1, 0, rank == 0)
  call MPI_Bcast(x, 3, MPI_REAL, root, MPI_COMM_WORLD)   ! HERE all
  call MPI_Finalize()
end program
