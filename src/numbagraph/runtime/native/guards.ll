; Whether what a function has read of the world around it, while it was traced, is still the same. See guards.py.

define internal i1 @guards_hold(ptr %plan, i64 %count) nounwind {
entry:
  %guards = field Plan.guards of %plan
  br label %next
next:
  %index = phi i64 [ 0, %entry ], [ %index_after, %compare ]
  %more = icmp ult i64 %index, %count
  br i1 %more, label %look, label %hold
look:
  %index_after = add i64 %index, 1
  %offset = mul i64 %index, SIZE_OF_GUARD
  %guard = getelementptr i8, ptr %guards, i64 %offset
  %expected = field Guard.expected of %guard
  %word = field Guard.word of %guard
  %is_word = icmp ne ptr %word, null
  br i1 %is_word, label %read, label %find
read:
  %at_word = load ptr, ptr %word
  br label %compare
find:
  ; A borrowed reference, which is only compared. The keys are strings: nothing can fail.
  %dict = field Guard.dict of %guard
  %key = field Guard.key of %guard
  %hash = field Guard.hash of %guard
  %in_dict = call ptr @_PyDict_GetItem_KnownHash(ptr %dict, ptr %key, i64 %hash)
  br label %compare
compare:
  %found = phi ptr [ %at_word, %read ], [ %in_dict, %find ]
  %same = icmp eq ptr %found, %expected
  br i1 %same, label %next, label %refused
hold:
  ret i1 true
refused:
  ret i1 false
}

