; Whether what a function has read of the world around it, while it was traced, is still the same. See guards.py.

define internal i1 @guards_hold(ptr %plan, i64 %count) nounwind {
entry:
  %guards = field Plan.guards of %plan
  br label %next
next:
  %index = phi i64 [ 0, %entry ], [ %index_after, %compare ], [ %index_after, %words ]
  %more = icmp ult i64 %index, %count
  br i1 %more, label %look, label %hold
look:
  %index_after = add i64 %index, 1
  %offset = mul i64 %index, SIZE_OF_GUARD
  %guard = getelementptr i8, ptr %guards, i64 %offset
  %expected = field Guard.expected of %guard
  %place = field Guard.place of %guard
  %kind = field Guard.kind of %guard
  %is_entry = icmp eq i64 %kind, GUARD_ENTRY
  br i1 %is_entry, label %find, label %read
find:
  ; A borrowed reference, which is only compared. The keys are strings: nothing can fail.
  %key = field Guard.key of %guard
  %hash = field Guard.hash of %guard
  %in_dict = call ptr @_PyDict_GetItem_KnownHash(ptr %place, ptr %key, i64 %hash)
  br label %compare
read:
  %at_place = load ptr, ptr %place
  %is_word = icmp eq i64 %kind, GUARD_WORD
  br i1 %is_word, label %compare, label %several
compare:
  %found = phi ptr [ %at_place, %read ], [ %in_dict, %find ]
  %same = icmp eq ptr %found, %expected
  br i1 %same, label %next, label %refused
several:
  ; The memory is as long as it was: a guard before this one has compared its length, if it may be another.
  %is_behind = icmp eq i64 %kind, GUARD_BEHIND
  %first = select i1 %is_behind, ptr %at_place, ptr %place
  %word_count = field Guard.count of %guard
  br label %words
words:
  %position = phi i64 [ 0, %several ], [ %position_after, %compare_words ]
  %more_words = icmp ult i64 %position, %word_count
  br i1 %more_words, label %compare_words, label %next
compare_words:
  %position_after = add i64 %position, 1
  %here = getelementptr i64, ptr %first, i64 %position
  %there = getelementptr i64, ptr %expected, i64 %position
  %word_here = load i64, ptr %here
  %word_there = load i64, ptr %there
  %same_words = icmp eq i64 %word_here, %word_there
  br i1 %same_words, label %words, label %refused
hold:
  ret i1 true
refused:
  ret i1 false
}


; Whether the functions that were traced have the code and the defaults that they had. Each compiled function has some,
; so that they are compared without a branch for each.
define internal i1 @definitions_hold(ptr %plan) nounwind alwaysinline {
entry:
  %definitions = field Plan.definitions of %plan
  %count = field Plan.definition_count of %plan
  br label %next
next:
  %index = phi i64 [ 0, %entry ], [ %index_after, %compare ]
  %others = phi i64 [ 0, %entry ], [ %others_after, %compare ]
  %more = icmp ult i64 %index, %count
  br i1 %more, label %compare, label %compared
compare:
  %index_after = add i64 %index, 1
  %offset = mul i64 %index, SIZE_OF_DEFINITION
  %definition = getelementptr i8, ptr %definitions, i64 %offset
  %place = field Definition.place of %definition
  %code_there = field Definition.code of %definition
  %defaults_there = field Definition.defaults of %definition
  %named_there = field Definition.named of %definition
  %defaults_place = getelementptr i64, ptr %place, i64 1
  %named_place = getelementptr i64, ptr %place, i64 2
  %code = load i64, ptr %place
  %defaults = load i64, ptr %defaults_place
  %named = load i64, ptr %named_place
  %other_code = xor i64 %code, %code_there
  %other_defaults = xor i64 %defaults, %defaults_there
  %other_named = xor i64 %named, %named_there
  %other_pair = or i64 %other_code, %other_defaults
  %other = or i64 %other_pair, %other_named
  %others_after = or i64 %others, %other
  br label %next
compared:
  %hold = icmp eq i64 %others, 0
  ret i1 %hold
}
