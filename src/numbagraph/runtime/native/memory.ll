; A pool of memory for the temporaries of programs, and for results that are large: what one call has given back, the
; next takes. See memory.py.
;
; Memory that is new costs more than what is done with it: the system hands it out page by page, each filled with
; zeros, when it is first touched. What is small goes to C's allocator, which keeps it anyway. Nobody waits: a thread
; that finds another one in the pool goes past it.

%Block = type { ptr, i64 } ; the memory that is handed out, and its size
%Header = type { ptr, i64 } ; what stands right before it: what malloc gave, and the size

@is_held = internal global i32 0
@blocks = internal global [MOST_BLOCKS x %Block] zeroinitializer ; the oldest first
@count = internal global i64 0
@kept = internal global i64 0 ; bytes
@bound = internal global i64 0 ; bytes

declare ptr @malloc(i64) nounwind
declare void @free(ptr) nounwind
declare i32 @madvise(ptr, i64, i32) nounwind
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

; Whether this thread now has the pool for itself.
define internal i1 @hold() nounwind {
  %seen = cmpxchg ptr @is_held, i32 0, i32 1 acquire monotonic
  %holds = extractvalue { i32, i1 } %seen, 1
  ret i1 %holds
}

define internal void @let_go() nounwind {
  store atomic i32 0, ptr @is_held release, align 4
  ret void
}

; In a child of fork: another thread of the parent may have had the pool, whose state is then lost.
define void @after_fork() nounwind {
  %held = load i32, ptr @is_held
  %is_held = icmp ne i32 %held, 0
  br i1 %is_held, label %forget, label %done
forget:
  store i64 0, ptr @count
  store i64 0, ptr @kept
  call void @let_go()
  br label %done
done:
  ret void
}

define internal ptr @header_of(ptr %memory) nounwind {
  %header = getelementptr %Header, ptr %memory, i64 -1
  ret ptr %header
}

define internal i64 @size_of(ptr %memory) nounwind {
  %header = call ptr @header_of(ptr %memory)
  %size_at = getelementptr %Header, ptr %header, i32 0, i32 1
  %size = load i64, ptr %size_at
  ret i64 %size
}

; Memory of its own, aligned; null if there is none.
define internal ptr @allocate(i64 %size) nounwind {
  %with_room = add i64 %size, TWICE_ALIGNMENT
  %given = call ptr @malloc(i64 %with_room)
  %is_missing = icmp eq ptr %given, null
  br i1 %is_missing, label %missing, label %align
missing:
  ret ptr null
align:
  %address = ptrtoint ptr %given to i64
  %after = add i64 %address, TWICE_ALIGNMENT
  %aligned = and i64 %after, MINUS_ALIGNMENT
  %memory = inttoptr i64 %aligned to ptr
  %header = call ptr @header_of(ptr %memory)
  store ptr %given, ptr %header
  %size_at = getelementptr %Header, ptr %header, i32 0, i32 1
  store i64 %size, ptr %size_at
  %is_huge = icmp uge i64 %size, HUGE
  br i1 %is_huge, label %advise, label %done
advise:
  ; Whole pages: what begins before the memory or ends behind it is not ours to speak of.
  %into_page = add i64 %aligned, 4095
  %page = and i64 %into_page, -4096
  %end = add i64 %aligned, %size
  %length = sub i64 %end, %page
  %first = inttoptr i64 %page to ptr
  %status = call i32 @madvise(ptr %first, i64 %length, i32 HUGE_PAGES)
  br label %done
done:
  ret ptr %memory
}

define internal void @deallocate(ptr %memory) nounwind {
  %header = call ptr @header_of(ptr %memory)
  %given = load ptr, ptr %header
  call void @free(ptr %given)
  ret void
}

; Takes a block out of the pool, which this thread holds.
define internal ptr @remove(i64 %index) nounwind {
  %block = getelementptr [MOST_BLOCKS x %Block], ptr @blocks, i64 0, i64 %index
  %memory = load ptr, ptr %block
  %size = call i64 @size_of(ptr %memory)
  %kept = load i64, ptr @kept
  %kept_after = sub i64 %kept, %size
  store i64 %kept_after, ptr @kept
  %count = load i64, ptr @count
  %last = sub i64 %count, 1
  store i64 %last, ptr @count
  %behind = sub i64 %last, %index
  %bytes = shl i64 %behind, 4
  %next = getelementptr %Block, ptr %block, i64 1
  call void @llvm.memmove.p0.p0.i64(ptr %block, ptr %next, i64 %bytes, i1 false)
  ret ptr %memory
}

; The smallest block that is large enough, but not much too large; -1 if there is none. This thread holds the pool.
define internal i64 @best_fit(i64 %size) nounwind {
entry:
  %count = load i64, ptr @count
  %limit = shl i64 %size, 1
  br label %next
next:
  %index = phi i64 [ 0, %entry ], [ %index_after, %look ]
  %best = phi i64 [ -1, %entry ], [ %best_after, %look ]
  %best_size = phi i64 [ %limit, %entry ], [ %best_size_after, %look ]
  %more = icmp slt i64 %index, %count
  br i1 %more, label %look, label %done
look:
  %index_after = add i64 %index, 1
  %size_at = getelementptr [MOST_BLOCKS x %Block], ptr @blocks, i64 0, i64 %index, i32 1
  %found = load i64, ptr %size_at
  %is_enough = icmp uge i64 %found, %size
  %is_better = icmp ule i64 %found, %best_size
  %wins = and i1 %is_enough, %is_better
  %best_after = select i1 %wins, i64 %index, i64 %best
  %best_size_after = select i1 %wins, i64 %found, i64 %best_size
  br label %next
done:
  ret i64 %best
}

define ptr @take(i64 %size) nounwind {
  %is_small = icmp ult i64 %size, SMALL
  br i1 %is_small, label %new, label %try
try:
  %holds = call i1 @hold()
  br i1 %holds, label %look, label %new
look:
  %index = call i64 @best_fit(i64 %size)
  %is_found = icmp sge i64 %index, 0
  br i1 %is_found, label %reuse, label %none
reuse:
  %kept = call ptr @remove(i64 %index)
  call void @let_go()
  ret ptr %kept
none:
  call void @let_go()
  br label %new
new:
  %memory = call ptr @allocate(i64 %size)
  ret ptr %memory
}

; Frees the oldest blocks until there is a place, and room for ``size`` more bytes. This thread holds the pool.
define internal void @make_room(i64 %size) nounwind {
entry:
  br label %next
next:
  %count = load i64, ptr @count
  %kept = load i64, ptr @kept
  %bound = load i64, ptr @bound
  %sum = add i64 %kept, %size
  %is_too_much = icmp ugt i64 %sum, %bound
  %is_full = icmp sge i64 %count, MOST_BLOCKS
  %overflows = or i1 %is_too_much, %is_full
  %some = icmp sgt i64 %count, 0
  %drops = and i1 %overflows, %some
  br i1 %drops, label %drop, label %done
drop:
  %oldest = call ptr @remove(i64 0)
  call void @deallocate(ptr %oldest)
  br label %next
done:
  ret void
}

define void @give(ptr %memory) nounwind {
  %size = call i64 @size_of(ptr %memory)
  %bound = load atomic i64, ptr @bound monotonic, align 8
  %is_small = icmp ult i64 %size, SMALL
  %is_too_large = icmp ugt i64 %size, %bound
  %is_not_kept = or i1 %is_small, %is_too_large
  br i1 %is_not_kept, label %drop, label %try
try:
  %holds = call i1 @hold()
  br i1 %holds, label %keep, label %drop
drop:
  call void @deallocate(ptr %memory)
  ret void
keep:
  call void @make_room(i64 %size)
  %count = load i64, ptr @count
  %block = getelementptr [MOST_BLOCKS x %Block], ptr @blocks, i64 0, i64 %count
  store ptr %memory, ptr %block
  %size_at = getelementptr %Block, ptr %block, i32 0, i32 1
  store i64 %size, ptr %size_at
  %count_after = add i64 %count, 1
  store i64 %count_after, ptr @count
  %kept = load i64, ptr @kept
  %kept_after = add i64 %kept, %size
  store i64 %kept_after, ptr @kept
  call void @let_go()
  ret void
}

; Sets how many bytes may be kept, and frees what is too much; gives how many are kept. Does nothing, and gives -1, if
; another thread has the pool.
define i64 @keep_at_most(i64 %bytes) nounwind {
  %holds = call i1 @hold()
  br i1 %holds, label %free, label %busy
free:
  store atomic i64 %bytes, ptr @bound monotonic, align 8
  call void @make_room(i64 0)
  %kept = load i64, ptr @kept
  call void @let_go()
  ret i64 %kept
busy:
  ret i64 -1
}

; The four functions of an allocator of NumPy, whose first argument is of no use here.

define ptr @array_malloc(ptr %context, i64 %size) nounwind {
  %memory = call ptr @take(i64 %size)
  ret ptr %memory
}

define ptr @array_calloc(ptr %context, i64 %count, i64 %itemsize) nounwind {
  %size = mul i64 %count, %itemsize ; which NumPy knows to be no more than an address
  %memory = call ptr @take(i64 %size)
  %is_missing = icmp eq ptr %memory, null
  br i1 %is_missing, label %done, label %clear
clear:
  call void @llvm.memset.p0.i64(ptr %memory, i8 0, i64 %size, i1 false)
  br label %done
done:
  ret ptr %memory
}

define ptr @array_realloc(ptr %context, ptr %memory, i64 %size) nounwind {
  %is_new = icmp eq ptr %memory, null
  %other = call ptr @take(i64 %size)
  %is_missing = icmp eq ptr %other, null
  %is_done = or i1 %is_new, %is_missing
  br i1 %is_done, label %done, label %copy
copy:
  %old_size = call i64 @size_of(ptr %memory)
  %is_shorter = icmp ult i64 %size, %old_size
  %length = select i1 %is_shorter, i64 %size, i64 %old_size
  call void @llvm.memcpy.p0.p0.i64(ptr %other, ptr %memory, i64 %length, i1 false)
  call void @give(ptr %memory)
  br label %done
done:
  ret ptr %other
}

define void @array_free(ptr %context, ptr %memory, i64 %size) nounwind {
  %is_none = icmp eq ptr %memory, null
  br i1 %is_none, label %done, label %drop
drop:
  call void @give(ptr %memory)
  br label %done
done:
  ret void
}
