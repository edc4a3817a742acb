! SPDX-License-Identifier: BSD-3-Clause
! Fortran coarrays: puts and gets of sections, a ring of events, counters by atomics, locks and critical sections, heat
! in a bar with halos in coarrays compared with a serial computation, and the collectives. Prints the number of images.
program coarrays
  use, intrinsic :: iso_fortran_env, only: atomic_int_kind, event_type, lock_type, real64
  implicit none
  integer :: me, images
  me = this_image()
  images = num_images()
  call sections
  call ring
  call counters
  call heat
  call collectives
  call check(.true., '')
  sync all
  if (me == 1) print '(a,i0,a)', 'coarrays: ', images, ' images agree'
contains
  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    if (.not. holds) then
      print '(a,i0,2a)', 'image ', this_image(), ': wrong ', what
      error stop 1
    end if
  end subroutine

  integer function right()
    right = merge(1, me + 1, me == images)
  end function

  integer function left()
    left = merge(images, me - 1, me == 1)
  end function

! Puts to the right and gets from the left of arrays, strided columns and elements, in static and allocated coarrays.
  subroutine sections
    integer, save :: fixed(6, 5)[*]
    real(real64), allocatable :: grid(:, :)[:], mine(:, :)
    integer :: i, j
    allocate (grid(7, 9)[*])
    fixed = reshape([(1000 * me + i, i = 1, 30)], [6, 5])
    grid = me
    sync all
    fixed(2:6:2, 1:5:2)[right()] = -me
    sync all
    do j = 1, 5
      do i = 1, 6
        if (mod(i, 2) == 0 .and. mod(j, 2) == 1) then
          call check(fixed(i, j) == -left(), 'element of a strided section that was put')
        else
          call check(fixed(i, j) == 1000 * me + i + 6 * (j - 1), 'element beside a strided section that was put')
        end if
      end do
    end do
    allocate (mine(3, 9))
    mine(:, :) = grid(1:7:3, :)[left()]
    call check(all(mine == left()), 'strided section that was got')
    sync all
    grid(4, 5)[right()] = 0.5_real64 * me
    sync all
    call check(grid(4, 5) == 0.5_real64 * left(), 'element that was put')
    call check(grid(4, 5)[right()] == 0.5_real64 * me, 'element that was got')
    sync all
    deallocate (grid)
  end subroutine

! A sum is passed around the ring; each image waits for an event of its left neighbour.
  subroutine ring
    type(event_type), save :: come[*]
    integer, save :: sum[*]
    integer :: round
    sum = 0
    sync all
    do round = 1, 20
      if (me /= 1 .or. round /= 1) event wait (come)
      sum[right()] = sum + me
      event post (come[right()])
    end do
    if (me == 1) event wait (come)
    sync all
    if (me == 1) call check(sum == 20 * (images * (images + 1)) / 2, 'sum around the ring')
  end subroutine

  subroutine counters
    integer(atomic_int_kind), save :: atomic[*]
    integer, save :: locked[*], critically[*]
    type(lock_type), save :: lock[*]
    integer(atomic_int_kind) :: old
    integer :: i
    integer, parameter :: times = 25
    call atomic_define(atomic, 0)
    locked = 0
    critically = 0
    sync all
    do i = 1, times
      call atomic_add(atomic[1], 1)
      lock (lock[images])
      locked[images] = locked[images] + 1
      unlock (lock[images])
      critical
        critically[1] = critically[1] + 1
      end critical
    end do
    sync all
    call atomic_ref(old, atomic[1])
    call check(old == times * images, 'counter by atomics')
    call check(locked[images] == times * images, 'counter under a lock')
    call check(critically[1] == times * images, 'counter in a critical section')
    sync all
  end subroutine

  subroutine heat
    integer, parameter :: cells = 40, steps = 50
    real(real64), save :: bar(0:cells + 1, 2)[*]
    real(real64), allocatable :: whole(:, :)
    integer :: i, step, from, to
    allocate (whole(0:cells * images + 1, 2))
    whole = 0
    whole(0, :) = 100
    bar = 0
    if (me == 1) bar(0, :) = 100
    sync all
    do step = 1, steps
      from = merge(1, 2, mod(step, 2) == 1)
      to = 3 - from
      do i = 1, cells * images
        whole(i, to) = whole(i, from) + 0.25_real64 * (whole(i - 1, from) - 2 * whole(i, from) + whole(i + 1, from))
      end do
      do i = 1, cells
        bar(i, to) = bar(i, from) + 0.25_real64 * (bar(i - 1, from) - 2 * bar(i, from) + bar(i + 1, from))
      end do
      if (me > 1) bar(cells + 1, to)[me - 1] = bar(1, to)
      if (me < images) bar(0, to)[me + 1] = bar(cells, to)
      if (images > 1) then ! only with the neighbours
        if (me == 1) then
          sync images (2)
        else if (me == images) then
          sync images (me - 1)
        else
          sync images ([me - 1, me + 1])
        end if
      end if
    end do
    do i = 1, cells
      call check(bar(i, to) == whole((me - 1) * cells + i, to), 'temperature')
    end do
    sync all
  end subroutine

  subroutine collectives
    integer :: sum, most, sent
    real(real64) :: values(100)
    sum = me
    most = 7 * me
    sent = me
    values = me
    call co_sum(sum)
    call co_max(most)
    call co_broadcast(sent, source_image=images)
    call co_sum(values, result_image=1)
    call check(sum == (images * (images + 1)) / 2, 'co_sum')
    call check(most == 7 * images, 'co_max')
    call check(sent == images, 'co_broadcast')
    if (me == 1) call check(all(values == sum), 'co_sum of an array')
  end subroutine
end program
