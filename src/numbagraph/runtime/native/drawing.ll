; Calls with a generator of random numbers among the arguments: its state is an array to what is called. See drawing.py.
;
; The state is read where it lies in the bit generator, whose lock is held until what is called has written the array
; and it is written back: all of it or, where that fails, nothing. No code of Python's runs in between but what is called.

@NotImplemented = external global i8
@None = external global i8

declare i32 @memcmp(ptr, ptr, i64) nounwind
declare ptr @PyArray_Empty(i32, ptr, ptr, i32) nounwind
declare void @PyErr_Fetch(ptr, ptr, ptr) nounwind
declare void @PyErr_Restore(ptr, ptr, ptr) nounwind
declare ptr @PyObject_CallFunctionObjArgs(ptr, ...) nounwind
declare ptr @PyObject_GetAttr(ptr, ptr) nounwind
declare ptr @PyErr_NoMemory() nounwind
declare ptr @PyMem_Malloc(i64) nounwind
declare void @PyMem_Free(ptr) nounwind
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr) nounwind
declare ptr @PyObject_VectorcallMethod(ptr, ptr, i64, ptr) nounwind
declare void @Py_DecRef(ptr) nounwind
declare void @Py_IncRef(ptr) nounwind
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

define internal ptr @not_implemented() nounwind {
  call void @Py_IncRef(ptr @NotImplemented)
  ret ptr @NotImplemented
}

; Copies the state from an object into words, or from words into the object.
define internal void @copy_state(ptr %record, ptr %source, ptr %words, i1 %is_write) nounwind {
entry:
  %count = field Drawing.span_count of %record
  %spans = field Drawing.spans of %record
  br label %next
next:
  %index = phi i64 [ 0, %entry ], [ %index_after, %copied ]
  %more = icmp ult i64 %index, %count
  br i1 %more, label %look, label %done
look:
  %index_after = add i64 %index, 1
  %begin = mul i64 %index, SIZE_OF_SPAN
  %span = getelementptr i8, ptr %spans, i64 %begin
  %offset = field Span.offset of %span
  %word = field Span.word of %span
  %size = field Span.size of %span
  %here = getelementptr i8, ptr %source, i64 %offset
  %there = getelementptr i64, ptr %words, i64 %word
  br i1 %is_write, label %write, label %read
write:
  call void @llvm.memcpy.p0.p0.i64(ptr %here, ptr %there, i64 %size, i1 false)
  br label %copied
read:
  call void @llvm.memcpy.p0.p0.i64(ptr %there, ptr %here, i64 %size, i1 false)
  br label %copied
copied:
  br label %next
done:
  ret void
}

; Calls a method of a lock. False with an exception.
define internal i1 @told(ptr %lock, ptr %name) nounwind {
  %arguments = alloca ptr
  store ptr %lock, ptr %arguments
  %answer = call ptr @PyObject_VectorcallMethod(ptr %name, ptr %arguments, i64 1, ptr null)
  %is_done = icmp ne ptr %answer, null
  br i1 %is_done, label %done, label %failed
done:
  call void @Py_DecRef(ptr %answer)
  ret i1 true
failed:
  ret i1 false
}

; The result of the call with an array in the place of the generator, or null. The lock is held.
define internal ptr @run_on_words(ptr %record, ptr %source, ptr %objects, i64 %given) nounwind {
  %count = field Drawing.word_count of %record
  %bytes = shl i64 %count, 3
  %before = alloca i64, i64 %count, align 16
  %now = alloca i64, i64 %count, align 16
  %length = alloca i64
  call void @llvm.memset.p0.i64(ptr %before, i8 0, i64 %bytes, i1 false)
  call void @llvm.memset.p0.i64(ptr %now, i8 0, i64 %bytes, i1 false)
  call void @copy_state(ptr %record, ptr %source, ptr %before, i1 false)
  store i64 %count, ptr %length
  %dtype = field Drawing.dtype of %record
  call void @Py_IncRef(ptr %dtype)
  %array = call ptr @PyArray_Empty(i32 1, ptr %length, ptr %dtype, i32 0)
  %is_made = icmp ne ptr %array, null
  br i1 %is_made, label %call, label %failed
call:
  %words = field ArrayFields.data of %array
  call void @llvm.memcpy.p0.p0.i64(ptr %words, ptr %before, i64 %bytes, i1 false)
  %size = shl i64 %given, 3
  %arguments = call ptr @PyMem_Malloc(i64 %size) ; there may be more than the stack has room for
  %has_room = icmp ne ptr %arguments, null
  br i1 %has_room, label %copy, label %exhausted
exhausted:
  call void @Py_DecRef(ptr %array)
  %nothing = call ptr @PyErr_NoMemory()
  ret ptr null
copy:
  call void @llvm.memcpy.p0.p0.i64(ptr %arguments, ptr %objects, i64 %size, i1 false)
  %number = field Drawing.number of %record
  %place = getelementptr ptr, ptr %arguments, i64 %number
  store ptr %array, ptr %place
  %run = field Drawing.run of %record
  %result = call ptr @PyObject_Vectorcall(ptr %run, ptr %arguments, i64 %given, ptr null)
  call void @PyMem_Free(ptr %arguments)
  %is_raised = icmp eq ptr %result, null
  %is_refused = icmp eq ptr %result, @NotImplemented
  %is_nothing = or i1 %is_raised, %is_refused
  br i1 %is_nothing, label %done, label %compare
compare:
  call void @copy_state(ptr %record, ptr %source, ptr %now, i1 false)
  %difference = call i32 @memcmp(ptr %before, ptr %now, i64 %bytes)
  %is_same = icmp eq i32 %difference, 0
  br i1 %is_same, label %write, label %changed
write:
  call void @copy_state(ptr %record, ptr %source, ptr %words, i1 true)
  br label %done
changed:
  call void @Py_DecRef(ptr %result)
  call void @Py_DecRef(ptr %array)
  %raise = field Drawing.raise_drawn of %record
  %never = call ptr (ptr, ...) @PyObject_CallFunctionObjArgs(ptr %raise, ptr %source, ptr null)
  ret ptr %never
done:
  call void @Py_DecRef(ptr %array)
  ret ptr %result
failed:
  ret ptr null
}

; The same under the lock of the bit generator.
define internal ptr @run_locked(ptr %record, ptr %source, ptr %objects, i64 %given) nounwind {
  %kind = alloca ptr
  %value = alloca ptr
  %traceback = alloca ptr
  %lock_name = field Drawing.lock of %record
  %lock = call ptr @PyObject_GetAttr(ptr %source, ptr %lock_name)
  %has_lock = icmp ne ptr %lock, null
  br i1 %has_lock, label %acquire, label %failed
acquire:
  %acquire_name = field Drawing.acquire of %record
  %is_held = call i1 @told(ptr %lock, ptr %acquire_name)
  br i1 %is_held, label %run, label %unlocked
run:
  %result = call ptr @run_on_words(ptr %record, ptr %source, ptr %objects, i64 %given)
  call void @PyErr_Fetch(ptr %kind, ptr %value, ptr %traceback)
  %release_name = field Drawing.release of %record
  %is_free = call i1 @told(ptr %lock, ptr %release_name)
  call void @Py_DecRef(ptr %lock)
  br i1 %is_free, label %done, label %kept
done:
  %old_kind = load ptr, ptr %kind
  %old_value = load ptr, ptr %value
  %old_traceback = load ptr, ptr %traceback
  call void @PyErr_Restore(ptr %old_kind, ptr %old_value, ptr %old_traceback)
  ret ptr %result
kept:
  %has_result = icmp ne ptr %result, null
  br i1 %has_result, label %drop, label %failed
drop:
  call void @Py_DecRef(ptr %result)
  br label %failed
unlocked:
  call void @Py_DecRef(ptr %lock)
  br label %failed
failed:
  ret ptr null
}

define ptr @draw(ptr %bound, ptr %objects, i64 %given) nounwind {
  %record = field ArrayFields.data of %bound
  %number = field Drawing.number of %record
  %is_given = icmp ult i64 %number, %given
  br i1 %is_given, label %look, label %refused
look:
  %place = getelementptr ptr, ptr %objects, i64 %number
  %generator = load ptr, ptr %place
  %type = field ObjectFields.type of %generator
  %wanted_type = field Drawing.generator_type of %record
  %is_generator = icmp eq ptr %type, %wanted_type
  br i1 %is_generator, label %look_for_trace, label %refused
look_for_trace:
  %active = field Drawing.active of %record
  %trace_name = field Drawing.trace of %record
  %trace = call ptr @PyObject_GetAttr(ptr %active, ptr %trace_name)
  %is_found = icmp ne ptr %trace, null
  br i1 %is_found, label %found, label %failed
found:
  call void @Py_DecRef(ptr %trace)
  %is_alone = icmp eq ptr %trace, @None
  br i1 %is_alone, label %look_at_source, label %refused
look_at_source:
  %name = field Drawing.bit_generator of %record
  %source = call ptr @PyObject_GetAttr(ptr %generator, ptr %name)
  %has_source = icmp ne ptr %source, null
  br i1 %has_source, label %look_at_kind, label %failed
look_at_kind:
  %source_type = field ObjectFields.type of %source
  %wanted_source_type = field Drawing.source_type of %record
  %is_known = icmp eq ptr %source_type, %wanted_source_type
  br i1 %is_known, label %run, label %unknown
run:
  %result = call ptr @run_locked(ptr %record, ptr %source, ptr %objects, i64 %given)
  call void @Py_DecRef(ptr %source)
  ret ptr %result
unknown:
  call void @Py_DecRef(ptr %source)
  br label %refused
refused:
  %not_implemented = call ptr @not_implemented()
  ret ptr %not_implemented
failed:
  ret ptr null
}
