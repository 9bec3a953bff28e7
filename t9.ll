; ModuleID = "logp"
target triple = "unknown-unknown-unknown"
target datalayout = ""

define i32 @"logp.shapes"(i8** %".1", i64* %".2", i64* %".3")
{
entry:
  %".5" = getelementptr inbounds i8*, i8** %".1", i64 4
  %".6" = load i8*, i8** %".5"
  %".7" = bitcast i8* %".6" to i64*
  %".8" = load i64, i64* %".7"
  %".9" = getelementptr inbounds i8*, i8** %".1", i64 3
  %".10" = load i8*, i8** %".9"
  %".11" = bitcast i8* %".10" to i64*
  %".12" = load i64, i64* %".11"
  %".13" = getelementptr inbounds i64, i64* %".2", i64 2
  %".14" = load i64, i64* %".13"
  %".15" = icmp sle i64 %".14", 2147483647
  %".16" = icmp eq i64 2, %".8"
  %".17" = icmp eq i64 5, %".12"
  %".18" = icmp sge i64 %".8", 0
  %".19" = icmp sge i64 %".12", 0
  %".20" = icmp eq i64 %".8", 2
  %".21" = icmp eq i64 %".8", 1
  %".22" = or i1 %".20", %".21"
  %".23" = icmp eq i64 %".12", 5
  %".24" = icmp eq i64 %".12", 1
  %".25" = or i1 %".23", %".24"
  %".26" = getelementptr inbounds i64, i64* %".2", i64 3
  %".27" = load i64, i64* %".26"
  %".28" = getelementptr inbounds i64, i64* %".2", i64 2
  %".29" = load i64, i64* %".28"
  %".30" = icmp eq i64 %".27", %".29"
  %".31" = getelementptr inbounds i64, i64* %".2", i64 4
  %".32" = load i64, i64* %".31"
  %".33" = icmp eq i64 %".32", 2
  %".34" = xor i1 %".30", -1
  br i1 %".34", label %"stop", label %"go_on"
stop:
  ret i32 1
go_on:
  %".37" = xor i1 %".33", -1
  br i1 %".37", label %"stop.1", label %"go_on.1"
stop.1:
  ret i32 2
go_on.1:
  %".40" = xor i1 %".15", -1
  br i1 %".40", label %"stop.2", label %"go_on.2"
stop.2:
  ret i32 3
go_on.2:
  %".43" = xor i1 %".16", -1
  br i1 %".43", label %"stop.3", label %"go_on.3"
stop.3:
  ret i32 4
go_on.3:
  %".46" = xor i1 %".17", -1
  br i1 %".46", label %"stop.4", label %"go_on.4"
stop.4:
  ret i32 5
go_on.4:
  %".49" = xor i1 %".15", -1
  br i1 %".49", label %"stop.5", label %"go_on.5"
stop.5:
  ret i32 6
go_on.5:
  %".52" = xor i1 %".18", -1
  br i1 %".52", label %"stop.6", label %"go_on.6"
stop.6:
  ret i32 7
go_on.6:
  %".55" = xor i1 %".19", -1
  br i1 %".55", label %"stop.7", label %"go_on.7"
stop.7:
  ret i32 8
go_on.7:
  %".58" = xor i1 %".20", -1
  br i1 %".58", label %"stop.8", label %"go_on.8"
stop.8:
  ret i32 9
go_on.8:
  %".61" = xor i1 %".23", -1
  br i1 %".61", label %"stop.9", label %"go_on.9"
stop.9:
  ret i32 10
go_on.9:
  %".64" = xor i1 %".22", -1
  br i1 %".64", label %"stop.10", label %"go_on.10"
stop.10:
  ret i32 11
go_on.10:
  %".67" = xor i1 %".25", -1
  br i1 %".67", label %"stop.11", label %"go_on.11"
stop.11:
  ret i32 12
go_on.11:
  %".70" = getelementptr inbounds i64, i64* %".3", i64 0
  store i64 2, i64* %".70"
  %".72" = getelementptr inbounds i64, i64* %".3", i64 1
  store i64 5, i64* %".72"
  %".74" = getelementptr inbounds i64, i64* %".3", i64 2
  %".75" = mul nsw i64 %".8", %".12"
  %".76" = mul nsw i64 %".14", 123
  %".77" = add nsw i64 170, %".76"
  %".78" = add nsw i64 %".77", %".75"
  store i64 %".78", i64* %".74"
  ret i32 0
}

define i32 @"logp.program"(i8** %".1", i64* %".2", i8** %".3")
{
entry:
  %".5" = getelementptr inbounds i8*, i8** %".1", i64 4
  %".6" = load i8*, i8** %".5"
  %".7" = bitcast i8* %".6" to i64*
  %".8" = load i64, i64* %".7"
  %".9" = getelementptr inbounds i8*, i8** %".1", i64 3
  %".10" = load i8*, i8** %".9"
  %".11" = bitcast i8* %".10" to i64*
  %".12" = load i64, i64* %".11"
  %".13" = getelementptr inbounds i64, i64* %".2", i64 2
  %".14" = load i64, i64* %".13"
  %".15" = icmp sle i64 %".14", 2147483647
  %".16" = icmp eq i64 2, %".8"
  %".17" = icmp eq i64 5, %".12"
  %".18" = icmp sge i64 %".8", 0
  %".19" = icmp sge i64 %".12", 0
  %".20" = icmp eq i64 %".8", 2
  %".21" = icmp eq i64 %".8", 1
  %".22" = or i1 %".20", %".21"
  %".23" = icmp eq i64 %".12", 5
  %".24" = icmp eq i64 %".12", 1
  %".25" = or i1 %".23", %".24"
  %".26" = mul i64 8, %".14"
  %".27" = mul i64 %".26", 5
  %".28" = mul i64 8, %".14"
  %".29" = mul i64 %".28", 5
  %".30" = icmp sgt i64 %".29", %".27"
  %".31" = select  i1 %".30", i64 %".29", i64 %".27"
  %".32" = mul i64 8, %".14"
  %".33" = mul i64 %".32", 5
  %".34" = icmp sgt i64 %".33", %".31"
  %".35" = select  i1 %".34", i64 %".33", i64 %".31"
  %".36" = add i64 %".35", 63
  %".37" = and i64 %".36", -64
  %".38" = add i64 0, %".37"
  %".39" = mul i64 8, 5
  %".40" = add i64 1, %".39"
  %".41" = add i64 %".40", 8
  %".42" = add i64 %".41", 8
  %".43" = sdiv i64 131072, %".42"
  %".44" = and i64 %".43", -16
  %".45" = icmp sgt i64 %".44", 0
  %".46" = select  i1 %".45", i64 %".44", i64 %".43"
  %".47" = icmp sgt i64 %".46", 1
  %".48" = select  i1 %".47", i64 %".46", i64 1
  %".49" = mul i64 %".48", 8
  %".50" = add i64 %".49", 63
  %".51" = and i64 %".50", -64
  %".52" = add i64 %".38", %".51"
  %".53" = call i8* @"numbagraph.memory.take"(i64 %".52")
  %".54" = ptrtoint i8* %".53" to i64
  %".55" = icmp eq i64 %".54", 0
  %".73" = alloca i8
  %".75" = alloca i8
  %".78" = alloca i32
  %".81" = alloca i32
  %".84" = alloca i32
  %".86" = alloca double
  %".91" = alloca i32
  %".96" = alloca i32
  %".101" = alloca i32
  %".103" = alloca double
  %".180" = alloca i8
  %".182" = alloca i8
  %".185" = alloca i32
  %".188" = alloca i32
  %".191" = alloca i32
  %".193" = alloca double
  %".198" = alloca i32
  %".203" = alloca i32
  %".208" = alloca i32
  %".210" = alloca double
  br i1 %".55", label %"stop", label %"go_on"
stop:
  ret i32 -1
go_on:
  %".58" = getelementptr i8, i8* %".53", i64 0
  %".59" = getelementptr i8, i8* %".53", i64 %".38"
  %".60" = sitofp i64 %".14" to double
  %".61" = fmul double 0xbfed67f1c864beb4, %".60"
  %".62" = getelementptr inbounds i8*, i8** %".1", i64 2
  %".63" = load i8*, i8** %".62"
  %".64" = getelementptr inbounds i8*, i8** %".1", i64 0
  %".65" = load i8*, i8** %".64"
  %".66" = mul i64 1, %".14"
  %".67" = icmp sgt i64 %".66", 2147483647
  %".68" = or i1 0, %".67"
  %".69" = icmp sgt i64 2, 2147483647
  %".70" = or i1 %".68", %".69"
  %".71" = icmp sgt i64 5, 2147483647
  %".72" = or i1 %".70", %".71"
  store i8 78, i8* %".73"
  store i8 78, i8* %".75"
  %".77" = trunc i64 5 to i32
  store i32 %".77", i32* %".78"
  %".80" = trunc i64 %".66" to i32
  store i32 %".80", i32* %".81"
  %".83" = trunc i64 2 to i32
  store i32 %".83", i32* %".84"
  store double 0x3ff0000000000000, double* %".86"
  %".88" = icmp slt i64 2, 1
  %".89" = select  i1 %".88", i64 1, i64 2
  %".90" = trunc i64 %".89" to i32
  store i32 %".90", i32* %".91"
  %".93" = icmp slt i64 5, 1
  %".94" = select  i1 %".93", i64 1, i64 5
  %".95" = trunc i64 %".94" to i32
  store i32 %".95", i32* %".96"
  %".98" = icmp slt i64 5, 1
  %".99" = select  i1 %".98", i64 1, i64 5
  %".100" = trunc i64 %".99" to i32
  store i32 %".100", i32* %".101"
  store double              0x0, double* %".103"
  %".105" = mul i64 1, 8
  %".106" = mul i64 %".105", %".66"
  %".107" = mul i64 %".106", 2
  %".108" = mul i64 1, 8
  %".109" = mul i64 %".108", 2
  %".110" = mul i64 %".109", 5
  %".111" = mul i64 1, 8
  %".112" = mul i64 %".111", %".66"
  %".113" = mul i64 %".112", 5
  %".114" = xor i1 %".72", -1
  br i1 %".114", label %"go_on.if", label %"go_on.endif", !prof !0
go_on.if:
  %".116" = bitcast i32* %".78" to i8*
  %".117" = bitcast i32* %".81" to i8*
  %".118" = bitcast i32* %".84" to i8*
  %".119" = bitcast double* %".86" to i8*
  %".120" = bitcast i32* %".96" to i8*
  %".121" = bitcast i32* %".91" to i8*
  %".122" = bitcast double* %".103" to i8*
  %".123" = bitcast i32* %".101" to i8*
  call void @"numbagraph.blas.dgemm"(i8* %".75", i8* %".73", i8* %".116", i8* %".117", i8* %".118", i8* %".119", i8* %".65", i8* %".120", i8* %".63", i8* %".121", i8* %".122", i8* %".58", i8* %".123")
  br label %"go_on.endif"
go_on.endif:
  br i1 %".72", label %"stop.1", label %"go_on.1"
stop.1:
  call void @"numbagraph.memory.give"(i8* %".53")
  ret i32 2
go_on.1:
  %".129" = alloca double
  %".130" = call i1 @"logp.program.16.sum"(i8* %".65", i64 %".8", i64 %".12", double* %".129")
  %".131" = load double, double* %".129"
  %".132" = alloca {double, double}
  %".133" = getelementptr inbounds {double, double}, {double, double}* %".132", i32 0, i32 0
  store double              0x0, double* %".133"
  %".135" = getelementptr inbounds {double, double}, {double, double}* %".132", i32 0, i32 1
  store double              0x0, double* %".135"
  %".137" = bitcast {double, double}* %".132" to i8*
  %".138" = getelementptr inbounds i8*, i8** %".1", i64 1
  %".139" = load i8*, i8** %".138"
  br label %"head"
head:
  %".141" = phi  i64 [0, %"go_on.1"], [%".145", %"body"]
  %".142" = phi  i1 [0, %"go_on.1"], [%".162", %"body"]
  %".143" = icmp slt i64 %".141", %".14"
  br i1 %".143", label %"body", label %"after"
body:
  %".145" = add i64 %".141", %".48"
  %".146" = icmp slt i64 %".145", %".14"
  %".147" = select  i1 %".146", i64 %".145", i64 %".14"
  %".148" = mul i64 %".141", 8
  %".149" = sub i64 0, %".148"
  %".150" = getelementptr i8, i8* %".59", i64 %".149"
  %".151" = call i1 @"logp.program.17.0.tanh_sum"(i64 %".141", i64 %".147", i8* %".58", i8* %".150", i64 %".14")
  %".152" = or i1 %".142", %".151"
  %".153" = mul i64 %".141", 8
  %".154" = sub i64 0, %".153"
  %".155" = getelementptr i8, i8* %".59", i64 %".154"
  %".156" = call i1 @"logp.program.17.1.sum"(i64 %".141", i64 %".147", i8* %".155", i8* %".139", i64 %".14", i8* %".137")
  %".157" = or i1 %".152", %".156"
  %".158" = mul i64 %".141", 8
  %".159" = sub i64 0, %".158"
  %".160" = getelementptr i8, i8* %".59", i64 %".159"
  %".161" = call i1 @"logp.program.17.2.multiply"(i64 %".141", i64 %".147", i8* %".58", i8* %".160", i8* %".139", i64 %".14")
  %".162" = or i1 %".157", %".161"
  br label %"head"
after:
  %".164" = getelementptr inbounds {double, double}, {double, double}* %".132", i32 0, i32 0
  %".165" = load double, double* %".164"
  %".166" = getelementptr inbounds {double, double}, {double, double}* %".132", i32 0, i32 1
  %".167" = load double, double* %".166"
  %".168" = fadd double %".165", %".167"
  %".169" = fmul double %".168", 0xbfe0000000000000
  %".170" = fadd double %".169", %".61"
  %".171" = fadd double %".131", %".170"
  %".172" = getelementptr inbounds i8*, i8** %".3", i64 1
  %".173" = load i8*, i8** %".172"
  %".174" = icmp sgt i64 2, 2147483647
  %".175" = or i1 0, %".174"
  %".176" = icmp sgt i64 %".14", 2147483647
  %".177" = or i1 %".175", %".176"
  %".178" = icmp sgt i64 5, 2147483647
  %".179" = or i1 %".177", %".178"
  store i8 84, i8* %".180"
  store i8 78, i8* %".182"
  %".184" = trunc i64 5 to i32
  store i32 %".184", i32* %".185"
  %".187" = trunc i64 2 to i32
  store i32 %".187", i32* %".188"
  %".190" = trunc i64 %".14" to i32
  store i32 %".190", i32* %".191"
  store double 0x3ff0000000000000, double* %".193"
  %".195" = icmp slt i64 2, 1
  %".196" = select  i1 %".195", i64 1, i64 2
  %".197" = trunc i64 %".196" to i32
  store i32 %".197", i32* %".198"
  %".200" = icmp slt i64 5, 1
  %".201" = select  i1 %".200", i64 1, i64 5
  %".202" = trunc i64 %".201" to i32
  store i32 %".202", i32* %".203"
  %".205" = icmp slt i64 5, 1
  %".206" = select  i1 %".205", i64 1, i64 5
  %".207" = trunc i64 %".206" to i32
  store i32 %".207", i32* %".208"
  store double              0x0, double* %".210"
  %".212" = mul i64 1, 8
  %".213" = mul i64 %".212", 2
  %".214" = mul i64 %".213", %".14"
  %".215" = mul i64 1, 8
  %".216" = mul i64 %".215", %".14"
  %".217" = mul i64 %".216", 5
  %".218" = mul i64 1, 8
  %".219" = mul i64 %".218", 2
  %".220" = mul i64 %".219", 5
  %".221" = xor i1 %".179", -1
  br i1 %".221", label %"after.if", label %"after.endif", !prof !0
after.if:
  %".223" = bitcast i32* %".185" to i8*
  %".224" = bitcast i32* %".188" to i8*
  %".225" = bitcast i32* %".191" to i8*
  %".226" = bitcast double* %".193" to i8*
  %".227" = bitcast i32* %".203" to i8*
  %".228" = bitcast i32* %".198" to i8*
  %".229" = bitcast double* %".210" to i8*
  %".230" = bitcast i32* %".208" to i8*
  call void @"numbagraph.blas.dgemm"(i8* %".182", i8* %".180", i8* %".223", i8* %".224", i8* %".225", i8* %".226", i8* %".58", i8* %".227", i8* %".63", i8* %".228", i8* %".229", i8* %".173", i8* %".230")
  br label %"after.endif"
after.endif:
  br i1 %".179", label %"stop.2", label %"go_on.2"
stop.2:
  call void @"numbagraph.memory.give"(i8* %".53")
  ret i32 2
go_on.2:
  %".236" = call i1 @"logp.program.22.subtract"(i8* %".65", i8* %".173")
  %".237" = getelementptr inbounds i8*, i8** %".3", i64 0
  %".238" = load i8*, i8** %".237"
  %".239" = bitcast i8* %".238" to double*
  store double %".171", double* %".239"
  call void @"numbagraph.memory.give"(i8* %".53")
  ret i32 0
}

declare i8* @"numbagraph.memory.take"(i64 %".1")

declare void @"numbagraph.blas.dgemm"(i8* %".1", i8* %".2", i8* %".3", i8* %".4", i8* %".5", i8* %".6", i8* %".7", i8* %".8", i8* %".9", i8* %".10", i8* %".11", i8* %".12", i8* %".13")

declare void @"numbagraph.memory.give"(i8* %".1")

define internal i1 @"logp.program.16.sum"(i8* noalias readonly %"w1", i64 %".2", i64 %".3", double* %".4") "prefer-vector-width"="512" noinline nounwind
{
stack:
  %".6" = alloca double
  %".8" = alloca double
  %".9" = alloca double
  br label %"start"
start:
  store double              0x0, double* %".6"
  store double              0x0, double* %".8"
  store double              0x0, double* %".9"
  br label %"i0.head"
i0.head:
  %"i0" = phi  i64 [%".53", %"i1.done"], [0, %"start"]
  %".12" = icmp slt i64 %"i0", %".2"
  br i1 %".12", label %"i0.body", label %"i0.end"
i0.body:
  br label %"i1.blocks"
i0.end:
  %".56" = load double, double* %".8"
  %".57" = load double, double* %".9"
  %".58" = fadd double %".56", %".57"
  store double %".58", double* %".4"
  %".60" = icmp ne i8 0, 0
  ret i1 %".60"
i1.blocks:
  %".14" = phi  i64 [%".17", %"i1.end"], [0, %"i0.body"]
  %".15" = icmp slt i64 %".14", %".3"
  br i1 %".15", label %"i1.block", label %"i1.done"
i1.block:
  %".17" = add nsw i64 %".14", 512
  %".18" = icmp slt i64 %".17", %".3"
  %".19" = select  i1 %".18", i64 %".17", i64 %".3"
  store double              0x0, double* %".6"
  br label %"i1.head"
i1.done:
  %".53" = add nsw i64 %"i0", 1
  br label %"i0.head"
i1.head:
  %"i1" = phi  i64 [%".34", %"i1.body"], [%".14", %"i1.block"]
  %".21" = icmp slt i64 %"i1", %".19"
  br i1 %".21", label %"i1.body", label %"i1.end"
i1.body:
  %".23" = mul nsw i64 %"i0", 5
  %".24" = add nsw i64 %".23", %"i1"
  %".25" = bitcast i8* %"w1" to double*
  %".26" = getelementptr inbounds double, double* %".25", i64 %".24"
  %".27" = load double, double* %".26"
  %".28" = fmul double %".27", %".27"
  %".29" = fmul double 0xbfe0000000000000, %".28"
  %".30" = fsub double %".29", 0x3fed67f1c864beb4
  %".31" = load double, double* %".6"
  %".32" = fadd reassoc contract double %".31", %".30"
  store double %".32", double* %".6"
  %".34" = add nsw i64 %"i1", 1
  br label %"i1.head", !llvm.loop !3
i1.end:
  %".37" = load double, double* %".8"
  %".38" = load double, double* %".9"
  %".39" = load double, double* %".6"
  %".40" = fadd double %".37", %".39"
  %".41" = fsub double %".40", %".37"
  %".42" = fsub double %".40", %".41"
  %".43" = fsub double %".37", %".42"
  %".44" = fsub double %".39", %".41"
  %".45" = fadd double %".43", %".44"
  %".46" = fcmp ord double %".45", %".45"
  %".47" = select  i1 %".46", double %".45", double              0x0
  %".48" = fadd double %".38", %".47"
  store double %".40", double* %".8"
  store double %".48", double* %".9"
  br label %"i1.blocks"
}

define internal i1 @"logp.program.17.0.tanh_sum"(i64 %".1", i64 %".2", i8* noalias %"temporary1", i8* noalias %"temporary2", i64 %".5") "prefer-vector-width"="512" noinline nounwind
{
stack:
  %".11" = alloca double
  %".13" = alloca double
  %".14" = alloca double
  %".99" = alloca double
  br label %"start"
start:
  %".7" = icmp sgt i64 5, 32
  br i1 %".7", label %"long", label %"short"
long:
  br label %"i0.head"
short:
  br label %"i0.head.1"
after:
  %".156" = icmp ne i8 0, 0
  ret i1 %".156"
i0.head:
  %"i0" = phi  i64 [%".93", %"i1.done"], [%".1", %"long"]
  %".9" = icmp slt i64 %"i0", %".2"
  br i1 %".9", label %"i0.body", label %"i0.end"
i0.body:
  store double              0x0, double* %".11"
  store double              0x0, double* %".13"
  store double              0x0, double* %".14"
  br label %"i1.blocks"
i0.end:
  br label %"after"
i1.blocks:
  %".17" = phi  i64 [%".20", %"i1.end"], [0, %"i0.body"]
  %".18" = icmp slt i64 %".17", 5
  br i1 %".18", label %"i1.block", label %"i1.done"
i1.block:
  %".20" = add nsw i64 %".17", 512
  %".21" = icmp slt i64 %".20", 5
  %".22" = select  i1 %".21", i64 %".20", i64 5
  store double              0x0, double* %".11"
  br label %"i1.head"
i1.done:
  %".87" = load double, double* %".13"
  %".88" = load double, double* %".14"
  %".89" = fadd double %".87", %".88"
  %".90" = bitcast i8* %"temporary2" to double*
  %".91" = getelementptr inbounds double, double* %".90", i64 %"i0"
  store double %".89", double* %".91"
  %".93" = add nsw i64 %"i0", 1
  br label %"i0.head"
i1.head:
  %"i1" = phi  i64 [%".68", %"i1.body"], [%".17", %"i1.block"]
  %".24" = icmp slt i64 %"i1", %".22"
  br i1 %".24", label %"i1.body", label %"i1.end"
i1.body:
  %".26" = mul nsw i64 %"i0", 5
  %".27" = add nsw i64 %".26", %"i1"
  %".28" = bitcast i8* %"temporary1" to double*
  %".29" = getelementptr inbounds double, double* %".28", i64 %".27"
  %".30" = load double, double* %".29"
  %".31" = fadd double %".30", %".30"
  %".32" = call double @"llvm.fabs.f64"(double %".31")
  %".33" = fneg double %".32"
  %".34" = fcmp olt double %".33", 0xc046000000000000
  %".35" = select  i1 %".34", double 0xc046000000000000, double %".33"
  %".36" = call double @"llvm.fma.f64"(double %".35", double 0x3ff71547652b82fe, double 0x43380000000003ff)
  %".37" = fsub double %".36", 0x43380000000003ff
  %".38" = bitcast double %".36" to i64
  %".39" = shl i64 %".38", 52
  %".40" = bitcast i64 %".39" to double
  %".41" = call double @"llvm.fma.f64"(double %".37", double 0xbfe62e42fefa39ef, double %".35")
  %".42" = fmul double %".41", %".41"
  %".43" = fmul double %".41", %".41"
  %".44" = call double @"llvm.fma.f64"(double 0x3e5af2ddf01c842e, double %".43", double 0x3ec71de11278f91e)
  %".45" = call double @"llvm.fma.f64"(double %".44", double %".43", double 0x3f2a01a01a75db1f)
  %".46" = call double @"llvm.fma.f64"(double %".45", double %".43", double 0x3f811111111108bf)
  %".47" = call double @"llvm.fma.f64"(double %".46", double %".43", double 0x3fc5555555555556)
  %".48" = call double @"llvm.fma.f64"(double 0x3e928b1d85186d80, double %".43", double 0x3efa01994eb79933)
  %".49" = call double @"llvm.fma.f64"(double %".48", double %".43", double 0x3f56c16c18642883)
  %".50" = call double @"llvm.fma.f64"(double %".49", double %".43", double 0x3fa555555554fd5f)
  %".51" = call double @"llvm.fma.f64"(double %".50", double %".43", double 0x3fe000000000000c)
  %".52" = call double @"llvm.fma.f64"(double %".47", double %".41", double %".51")
  %".53" = call double @"llvm.fma.f64"(double %".42", double %".52", double %".41")
  %".54" = fsub double %".40", 0x3ff0000000000000
  %".55" = call double @"llvm.fma.f64"(double %".40", double %".53", double %".54")
  %".56" = fadd double %".40", 0x3ff0000000000000
  %".57" = call double @"llvm.fma.f64"(double %".40", double %".53", double %".56")
  %".58" = fdiv double %".55", %".57"
  %".59" = call double @"llvm.copysign.f64"(double %".58", double %".30")
  %".60" = mul nsw i64 %"i0", 5
  %".61" = add nsw i64 %".60", %"i1"
  %".62" = bitcast i8* %"temporary1" to double*
  %".63" = getelementptr inbounds double, double* %".62", i64 %".61"
  store double %".59", double* %".63"
  %".65" = load double, double* %".11"
  %".66" = fadd reassoc contract double %".65", %".59"
  store double %".66", double* %".11"
  %".68" = add nsw i64 %"i1", 1
  br label %"i1.head"
i1.end:
  %".71" = load double, double* %".13"
  %".72" = load double, double* %".14"
  %".73" = load double, double* %".11"
  %".74" = fadd double %".71", %".73"
  %".75" = fsub double %".74", %".71"
  %".76" = fsub double %".74", %".75"
  %".77" = fsub double %".71", %".76"
  %".78" = fsub double %".73", %".75"
  %".79" = fadd double %".77", %".78"
  %".80" = fcmp ord double %".79", %".79"
  %".81" = select  i1 %".80", double %".79", double              0x0
  %".82" = fadd double %".72", %".81"
  store double %".74", double* %".13"
  store double %".82", double* %".14"
  br label %"i1.blocks"
i0.head.1:
  %"i0.1" = phi  i64 [%".152", %"i1.end.1"], [%".1", %"short"]
  %".97" = icmp slt i64 %"i0.1", %".2"
  br i1 %".97", label %"i0.body.1", label %"i0.end.1"
i0.body.1:
  store double              0x0, double* %".99"
  br label %"i1.head.1"
i0.end.1:
  br label %"after"
i1.head.1:
  %"i1.1" = phi  i64 [%".145", %"i1.body.1"], [0, %"i0.body.1"]
  %".101" = icmp slt i64 %"i1.1", 5
  br i1 %".101", label %"i1.body.1", label %"i1.end.1"
i1.body.1:
  %".103" = mul nsw i64 %"i0.1", 5
  %".104" = add nsw i64 %".103", %"i1.1"
  %".105" = bitcast i8* %"temporary1" to double*
  %".106" = getelementptr inbounds double, double* %".105", i64 %".104"
  %".107" = load double, double* %".106"
  %".108" = fadd double %".107", %".107"
  %".109" = call double @"llvm.fabs.f64"(double %".108")
  %".110" = fneg double %".109"
  %".111" = fcmp olt double %".110", 0xc046000000000000
  %".112" = select  i1 %".111", double 0xc046000000000000, double %".110"
  %".113" = call double @"llvm.fma.f64"(double %".112", double 0x3ff71547652b82fe, double 0x43380000000003ff)
  %".114" = fsub double %".113", 0x43380000000003ff
  %".115" = bitcast double %".113" to i64
  %".116" = shl i64 %".115", 52
  %".117" = bitcast i64 %".116" to double
  %".118" = call double @"llvm.fma.f64"(double %".114", double 0xbfe62e42fefa39ef, double %".112")
  %".119" = fmul double %".118", %".118"
  %".120" = fmul double %".118", %".118"
  %".121" = call double @"llvm.fma.f64"(double 0x3e5af2ddf01c842e, double %".120", double 0x3ec71de11278f91e)
  %".122" = call double @"llvm.fma.f64"(double %".121", double %".120", double 0x3f2a01a01a75db1f)
  %".123" = call double @"llvm.fma.f64"(double %".122", double %".120", double 0x3f811111111108bf)
  %".124" = call double @"llvm.fma.f64"(double %".123", double %".120", double 0x3fc5555555555556)
  %".125" = call double @"llvm.fma.f64"(double 0x3e928b1d85186d80, double %".120", double 0x3efa01994eb79933)
  %".126" = call double @"llvm.fma.f64"(double %".125", double %".120", double 0x3f56c16c18642883)
  %".127" = call double @"llvm.fma.f64"(double %".126", double %".120", double 0x3fa555555554fd5f)
  %".128" = call double @"llvm.fma.f64"(double %".127", double %".120", double 0x3fe000000000000c)
  %".129" = call double @"llvm.fma.f64"(double %".124", double %".118", double %".128")
  %".130" = call double @"llvm.fma.f64"(double %".119", double %".129", double %".118")
  %".131" = fsub double %".117", 0x3ff0000000000000
  %".132" = call double @"llvm.fma.f64"(double %".117", double %".130", double %".131")
  %".133" = fadd double %".117", 0x3ff0000000000000
  %".134" = call double @"llvm.fma.f64"(double %".117", double %".130", double %".133")
  %".135" = fdiv double %".132", %".134"
  %".136" = call double @"llvm.copysign.f64"(double %".135", double %".107")
  %".137" = mul nsw i64 %"i0.1", 5
  %".138" = add nsw i64 %".137", %"i1.1"
  %".139" = bitcast i8* %"temporary1" to double*
  %".140" = getelementptr inbounds double, double* %".139", i64 %".138"
  store double %".136", double* %".140"
  %".142" = load double, double* %".99"
  %".143" = fadd reassoc contract double %".142", %".136"
  store double %".143", double* %".99"
  %".145" = add nsw i64 %"i1.1", 1
  br label %"i1.head.1", !llvm.loop !5
i1.end.1:
  %".148" = load double, double* %".99"
  %".149" = bitcast i8* %"temporary2" to double*
  %".150" = getelementptr inbounds double, double* %".149", i64 %"i0.1"
  store double %".148", double* %".150"
  %".152" = add nsw i64 %"i0.1", 1
  br label %"i0.head.1"
}

define internal i1 @"logp.program.17.1.sum"(i64 %".1", i64 %".2", i8* noalias readonly %"temporary2", i8* noalias readonly %"yo", i64 %".5", i8* %".6") "prefer-vector-width"="512" noinline nounwind
{
stack:
  %".8" = alloca double
  %".10" = alloca double
  %".11" = alloca double
  br label %"start"
start:
  store double              0x0, double* %".8"
  store double              0x0, double* %".10"
  store double              0x0, double* %".11"
  %".14" = bitcast i8* %".6" to {double, double}*
  %".15" = getelementptr inbounds {double, double}, {double, double}* %".14", i32 0, i32 0
  %".16" = load double, double* %".15"
  %".17" = getelementptr inbounds {double, double}, {double, double}* %".14", i32 0, i32 1
  %".18" = load double, double* %".17"
  store double %".16", double* %".10"
  store double %".18", double* %".11"
  br label %"i0.blocks"
i0.blocks:
  %".21" = phi  i64 [%".24", %"i0.end"], [%".1", %"start"]
  %".22" = icmp slt i64 %".21", %".2"
  br i1 %".22", label %"i0.block", label %"i0.done"
i0.block:
  %".24" = add nsw i64 %".21", 512
  %".25" = icmp slt i64 %".24", %".2"
  %".26" = select  i1 %".25", i64 %".24", i64 %".2"
  store double              0x0, double* %".8"
  br label %"i0.head"
i0.done:
  %".60" = bitcast i8* %".6" to {double, double}*
  %".61" = load double, double* %".10"
  %".62" = getelementptr inbounds {double, double}, {double, double}* %".60", i32 0, i32 0
  store double %".61", double* %".62"
  %".64" = load double, double* %".11"
  %".65" = getelementptr inbounds {double, double}, {double, double}* %".60", i32 0, i32 1
  store double %".64", double* %".65"
  %".67" = icmp ne i8 0, 0
  ret i1 %".67"
i0.head:
  %"i0" = phi  i64 [%".41", %"i0.body"], [%".21", %"i0.block"]
  %".28" = icmp slt i64 %"i0", %".26"
  br i1 %".28", label %"i0.body", label %"i0.end"
i0.body:
  %".30" = bitcast i8* %"temporary2" to double*
  %".31" = getelementptr inbounds double, double* %".30", i64 %"i0"
  %".32" = load double, double* %".31"
  %".33" = bitcast i8* %"yo" to double*
  %".34" = getelementptr inbounds double, double* %".33", i64 %"i0"
  %".35" = load double, double* %".34"
  %".36" = fsub double %".35", %".32"
  %".37" = fmul contract double %".36", %".36"
  %".38" = load double, double* %".8"
  %".39" = fadd reassoc contract double %".38", %".37"
  store double %".39", double* %".8"
  %".41" = add nsw i64 %"i0", 1
  br label %"i0.head", !llvm.loop !6
i0.end:
  %".44" = load double, double* %".10"
  %".45" = load double, double* %".11"
  %".46" = load double, double* %".8"
  %".47" = fadd double %".44", %".46"
  %".48" = fsub double %".47", %".44"
  %".49" = fsub double %".47", %".48"
  %".50" = fsub double %".44", %".49"
  %".51" = fsub double %".46", %".48"
  %".52" = fadd double %".50", %".51"
  %".53" = fcmp ord double %".52", %".52"
  %".54" = select  i1 %".53", double %".52", double              0x0
  %".55" = fadd double %".45", %".54"
  store double %".47", double* %".10"
  store double %".55", double* %".11"
  br label %"i0.blocks"
}

define internal i1 @"logp.program.17.2.multiply"(i64 %".1", i64 %".2", i8* noalias %"temporary1", i8* noalias readonly %"temporary2", i8* noalias readonly %"yo", i64 %".6") "prefer-vector-width"="512" noinline nounwind
{
stack:
  br label %"start"
start:
  br label %"i0.head"
i0.head:
  %"i0" = phi  i64 [%".36", %"i1.end"], [%".1", %"start"]
  %".8" = icmp slt i64 %"i0", %".2"
  br i1 %".8", label %"i0.body", label %"i0.end"
i0.body:
  %".20" = bitcast i8* %"temporary2" to double*
  %".21" = getelementptr inbounds double, double* %".20", i64 %"i0"
  %".22" = load double, double* %".21"
  %".23" = bitcast i8* %"yo" to double*
  %".24" = getelementptr inbounds double, double* %".23", i64 %"i0"
  %".25" = load double, double* %".24"
  %".26" = fsub double %".25", %".22"
  br label %"i1.head"
i0.end:
  %".39" = icmp ne i8 0, 0
  ret i1 %".39"
i1.head:
  %"i1" = phi  i64 [%".33", %"i1.body"], [0, %"i0.body"]
  %".10" = icmp slt i64 %"i1", 5
  br i1 %".10", label %"i1.body", label %"i1.end"
i1.body:
  %".12" = mul nsw i64 %"i0", 5
  %".13" = add nsw i64 %".12", %"i1"
  %".14" = bitcast i8* %"temporary1" to double*
  %".15" = getelementptr inbounds double, double* %".14", i64 %".13"
  %".16" = load double, double* %".15"
  %".17" = fadd double %".16", 0x3ff0000000000000
  %".18" = fsub double 0x3ff0000000000000, %".16"
  %".19" = fmul double %".18", %".17"
  %".27" = fmul double %".26", %".19"
  %".28" = mul nsw i64 %"i0", 5
  %".29" = add nsw i64 %".28", %"i1"
  %".30" = bitcast i8* %"temporary1" to double*
  %".31" = getelementptr inbounds double, double* %".30", i64 %".29"
  store double %".27", double* %".31"
  %".33" = add nsw i64 %"i1", 1
  br label %"i1.head"
i1.end:
  %".36" = add nsw i64 %"i0", 1
  br label %"i0.head"
}

declare double @"llvm.fabs.f64"(double %".1")

declare double @"llvm.fma.f64"(double %".1", double %".2", double %".3")

declare double @"llvm.copysign.f64"(double %".1", double %".2")

define internal i1 @"logp.program.22.subtract"(i8* noalias readonly %"w1", i8* noalias %"result1") "prefer-vector-width"="512" noinline nounwind
{
stack:
  br label %"start"
start:
  br label %"i.head"
i.head:
  %"i" = phi  i64 [%".16", %"i.body"], [0, %"start"]
  %".4" = icmp slt i64 %"i", 10
  br i1 %".4", label %"i.body", label %"i.end"
i.body:
  %".6" = bitcast i8* %"w1" to double*
  %".7" = getelementptr inbounds double, double* %".6", i64 %"i"
  %".8" = load double, double* %".7"
  %".9" = bitcast i8* %"result1" to double*
  %".10" = getelementptr inbounds double, double* %".9", i64 %"i"
  %".11" = load double, double* %".10"
  %".12" = fsub double %".11", %".8"
  %".13" = bitcast i8* %"result1" to double*
  %".14" = getelementptr inbounds double, double* %".13", i64 %"i"
  store double %".12", double* %".14"
  %".16" = add nsw i64 %"i", 1
  br label %"i.head"
i.end:
  %".19" = icmp ne i8 0, 0
  ret i1 %".19"
}

define internal i32 @"logp.run"(double* %".1", double* %".2", double* %".3", i8* %".4")
{
entry:
  %".6" = alloca [5 x i8*]
  %".7" = getelementptr inbounds [5 x i8*], [5 x i8*]* %".6", i32 0, i32 0
  %".8" = alloca [5 x i64]
  %".9" = getelementptr inbounds [5 x i64], [5 x i64]* %".8", i32 0, i32 0
  %".10" = alloca [3 x i64]
  %".11" = getelementptr inbounds [3 x i64], [3 x i64]* %".10", i32 0, i32 0
  %".12" = alloca [2 x i8*]
  %".13" = getelementptr inbounds [2 x i8*], [2 x i8*]* %".12", i32 0, i32 0
  %".14" = getelementptr double, double* %".1", i64 0
  %".15" = bitcast double* %".14" to i8*
  %".16" = getelementptr inbounds i8*, i8** %".7", i64 0
  store i8* %".15", i8** %".16"
  %".18" = getelementptr inbounds i64, i64* %".9", i64 0
  store i64 2, i64* %".18"
  %".20" = getelementptr inbounds i64, i64* %".9", i64 1
  store i64 5, i64* %".20"
  %".22" = icmp eq i64 2, 1
  %".23" = or i1 0, %".22"
  %".24" = icmp eq i64 5, 1
  %".25" = or i1 %".23", %".24"
  %".26" = getelementptr i8, i8* %".4", i64 0
  %".27" = bitcast i8* %".26" to i8**
  %".28" = getelementptr i8, i8* %".4", i64 64
  %".29" = bitcast i8* %".28" to i64*
  %".30" = getelementptr i64, i64* %".29", i64 0
  %".31" = load i64, i64* %".30"
  %".32" = load i8*, i8** %".27"
  %".33" = getelementptr inbounds i8*, i8** %".7", i64 1
  store i8* %".32", i8** %".33"
  %".35" = getelementptr inbounds i64, i64* %".9", i64 2
  store i64 %".31", i64* %".35"
  %".37" = icmp eq i64 %".31", 1
  %".38" = or i1 %".25", %".37"
  %".39" = getelementptr i8, i8* %".4", i64 8
  %".40" = bitcast i8* %".39" to i8**
  %".41" = getelementptr i8, i8* %".4", i64 72
  %".42" = bitcast i8* %".41" to i64*
  %".43" = getelementptr i64, i64* %".42", i64 0
  %".44" = load i64, i64* %".43"
  %".45" = getelementptr i64, i64* %".42", i64 1
  %".46" = load i64, i64* %".45"
  %".47" = load i8*, i8** %".40"
  %".48" = getelementptr inbounds i8*, i8** %".7", i64 2
  store i8* %".47", i8** %".48"
  %".50" = getelementptr inbounds i64, i64* %".9", i64 3
  store i64 %".44", i64* %".50"
  %".52" = getelementptr inbounds i64, i64* %".9", i64 4
  store i64 %".46", i64* %".52"
  %".54" = icmp eq i64 %".44", 1
  %".55" = or i1 %".38", %".54"
  %".56" = icmp eq i64 %".46", 1
  %".57" = or i1 %".55", %".56"
  %".58" = getelementptr i8, i8* %".4", i64 16
  %".59" = bitcast i8* %".58" to i8**
  %".60" = getelementptr i8, i8* %".4", i64 88
  %".61" = bitcast i8* %".60" to i64*
  %".62" = load i8*, i8** %".59"
  %".63" = getelementptr inbounds i8*, i8** %".7", i64 3
  store i8* %".62", i8** %".63"
  %".65" = getelementptr i8, i8* %".4", i64 24
  %".66" = bitcast i8* %".65" to i8**
  %".67" = getelementptr i8, i8* %".4", i64 88
  %".68" = bitcast i8* %".67" to i64*
  %".69" = load i8*, i8** %".66"
  %".70" = getelementptr inbounds i8*, i8** %".7", i64 4
  store i8* %".69", i8** %".70"
  %".72" = call i32 @"logp.shapes"(i8** %".7", i64* %".9", i64* %".11")
  %".73" = icmp ne i32 %".72", 0
  br i1 %".73", label %"entry.if", label %"entry.endif", !prof !7
entry.if:
  ret i32 1
entry.endif:
  %".76" = getelementptr double, double* %".2", i64 0
  %".77" = getelementptr double, double* %".3", i64 0
  %".78" = bitcast double* %".76" to i8*
  %".79" = getelementptr inbounds i8*, i8** %".13", i64 0
  store i8* %".78", i8** %".79"
  %".81" = bitcast double* %".77" to i8*
  %".82" = getelementptr inbounds i8*, i8** %".13", i64 1
  store i8* %".81", i8** %".82"
  %".84" = call i32 @"logp.program"(i8** %".7", i64* %".9", i8** %".13")
  ret i32 %".84"
}

define i64 @"logp.sampled"(i64 %".1", double* %".2", double* %".3", double* %".4", i8* %".5")
{
entry:
  %".7" = icmp ne i64 %".1", 10
  br i1 %".7", label %"entry.if", label %"entry.endif", !prof !7
entry.if:
  ret i64 -1
entry.endif:
  %".10" = ptrtoint i8* %".5" to i64
  %".11" = icmp eq i64 %".10", 0
  %".12" = load i8*, i8** @"logp.record"
  %".13" = select  i1 %".11", i8* %".12", i8* %".5"
  %".14" = call i32 @"logp.run"(double* %".2", double* %".4", double* %".3", i8* %".13")
  %".15" = icmp eq i32 %".14", -1
  %".16" = icmp eq i32 %".14", 0
  %".17" = select  i1 %".15", i64 -2, i64 1
  %".18" = select  i1 %".16", i64 0, i64 %".17"
  %".19" = icmp ne i64 %".18", 0
  br i1 %".19", label %"entry.endif.if", label %"entry.endif.endif", !prof !7
entry.endif.if:
  ret i64 %".18"
entry.endif.endif:
  br label %"element"
element:
  %".23" = phi  i64 [0, %"entry.endif.endif"], [%".30", %"element"]
  %".24" = phi  i1 [1, %"entry.endif.endif"], [%".29", %"element"]
  %".25" = getelementptr double, double* %".3", i64 %".23"
  %".26" = load double, double* %".25"
  %".27" = fsub double %".26", %".26"
  %".28" = fcmp oeq double %".27",              0x0
  %".29" = and i1 %".24", %".28"
  %".30" = add nuw nsw i64 %".23", 1
  %".31" = icmp ult i64 %".30", 10
  br i1 %".31", label %"element", label %"elements"
elements:
  %".33" = select  i1 %".29", i64 %".18", i64 3
  %".34" = icmp eq i64 %".33", 0
  %".35" = load double, double* %".4"
  %".36" = fsub double %".35", %".35"
  %".37" = fcmp oeq double %".36",              0x0
  %".38" = xor i1 %".37", -1
  %".39" = and i1 %".34", %".38"
  %".40" = select  i1 %".39", i64 4, i64 %".33"
  ret i64 %".40"
}

@"logp.record" = global i8* null
define i32 @"logp.vector.shapes"(i8** %".1", i64* %".2", i64* %".3")
{
entry:
  %".5" = load i64, i64* %".2"
  %".6" = icmp ne i64 %".5", 10
  br i1 %".6", label %"entry.if", label %"entry.endif", !prof !7
entry.if:
  ret i32 1
entry.endif:
  %".9" = getelementptr i64, i64* %".3", i64 0
  store i64 10, i64* %".9"
  %".11" = getelementptr i64, i64* %".3", i64 1
  store i64 132, i64* %".11"
  ret i32 0
}

define i32 @"logp.vector.program"(i8** %".1", i64* %".2", i8** %".3")
{
entry:
  %".5" = getelementptr i8*, i8** %".1", i64 0
  %".6" = load i8*, i8** %".5"
  %".7" = bitcast i8* %".6" to double*
  %".8" = getelementptr i8*, i8** %".3", i64 0
  %".9" = load i8*, i8** %".8"
  %".10" = bitcast i8* %".9" to double*
  %".11" = getelementptr i8*, i8** %".3", i64 1
  %".12" = load i8*, i8** %".11"
  %".13" = bitcast i8* %".12" to double*
  %".14" = load i8*, i8** @"logp.record"
  %".15" = call i32 @"logp.run"(double* %".7", double* %".10", double* %".13", i8* %".14")
  ret i32 %".15"
}

!0 = !{ !"branch_weights", i32 99, i32 1 }
!1 = !{ !"llvm.loop.vectorize.width", i32 8 }
!2 = !{ !"llvm.loop.interleave.count", i32 4 }
!3 = !{ !3, !1, !2 }
!4 = !{ !"llvm.loop.interleave.count", i32 1 }
!5 = !{ !5, !4 }
!6 = !{ !6, !1, !2 }
!7 = !{ !"branch_weights", i32 1, i32 99 }