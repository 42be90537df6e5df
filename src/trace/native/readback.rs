//! Lets a program record what the library reads into its memory.
//!
//! The library is not instrumented: of a line that `fgets` reads and `puts` prints, no byte would be in a recording. So each call that brings input
//! is followed by a call of a function that reads it back: its loads are recorded, and the machine takes from them what memory holds,
//! without a frame or a step of their own.

use crate::instrument::function::read;
use crate::instrument::lex::written;
use crate::instrument::module::Module;
use crate::instrument::types::Type;
use crate::instrument::{Function, Instruction, OperandValue, READBACK, Unsupported};
use crate::native::globals::unescaped;
use crate::native::model::{self, Effect, Input, Length, Model};
use crate::native::scanned::{self, ScannedConversion};

/// Each reads back at most 4,096 bytes: a range (the address, the number of its elements and the most that there can be, the bytes of one); a text; what a conversion of
/// `scanf` wrote, if the result says that it did (the address, the result, the number of the conversion, its bytes or 0 for a text); the line that `getline` read. The address
/// of each load is computed, so that the record has it.
const FUNCTIONS: &str = "
declare i64 @__idd_readback_length(ptr)

define internal void @__idd_readback_bytes(ptr %begin, i64 %count, i64 %most, i64 %size) {
entry:
  %is_failed = icmp slt i64 %count, 0
  %is_null = icmp eq ptr %begin, null
  %is_none = or i1 %is_failed, %is_null
  %is_over = icmp ugt i64 %count, %most
  %taken = select i1 %is_over, i64 %most, i64 %count
  %product = mul i64 %taken, %size
  %is_long = icmp ugt i64 %product, 4096
  %cut = select i1 %is_long, i64 4096, i64 %product
  %n = select i1 %is_none, i64 0, i64 %cut
  br label %words
words:
  %at = phi i64 [ 0, %entry ], [ %behind, %word ]
  %behind = add i64 %at, 8
  %fits = icmp sle i64 %behind, %n
  br i1 %fits, label %word, label %bytes
word:
  %eight = getelementptr i8, ptr %begin, i64 %at
  %seen = load i64, ptr %eight, align 1
  br label %words
bytes:
  %rest = phi i64 [ %at, %words ], [ %next, %byte ]
  %is_more = icmp slt i64 %rest, %n
  br i1 %is_more, label %byte, label %end
byte:
  %one = getelementptr i8, ptr %begin, i64 %rest
  %last = load i8, ptr %one, align 1
  %next = add i64 %rest, 1
  br label %bytes
end:
  ret void
}

define internal void @__idd_readback_text(ptr %begin) {
  %length = call i64 @__idd_readback_length(ptr %begin)
  call void @__idd_readback_bytes(ptr %begin, i64 %length, i64 %length, i64 1)
  ret void
}

define internal void @__idd_readback_scanned(ptr %begin, i32 %result, i32 %nth, i64 %size) {
entry:
  %is_assigned = icmp sge i32 %result, %nth
  br i1 %is_assigned, label %assigned, label %end
assigned:
  %is_text = icmp eq i64 %size, 0
  br i1 %is_text, label %text, label %bytes
text:
  call void @__idd_readback_text(ptr %begin)
  br label %end
bytes:
  call void @__idd_readback_bytes(ptr %begin, i64 1, i64 1, i64 %size)
  br label %end
end:
  ret void
}

define internal void @__idd_readback_line(ptr %place, i64 %result) {
entry:
  %is_read = icmp sgt i64 %result, 0
  br i1 %is_read, label %read, label %end
read:
  %pointer = getelementptr i8, ptr %place, i64 0
  %begin = load ptr, ptr %pointer, align 8
  call void @__idd_readback_text(ptr %begin)
  br label %end
end:
  ret void
}
";

/// The text of a module in which what the library reads is read back.
pub fn with_readback(text: String) -> Result<String, Unsupported> {
    let reads = |text: &str| model::MODELS.iter().filter(|model| reads_input(model)).any(|model| is_named(text, model));
    if !reads(&text) {
        return Ok(text);
    }
    let module = Module::read(&text)?;
    let mut calls: Vec<(usize, String)> = Vec::new();
    // A function that passes its own arguments on is left as it is.
    let is_rewritten = |body: &str| reads(body) && !body.contains("musttail call ");
    for header in module.functions.iter().filter(|header| is_rewritten(&text[header.text.clone()])) {
        let function = read(&text, header)?;
        for instruction in function.blocks.iter().flat_map(|block| &block.instructions) {
            let call = &text[instruction.text.clone()];
            let end = instruction.text.end;
            // An `invoke` ends its block. A function that the unit defines is not the library's.
            let of_library = |name: &&str| !call.contains(" unwind label ") && module.declared.contains(*name);
            if let Some(model) = instruction.called().filter(of_library).and_then(model::find) {
                calls.extend(readbacks(&text, &function, instruction, model).into_iter().map(|call| (end, call)));
            }
        }
    }
    let mut out = String::with_capacity(text.len() + 64 * calls.len() + FUNCTIONS.len());
    let mut copied = 0;
    for (end, call) in &calls {
        out.push_str(&text[copied..*end]);
        out.extend(["\n  call void @", READBACK, call]);
        copied = *end;
    }
    out.push_str(&text[copied..]);
    if !calls.is_empty() {
        out.push_str(FUNCTIONS);
    }
    Ok(out)
}

fn reads_input(model: &Model) -> bool {
    model.input.is_some() || model.effects.iter().any(|effect| matches!(effect, Effect::Scans(_)))
}

fn is_named(text: &str, model: &Model) -> bool {
    model.names.iter().any(|name| text.contains(&format!("@{name}(")))
}

/// The calls that read back what a call has read, without [`READBACK`]. There are none for a function whose types are not those of the library's function.
fn readbacks(text: &str, function: &Function, call: &Instruction, model: &Model) -> Vec<String> {
    let argument = |index: usize, ty: Type| {
        call.operands.get(index).filter(|operand| operand.ty == ty).map(|operand| function.text_of(operand))
    };
    let result = |ty: Type| call.result.filter(|_| call.ty == ty).map(|id| function.written(id));
    let count = || result(Type::Int(64));
    let bytes = |to: usize, most: usize, size: &str| {
        let (to, most) = (argument(to, Type::Ptr)?, argument(most, Type::Int(64))?);
        Some(format!("bytes(ptr {to}, i64 {}, i64 {most}, i64 {size})", count()?))
    };
    let text_at = |at: String| Some(format!("text(ptr {at})"));
    let one = |effect: &Effect| match *effect {
        Effect::Writes(to, Length::Result) => bytes(to, to + 1, "1"),
        Effect::Writes(to, Length::ResultTimes(size)) => bytes(to, size + 1, &argument(size, Type::Int(64))?),
        Effect::WritesResult(_) => text_at(result(Type::Ptr).or_else(|| argument(0, Type::Ptr))?),
        Effect::ReadsLine(pointer, size) => {
            let (pointer, _) = (argument(pointer, Type::Ptr)?, argument(size, Type::Ptr)?);
            Some(format!("line(ptr {pointer}, i64 {})", count()?))
        }
        _ => None,
    };
    let scanned = |at: usize, nth: usize, conversion: ScannedConversion| {
        let size = match conversion {
            ScannedConversion::Bytes(size) => size,
            ScannedConversion::Text(_) => 0,
            ScannedConversion::Position(_) => return None,
        };
        let (at, result) = (argument(at, Type::Ptr)?, result(Type::Int(32))?);
        Some(format!("scanned(ptr {at}, i32 {result}, i32 {nth}, i64 {size})"))
    };
    let mut calls = Vec::new();
    if model.input == Some(Input::Environment) {
        calls.extend(result(Type::Ptr).and_then(text_at));
    }
    for effect in model.effects.iter().filter(|_| reads_input(model)) {
        match effect {
            Effect::Scans(format) => {
                let text = call.operands.get(*format).and_then(|format| constant(text, &format.value));
                let mut n_counted = 0;
                for (at, conversion) in (format + 1..).zip(scanned::conversions(&text.unwrap_or_default())) {
                    n_counted += usize::from(!matches!(conversion, ScannedConversion::Position(_)));
                    calls.extend(scanned(at, n_counted, conversion));
                }
            }
            effect => calls.extend(one(effect)),
        }
    }
    calls
}

/// The bytes of a text that the module defines.
fn constant(text: &str, value: &OperandValue) -> Option<Vec<u8>> {
    let OperandValue::Global(name) = value else { return None };
    let begin = text.find(&format!("\n{} = ", written('@', name)))?;
    let line = text[begin + 1..].lines().next()?;
    let literal = &line[line.find(" c\"")? + 2..];
    let end = literal[1..].find('"')?;
    Some(unescaped(&literal[..end + 2]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_call_has_read_is_read_back_behind_it() {
        let text = "source_filename = \"a.c\"
@.str = private unnamed_addr constant [11 x i8] c\"%d %9s%n%c\\00\", align 1
declare i64 @read(i32, ptr, i64)
declare i32 @__isoc99_scanf(ptr, ...)
declare ptr @fgets(ptr, i32, ptr)
declare i32 @getchar()
declare i32 @gets(ptr)
declare i64 @getline(ptr, i32)

define void @f(ptr %a, ptr %b) {
entry:
  %0 = call i64 @read(i32 0, ptr %a, i64 100)
  %1 = call ptr @fgets(ptr %a, i32 100, ptr %b)
  %2 = call i32 (ptr, ...) @__isoc99_scanf(ptr @.str, ptr %a, ptr %b, ptr %a, ptr %b)
  %3 = call i32 @getchar()
  %4 = call i32 @gets(ptr %b)
  %5 = call i64 @read(i32 0, ptr null, i64 0)
  %6 = call i64 @getline(ptr %a, i32 3)
  ret void
}

define i64 @g(i32 %a, ptr %b, i64 %c) {
entry:
  %0 = musttail call i64 @read(i32 %a, ptr %b, i64 %c)
  ret i64 %0
}
";
        let with = with_readback(text.to_owned()).expect("a module");
        let put_in: Vec<&str> =
            with.lines().filter_map(|line| line.strip_prefix("  call void @__idd_readback_")).collect();
        let expected = [
            "bytes(ptr %a, i64 %0, i64 100, i64 1)",
            "text(ptr %1)",
            "scanned(ptr %a, i32 %2, i32 1, i64 4)",
            "scanned(ptr %b, i32 %2, i32 2, i64 0)",
            "scanned(ptr %b, i32 %2, i32 3, i64 1)",
            "text(ptr %b)",
            "bytes(ptr null, i64 %5, i64 0, i64 1)",
            // Those of the functions that are put in.
            "bytes(ptr %begin, i64 %length, i64 %length, i64 1)",
        ];
        assert_eq!(put_in[..8], expected, "{with}");
        let names = ["read", "fgets", "__isoc99_scanf", "getchar", "gets", "getline"];
        let other = names.iter().fold(text.to_owned(), |text, name| text.replace(&format!("@{name}("), "@other("));
        assert_eq!(with_readback(other.clone()), Ok(other));
    }
}
