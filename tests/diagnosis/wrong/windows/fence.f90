! SPDX-License-Identifier: BSD-3-Clause
! The first rank does not call the fence.
! ranks: 2
! expect: T01 ranks 0-1
program fence
  use mpi_f08
  implicit none
  integer :: rank, x, memory(4)
  type(MPI_Win) :: window
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Win_create(memory, 16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, window)
  if (rank == 0) call MPI_Recv(x, 1, MPI_INTEGER, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)   ! HERE 0
  call MPI_Win_fence(0, window)   ! HERE 1
  if (rank == 1) call MPI_Send(x, 1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD)
  call MPI_Win_free(window)
  call MPI_Finalize()
end program
