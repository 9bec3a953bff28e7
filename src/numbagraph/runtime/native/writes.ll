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
  br i1 %writeable, label %look_at_strides, label %refused
look_at_strides:
  %apart = call i1 @has_elements_apart(ptr %array)
  br i1 %apart, label %look_at_others, label %refused
look_at_others:
  %shared = call i1 @is_shared(ptr %plan, ptr %objects, i64 %argument, i64 %argument)
  br i1 %shared, label %refused, label %next
allowed:
  ret i1 true
refused:
  ret i1 false
}

; Whether no two elements of an array can share memory: the step along each dimension is not less than what an element
; and the dimensions with smaller steps span.
define internal i1 @has_elements_apart(ptr %array) nounwind noinline {
entry:
  %flags = field ArrayFields.flags of %array
  %contiguous_flag = and i32 %flags, C_CONTIGUOUS
  %contiguous = icmp ne i32 %contiguous_flag, 0
  br i1 %contiguous, label %apart, label %begin
begin:
  %ndim = field ArrayFields.ndim of %array
  %count = zext i32 %ndim to i64
  %extents = field ArrayFields.extents of %array
  %strides = field ArrayFields.strides of %array
  %dtype = field ArrayFields.dtype of %array
  %itemsize = field DtypeFields.itemsize of %dtype
  br label %next
next:
  %axis = phi i64 [ 0, %begin ], [ %axis_after, %look ], [ %axis_after, %compare ]
  %more = icmp ult i64 %axis, %count
  br i1 %more, label %look, label %apart
look:
  %axis_after = add i64 %axis, 1
  %step = call i64 @step_along(ptr %strides, i64 %axis)
  %extent_at = getelementptr i64, ptr %extents, i64 %axis
  %extent = load i64, ptr %extent_at
  %has_several = icmp sgt i64 %extent, 1
  br i1 %has_several, label %look_within, label %next
look_within:
  %inner = phi i64 [ 0, %look ], [ %inner_after, %within ]
  %spanned = phi i64 [ %itemsize, %look ], [ %spanned_after, %within ]
  %more_inner = icmp ult i64 %inner, %count
  br i1 %more_inner, label %within, label %compare
within:
  %inner_after = add i64 %inner, 1
  %inner_step = call i64 @step_along(ptr %strides, i64 %inner)
  %inner_extent_at = getelementptr i64, ptr %extents, i64 %inner
  %inner_extent = load i64, ptr %inner_extent_at
  %is_smaller = icmp ult i64 %inner_step, %step
  %is_equal = icmp eq i64 %inner_step, %step
  %is_behind = icmp ugt i64 %inner, %axis
  %is_equal_behind = and i1 %is_equal, %is_behind
  %is_inside = or i1 %is_smaller, %is_equal_behind
  %last = sub i64 %inner_extent, 1
  %reach = mul i64 %last, %inner_step
  %own_reach = select i1 %is_inside, i64 %reach, i64 0
  %spanned_after = add i64 %spanned, %own_reach
  br label %look_within
compare:
  %fits = icmp uge i64 %step, %spanned
  br i1 %fits, label %next, label %may_meet
apart:
  ret i1 true
may_meet:
  ret i1 false
}

define internal i64 @step_along(ptr %strides, i64 %axis) nounwind {
  %stride_at = getelementptr i64, ptr %strides, i64 %axis
  %stride = load i64, ptr %stride_at
  %negative = sub i64 0, %stride
  %is_backwards = icmp slt i64 %stride, 0
  %step = select i1 %is_backwards, i64 %negative, i64 %stride
  ret i64 %step
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
