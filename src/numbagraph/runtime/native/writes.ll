; Arguments that a function writes into: looked at before it runs, and written when all else is done. See entry.ll.

; The argument that is to hold a result, or -1.
define internal i64 @target_of(ptr %plan, i64 %index) nounwind {
  %results = field Plan.results of %plan
  %offset = mul i64 %index, SIZE_OF_RESULT
  %result = getelementptr i8, ptr %results, i64 %offset
  %written = field Result.written of %result
  ret i64 %written
}

; Whether the arguments that are to be written can be: writeable, and without memory of other arguments.
define internal i1 @may_write(ptr %plan, ptr %objects) nounwind noinline {
entry:
  %count = field Plan.result_count of %plan
  br label %next
next:
  %index = phi i64 [ 0, %entry ], [ %index_after, %look ], [ %index_after, %look_at_others ]
  %more = icmp ult i64 %index, %count
  br i1 %more, label %look, label %allowed
look:
  %index_after = add i64 %index, 1
  %argument = call i64 @target_of(ptr %plan, i64 %index)
  %is_written = icmp sge i64 %argument, 0
  br i1 %is_written, label %look_at_flags, label %next
look_at_flags:
  %object_at = getelementptr ptr, ptr %objects, i64 %argument
  %array = load ptr, ptr %object_at
  %flags = field ArrayFields.flags of %array
  %writeable_flag = and i32 %flags, WRITEABLE
  %writeable = icmp ne i32 %writeable_flag, 0
  br i1 %writeable, label %look_at_others, label %refused
look_at_others:
  %shared = call i1 @is_shared(ptr %plan, ptr %objects, i64 %argument, i64 %argument)
  br i1 %shared, label %refused, label %next
allowed:
  ret i1 true
refused:
  ret i1 false
}

; Puts the caller's arrays in the place of the results that they are to hold, and these where numbers would be.
define internal void @exchange_written(ptr %plan, ptr %objects, ptr %made, ptr %values) nounwind noinline {
entry:
  %count = field Plan.result_count of %plan
  br label %next
next:
  %index = phi i64 [ 0, %entry ], [ %index_after, %look ], [ %index_after, %exchange ]
  %more = icmp ult i64 %index, %count
  br i1 %more, label %look, label %done
look:
  %index_after = add i64 %index, 1
  %argument = call i64 @target_of(ptr %plan, i64 %index)
  %is_written = icmp sge i64 %argument, 0
  br i1 %is_written, label %exchange, label %next
exchange:
  %object_at = getelementptr ptr, ptr %objects, i64 %argument
  %target = load ptr, ptr %object_at
  call void @Py_IncRef(ptr %target)
  %made_at = getelementptr ptr, ptr %made, i64 %index
  %result = load ptr, ptr %made_at
  store ptr %target, ptr %made_at
  %value = getelementptr [2 x i64], ptr %values, i64 %index
  store ptr %result, ptr %value
  br label %next
done:
  ret void
}

; Copies the results that were put aside into the caller's arrays, and releases them. False with a Python exception if
; NumPy found no memory to copy between unlike layouts.
define internal i1 @write_back(ptr %plan, ptr %objects, ptr %values) nounwind noinline {
entry:
  %count = field Plan.result_count of %plan
  br label %next
next:
  %index = phi i64 [ 0, %entry ], [ %index_after, %look ], [ %index_after, %copied ]
  %more = icmp ult i64 %index, %count
  br i1 %more, label %look, label %written
look:
  %index_after = add i64 %index, 1
  %argument = call i64 @target_of(ptr %plan, i64 %index)
  %is_written = icmp sge i64 %argument, 0
  br i1 %is_written, label %choose, label %next
choose:
  %object_at = getelementptr ptr, ptr %objects, i64 %argument
  %target = load ptr, ptr %object_at
  %value = getelementptr [2 x i64], ptr %values, i64 %index
  %result = load ptr, ptr %value
  %flags = field ArrayFields.flags of %target
  %contiguous_flag = and i32 %flags, C_CONTIGUOUS
  %contiguous = icmp ne i32 %contiguous_flag, 0
  br i1 %contiguous, label %copy_bytes, label %copy_elements
copy_bytes:
  %to = field ArrayFields.data of %target
  %from = field ArrayFields.data of %result
  %is_in_place = icmp eq ptr %to, %from
  br i1 %is_in_place, label %copied, label %copy
copy:
  %ndim = field ArrayFields.ndim of %target
  %extents = field ArrayFields.extents of %target
  %dtype = field ArrayFields.dtype of %target
  %bytes = call i64 @bytes_of(i32 %ndim, ptr %extents, ptr %dtype)
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %bytes, i1 false)
  br label %copied
copy_elements:
  %status = call i32 @PyArray_CopyInto(ptr %target, ptr %result)
  %has_failed = icmp slt i32 %status, 0
  br i1 %has_failed, label %failed, label %copied
copied:
  call void @Py_DecRef(ptr %result)
  store ptr null, ptr %value
  br label %next
written:
  ret i1 true
failed:
  call void @release_written(ptr %plan, ptr %values)
  ret i1 false
}

; Releases the results that were put aside.
define internal void @release_written(ptr %plan, ptr %values) nounwind noinline cold {
entry:
  %count = field Plan.result_count of %plan
  br label %next
next:
  %index = phi i64 [ 0, %entry ], [ %index_after, %look ], [ %index_after, %release ]
  %more = icmp ult i64 %index, %count
  br i1 %more, label %look, label %done
look:
  %index_after = add i64 %index, 1
  %argument = call i64 @target_of(ptr %plan, i64 %index)
  %is_written = icmp sge i64 %argument, 0
  br i1 %is_written, label %release, label %next
release:
  %value = getelementptr [2 x i64], ptr %values, i64 %index
  %result = load ptr, ptr %value
  call void @Py_DecRef(ptr %result)
  br label %next
done:
  ret void
}
