use super::*;

/// A loop over a plain variable, a call of another unit, a phi, and a switch.
const SAMPLE: &str = r#"source_filename = "a.c"

@total = global i32 0, align 4

define i32 @f(i32 %n, ptr %p) {
entry:
  %n.addr = alloca i32, align 4
  %shared = alloca i32, align 4
  store i32 %n, ptr %n.addr, align 4
  br label %loop

loop:
  %i = load i32, ptr %n.addr, align 4
  %is = icmp sgt i32 %i, 0
  br i1 %is, label %body, label %done

body:
  %v = load i32, ptr %p, align 4
  store i32 %v, ptr @total, align 4
  %r = call i32 @g(ptr %shared, i32 %v)
  %dec = sub i32 %i, %r
  store i32 %dec, ptr %n.addr, align 4
  br label %loop

done:
  %w = phi i32 [ 0, %loop ]
  switch i32 %i, label %out [
    i32 1, label %out
  ]

out:
  ret i32 %w
}

declare i32 @g(ptr, i32)
"#;

fn module(text: &str) -> Module {
    Module::read(text).unwrap()
}

fn rewritten(text: &str) -> String {
    rewrite(text, &module(text), UnitNumbers { unit: 1, first: 7, grain: SegmentGrain::Straight }).unwrap().text
}

#[test]
fn a_segment_records_what_cannot_be_told_from_those_before() {
    let module = module(SAMPLE);
    let (_, segments) = piece(SAMPLE, &module, &module.functions[0], SegmentGrain::Straight).unwrap().unwrap();
    let item = |item: &SegmentItem| {
        let what = match item.what {
            SegmentItemKind::Slot(_) => "slot",
            SegmentItemKind::Frame => "frame",
            SegmentItemKind::Parameter(_) => "parameter",
            SegmentItemKind::Operand(_) => "operand",
            SegmentItemKind::Result => "result",
        };
        format!(" {what}:{}", item.size)
    };
    let line = |segment: &Segment| {
        let items: String = segment.items.iter().map(item).collect();
        format!("{:?} of block {}{items} = {}", segment.kind, segment.block.0, segment.size)
    };
    let lines: Vec<String> = segments.segments.iter().map(line).collect();
    insta::assert_snapshot!(lines.join("\n"), @r"
    Entry of block 0 slot:8 slot:8 parameter:4 parameter:8 = 32
    Block of block 1 = 4
    Block of block 2 result:4 operand:8 = 16
    AfterCall of block 2 result:4 operand:4 = 12
    Block of block 3 = 4
    Block of block 4 = 4
    ");
    // The address of the other one is given away.
    assert_eq!((segments.slots.len(), segments.plain.len()), (2, 1));
}

#[test]
fn the_rewritten_text_has_one_record_a_segment_behind_the_phis() {
    let text = rewritten(SAMPLE);
    let calls: Vec<&str> = text.lines().filter(|line| line.contains("call ptr @__idd_seg(")).collect();
    let numbers: Vec<String> = (7..13).map(|number| format!("@__idd_seg(i32 {number}, ")).collect();
    assert_eq!(calls.len(), numbers.len(), "{text}");
    assert!(calls.iter().zip(&numbers).all(|(call, number)| call.contains(number)), "{calls:?}");
    let (phi, record) = (text.find("%w = phi").unwrap(), text.find("@__idd_seg(i32 11, ").unwrap());
    assert!(phi < record && record < text.find("switch i32").unwrap());
    // An address is recorded before the access, a value that is read behind it.
    let at = |needle: &str| text.find(needle).unwrap_or_else(|| panic!("no `{needle}` in {text}"));
    assert!(at("%v = load i32") < at("store i32 %v, ptr %__idd"));
    assert!(at("store ptr @total, ptr %__idd") < at("store i32 %v, ptr @total"));
}

#[test]
fn the_rewritten_text_lets_branches_and_switches_be_turned() {
    let text = rewritten(SAMPLE);
    assert!(!text.contains("br i1 %is,") && !text.contains("switch i32 %i,"), "{text}");
    assert!(
        text.contains("= zext i1 %is to i8")
            && text.contains("= icmp ne i8 %__idd.t")
            && text.contains(", label %body, label %done"),
        "{text}"
    );
    assert!(text.contains("i32 %i\n") && text.contains("= select i1 %__idd.t"), "{text}");
}

#[test]
fn what_is_not_known_is_named_with_its_line() {
    let odd = SAMPLE.replace("%dec = sub i32 %i, %r", "%dec = wonder i32 %i, %r");
    let error =
        rewrite(&odd, &module(&odd), UnitNumbers { unit: 1, first: 0, grain: SegmentGrain::Straight }).unwrap_err();
    assert_eq!(error.to_string(), "line 21: the instruction `wonder`");
}

/// A method that catches what its call throws, as clang prints it, after [`normalised`](crate::instrument::invoke::normalised).
const CATCHES: &str = r#"source_filename = "a.cpp"

$_ZN5Stack4pushEi = comdat any

@_ZTV5Stack = linkonce_odr dso_local unnamed_addr constant { [3 x ptr] } { [3 x ptr] [ptr null, ptr @_ZTI5Stack, ptr @_ZN5Stack4pushEi] }, comdat, align 8

define linkonce_odr dso_local noundef i32 @_ZN5Stack4pushEi(ptr noundef nonnull align 8 dereferenceable(8) %this, i32 noundef %n) unnamed_addr #2 comdat align 2 personality ptr @__gxx_personality_v0 {
entry:
  %this.addr = alloca ptr, align 8
  %exn.slot = alloca ptr, align 8
  store ptr %this, ptr %this.addr, align 8
  store ptr getelementptr inbounds inrange(-16, 8) ({ [3 x ptr] }, ptr @_ZTV5Stack, i32 0, i32 0, i32 2), ptr %this, align 8
  %call = invoke noundef i32 @_Z5checki(i32 noundef %n)
          to label %invoke.cont unwind label %lpad

invoke.cont:                                      ; preds = %entry
  %r = add nsw i32 %call, 1
  br label %end

lpad:                                             ; preds = %entry
  %0 = landingpad { ptr, i32 }
          cleanup
          catch ptr @_ZTIi
  %1 = extractvalue { ptr, i32 } %0, 0
  store ptr %1, ptr %exn.slot, align 8
  %t = call i32 @llvm.eh.typeid.for.p0(ptr @_ZTIi) #5
  %is = icmp eq i32 %t, 1
  br i1 %is, label %end, label %eh.resume

end:
  %v = phi i32 [ %r, %invoke.cont ], [ 0, %lpad ]
  ret i32 %v

eh.resume:
  resume { ptr, i32 } %0
}

declare i32 @_Z5checki(i32)

attributes #2 = { mustprogress noinline uwtable }
"#;

#[test]
fn a_call_that_may_throw_stays_in_its_block_and_what_catches_records_its_frame() {
    let module = module(CATCHES);
    let (function, segments) = piece(CATCHES, &module, &module.functions[0], SegmentGrain::Straight).unwrap().unwrap();
    let labels: Vec<&str> = function.blocks.iter().map(|block| &*block.label).collect();
    assert_eq!(labels, ["entry", "lpad", "end", "eh.resume"]);
    let kinds: Vec<SegmentKind> = segments.segments.iter().map(|segment| segment.kind).collect();
    assert_eq!(
        kinds,
        [SegmentKind::Entry, SegmentKind::AfterCall, SegmentKind::Block, SegmentKind::Block, SegmentKind::Block]
    );
    assert!(segments.segments[2].items.iter().any(|item| item.what == SegmentItemKind::Frame));
    let text = rewritten(CATCHES);
    let after = text.split("invoke.cont:").nth(1).unwrap();
    assert!(after.split_once("store i32 %call, ptr ").unwrap().0.contains("call ptr @__idd_seg"), "{text}");
    let landing = text.split("catch ptr @_ZTIi\n").nth(1).unwrap();
    assert!(landing.trim_start().starts_with("%__idd.p"), "{landing}");
    assert!(landing.contains("store ptr %this.addr, ptr %__idd.q"), "{landing}");
}
