! SPDX-License-Identifier: BSD-3-Clause
! Fortran 77's interface: ranks, MPI_IN_PLACE, MPI_STATUS_IGNORE, a status, a user operator, a generalized request.
      program with_mpif_h
      implicit none
      include 'mpif.h'
      integer rank, ranks, next, before, total, got, op, ierr
      integer status(MPI_STATUS_SIZE), values(2)
      integer request
      integer(kind=MPI_ADDRESS_KIND) state
      logical flag
!     A common block, so that the compiler knows that calls change it.
      common /kept/ state
      external largest, tell, release, cancel
      call MPI_Init(ierr)
      call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
      call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
      total = rank + 1
      call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM,
     &                   MPI_COMM_WORLD, ierr)
      if (total .ne. ranks * (ranks + 1) / 2) call wrong('sum')
      next = mod(rank + 1, ranks)
      before = mod(rank + ranks - 1, ranks)
      call MPI_Sendrecv(rank, 1, MPI_INTEGER, next, 7, got, 1,
     &                  MPI_INTEGER, before, 7, MPI_COMM_WORLD,
     &                  MPI_STATUS_IGNORE, ierr)
      if (got .ne. before) call wrong('message')
      call MPI_Sendrecv(rank, 1, MPI_INTEGER, next, 8, values, 2,
     &                  MPI_INTEGER, before, MPI_ANY_TAG,
     &                  MPI_COMM_WORLD, status, ierr)
      call MPI_Get_count(status, MPI_INTEGER, got, ierr)
      if (got .ne. 1 .or. status(MPI_SOURCE) .ne. before .or.
     &    status(MPI_TAG) .ne. 8) call wrong('status')
      call MPI_Op_create(largest, .true., op, ierr)
      call MPI_Allreduce(rank, got, 1, MPI_INTEGER, op,
     &                   MPI_COMM_WORLD, ierr)
      if (got .ne. ranks - 1) call wrong('user operator')
      call MPI_Op_free(op, ierr)
      state = 3
      call MPI_Grequest_start(tell, release, cancel, state, request,
     &                        ierr)
      call MPI_Cancel(request, ierr)
      if (state .ne. 13) call wrong('cancel function')
      call MPI_Test(request, flag, status, ierr)
      if (flag) call wrong('complete too early')
      call MPI_Grequest_complete(request, ierr)
      call MPI_Cancel(request, ierr)
      if (state .ne. 113) call wrong('cancel function, complete')
      call MPI_Wait(request, status, ierr)
      call MPI_Get_count(status, MPI_INTEGER, got, ierr)
      call MPI_Test_cancelled(status, flag, ierr)
      if (got .ne. 113 .or. .not. flag) call wrong('query function')
      if (state .ne. 0) call wrong('free function')
      if (rank .eq. 0) print '(a,i0)', 'right on ', ranks
      call MPI_Finalize(ierr)
      end

      subroutine largest(in, inout, length, datatype)
      implicit none
      integer length, in(length), inout(length), datatype, i
      do i = 1, length
          inout(i) = max(in(i), inout(i))
      end do
      end

      subroutine tell(state, status, ierr)
      implicit none
      include 'mpif.h'
      integer(kind=MPI_ADDRESS_KIND) state
      integer status(MPI_STATUS_SIZE), ierr
      call MPI_Status_set_elements(status, MPI_INTEGER, int(state),
     &                             ierr)
      call MPI_Status_set_cancelled(status, .true., ierr)
      end

      subroutine release(state, ierr)
      implicit none
      include 'mpif.h'
      integer(kind=MPI_ADDRESS_KIND) state
      integer ierr
      state = 0
      ierr = MPI_SUCCESS
      end

      subroutine cancel(state, complete, ierr)
      implicit none
      include 'mpif.h'
      integer(kind=MPI_ADDRESS_KIND) state
      logical complete
      integer ierr
      state = state + 10
      if (complete) state = state + 90
      ierr = MPI_SUCCESS
      end

      subroutine wrong(what)
      character*(*) what
      print '(2a)', 'wrong: ', what
      stop 1
      end
