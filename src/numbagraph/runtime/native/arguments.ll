; Checking the arguments of a call against a plan, and taking pointers and lengths out of them. See entry.ll.

; Whether two dtype objects mean the same: an unpickled array has its own, and C's long and long long are two.
; NumPy numbers its own dtypes below 24; an extension's dtype may share their kind and size.
define internal i1 @same_dtype(ptr %given, ptr %wanted) nounwind noinline {
  %number = field DtypeFields.number of %given
  %builtin = icmp ult i32 %number, 24
  %given_kind = field DtypeFields.kind of %given
  %wanted_kind = field DtypeFields.kind of %wanted
  %same_kind = icmp eq i8 %given_kind, %wanted_kind
  %given_order = field DtypeFields.byteorder of %given
  %wanted_order = field DtypeFields.byteorder of %wanted
  %same_order = icmp eq i8 %given_order, %wanted_order
  %given_size = field DtypeFields.itemsize of %given
  %wanted_size = field DtypeFields.itemsize of %wanted
  %same_size = icmp eq i64 %given_size, %wanted_size
  %two = and i1 %same_kind, %same_order
  %three = and i1 %two, %same_size
  %all = and i1 %three, %builtin
  ret i1 %all
}

; Whether an array has the number of dimensions, the flags and the dtype that the plan wants.
define internal i1 @header_fits(ptr %argument, ptr %array) nounwind alwaysinline {
  %ndim = field ArrayFields.ndim of %array
  %wanted_ndim = field Argument.ndim of %argument
  %same_ndim = icmp eq i32 %ndim, %wanted_ndim
  %flags = field ArrayFields.flags of %array
  %mask = field Argument.flags_that_matter of %argument
  %wanted_flags = field Argument.flags of %argument
  %masked_flags = and i32 %flags, %mask
  %same_flags = icmp eq i32 %masked_flags, %wanted_flags
  %same = and i1 %same_ndim, %same_flags
  br i1 %same, label %look_at_dtype, label %done
look_at_dtype:
  %dtype = field ArrayFields.dtype of %array
  %wanted_dtype = field Argument.dtype of %argument
  %usual = icmp eq ptr %dtype, %wanted_dtype
  br i1 %usual, label %done, label %unusual
unusual:
  %equal = call i1 @same_dtype(ptr %dtype, ptr %wanted_dtype)
  ret i1 %equal
done:
  ret i1 %same
}

; Takes the extents, and the strides if the plan wants them, of an array whose header fits. False if an extent is 1
; that must not be, or is not 1 that must. Of lengths that another program has computed, nobody knows before.
define internal i1 @take_extents(ptr %argument, ptr %array, ptr %meta) nounwind alwaysinline {
entry:
  %ndim_int = field Argument.ndim of %argument
  %ndim = zext i32 %ndim_int to i64
  %ones = field Argument.ones of %argument
  %any_length = field Argument.any_length of %argument
  %extents = field ArrayFields.extents of %array
  br label %next_extent
next_extent:
  %axis = phi i64 [ 0, %entry ], [ %axis_after, %take_extent ]
  %ones_left = phi i64 [ %ones, %entry ], [ %ones_after, %take_extent ]
  %any_left = phi i64 [ %any_length, %entry ], [ %any_after, %take_extent ]
  %more = icmp ult i64 %axis, %ndim
  br i1 %more, label %take_extent, label %extents_taken
take_extent:
  %extent_at = getelementptr i64, ptr %extents, i64 %axis
  %extent = load i64, ptr %extent_at
  %meta_at = getelementptr i64, ptr %meta, i64 %axis
  store i64 %extent, ptr %meta_at
  %is_one = icmp eq i64 %extent, 1
  %should_be_one = trunc i64 %ones_left to i1
  %as_it_should = icmp eq i1 %is_one, %should_be_one
  %may_be_any = trunc i64 %any_left to i1
  %fits = or i1 %as_it_should, %may_be_any
  %axis_after = add i64 %axis, 1
  %ones_after = lshr i64 %ones_left, 1
  %any_after = lshr i64 %any_left, 1
  br i1 %fits, label %next_extent, label %refused
extents_taken:
  %strided = field Argument.strided of %argument
  %reads_strides = icmp ne i64 %strided, 0
  br i1 %reads_strides, label %take_strides, label %accepted
take_strides:
  %strides = field ArrayFields.strides of %array
  %strides_meta = getelementptr i64, ptr %meta, i64 %ndim
  %size = shl i64 %ndim, 3
  call void @llvm.memcpy.p0.p0.i64(ptr %strides_meta, ptr %strides, i64 %size, i1 false)
  ; Whether the elements of a row follow each other must be as the code takes it.
  %last_axis = sub i64 %ndim, 1
  %last_stride_at = getelementptr i64, ptr %strides, i64 %last_axis
  %last_stride = load i64, ptr %last_stride_at
  %dtype = field Argument.dtype of %argument
  %itemsize = field DtypeFields.itemsize of %dtype
  %has_rows = icmp eq i64 %last_stride, %itemsize
  %rows = field Argument.rows of %argument
  %wants_rows = icmp ne i64 %rows, 0
  %same_rows = icmp eq i1 %has_rows, %wants_rows
  ret i1 %same_rows
accepted:
  ret i1 true
refused:
  ret i1 false
}

; Checks one argument against the plan and stores where its value lies.
define internal i1 @take_argument(ptr %argument, ptr %object, ptr %scalar, ptr %meta, ptr %place) nounwind {
entry:
  %overflow = alloca i32
  %type = field ObjectFields.type of %object
  %sort = field Argument.sort of %argument
  %wanted_type = field Argument.type of %argument
  %has_type = icmp eq ptr %type, %wanted_type
  br i1 %has_type, label %expected_type, label %other_type
expected_type:
  switch i32 %sort, label %immutable [
    i32 ARRAY, label %array
    i32 INT, label %int
    i32 BOOL, label %bool
  ]
immutable:
  ; Floats, complex numbers and NumPy scalars never change: the program reads their value where it is.
  %value_at = getelementptr i8, ptr %object, i64 HEADER_SIZE
  store ptr %value_at, ptr %place
  ret i1 true
int:
  %int_value = call i64 @PyLong_AsLongLongAndOverflow(ptr %object, ptr %overflow)
  store i64 %int_value, ptr %scalar
  store ptr %scalar, ptr %place
  %overflowed = load i32, ptr %overflow
  %is_small = icmp eq i32 %overflowed, 0
  ret i1 %is_small
bool:
  %is_true = icmp eq ptr %object, @True
  %bool_value = zext i1 %is_true to i8
  store i8 %bool_value, ptr %scalar
  store ptr %scalar, ptr %place
  ret i1 true
other_type:
  %is_rank0 = icmp eq i32 %sort, RANK0
  br i1 %is_rank0, label %other_rank0, label %refused
other_rank0:
  %second_type = field Argument.second_type of %argument
  %has_second_type = icmp eq ptr %type, %second_type
  br i1 %has_second_type, label %immutable, label %maybe_array
maybe_array:
  %is_array = icmp eq ptr %type, @ndarray
  br i1 %is_array, label %array, label %refused
array:
  %header_fits = call i1 @header_fits(ptr %argument, ptr %object)
  br i1 %header_fits, label %fitting_array, label %refused
fitting_array:
  %data = field ArrayFields.data of %object
  store ptr %data, ptr %place
  %extents_fit = call i1 @take_extents(ptr %argument, ptr %object, ptr %meta)
  ret i1 %extents_fit
refused:
  ret i1 false
}

define internal void @take_captured(ptr %plan, i64 %first, i64 %count, ptr %frame, ptr %meta) nounwind {
  %pointers = field Plan.captured_pointers of %plan
  %data = getelementptr ptr, ptr %frame, i64 %first
  %size = shl i64 %count, 3
  call void @llvm.memcpy.p0.p0.i64(ptr %data, ptr %pointers, i64 %size, i1 false)
  %source = field Plan.captured_meta of %plan
  %begin = field Plan.captured_meta_begin of %plan
  %own_meta = getelementptr i64, ptr %meta, i64 %begin
  %meta_count = field Plan.captured_meta_count of %plan
  %meta_size = shl i64 %meta_count, 3
  call void @llvm.memcpy.p0.p0.i64(ptr %own_meta, ptr %source, i64 %meta_size, i1 false)
  ret void
}

; Checks all arguments against a plan, and fills the program's data, which begin the frame, and its meta.
define internal i1 @take_arguments(ptr %plan, ptr %objects, i64 %given, ptr %frame) nounwind {
entry:
  %count = field Plan.argument_count of %plan
  %arguments = field Plan.arguments of %plan
  %scalars_begin = field Plan.scalars_begin of %plan
  %scalars = getelementptr i64, ptr %frame, i64 %scalars_begin
  %meta_begin = field Plan.meta_begin of %plan
  %meta = getelementptr i64, ptr %frame, i64 %meta_begin
  %given_count = field Plan.given_count of %plan
  %as_many = icmp eq i64 %given, %given_count
  br i1 %as_many, label %next, label %refused
next:
  %index = phi i64 [ 0, %entry ], [ %index_after, %take ]
  %more = icmp ult i64 %index, %count
  br i1 %more, label %take, label %arguments_taken
take:
  %argument_offset = mul i64 %index, SIZE_OF_ARGUMENT
  %argument = getelementptr i8, ptr %arguments, i64 %argument_offset
  %object_at = getelementptr ptr, ptr %objects, i64 %index
  %object = load ptr, ptr %object_at
  %scalar = getelementptr i64, ptr %scalars, i64 %index
  %place = getelementptr ptr, ptr %frame, i64 %index
  %own_meta_begin = field Argument.meta_begin of %argument
  %own_meta = getelementptr i64, ptr %meta, i64 %own_meta_begin
  %index_after = add i64 %index, 1
  %fits = call i1 @take_argument(ptr %argument, ptr %object, ptr %scalar, ptr %own_meta, ptr %place)
  br i1 %fits, label %next, label %refused
arguments_taken:
  %are_defined_so = call i1 @definitions_hold(ptr %plan)
  br i1 %are_defined_so, label %defined, label %refused
defined:
  %guard_count = field Plan.guard_count of %plan
  %is_guarded = icmp ne i64 %guard_count, 0
  br i1 %is_guarded, label %guarded, label %fitting
guarded:
  %hold = call i1 @guards_hold(ptr %plan, i64 %guard_count)
  br i1 %hold, label %fitting, label %refused
fitting:
  %captured_count = field Plan.captured_count of %plan
  %captures = icmp ne i64 %captured_count, 0
  br i1 %captures, label %capture, label %accepted
capture:
  call void @take_captured(ptr %plan, i64 %count, i64 %captured_count, ptr %frame, ptr %meta)
  br label %accepted
accepted:
  ret i1 true
refused:
  ret i1 false
}
