! SPDX-License-Identifier: BSD-3-Clause
! A master sends work to each worker that requests it.
! ranks: 3 4
program master_and_workers
  use mpi_f08
  implicit none
  integer :: rank
  integer :: x, i, size, work
  type(MPI_Status) :: status
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  if (rank == 0) then
    do i = 1, 10 + size - 1
      call MPI_Recv(x, 1, MPI_INTEGER, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, status)
      work = merge(i, -1, i <= 10)
      call MPI_Send(work, 1, MPI_INTEGER, status%MPI_SOURCE, 1, MPI_COMM_WORLD)
    end do
  else
    work = 0
    do while (work >= 0)
      call MPI_Send(rank, 1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD)
      call MPI_Recv(work, 1, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    end do
  end if
  call MPI_Finalize()
end program master_and_workers
