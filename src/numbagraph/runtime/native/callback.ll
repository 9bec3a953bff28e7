; The code of one callback: its record is bound when this is loaded. See callbacks.py.

@record = external global i8
declare i32 @run(ptr, ptr, ptr, i1) nounwind

; For callers who raise the exception that is set.
define i32 @raising(ptr %addresses, ptr %lengths) nounwind {
  %code = call i32 @run(ptr @record, ptr %addresses, ptr %lengths, i1 false)
  ret i32 %code
}

; For callers who know nothing of Python.
define i32 @reporting(ptr %addresses, ptr %lengths) nounwind {
  %code = call i32 @run(ptr @record, ptr %addresses, ptr %lengths, i1 true)
  ret i32 %code
}
