! SPDX-License-Identifier: BSD-3-Clause
! One rank reduces double precision, the others real.
! ranks: 2 3
! expect: T04 ranks 1
program reduce_other_type
  use mpi_f08
  implicit none
  integer :: rank
  real :: x(4), total(4)
  double precision :: y(4), sums(4)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  x = 1
  y = 1
  if (rank == 1) then
    call MPI_Allreduce(y, sums, 4, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  else
    call MPI_Allreduce(x, total, 4, MPI_REAL, MPI_SUM, MPI_COMM_WORLD)
  end if
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_Finalize()
end program reduce_other_type
