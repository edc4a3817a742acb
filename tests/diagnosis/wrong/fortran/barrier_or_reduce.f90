! SPDX-License-Identifier: BSD-3-Clause
! Rank 0 calls a barrier, the others reduce.
! ranks: 2 4
! expect: T03 ranks 0
! mpiexec: --check
program barrier_or_reduce
  use mpi_f08
  implicit none
  integer :: rank
  integer :: x, total
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  x = rank
  if (rank == 0) then
    call MPI_Barrier(MPI_COMM_WORLD)   ! HERE 0
  else
    call MPI_Allreduce(x, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)   ! HERE 1-3
  end if
  call MPI_Finalize()
end program barrier_or_reduce
