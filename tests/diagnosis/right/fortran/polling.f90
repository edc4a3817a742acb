! SPDX-License-Identifier: BSD-3-Clause
! Rank 1 polls for a message that is sent late.
! ranks: 2
program polling
  use mpi_f08
  implicit none
  integer :: rank
  integer :: x
  logical :: there
  type(MPI_Status) :: status
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  x = rank
  if (rank == 0) then
    call sleep(1)
    call MPI_Send(x, 1, MPI_INTEGER, 1, 3, MPI_COMM_WORLD)
  else
    there = .false.
    do while (.not. there)
      call MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, there, status)
    end do
    call MPI_Recv(x, 1, MPI_INTEGER, status%MPI_SOURCE, status%MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  end if
  call MPI_Finalize()
end program polling
