; While any thread is between `begin` and `end`, BLAS uses one thread. See one_thread.py.
;
; BLAS has one number of threads for the process: the first that begins puts it aside, the last that ends restores it.
; The lock is CPython's, which can be taken and released without the GIL, on every system.

@guard = internal global ptr null
@inside = internal global i32 0 ; how many have begun and have not ended
@threads = internal global i32 1 ; what BLAS had before

declare i32 @get_threads() nounwind
declare void @set_threads(i32) nounwind
declare ptr @PyThread_allocate_lock() nounwind
declare i32 @PyThread_acquire_lock(ptr, i32) nounwind
declare void @PyThread_release_lock(ptr) nounwind

; Makes all state new: at first, and in a child of fork, where nobody has begun. False if there is no memory for a lock.
define i1 @reset() nounwind {
  %lock = call ptr @PyThread_allocate_lock()
  store ptr %lock, ptr @guard
  call void @restore()
  store i32 0, ptr @inside
  %has_lock = icmp ne ptr %lock, null
  ret i1 %has_lock
}

define internal void @restore() nounwind {
  %inside = load i32, ptr @inside
  %threads = load i32, ptr @threads
  %has_begun = icmp sgt i32 %inside, 0
  %are_several = icmp sgt i32 %threads, 1
  %is_changed = and i1 %has_begun, %are_several
  br i1 %is_changed, label %change, label %done
change:
  call void @set_threads(i32 %threads)
  br label %done
done:
  ret void
}

define void @begin() nounwind {
  %is_known = icmp ne i32 IS_KNOWN, 0
  br i1 %is_known, label %take, label %done
take:
  %lock = load ptr, ptr @guard
  %status = call i32 @PyThread_acquire_lock(ptr %lock, i32 1)
  %inside = load i32, ptr @inside
  %is_first = icmp eq i32 %inside, 0
  br i1 %is_first, label %first, label %count
first:
  %threads = call i32 @get_threads()
  store i32 %threads, ptr @threads
  %are_several = icmp sgt i32 %threads, 1
  br i1 %are_several, label %limit, label %count
limit:
  call void @set_threads(i32 1)
  br label %count
count:
  %more = add i32 %inside, 1
  store i32 %more, ptr @inside
  call void @PyThread_release_lock(ptr %lock)
  br label %done
done:
  ret void
}

define void @end() nounwind {
  %is_known = icmp ne i32 IS_KNOWN, 0
  br i1 %is_known, label %take, label %done
take:
  %lock = load ptr, ptr @guard
  %status = call i32 @PyThread_acquire_lock(ptr %lock, i32 1)
  %inside = load i32, ptr @inside
  %is_last = icmp eq i32 %inside, 1
  br i1 %is_last, label %last, label %count
last:
  call void @restore()
  br label %count
count:
  %less = sub i32 %inside, 1
  store i32 %less, ptr @inside
  call void @PyThread_release_lock(ptr %lock)
  br label %done
done:
  ret void
}
