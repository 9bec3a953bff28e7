; Runs a task on several threads: the caller's, and helpers that wait for it. See threads.py.
;
; A region lasts from the moment at which the caller invites helpers until all that came have left. There is one region
; at a time: a caller that finds another's runs its task alone, be it one that a helper makes. A helper that comes late
; finds the region closed and goes back to sleep, so nobody waits for a helper that never began, and a machine that is
; busy with other things delays nothing. All state is guarded by one lock, but for the tasks' own.
;
; Locks are CPython's, which can be taken and released without the GIL, on every system. They begin released.

%Helper = type { ptr, i32, i32, i64 } ; the lock at which it sleeps, whether it has been called and has not woken yet, on
                                      ; which core it ran last, and which thread it is
%Region = type { ptr, ptr, i32, i32 } ; task, its data, how many helpers may join, and how many have joined

@guard = internal global ptr null
@helpers = internal global [MOST_HELPERS x %Helper] zeroinitializer
@started = internal global i32 0
@limit = internal global i32 1
@numba_limit = internal global ptr null
@is_busy = internal global i32 0
@region = internal global %Region zeroinitializer
@active = internal global i32 0 ; helpers in the region
@is_awaited = internal global i32 0
@all_left = internal global ptr null ; taken, until the last helper leaves a region whose caller waits for it

@modules = external global i8 ; Python's dictionary of modules
@layer = external global i8 ; the name of the module in which Numba limits threads
@follow_numba = internal global ptr null ; what to call when that is imported, until it has taken note

declare ptr @PyDict_GetItem(ptr, ptr) nounwind
declare ptr @PyThread_allocate_lock() nounwind
declare void @PyThread_free_lock(ptr) nounwind
declare i32 @PyThread_acquire_lock(ptr, i32) nounwind
declare void @PyThread_release_lock(ptr) nounwind
declare i64 @PyThread_start_new_thread(ptr, ptr) nounwind
declare i32 @sched_getcpu() nounwind
declare i32 @sched_getaffinity(i32, i64, ptr) nounwind
declare i32 @pthread_setaffinity_np(i64, i64, ptr) nounwind

define internal void @acquire(ptr %place) nounwind {
  %lock = load ptr, ptr %place
  %status = call i32 @PyThread_acquire_lock(ptr %lock, i32 1)
  ret void
}

define internal void @release(ptr %place) nounwind {
  %lock = load ptr, ptr %place
  call void @PyThread_release_lock(ptr %lock)
  ret void
}

; Makes all state new: before the first region, and in a child of fork, which has inherited no helpers, but perhaps the
; state of a region that does not exist there. False if there is no memory for locks.
define i1 @reset() nounwind {
  store i32 0, ptr @started
  store i32 0, ptr @is_busy
  store i32 0, ptr @active
  store i32 0, ptr @is_awaited
  store %Region zeroinitializer, ptr @region
  %guard = call ptr @PyThread_allocate_lock()
  store ptr %guard, ptr @guard
  %all_left = call ptr @PyThread_allocate_lock()
  store ptr %all_left, ptr @all_left
  %has_guard = icmp ne ptr %guard, null
  %has_all_left = icmp ne ptr %all_left, null
  %has_both = and i1 %has_guard, %has_all_left
  br i1 %has_both, label %take, label %done
take:
  call void @acquire(ptr @all_left)
  br label %done
done:
  ret i1 %has_both
}

; The most threads that a region has, its caller's among them.
define void @set_limit(i32 %limit) nounwind {
  %is_small = icmp slt i32 %limit, MOST_HELPERS
  %bounded = select i1 %is_small, i32 %limit, i32 MOST_HELPERS
  store atomic i32 %bounded, ptr @limit monotonic, align 4
  ret void
}

; A function that gives the most threads that the calling thread may use, by Numba's settings.
define void @set_numba_limit(ptr %function) nounwind {
  store atomic ptr %function, ptr @numba_limit monotonic, align 8
  ret void
}

; Sets what to call, with the GIL, once Numba's layer is imported; null for nothing more.
define void @set_follow_numba(ptr %function) nounwind {
  store ptr %function, ptr @follow_numba
  ret void
}

; Called with the GIL before a program that may open regions: has Numba begun to limit threads?
define void @before_call() nounwind {
  %function = load ptr, ptr @follow_numba
  %asks = icmp ne ptr %function, null
  br i1 %asks, label %look, label %done
look:
  %module = call ptr @PyDict_GetItem(ptr @modules, ptr @layer)
  %is_imported = icmp ne ptr %module, null
  br i1 %is_imported, label %call, label %done
call:
  call void %function()
  br label %done
done:
  ret void
}

; How many helpers there are.
define i32 @count_helpers() nounwind {
  %started = load atomic i32, ptr @started monotonic, align 4
  ret i32 %started
}

define internal i32 @current_limit() nounwind {
  %limit = load atomic i32, ptr @limit monotonic, align 4
  %function = load atomic ptr, ptr @numba_limit monotonic, align 8
  %has_function = icmp ne ptr %function, null
  br i1 %has_function, label %ask, label %answer
ask:
  %numba_limit = call i32 %function()
  %is_less = icmp slt i32 %numba_limit, %limit
  %is_known = icmp sgt i32 %numba_limit, 0 ; not for each thread of a forked process
  %holds = and i1 %is_less, %is_known
  %less = select i1 %holds, i32 %numba_limit, i32 %limit
  ret i32 %less
answer:
  ret i32 %limit
}

; The core on which this thread runs; -1 where the system does not say.
define internal i32 @current_core() nounwind {
  br i1 HAS_AFFINITY, label %ask, label %answer
ask:
  %core = call i32 @sched_getcpu()
  ret i32 %core
answer:
  ret i32 -1
}

; Keeps a helper away from a core. Linux wakes a thread on the core where it slept, even if that is its caller's and
; others are idle, and leaves both there for milliseconds.
define internal void @keep_away(ptr %helper, i32 %core) nounwind {
entry:
  %cores = alloca [SIZE_OF_CORES x i8], align 8
  %is_small = icmp ult i32 %core, CORES
  br i1 %is_small, label %ask, label %done
ask:
  %status = call i32 @sched_getaffinity(i32 0, i64 SIZE_OF_CORES, ptr %cores)
  %is_known = icmp sge i32 %status, 0
  br i1 %is_known, label %remove, label %done
remove:
  %byte = lshr i32 %core, 3
  %place = getelementptr i8, ptr %cores, i32 %byte
  %before = load i8, ptr %place
  %bit = and i32 %core, 7
  %shifted = shl i32 1, %bit
  %mask = trunc i32 %shifted to i8
  %others = xor i8 %mask, -1
  %after = and i8 %before, %others
  store i8 %after, ptr %place
  %thread_at = getelementptr %Helper, ptr %helper, i32 0, i32 3
  %thread = load i64, ptr %thread_at
  %moved = call i32 @pthread_setaffinity_np(i64 %thread, i64 SIZE_OF_CORES, ptr %cores)
  br label %done
done:
  ret void
}

; Whether ``place`` holds ``value`` within some ten microseconds, about as long as it takes to fall asleep and wake again.
define internal i1 @comes_soon(ptr %place, i32 %value) nounwind {
entry:
  br label %look
look:
  %turn = phi i32 [ 0, %entry ], [ %turn_after, %again ]
  %current = load atomic i32, ptr %place acquire, align 4
  %has_come = icmp eq i32 %current, %value
  br i1 %has_come, label %done, label %again
again:
  %turn_after = add i32 %turn, 1
  %more = icmp ult i32 %turn_after, TURNS
  br i1 %more, label %look, label %done
done:
  ret i1 %has_come
}

; What a helper does as long as the process lives.
define internal void @help(ptr %helper) nounwind {
entry:
  %is_called = getelementptr %Helper, ptr %helper, i32 0, i32 1
  %core_at = getelementptr %Helper, ptr %helper, i32 0, i32 2
  br label %rest
rest:
  %core = call i32 @current_core()
  store atomic i32 %core, ptr %core_at monotonic, align 4
  ; Between two loop nests of one program it is not worth while to fall asleep.
  %comes_soon = call i1 @comes_soon(ptr %is_called, i32 1)
  call void @acquire(ptr %helper)
  call void @acquire(ptr @guard)
  store atomic i32 0, ptr %is_called monotonic, align 4
  %region = load %Region, ptr @region
  %task = extractvalue %Region %region, 0
  %data = extractvalue %Region %region, 1
  %room = extractvalue %Region %region, 2
  %joined = extractvalue %Region %region, 3
  %is_open = icmp ne ptr %task, null
  %has_room = icmp slt i32 %joined, %room
  %may_join = and i1 %is_open, %has_room
  br i1 %may_join, label %join, label %leave
join:
  %joined_after = add i32 %joined, 1
  %joined_at = getelementptr %Region, ptr @region, i32 0, i32 3
  store i32 %joined_after, ptr %joined_at
  %active = load i32, ptr @active
  %active_after = add i32 %active, 1
  store atomic i32 %active_after, ptr @active monotonic, align 4
  call void @release(ptr @guard)
  call void %task(ptr %data)
  call void @acquire(ptr @guard)
  %still_active = load i32, ptr @active
  %left = sub i32 %still_active, 1
  store atomic i32 %left, ptr @active release, align 4
  %is_last = icmp eq i32 %left, 0
  %awaited = load i32, ptr @is_awaited
  %is_awaited = icmp ne i32 %awaited, 0
  %wakes = and i1 %is_last, %is_awaited
  br i1 %wakes, label %wake, label %leave
wake:
  store i32 0, ptr @is_awaited
  call void @release(ptr @all_left)
  br label %leave
leave:
  call void @release(ptr @guard)
  br label %rest
}

; Starts helpers until there are as many as wanted, or no more can be had. The guard is held.
define internal void @start_helpers(i32 %wanted) nounwind {
entry:
  br label %next
next:
  %started = load i32, ptr @started
  %more = icmp slt i32 %started, %wanted
  br i1 %more, label %make, label %done
make:
  %helper = getelementptr [MOST_HELPERS x %Helper], ptr @helpers, i32 0, i32 %started
  %lock = call ptr @PyThread_allocate_lock()
  store ptr %lock, ptr %helper
  %is_called = getelementptr %Helper, ptr %helper, i32 0, i32 1
  store i32 0, ptr %is_called
  %core_at = getelementptr %Helper, ptr %helper, i32 0, i32 2
  store i32 -1, ptr %core_at
  %has_lock = icmp ne ptr %lock, null
  br i1 %has_lock, label %start, label %done
start:
  call void @acquire(ptr %helper)
  %identifier = call i64 @PyThread_start_new_thread(ptr @help, ptr %helper)
  %has_started = icmp ne i64 %identifier, -1
  br i1 %has_started, label %count, label %give_up
give_up:
  call void @release(ptr %helper)
  call void @PyThread_free_lock(ptr %lock)
  br label %done
count:
  %thread_at = getelementptr %Helper, ptr %helper, i32 0, i32 3
  store i64 %identifier, ptr %thread_at
  %started_after = add i32 %started, 1
  store atomic i32 %started_after, ptr @started monotonic, align 4
  br label %next
done:
  ret void
}

; Calls those of the first helpers that have not been called yet. One that was called for an earlier region and has yet
; to look finds this one.
define internal void @call_helpers(i32 %wanted) nounwind {
entry:
  %started = load atomic i32, ptr @started monotonic, align 4
  %is_enough = icmp slt i32 %wanted, %started
  %count = select i1 %is_enough, i32 %wanted, i32 %started
  %own_core = call i32 @current_core()
  br label %next
next:
  %index = phi i32 [ 0, %entry ], [ %index_after, %call ], [ %index_after, %look ]
  %more = icmp slt i32 %index, %count
  br i1 %more, label %look, label %done
look:
  %index_after = add i32 %index, 1
  %helper = getelementptr [MOST_HELPERS x %Helper], ptr @helpers, i32 0, i32 %index
  %is_called_at = getelementptr %Helper, ptr %helper, i32 0, i32 1
  %called = load atomic i32, ptr %is_called_at monotonic, align 4
  %is_called = icmp ne i32 %called, 0
  br i1 %is_called, label %next, label %meet
meet:
  %core_at = getelementptr %Helper, ptr %helper, i32 0, i32 2
  %core = load atomic i32, ptr %core_at monotonic, align 4
  %is_own_core = icmp eq i32 %core, %own_core
  br i1 %is_own_core, label %part, label %call
part:
  call void @keep_away(ptr %helper, i32 %own_core)
  br label %call
call:
  store atomic i32 1, ptr %is_called_at monotonic, align 4
  call void @release(ptr %helper)
  br label %next
done:
  ret void
}

; Waits until no helper is in the region, which is closed. The guard is held, before and after.
define internal void @await_helpers() nounwind {
  %active = load i32, ptr @active
  %is_empty = icmp eq i32 %active, 0
  br i1 %is_empty, label %done, label %look
look:
  call void @release(ptr @guard)
  %comes_soon = call i1 @comes_soon(ptr @active, i32 0)
  call void @acquire(ptr @guard)
  %still_active = load i32, ptr @active
  %is_empty_now = icmp eq i32 %still_active, 0
  br i1 %is_empty_now, label %done, label %sleep
sleep:
  store i32 1, ptr @is_awaited
  call void @release(ptr @guard)
  call void @acquire(ptr @all_left)
  call void @acquire(ptr @guard)
  br label %done
done:
  ret void
}

; Calls ``task(data)``, on the calling thread and on up to ``parts - 1`` helpers at the same time. The task shares its
; work out by itself: it returns when there is nothing left to begin.
define void @run(ptr %task, ptr %data, i64 %parts) nounwind {
entry:
  %limit = call i32 @current_limit()
  %wide_limit = sext i32 %limit to i64
  %are_few = icmp slt i64 %parts, %wide_limit
  %threads = select i1 %are_few, i64 %parts, i64 %wide_limit
  %narrow = trunc i64 %threads to i32
  %wanted = sub i32 %narrow, 1
  %needs_help = icmp sgt i32 %wanted, 0
  br i1 %needs_help, label %look, label %alone
look:
  call void @acquire(ptr @guard)
  %busy = load i32, ptr @is_busy
  %is_busy = icmp ne i32 %busy, 0
  br i1 %is_busy, label %turn_away, label %open
turn_away:
  call void @release(ptr @guard)
  br label %alone
alone:
  call void %task(ptr %data)
  ret void
open:
  store i32 1, ptr @is_busy
  call void @start_helpers(i32 %wanted)
  %with_task = insertvalue %Region zeroinitializer, ptr %task, 0
  %with_data = insertvalue %Region %with_task, ptr %data, 1
  %with_room = insertvalue %Region %with_data, i32 %wanted, 2
  store %Region %with_room, ptr @region
  call void @release(ptr @guard)
  call void @call_helpers(i32 %wanted)
  call void %task(ptr %data)
  call void @acquire(ptr @guard)
  store %Region zeroinitializer, ptr @region
  call void @await_helpers()
  store i32 0, ptr @is_busy
  call void @release(ptr @guard)
  ret void
}
