; Calls of Python functions from programs. See callbacks.py.
;
; The caller may have the GIL or not. Operands are copied into new arrays (numbers into NumPy's scalars), behind which
; arrays without memory of their own say what the results must be like. What the function returns, a tuple of such
; arrays, is copied to where it belongs: the function never sees memory of a program, and may keep what it is given.

%Kind = type { i64, i64, ptr } ; dimensions, bytes of an element, dtype
; the function, the kinds of its arguments, how many are operands, how many in all, and the function for threads that
; Python does not know, which keeps an exception and gives None
%Record = type { ptr, ptr, i64, i64, ptr }

declare i32 @PyArray_CopyInto(ptr, ptr) nounwind
declare ptr @PyArray_Empty(i32, ptr, ptr, i32) nounwind
declare ptr @PyArray_NewFromDescr(ptr, ptr, i32, ptr, ptr, ptr, i32, ptr) nounwind
declare ptr @PyArray_Scalar(ptr, ptr, ptr) nounwind
declare ptr @PyErr_Occurred() nounwind
declare void @PyErr_WriteUnraisable(ptr) nounwind
declare i32 @PyGILState_Ensure() nounwind
declare ptr @PyGILState_GetThisThreadState() nounwind
declare void @PyGILState_Release(i32) nounwind
declare ptr @PyObject_CallObject(ptr, ptr) nounwind
declare ptr @PyTuple_GetItem(ptr, i64) nounwind
declare ptr @PyTuple_New(i64) nounwind
declare i32 @PyTuple_SetItem(ptr, i64, ptr) nounwind
declare void @Py_DecRef(ptr) nounwind
declare void @Py_IncRef(ptr) nounwind
@ndarray = external global i8
@None = external global i8
@zero = internal constant [2 x i64] zeroinitializer, align 16
@no_strides = internal constant [64 x i64] zeroinitializer
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

define internal i64 @bytes_of(ptr %kind, ptr %lengths) nounwind {
entry:
  %ndim = load i64, ptr %kind
  %itemsize_at = getelementptr %Kind, ptr %kind, i32 0, i32 1
  %itemsize = load i64, ptr %itemsize_at
  br label %next
next:
  %axis = phi i64 [ 0, %entry ], [ %axis_after, %more ]
  %bytes = phi i64 [ %itemsize, %entry ], [ %bytes_after, %more ]
  %is_more = icmp ult i64 %axis, %ndim
  br i1 %is_more, label %more, label %done
more:
  %length_at = getelementptr i64, ptr %lengths, i64 %axis
  %length = load i64, ptr %length_at
  %bytes_after = mul i64 %bytes, %length
  %axis_after = add i64 %axis, 1
  br label %next
done:
  ret i64 %bytes
}

define internal ptr @data_of(ptr %array) nounwind {
  %data_at = getelementptr i8, ptr %array, i64 DATA_OF_ARRAY
  %data = load ptr, ptr %data_at
  ret ptr %data
}

; A new argument, or null with an exception.
define internal ptr @argument(ptr %kind, ptr %source, ptr %lengths, i1 %is_operand) nounwind {
  %ndim = load i64, ptr %kind
  %dtype_at = getelementptr %Kind, ptr %kind, i32 0, i32 2
  %dtype = load ptr, ptr %dtype_at
  %is_rank0 = icmp eq i64 %ndim, 0
  %is_number = and i1 %is_rank0, %is_operand
  br i1 %is_number, label %number, label %array
number:
  %scalar = call ptr @PyArray_Scalar(ptr %source, ptr %dtype, ptr null)
  ret ptr %scalar
array:
  %rank = trunc i64 %ndim to i32
  call void @Py_IncRef(ptr %dtype)
  br i1 %is_operand, label %copy, label %like
like:
  %all_zero = call ptr @PyArray_NewFromDescr(ptr @ndarray, ptr %dtype, i32 %rank, ptr %lengths, ptr @no_strides, ptr @zero, i32 0, ptr null)
  ret ptr %all_zero
copy:
  %made = call ptr @PyArray_Empty(i32 %rank, ptr %lengths, ptr %dtype, i32 0)
  %is_made = icmp ne ptr %made, null
  br i1 %is_made, label %fill, label %done
fill:
  %data = call ptr @data_of(ptr %made)
  %bytes = call i64 @bytes_of(ptr %kind, ptr %lengths)
  call void @llvm.memcpy.p0.p0.i64(ptr %data, ptr %source, i64 %bytes, i1 false)
  br label %done
done:
  ret ptr %made
}

; The arguments as a tuple, or null with an exception.
define internal ptr @arguments(ptr %record, ptr %addresses, ptr %lengths) nounwind {
entry:
  %kinds_at = getelementptr %Record, ptr %record, i32 0, i32 1
  %kinds = load ptr, ptr %kinds_at
  %operands_at = getelementptr %Record, ptr %record, i32 0, i32 2
  %operands = load i64, ptr %operands_at
  %count_at = getelementptr %Record, ptr %record, i32 0, i32 3
  %count = load i64, ptr %count_at
  %tuple = call ptr @PyTuple_New(i64 %count)
  %has_tuple = icmp ne ptr %tuple, null
  br i1 %has_tuple, label %next, label %done
next:
  %number = phi i64 [ 0, %entry ], [ %number_after, %put ]
  %own = phi ptr [ %lengths, %entry ], [ %own_after, %put ]
  %is_more = icmp ult i64 %number, %count
  br i1 %is_more, label %more, label %done
more:
  %kind = getelementptr %Kind, ptr %kinds, i64 %number
  %address_at = getelementptr ptr, ptr %addresses, i64 %number
  %address = load ptr, ptr %address_at
  %is_operand = icmp ult i64 %number, %operands
  %argument = call ptr @argument(ptr %kind, ptr %address, ptr %own, i1 %is_operand)
  %is_made = icmp ne ptr %argument, null
  br i1 %is_made, label %put, label %failed
put:
  %status = call i32 @PyTuple_SetItem(ptr %tuple, i64 %number, ptr %argument)
  %ndim = load i64, ptr %kind
  %own_after = getelementptr i64, ptr %own, i64 %ndim
  %number_after = add i64 %number, 1
  br label %next
failed:
  call void @Py_DecRef(ptr %tuple)
  ret ptr null
done:
  ret ptr %tuple
}

; Copies an array to the memory of a result; gives whether that went well.
define internal i1 @store_result(ptr %kind, ptr %found, ptr %target, ptr %lengths) nounwind {
  %ndim = load i64, ptr %kind
  %rank = trunc i64 %ndim to i32
  %dtype_at = getelementptr %Kind, ptr %kind, i32 0, i32 2
  %dtype = load ptr, ptr %dtype_at
  call void @Py_IncRef(ptr %dtype)
  %view = call ptr @PyArray_NewFromDescr(ptr @ndarray, ptr %dtype, i32 %rank, ptr %lengths, ptr null, ptr %target, i32 IN_C_ORDER, ptr null)
  %is_made = icmp ne ptr %view, null
  br i1 %is_made, label %copy, label %failed
copy:
  %status = call i32 @PyArray_CopyInto(ptr %view, ptr %found)
  call void @Py_DecRef(ptr %view)
  %is_copied = icmp eq i32 %status, 0
  ret i1 %is_copied
failed:
  ret i1 false
}

; Copies the results of a call, a tuple of arrays, to where they belong; gives whether that went well.
define internal i1 @store_results(ptr %record, ptr %found, ptr %addresses, ptr %lengths) nounwind {
entry:
  %kinds_at = getelementptr %Record, ptr %record, i32 0, i32 1
  %kinds = load ptr, ptr %kinds_at
  %operands_at = getelementptr %Record, ptr %record, i32 0, i32 2
  %operands = load i64, ptr %operands_at
  %count_at = getelementptr %Record, ptr %record, i32 0, i32 3
  %count = load i64, ptr %count_at
  br label %next
next:
  %number = phi i64 [ 0, %entry ], [ %number_after, %after ]
  %own = phi ptr [ %lengths, %entry ], [ %own_after, %after ]
  %is_more = icmp ult i64 %number, %count
  br i1 %is_more, label %more, label %done
more:
  %kind = getelementptr %Kind, ptr %kinds, i64 %number
  %is_operand = icmp ult i64 %number, %operands
  br i1 %is_operand, label %after, label %store
store:
  %address_at = getelementptr ptr, ptr %addresses, i64 %number
  %address = load ptr, ptr %address_at
  %position = sub i64 %number, %operands
  %array = call ptr @PyTuple_GetItem(ptr %found, i64 %position)
  %is_stored = call i1 @store_result(ptr %kind, ptr %array, ptr %address, ptr %own)
  br i1 %is_stored, label %after, label %failed
after:
  %ndim = load i64, ptr %kind
  %own_after = getelementptr i64, ptr %own, i64 %ndim
  %number_after = add i64 %number, 1
  br label %next
failed:
  ret i1 false
done:
  ret i1 true
}

; Calls a function: 0, or INTERRUPTED with an exception that is set, unless nobody on this thread would see it.
define i32 @run(ptr %record, ptr %addresses, ptr %lengths, i1 %is_reported) nounwind {
  %known = call ptr @PyGILState_GetThisThreadState()
  %is_foreign = icmp eq ptr %known, null
  %is_raised = xor i1 %is_reported, true
  %is_unseen = and i1 %is_foreign, %is_raised
  %function_at = getelementptr %Record, ptr %record, i32 0, i32 0
  %unseen_at = getelementptr %Record, ptr %record, i32 0, i32 4
  %chosen_at = select i1 %is_unseen, ptr %unseen_at, ptr %function_at
  %state = call i32 @PyGILState_Ensure()
  %function = load ptr, ptr %chosen_at
  %tuple = call ptr @arguments(ptr %record, ptr %addresses, ptr %lengths)
  %has_tuple = icmp ne ptr %tuple, null
  br i1 %has_tuple, label %go_on, label %failed
go_on:
  %answer = call ptr @PyObject_CallObject(ptr %function, ptr %tuple)
  %has_answer = icmp ne ptr %answer, null
  br i1 %has_answer, label %look, label %raised
look:
  %is_none = icmp eq ptr %answer, @None
  br i1 %is_none, label %kept, label %store
kept:
  call void @Py_DecRef(ptr %answer)
  call void @Py_DecRef(ptr %tuple)
  br label %leave
store:
  %is_stored = call i1 @store_results(ptr %record, ptr %answer, ptr %addresses, ptr %lengths)
  call void @Py_DecRef(ptr %answer)
  br i1 %is_stored, label %done, label %raised
done:
  call void @Py_DecRef(ptr %tuple)
  call void @PyGILState_Release(i32 %state)
  ret i32 0
raised:
  call void @Py_DecRef(ptr %tuple)
  br label %failed
failed:
  %is_lost = or i1 %is_foreign, %is_reported
  br i1 %is_lost, label %report, label %leave
report:
  call void @PyErr_WriteUnraisable(ptr %function)
  br label %leave
leave:
  call void @PyGILState_Release(i32 %state)
  ret i32 INTERRUPTED
}

; Prints the exception that is set, if there is one: for callers who cannot raise it.
define void @report() nounwind {
  %state = call i32 @PyGILState_Ensure()
  %exception = call ptr @PyErr_Occurred()
  %is_set = icmp ne ptr %exception, null
  br i1 %is_set, label %print, label %done
print:
  call void @PyErr_WriteUnraisable(ptr null)
  br label %done
done:
  call void @PyGILState_Release(i32 %state)
  ret void
}
