; Whether a signal handler of Python's has raised an exception, such as KeyboardInterrupt. See signals.py.
;
; Handlers run on the main thread alone; on others there is nothing to do. The exception is left for the native entry,
; which returns it.

declare i32 @PyErr_CheckSignals()
declare i32 @PyGILState_Ensure()
declare void @PyGILState_Release(i32)

define i1 @raised() nounwind {
  %state = call i32 @PyGILState_Ensure()
  %code = call i32 @PyErr_CheckSignals()
  call void @PyGILState_Release(i32 %state)
  %failed = icmp ne i32 %code, 0
  ret i1 %failed
}
