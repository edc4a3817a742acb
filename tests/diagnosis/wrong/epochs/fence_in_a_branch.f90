! SPDX-License-Identifier: BSD-3-Clause
! Only the rank that puts data ends the epoch with a fence.
! ranks: 2 3
! expect: T15 ranks 0 one of 1-last
program fence_in_a_branch
  use mpi_f08
  implicit none
  integer :: rank, x
  integer :: memory(4)
  type(MPI_Win) :: window
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Win_create(memory, 16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, window)
  call MPI_Win_fence(0, window)
  x = 5
  if (rank == 0) then
    call MPI_Put(x, 1, MPI_INTEGER, 1, 0_MPI_ADDRESS_KIND, 1, MPI_INTEGER, window)
    call MPI_Win_fence(0, window)
  end if
  call MPI_Win_free(window)   ! HERE 1-2
  call MPI_Finalize()
end program fence_in_a_branch
