; How Python calls a compiled function: it tries the versions that take the arguments as they are, also if they have
; names in the order of the parameters, or those that write into what is given as "out". All other calls, and
; errors, are Python's. See calls.py.

; "@call_record", a `CallRecord`, is written when the first function has a version.
@call_record = global [CALL_WORDS x i64] zeroinitializer

declare void @PyErr_Fetch(ptr, ptr, ptr) nounwind
declare void @PyErr_NormalizeException(ptr, ptr, ptr) nounwind
declare i32 @PyException_SetTraceback(ptr, ptr) nounwind
declare ptr @PyMem_Malloc(i64) nounwind
declare void @PyMem_Free(ptr) nounwind
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr) nounwind
declare ptr @PyTuple_GetItem(ptr, i64) nounwind
declare i64 @PyTuple_Size(ptr) nounwind

; Calls a function of Python on one or two objects and then the arguments.
define internal ptr @call_python(ptr %function, ptr %first, ptr %second, ptr %arguments, i64 %count, ptr %names) nounwind noinline {
entry:
  %has_names = icmp ne ptr %names, null
  br i1 %has_names, label %ask, label %lay
ask:
  %asked = call i64 @PyTuple_Size(ptr %names)
  br label %lay
lay:
  %named = phi i64 [ 0, %entry ], [ %asked, %ask ]
  %has_second = icmp ne ptr %second, null
  %in_front = select i1 %has_second, i64 2, i64 1
  %positional = add i64 %in_front, %count
  %all = add i64 %count, %named
  %size = shl i64 %all, 3
  %room = add i64 %size, 16
  %objects = call ptr @PyMem_Malloc(i64 %room) ; there may be more than the stack has room for
  %is_there = icmp ne ptr %objects, null
  br i1 %is_there, label %put, label %exhausted
exhausted:
  %nothing = call ptr @PyErr_NoMemory()
  ret ptr null
put:
  %second_at = getelementptr ptr, ptr %objects, i64 1
  %rest_at = getelementptr ptr, ptr %objects, i64 %in_front
  store ptr %first, ptr %objects
  store ptr %second, ptr %second_at
  call void @llvm.memcpy.p0.p0.i64(ptr %rest_at, ptr %arguments, i64 %size, i1 false)
  %answer = call ptr @PyObject_Vectorcall(ptr %function, ptr %objects, i64 %positional, ptr %names)
  call void @PyMem_Free(ptr %objects)
  ret ptr %answer
}

; Python says what an error that a version raised is about, and raises it.
define internal ptr @failed(ptr %explain, ptr %self, ptr %arguments, i64 %count) nounwind noinline cold {
entry:
  %type_at = alloca ptr
  %error_at = alloca ptr
  %traceback_at = alloca ptr
  call void @PyErr_Fetch(ptr %type_at, ptr %error_at, ptr %traceback_at)
  call void @PyErr_NormalizeException(ptr %type_at, ptr %error_at, ptr %traceback_at)
  %type = load ptr, ptr %type_at
  %error = load ptr, ptr %error_at
  %traceback = load ptr, ptr %traceback_at
  %has_traceback = icmp ne ptr %traceback, null
  br i1 %has_traceback, label %attach, label %raise
attach:
  %attached = call i32 @PyException_SetTraceback(ptr %error, ptr %traceback)
  call void @Py_DecRef(ptr %traceback)
  br label %raise
raise:
  %never = call ptr @call_python(ptr %explain, ptr %self, ptr %error, ptr %arguments, i64 %count, ptr null)
  call void @Py_DecRef(ptr %type)
  call void @Py_DecRef(ptr %error)
  ret ptr %never
}

; What the first function in a tuple gives that does not give NotImplemented, which is the answer if there is none, too.
; The tuple is held: another thread may compile a version, and exchange it.
define internal ptr @first_answer(ptr %functions, ptr %arguments, i64 %count) nounwind {
entry:
  call void @Py_IncRef(ptr %functions)
  %function_count = call i64 @PyTuple_Size(ptr %functions)
  br label %next
next:
  %index = phi i64 [ 0, %entry ], [ %index_after, %skip ]
  %more = icmp slt i64 %index, %function_count
  br i1 %more, label %try, label %none
try:
  %index_after = add i64 %index, 1
  %function = call ptr @PyTuple_GetItem(ptr %functions, i64 %index)
  %result = call ptr @PyObject_Vectorcall(ptr %function, ptr %arguments, i64 %count, ptr null)
  %is_refused = icmp eq ptr %result, @NotImplemented
  br i1 %is_refused, label %skip, label %done
skip:
  call void @Py_DecRef(ptr %result)
  br label %next
none:
  %not_implemented = call ptr @not_implemented()
  br label %done
done:
  %answer = phi ptr [ %result, %try ], [ %not_implemented, %none ]
  call void @Py_DecRef(ptr %functions)
  ret ptr %answer
}

; Whether names are those of the parameters that follow the first ones.
define internal i1 @are_in_order(ptr %names, i64 %named, ptr %parameters, i64 %count) nounwind {
entry:
  %parameter_count = call i64 @PyTuple_Size(ptr %parameters)
  %all = add i64 %count, %named
  %fits = icmp sle i64 %all, %parameter_count
  br i1 %fits, label %next, label %done
next:
  %index = phi i64 [ 0, %entry ], [ %index_after, %compare ]
  %more = icmp slt i64 %index, %named
  br i1 %more, label %compare, label %done
compare:
  %index_after = add i64 %index, 1
  %place = add i64 %count, %index
  %name = call ptr @PyTuple_GetItem(ptr %names, i64 %index)
  %parameter = call ptr @PyTuple_GetItem(ptr %parameters, i64 %place)
  %is_same = icmp eq ptr %name, %parameter
  br i1 %is_same, label %next, label %done
done:
  %answer = phi i1 [ false, %entry ], [ true, %next ], [ false, %compare ]
  ret i1 %answer
}

; Whether the only name is "out", and it is given.
define internal i1 @is_target(ptr %record, ptr %names, i64 %named, ptr %given) nounwind {
  %is_one = icmp eq i64 %named, 1
  br i1 %is_one, label %compare, label %no
compare:
  %name = call ptr @PyTuple_GetItem(ptr %names, i64 0)
  %out = field Call.out of %record
  %is_out = icmp eq ptr %name, %out
  %none = field Call.none of %record
  %is_there = icmp ne ptr %given, %none
  %answer = and i1 %is_out, %is_there
  ret i1 %answer
no:
  ret i1 false
}

; Calls the functions that write into several arrays, which follow the other arguments.
define internal ptr @write_all(ptr %functions, ptr %arguments, i64 %count, ptr %targets) nounwind noinline {
entry:
  %target_count = call i64 @PyTuple_Size(ptr %targets)
  %all = add i64 %count, %target_count
  %room = shl i64 %all, 3
  %objects = call ptr @PyMem_Malloc(i64 %room)
  %is_there = icmp ne ptr %objects, null
  br i1 %is_there, label %begin, label %exhausted
exhausted:
  %nothing = call ptr @PyErr_NoMemory()
  ret ptr null
begin:
  %size = shl i64 %count, 3
  call void @llvm.memcpy.p0.p0.i64(ptr %objects, ptr %arguments, i64 %size, i1 false)
  br label %next
next:
  %index = phi i64 [ 0, %begin ], [ %index_after, %lay ]
  %more = icmp slt i64 %index, %target_count
  br i1 %more, label %lay, label %done
lay:
  %index_after = add i64 %index, 1
  %target = call ptr @PyTuple_GetItem(ptr %targets, i64 %index)
  %place = add i64 %count, %index
  %target_at = getelementptr ptr, ptr %objects, i64 %place
  store ptr %target, ptr %target_at
  br label %next
done:
  %answer = call ptr @first_answer(ptr %functions, ptr %objects, i64 %all)
  call void @PyMem_Free(ptr %objects)
  ret ptr %answer
}

define internal ptr @slot(ptr %object, i64 %offset) nounwind {
  %at = getelementptr i8, ptr %object, i64 %offset
  %value = load ptr, ptr %at
  ret ptr %value
}

define ptr @call(ptr %self, ptr %arguments, i64 %count, ptr %names) nounwind {
entry:
  %record = getelementptr i8, ptr @call_record, i64 0
  %number_at = field Call.block_count of %record
  %number = load ptr, ptr %number_at
  %zero = field Call.zero of %record
  %is_usual = icmp eq ptr %number, %zero ; no block of code wants another version than the usual
  br i1 %is_usual, label %look, label %python
look:
  %versions_offset = field Call.versions_offset of %record
  %versions = call ptr @slot(ptr %self, i64 %versions_offset)
  %is_made = icmp ne ptr %versions, null ; with the other slots
  br i1 %is_made, label %ask, label %python
ask:
  %has_names = icmp ne ptr %names, null
  br i1 %has_names, label %read_names, label %run
read_names:
  %named = call i64 @PyTuple_Size(ptr %names)
  %all = add i64 %count, %named
  %parameters_offset = field Call.parameters_offset of %record
  %parameters = call ptr @slot(ptr %self, i64 %parameters_offset)
  %are_in_order = call i1 @are_in_order(ptr %names, i64 %named, ptr %parameters, i64 %count)
  br i1 %are_in_order, label %run, label %read_target
read_target:
  %target_at = getelementptr ptr, ptr %arguments, i64 %count
  %target = load ptr, ptr %target_at
  %is_target = call i1 @is_target(ptr %record, ptr %names, i64 %named, ptr %target)
  br i1 %is_target, label %write, label %python
write:
  %writers_offset = field Call.writers_offset of %record
  %writers = call ptr @slot(ptr %self, i64 %writers_offset)
  %type = field ObjectFields.type of %target
  %tuple = field Call.tuple of %record
  %is_tuple = icmp eq ptr %type, %tuple
  br i1 %is_tuple, label %write_tuple, label %write_array
write_tuple:
  %into_tuple_offset = field Call.into_tuple_offset of %record
  %into_tuple = call ptr @slot(ptr %writers, i64 %into_tuple_offset)
  %filled = call ptr @write_all(ptr %into_tuple, ptr %arguments, i64 %count, ptr %target)
  br label %answered
write_array:
  %into_array_offset = field Call.into_array_offset of %record
  %into_array = call ptr @slot(ptr %writers, i64 %into_array_offset)
  %written = call ptr @first_answer(ptr %into_array, ptr %arguments, i64 %all)
  br label %answered
run:
  %given = phi i64 [ %count, %ask ], [ %all, %read_names ]
  %returned = call ptr @first_answer(ptr %versions, ptr %arguments, i64 %given)
  br label %answered
answered:
  %result = phi ptr [ %returned, %run ], [ %filled, %write_tuple ], [ %written, %write_array ]
  %into = phi ptr [ null, %run ], [ %target, %write_tuple ], [ %target, %write_array ]
  %told = phi i64 [ %given, %run ], [ %count, %write_tuple ], [ %count, %write_array ]
  %is_raised = icmp eq ptr %result, null
  br i1 %is_raised, label %raised, label %compare
compare:
  %is_refused = icmp eq ptr %result, @NotImplemented
  br i1 %is_refused, label %refused, label %choose
choose:
  %is_written = icmp ne ptr %into, null
  br i1 %is_written, label %exchange, label %done
exchange:
  call void @Py_DecRef(ptr %result)
  call void @Py_IncRef(ptr %into)
  ret ptr %into
done:
  ret ptr %result
raised:
  %raise = field Call.explain of %record
  %never = call ptr @failed(ptr %raise, ptr %self, ptr %arguments, i64 %told)
  ret ptr %never
refused:
  call void @Py_DecRef(ptr %result)
  %refuse = field Call.refused of %record
  %found = call ptr @call_python(ptr %refuse, ptr %self, ptr null, ptr %arguments, i64 %count, ptr %names)
  ret ptr %found
python:
  %bind = field Call.bind of %record
  %answer = call ptr @call_python(ptr %bind, ptr %self, ptr null, ptr %arguments, i64 %count, ptr %names)
  ret ptr %answer
}
