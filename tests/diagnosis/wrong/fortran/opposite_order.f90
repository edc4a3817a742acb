! SPDX-License-Identifier: BSD-3-Clause
! Collectives on two communicators are called in opposite order.
! ranks: 2
! expect: T03 or T01 ranks 0-1
program opposite_order
  use mpi_f08
  implicit none
  integer :: rank
  type(MPI_Comm) :: first, second
  integer :: x
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_dup(MPI_COMM_WORLD, first)
  call MPI_Comm_dup(MPI_COMM_WORLD, second)
  x = rank
  if (rank == 0) then
    call MPI_Barrier(first)
    call MPI_Barrier(second)
  else
    call MPI_Barrier(second)
    call MPI_Barrier(first)
  end if
  call MPI_Finalize()
end program opposite_order
