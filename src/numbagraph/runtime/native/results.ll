; Making the results of a call, and running the program that fills them. See entry.ll.

; The first byte of an array's memory, and the one after its last.
define internal { ptr, ptr } @span(ptr %array) nounwind noinline {
entry:
  %data = field ArrayFields.data of %array
  %ndim = field ArrayFields.ndim of %array
  %extents = field ArrayFields.extents of %array
  %strides = field ArrayFields.strides of %array
  %dtype = field ArrayFields.dtype of %array
  %itemsize = field DtypeFields.itemsize of %dtype
  %end = getelementptr i8, ptr %data, i64 %itemsize
  br label %next
next:
  %axis = phi i32 [ 0, %entry ], [ %axis_after, %widen ]
  %low = phi ptr [ %data, %entry ], [ %low_after, %widen ]
  %high = phi ptr [ %end, %entry ], [ %high_after, %widen ]
  %more = icmp slt i32 %axis, %ndim
  br i1 %more, label %widen, label %done
widen:
  %extent_at = getelementptr i64, ptr %extents, i32 %axis
  %extent = load i64, ptr %extent_at
  %stride_at = getelementptr i64, ptr %strides, i32 %axis
  %stride = load i64, ptr %stride_at
  %steps = sub i64 %extent, 1
  %reach = mul i64 %steps, %stride
  %backwards = icmp slt i64 %reach, 0
  %down = select i1 %backwards, i64 %reach, i64 0
  %up = select i1 %backwards, i64 0, i64 %reach
  %low_after = getelementptr i8, ptr %low, i64 %down
  %high_after = getelementptr i8, ptr %high, i64 %up
  %axis_after = add i32 %axis, 1
  br label %next
done:
  %half = insertvalue { ptr, ptr } poison, ptr %low, 0
  %whole = insertvalue { ptr, ptr } %half, ptr %high, 1
  ret { ptr, ptr } %whole
}

; Whether the memory of an object that is to be a result is shared with another argument or array for a result, except
; for the one that gives it, or with a captured array: the program may still read these after it has begun to write. To
; say so when it is not only costs an allocation.
define internal i1 @is_shared(ptr %plan, ptr %objects, i64 %place, i64 %donor) nounwind noinline {
entry:
  %place_at = getelementptr ptr, ptr %objects, i64 %place
  %result = load ptr, ptr %place_at
  %span = call { ptr, ptr } @span(ptr %result)
  %low = extractvalue { ptr, ptr } %span, 0
  %high = extractvalue { ptr, ptr } %span, 1
  %count = field Plan.given_count of %plan
  br label %next
next:
  %index = phi i64 [ 0, %entry ], [ %index_after, %no_other ], [ %index_after, %other_array ]
  %more = icmp ult i64 %index, %count
  br i1 %more, label %look, label %look_at_captured
look:
  %index_after = add i64 %index, 1
  %object_at = getelementptr ptr, ptr %objects, i64 %index
  %object = load ptr, ptr %object_at
  %type = field ObjectFields.type of %object
  %is_array = icmp eq ptr %type, @ndarray
  %is_not_itself = icmp ne i64 %index, %place
  %is_not_donor = icmp ne i64 %index, %donor
  %is_other = and i1 %is_not_itself, %is_not_donor
  %is_other_array = and i1 %is_array, %is_other
  br i1 %is_other_array, label %other_array, label %no_other
no_other:
  br label %next
other_array:
  %other_span = call { ptr, ptr } @span(ptr %object)
  %other_low = extractvalue { ptr, ptr } %other_span, 0
  %other_high = extractvalue { ptr, ptr } %other_span, 1
  %meet = call i1 @spans_meet(ptr %low, ptr %high, ptr %other_low, ptr %other_high)
  br i1 %meet, label %shared, label %next
look_at_captured:
  %captured_count = field Plan.captured_count of %plan
  %captured_spans = field Plan.captured_spans of %plan
  br label %next_captured
next_captured:
  %captured = phi i64 [ 0, %look_at_captured ], [ %captured_after, %look_at_span ]
  %more_captured = icmp ult i64 %captured, %captured_count
  br i1 %more_captured, label %look_at_span, label %alone
look_at_span:
  %captured_after = add i64 %captured, 1
  %span_at = getelementptr [2 x ptr], ptr %captured_spans, i64 %captured
  %captured_low = load ptr, ptr %span_at
  %captured_high_at = getelementptr ptr, ptr %span_at, i64 1
  %captured_high = load ptr, ptr %captured_high_at
  %meet_captured = call i1 @spans_meet(ptr %low, ptr %high, ptr %captured_low, ptr %captured_high)
  br i1 %meet_captured, label %shared, label %next_captured
shared:
  ret i1 true
alone:
  ret i1 false
}

define internal i1 @spans_meet(ptr %low, ptr %high, ptr %other_low, ptr %other_high) nounwind alwaysinline {
  %begins_before = icmp ult ptr %low, %other_high
  %ends_after = icmp ult ptr %other_low, %high
  %meet = and i1 %begins_before, %ends_after
  ret i1 %meet
}

; A new array, or null with a Python exception.
define internal ptr @allocate(ptr %result, ptr %extents) nounwind {
  %ndim = field Result.ndim of %result
  %dtype = field Result.dtype of %result
  %begin = field Result.extents_begin of %result
  %own_extents = getelementptr i64, ptr %extents, i64 %begin
  call void @Py_IncRef(ptr %dtype)
  %bytes = call i64 @bytes_of(i32 %ndim, ptr %own_extents, ptr %dtype)
  %is_large = icmp uge i64 %bytes, LARGE_BYTES
  br i1 %is_large, label %large, label %usual
usual:
  %array = call ptr @PyArray_Empty(i32 %ndim, ptr %own_extents, ptr %dtype, i32 0)
  ret ptr %array
large:
  %large_array = call ptr @allocate_large(i32 %ndim, ptr %own_extents, ptr %dtype)
  ret ptr %large_array
}

; The size of an array, if it is one that there can be.
define internal i64 @bytes_of(i32 %ndim, ptr %extents, ptr %dtype) nounwind {
entry:
  %itemsize = field DtypeFields.itemsize of %dtype
  br label %next
next:
  %axis = phi i32 [ 0, %entry ], [ %axis_after, %multiply ]
  %bytes = phi i64 [ %itemsize, %entry ], [ %bytes_after, %multiply ]
  %more = icmp slt i32 %axis, %ndim
  br i1 %more, label %multiply, label %done
multiply:
  %extent_at = getelementptr i64, ptr %extents, i32 %axis
  %extent = load i64, ptr %extent_at
  %bytes_after = mul i64 %bytes, %extent
  %axis_after = add i32 %axis, 1
  br label %next
done:
  ret i64 %bytes
}

; An array whose memory is of the pool, unless someone else has set what NumPy's memory is.
define internal ptr @allocate_large(i32 %ndim, ptr %extents, ptr %dtype) nounwind noinline {
  %handler = call ptr @large_memory()
  %before = call ptr @PyDataMem_SetHandler(ptr %handler)
  %has_failed = icmp eq ptr %before, null
  br i1 %has_failed, label %failed, label %look
failed:
  call void @Py_DecRef(ptr %dtype)
  ret ptr null
look:
  %default = load ptr, ptr @PyDataMem_DefaultHandler
  %is_default = icmp eq ptr %before, %default
  br i1 %is_default, label %make, label %leave
make:
  %array = call ptr @PyArray_Empty(i32 %ndim, ptr %extents, ptr %dtype, i32 0)
  call void @set_back(ptr %before)
  ret ptr %array
leave:
  call void @set_back(ptr %before)
  %usual_array = call ptr @PyArray_Empty(i32 %ndim, ptr %extents, ptr %dtype, i32 0)
  ret ptr %usual_array
}

define internal void @set_back(ptr %handler) nounwind {
  %ours = call ptr @PyDataMem_SetHandler(ptr %handler)
  call void @Py_DecRef(ptr %handler)
  %has_failed = icmp eq ptr %ours, null
  br i1 %has_failed, label %done, label %release
release:
  call void @Py_DecRef(ptr %ours)
  br label %done
done:
  ret void
}

; The donated argument itself, or a new array if its memory is shared or must not be written.
define internal ptr @reuse_donated(ptr %plan, ptr %result, ptr %objects, ptr %extents) nounwind noinline {
  %donor = field Result.donor of %result
  %donor_at = getelementptr ptr, ptr %objects, i64 %donor
  %donated = load ptr, ptr %donor_at
  %flags = field ArrayFields.flags of %donated
  %writeable_flag = and i32 %flags, WRITEABLE
  %writeable = icmp ne i32 %writeable_flag, 0
  br i1 %writeable, label %look_at_others, label %make
look_at_others:
  %shared = call i1 @is_shared(ptr %plan, ptr %objects, i64 %donor, i64 %donor)
  br i1 %shared, label %make, label %reuse
make:
  %array = call ptr @allocate(ptr %result, ptr %extents)
  ret ptr %array
reuse:
  call void @Py_IncRef(ptr %donated)
  ret ptr %donated
}

; Whether an array that the caller gave for a result can be it: of the same type and extents, and with memory of its own
; or of the argument that gives its memory to this result.
define internal i1 @target_fits(ptr %plan, i64 %index, ptr %objects, ptr %extents) nounwind noinline {
entry:
  %count = field Plan.argument_count of %plan
  %place = add i64 %count, %index
  %object_at = getelementptr ptr, ptr %objects, i64 %place
  %object = load ptr, ptr %object_at
  %type = field ObjectFields.type of %object
  %is_array = icmp eq ptr %type, @ndarray
  br i1 %is_array, label %look_at_header, label %refused
look_at_header:
  %targets = field Plan.targets of %plan
  %target_offset = mul i64 %index, SIZE_OF_ARGUMENT
  %target = getelementptr i8, ptr %targets, i64 %target_offset
  %header_fits = call i1 @header_fits(ptr %target, ptr %object)
  br i1 %header_fits, label %look_at_extents, label %refused
look_at_extents:
  %results = field Plan.results of %plan
  %result_offset = mul i64 %index, SIZE_OF_RESULT
  %result = getelementptr i8, ptr %results, i64 %result_offset
  %begin = field Result.extents_begin of %result
  %wanted = getelementptr i64, ptr %extents, i64 %begin
  %given = field ArrayFields.extents of %object
  %ndim = field Result.ndim of %result
  br label %next
next:
  %axis = phi i32 [ 0, %look_at_extents ], [ %axis_after, %compare ]
  %more = icmp slt i32 %axis, %ndim
  br i1 %more, label %compare, label %look_at_donor
compare:
  %axis_after = add i32 %axis, 1
  %wanted_at = getelementptr i64, ptr %wanted, i32 %axis
  %wanted_extent = load i64, ptr %wanted_at
  %given_at = getelementptr i64, ptr %given, i32 %axis
  %given_extent = load i64, ptr %given_at
  %same = icmp eq i64 %wanted_extent, %given_extent
  br i1 %same, label %next, label %refused
look_at_donor:
  %donor = field Result.donor of %result
  %has_donor = icmp sge i64 %donor, 0
  br i1 %has_donor, label %compare_donor, label %look_at_others
compare_donor:
  %donor_at = getelementptr ptr, ptr %objects, i64 %donor
  %donated = load ptr, ptr %donor_at
  %is_donated = icmp eq ptr %object, %donated
  br i1 %is_donated, label %look_at_others, label %refused
look_at_others:
  %shared = call i1 @is_shared(ptr %plan, ptr %objects, i64 %place, i64 %donor)
  %alone = xor i1 %shared, true
  ret i1 %alone
refused:
  ret i1 false
}

; Takes the arrays that the caller gave for the results, and tells the program where to write. False if one does not fit.
define internal i1 @take_targets(ptr %plan, ptr %objects, ptr %frame) nounwind {
entry:
  %result_count = field Plan.result_count of %plan
  %argument_count = field Plan.argument_count of %plan
  %targets = getelementptr ptr, ptr %objects, i64 %argument_count
  %extents_begin = field Plan.extents_begin of %plan
  %extents = getelementptr i64, ptr %frame, i64 %extents_begin
  %pointers_begin = field Plan.pointers_begin of %plan
  %pointers = getelementptr i64, ptr %frame, i64 %pointers_begin
  %made_begin = field Plan.made_begin of %plan
  %made = getelementptr i64, ptr %frame, i64 %made_begin
  br label %next
next:
  %index = phi i64 [ 0, %entry ], [ %index_after, %look ]
  %more = icmp ult i64 %index, %result_count
  br i1 %more, label %look, label %next_taken
look:
  %index_after = add i64 %index, 1
  %fits = call i1 @target_fits(ptr %plan, i64 %index, ptr %objects, ptr %extents)
  br i1 %fits, label %next, label %refused
next_taken:
  %taken = phi i64 [ 0, %next ], [ %taken_after, %take ]
  %more_to_take = icmp ult i64 %taken, %result_count
  br i1 %more_to_take, label %take, label %done
take:
  %taken_after = add i64 %taken, 1
  %target_at = getelementptr ptr, ptr %targets, i64 %taken
  %target = load ptr, ptr %target_at
  call void @Py_IncRef(ptr %target)
  %made_at = getelementptr ptr, ptr %made, i64 %taken
  store ptr %target, ptr %made_at
  %data = field ArrayFields.data of %target
  %pointer_at = getelementptr ptr, ptr %pointers, i64 %taken
  store ptr %data, ptr %pointer_at
  br label %next_taken
done:
  ret i1 true
refused:
  ret i1 false
}

; Makes the result arrays and tells the program where to write. False with a Python exception if memory runs out.
define internal i1 @make_results(ptr %plan, ptr %objects, ptr %frame) nounwind {
entry:
  %count = field Plan.result_count of %plan
  %results = field Plan.results of %plan
  %extents_begin = field Plan.extents_begin of %plan
  %extents = getelementptr i64, ptr %frame, i64 %extents_begin
  %pointers_begin = field Plan.pointers_begin of %plan
  %pointers = getelementptr i64, ptr %frame, i64 %pointers_begin
  %made_begin = field Plan.made_begin of %plan
  %made = getelementptr i64, ptr %frame, i64 %made_begin
  %values_begin = field Plan.values_begin of %plan
  %values = getelementptr i64, ptr %frame, i64 %values_begin
  %size = shl i64 %count, 3
  call void @llvm.memset.p0.i64(ptr %made, i8 0, i64 %size, i1 false)
  br label %next
next:
  %index = phi i64 [ 0, %entry ], [ %index_after, %point ]
  %more = icmp ult i64 %index, %count
  br i1 %more, label %make, label %done
make:
  %index_after = add i64 %index, 1
  %result_offset = mul i64 %index, SIZE_OF_RESULT
  %result = getelementptr i8, ptr %results, i64 %result_offset
  %boxing = field Result.boxing of %result
  %is_array = icmp eq i32 %boxing, ARRAY
  br i1 %is_array, label %make_array, label %make_slot
make_slot:
  %slot = getelementptr [2 x i64], ptr %values, i64 %index
  br label %point
make_array:
  %donor = field Result.donor of %result
  %is_donated = icmp sge i64 %donor, 0
  br i1 %is_donated, label %donated, label %new
donated:
  %old_array = call ptr @reuse_donated(ptr %plan, ptr %result, ptr %objects, ptr %extents)
  br label %made_array
new:
  %new_array = call ptr @allocate(ptr %result, ptr %extents)
  br label %made_array
made_array:
  %array = phi ptr [ %old_array, %donated ], [ %new_array, %new ]
  %made_at = getelementptr ptr, ptr %made, i64 %index
  store ptr %array, ptr %made_at
  %failed = icmp eq ptr %array, null
  br i1 %failed, label %out_of_memory, label %take_data
take_data:
  %data = field ArrayFields.data of %array
  br label %point
point:
  %memory = phi ptr [ %slot, %make_slot ], [ %data, %take_data ]
  %pointer_at = getelementptr ptr, ptr %pointers, i64 %index
  store ptr %memory, ptr %pointer_at
  br label %next
done:
  ret i1 true
out_of_memory:
  ret i1 false
}

; Runs the program, without the GIL if it is work enough.
define internal i32 @run_program(ptr %plan, ptr %frame, ptr %meta) nounwind {
entry:
  %program = field Plan.program of %plan
  %pointers_begin = field Plan.pointers_begin of %plan
  %pointers = getelementptr i64, ptr %frame, i64 %pointers_begin
  %work_begin = field Plan.work_begin of %plan
  %work_at = getelementptr i64, ptr %frame, i64 %work_begin
  %work = load i64, ptr %work_at
  %threshold = field Plan.gil_threshold of %plan
  %is_long = icmp sgt i64 %work, %threshold
  br i1 %is_long, label %prepare, label %run
prepare:
  %before = field Plan.before of %plan
  %has_before = icmp ne ptr %before, null
  br i1 %has_before, label %call_before, label %release
call_before:
  call void %before()
  br label %release
release:
  %released = call ptr @PyEval_SaveThread()
  br label %run
run:
  %thread = phi ptr [ null, %entry ], [ %released, %release ]
  %code = call i32 %program(ptr %frame, ptr %meta, ptr %pointers)
  %holds = icmp eq ptr %thread, null
  br i1 %holds, label %done, label %acquire
acquire:
  call void @PyEval_RestoreThread(ptr %thread)
  br label %done
done:
  ret i32 %code
}

; A new Python object from the value of a rank-0 result, or null with a Python exception.
define internal ptr @box(ptr %result, ptr %value) nounwind {
  %boxing = field Result.boxing of %result
  switch i32 %boxing, label %numpy [
    i32 FLOAT, label %float
    i32 COMPLEX, label %complex
    i32 INT, label %int
    i32 BOOL, label %bool
  ]
numpy:
  %dtype = field Result.dtype of %result
  %numpy_scalar = call ptr @PyArray_Scalar(ptr %value, ptr %dtype, ptr null)
  ret ptr %numpy_scalar
float:
  %float_value = load double, ptr %value
  %python_float = call ptr @PyFloat_FromDouble(double %float_value)
  ret ptr %python_float
complex:
  %real = load double, ptr %value
  %imaginary_at = getelementptr double, ptr %value, i64 1
  %imaginary = load double, ptr %imaginary_at
  %python_complex = call ptr @PyComplex_FromDoubles(double %real, double %imaginary)
  ret ptr %python_complex
int:
  %int_value = load i64, ptr %value
  %python_int = call ptr @PyLong_FromLongLong(i64 %int_value)
  ret ptr %python_int
bool:
  %byte = load i8, ptr %value
  %is_true = icmp ne i8 %byte, 0
  %python_bool = select i1 %is_true, ptr @True, ptr @False
  call void @Py_IncRef(ptr %python_bool)
  ret ptr %python_bool
}

; Boxes those results that are no objects yet. False with a Python exception if memory runs out.
define internal i1 @box_results(ptr %plan, ptr %made, ptr %values) nounwind {
entry:
  %count = field Plan.result_count of %plan
  %results = field Plan.results of %plan
  br label %next
next:
  %index = phi i64 [ 0, %entry ], [ %index_after, %look ], [ %index_after, %box ]
  %more = icmp ult i64 %index, %count
  br i1 %more, label %look, label %done
look:
  %index_after = add i64 %index, 1
  %made_at = getelementptr ptr, ptr %made, i64 %index
  %ready = load ptr, ptr %made_at
  %is_ready = icmp ne ptr %ready, null
  br i1 %is_ready, label %next, label %box
box:
  %result_offset = mul i64 %index, SIZE_OF_RESULT
  %result = getelementptr i8, ptr %results, i64 %result_offset
  %value = getelementptr [2 x i64], ptr %values, i64 %index
  %object = call ptr @box(ptr %result, ptr %value)
  store ptr %object, ptr %made_at
  %failed = icmp eq ptr %object, null
  br i1 %failed, label %out_of_memory, label %next
done:
  ret i1 true
out_of_memory:
  ret i1 false
}

; The only result itself, or a tuple of all; takes over the references. Null with a Python exception and all references
; still the caller's if memory runs out.
define internal ptr @collect(ptr %plan, ptr %made) nounwind {
entry:
  %single = field Plan.single of %plan
  %is_single = icmp ne i64 %single, 0
  br i1 %is_single, label %alone, label %make_tuple
alone:
  %only = load ptr, ptr %made
  ret ptr %only
make_tuple:
  %count = field Plan.result_count of %plan
  %tuple = call ptr @PyTuple_New(i64 %count)
  %failed = icmp eq ptr %tuple, null
  br i1 %failed, label %done, label %next
next:
  %index = phi i64 [ 0, %make_tuple ], [ %index_after, %put ]
  %more = icmp ult i64 %index, %count
  br i1 %more, label %put, label %done
put:
  %index_after = add i64 %index, 1
  %made_at = getelementptr ptr, ptr %made, i64 %index
  %object = load ptr, ptr %made_at
  %status = call i32 @PyTuple_SetItem(ptr %tuple, i64 %index, ptr %object)
  br label %next
done:
  ret ptr %tuple
}
