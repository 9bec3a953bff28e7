; How Python calls a compiled function whose arguments have no names: it tries the versions that take them as they are.
; All other calls, and errors, are Python's. See calls.py.

; "@call_record", a `CallRecord`, is written when the first function has a version.
@call_record = global [CALL_WORDS x i64] zeroinitializer

declare void @PyErr_Fetch(ptr, ptr, ptr) nounwind
declare void @PyErr_NormalizeException(ptr, ptr, ptr) nounwind
declare i32 @PyException_SetTraceback(ptr, ptr) nounwind
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
  %room = add i64 %all, 2
  %objects = alloca ptr, i64 %room, align 16
  %second_at = getelementptr ptr, ptr %objects, i64 1
  %rest_at = getelementptr ptr, ptr %objects, i64 %in_front
  store ptr %first, ptr %objects
  store ptr %second, ptr %second_at
  call void @llvm.memcpy.p0.p0.i64(ptr %rest_at, ptr %arguments, i64 %size, i1 false)
  %answer = call ptr @PyObject_Vectorcall(ptr %function, ptr %objects, i64 %positional, ptr %names)
  ret ptr %answer
}

; Python says what an error that a version raised is about, and raises it.
define internal ptr @failed(ptr %self, ptr %arguments, i64 %count) nounwind noinline cold {
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
  %record = getelementptr i8, ptr @call_record, i64 0
  %explain = field Call.explain of %record
  %never = call ptr @call_python(ptr %explain, ptr %self, ptr %error, ptr %arguments, i64 %count, ptr null)
  call void @Py_DecRef(ptr %type)
  call void @Py_DecRef(ptr %error)
  ret ptr %never
}

define ptr @call(ptr %self, ptr %arguments, i64 %count, ptr %names) nounwind {
entry:
  %record = getelementptr i8, ptr @call_record, i64 0
  %has_names = icmp ne ptr %names, null
  br i1 %has_names, label %python, label %ask
ask:
  %number_at = field Call.block_count of %record
  %number = load ptr, ptr %number_at
  %zero = field Call.zero of %record
  %is_usual = icmp eq ptr %number, %zero ; no block of code wants another version than the usual
  br i1 %is_usual, label %take, label %python
take:
  %offset = field Call.versions_offset of %record
  %versions_at = getelementptr i8, ptr %self, i64 %offset
  %versions = load ptr, ptr %versions_at
  %is_there = icmp ne ptr %versions, null
  br i1 %is_there, label %hold, label %refuse
hold:
  call void @Py_IncRef(ptr %versions) ; another thread may compile one, and exchange them
  %version_count = call i64 @PyTuple_Size(ptr %versions)
  br label %next
next:
  %index = phi i64 [ 0, %hold ], [ %index_after, %skip ]
  %more = icmp slt i64 %index, %version_count
  br i1 %more, label %try, label %none
try:
  %index_after = add i64 %index, 1
  %version = call ptr @PyTuple_GetItem(ptr %versions, i64 %index)
  %result = call ptr @PyObject_Vectorcall(ptr %version, ptr %arguments, i64 %count, ptr null)
  %is_refused = icmp eq ptr %result, @NotImplemented
  br i1 %is_refused, label %skip, label %ran
skip:
  call void @Py_DecRef(ptr %result)
  br label %next
ran:
  call void @Py_DecRef(ptr %versions)
  %is_raised = icmp eq ptr %result, null
  br i1 %is_raised, label %raised, label %done
done:
  ret ptr %result
raised:
  %never = call ptr @failed(ptr %self, ptr %arguments, i64 %count)
  ret ptr %never
none:
  call void @Py_DecRef(ptr %versions)
  br label %refuse
refuse:
  %refused = field Call.refused of %record
  %found = call ptr @call_python(ptr %refused, ptr %self, ptr null, ptr %arguments, i64 %count, ptr null)
  ret ptr %found
python:
  %bind = field Call.bind of %record
  %answer = call ptr @call_python(ptr %bind, ptr %self, ptr null, ptr %arguments, i64 %count, ptr %names)
  ret ptr %answer
}
