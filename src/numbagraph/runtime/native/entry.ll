; The native Python entry that all compiled functions share, compiled once a machine.
;
; A function is bound to a table of plans, one for each specialisation. The entry takes pointers and lengths out of the
; array objects for one plan after the other, until one fits, what it requires of lengths included. For that it lets
; NumPy allocate the results (or takes the arrays that the caller gave for them, behind the arguments), runs the
; program, and boxes what it returns; what the function writes into arguments is copied there last of all. Whatever it
; does not accept it answers with NotImplemented, and Python finds out why.
;
; "field STRUCTURE.NAME of POINTER", a load, is expanded (handwritten.py) from the structures that entry.py and objects.py
; declare, and HEADER_SIZE is the size of what stands before a Python object's own fields.

@PyDataMem_DefaultHandler = external global ptr
@ndarray = external global i8
@NotImplemented = external global i8
@True = external global i8
@False = external global i8

declare i32 @PyArray_CopyInto(ptr, ptr) nounwind
declare ptr @PyArray_Empty(i32, ptr, ptr, i32) nounwind
declare ptr @PyArray_Scalar(ptr, ptr, ptr) nounwind
declare ptr @PyDataMem_SetHandler(ptr) nounwind
declare ptr @PyComplex_FromDoubles(double, double) nounwind
declare ptr @_PyDict_GetItem_KnownHash(ptr, ptr, i64) nounwind
declare void @PyErr_Clear() nounwind
declare ptr @PyErr_NoMemory() nounwind
declare void @PyEval_RestoreThread(ptr) nounwind
declare ptr @PyEval_SaveThread() nounwind
declare ptr @PyFloat_FromDouble(double) nounwind
declare i64 @PyLong_AsLongLongAndOverflow(ptr, ptr) nounwind
declare ptr @PyLong_FromLongLong(i64) nounwind
declare ptr @PyTuple_New(i64) nounwind
declare i32 @PyTuple_SetItem(ptr, i64, ptr) nounwind
declare void @Py_DecRef(ptr) nounwind
declare void @Py_IncRef(ptr) nounwind
declare ptr @large_memory() nounwind
declare void @program_stopped(ptr, ptr, i64) nounwind
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

define internal void @release_all(ptr %made, i64 %count) nounwind noinline cold {
entry:
  br label %next
next:
  %index = phi i64 [ 0, %entry ], [ %index_after, %drop ]
  %more = icmp ult i64 %index, %count
  br i1 %more, label %drop, label %done
drop:
  %index_after = add i64 %index, 1
  %made_at = getelementptr ptr, ptr %made, i64 %index
  %object = load ptr, ptr %made_at
  call void @Py_DecRef(ptr %object)
  br label %next
done:
  ret void
}

define internal ptr @not_implemented() nounwind noinline cold {
  call void @Py_IncRef(ptr @NotImplemented)
  ret ptr @NotImplemented
}

; Whether what a plan requires of lengths and numbers holds; it computes the lengths of results.
define internal i1 @lengths_fit(ptr %plan, ptr %frame) nounwind {
  %meta_begin = field Plan.meta_begin of %plan
  %meta = getelementptr i64, ptr %frame, i64 %meta_begin
  %extents_begin = field Plan.extents_begin of %plan
  %extents = getelementptr i64, ptr %frame, i64 %extents_begin
  %shapes = field Plan.shapes of %plan
  %guard = call i32 %shapes(ptr %frame, ptr %meta, ptr %extents)
  %fit = icmp eq i32 %guard, 0
  ret i1 %fit
}

; Runs the plan whose arguments have been taken.
define internal ptr @run_plan(ptr %plan, ptr %objects, ptr %frame) nounwind {
  %meta_begin = field Plan.meta_begin of %plan
  %meta = getelementptr i64, ptr %frame, i64 %meta_begin
  %made_begin = field Plan.made_begin of %plan
  %made = getelementptr i64, ptr %frame, i64 %made_begin
  %values_begin = field Plan.values_begin of %plan
  %values = getelementptr i64, ptr %frame, i64 %values_begin
  %result_count = field Plan.result_count of %plan
  %written_count = field Plan.written_count of %plan
  %writes = icmp ne i64 %written_count, 0
  br i1 %writes, label %ask, label %choose
ask:
  %may_write = call i1 @may_write(ptr %plan, ptr %objects)
  br i1 %may_write, label %choose, label %refused
choose:
  %targets = field Plan.targets of %plan
  %has_targets = icmp ne ptr %targets, null
  br i1 %has_targets, label %take, label %make
take:
  %are_taken = call i1 @take_targets(ptr %plan, ptr %objects, ptr %frame)
  br i1 %are_taken, label %run, label %refused
make:
  %are_made = call i1 @make_results(ptr %plan, ptr %objects, ptr %frame)
  br i1 %are_made, label %run, label %failed
run:
  %code = call i32 @run_program(ptr %plan, ptr %frame, ptr %meta)
  switch i32 %code, label %stopped [
    i32 0, label %finished
    i32 OUT_OF_MEMORY, label %exhausted
    i32 INTERRUPTED, label %failed
  ]
finished:
  %leaves_exceptions = field Plan.leaves_exceptions of %plan
  %is_left = icmp ne i64 %leaves_exceptions, 0
  br i1 %is_left, label %clear, label %box
clear:
  call void @PyErr_Clear() ; a function of SciPy leaves an exception where scipy.special.errstate asks for one
  br label %box
box:
  %are_boxed = call i1 @box_results(ptr %plan, ptr %made, ptr %values)
  br i1 %are_boxed, label %boxed, label %failed
boxed:
  br i1 %writes, label %exchange, label %gather
exchange:
  call void @exchange_written(ptr %plan, ptr %objects, ptr %made, ptr %values)
  br label %gather
gather:
  %answer = call ptr @collect(ptr %plan, ptr %made)
  %is_collected = icmp ne ptr %answer, null
  br i1 %is_collected, label %collected, label %uncollected
collected:
  br i1 %writes, label %write, label %done
write:
  %is_written = call i1 @write_back(ptr %plan, ptr %objects, ptr %values)
  br i1 %is_written, label %done, label %unwritten
done:
  ret ptr %answer
unwritten:
  call void @Py_DecRef(ptr %answer)
  ret ptr null
uncollected:
  br i1 %writes, label %release_written, label %failed
release_written:
  call void @release_written(ptr %plan, ptr %values)
  br label %failed
exhausted:
  %nothing = call ptr @PyErr_NoMemory()
  br label %failed
failed:
  call void @release_all(ptr %made, i64 %result_count)
  ret ptr null
stopped:
  call void @PyErr_Clear()
  %given_count = field Plan.given_count of %plan
  call void @program_stopped(ptr %plan, ptr %objects, i64 %given_count)
  call void @release_all(ptr %made, i64 %result_count)
  br label %refused
refused:
  %not_implemented = call ptr @not_implemented()
  ret ptr %not_implemented
}

define ptr @entry(ptr %bound, ptr %objects, i64 %given) nounwind {
entry:
  %table = field ArrayFields.data of %bound
  %plan_count = field Table.plan_count of %table
  %plans = field Table.plans of %table
  %frame_size = field Table.frame_size of %table
  %frame = alloca i64, i64 %frame_size, align 16
  br label %next
next:
  %index = phi i64 [ 0, %entry ], [ %index_after, %try ], [ %index_after, %measure ]
  %more = icmp ult i64 %index, %plan_count
  br i1 %more, label %try, label %refused
try:
  %index_after = add i64 %index, 1
  %plan_at = getelementptr ptr, ptr %plans, i64 %index
  %plan = load ptr, ptr %plan_at
  %fits = call i1 @take_arguments(ptr %plan, ptr %objects, i64 %given, ptr %frame)
  br i1 %fits, label %measure, label %next
measure:
  %lengths_fit = call i1 @lengths_fit(ptr %plan, ptr %frame)
  br i1 %lengths_fit, label %run, label %next
run:
  %answer = call ptr @run_plan(ptr %plan, ptr %objects, ptr %frame)
  ret ptr %answer
refused:
  %not_implemented = call ptr @not_implemented()
  ret ptr %not_implemented
}
