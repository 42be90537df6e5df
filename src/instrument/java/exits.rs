//! Inserts a call into the methods that end a virtual machine, so that a program can be run again when it has ended.

use crate::instrument::Unsupported;
use crate::instrument::java::class_file::Class;
use crate::instrument::java::code::Code;
use crate::instrument::java::descriptor::Kind;
use crate::instrument::java::insert;
use crate::instrument::java::insert::Constants;
use crate::instrument::java::insert::Inserts;
use crate::instrument::java::insert::load;
use crate::instrument::java::insert::put_local;
use crate::instrument::java::layout::At;
use crate::instrument::java::layout::CALL;
use crate::instrument::java::layout::Insert;

/// The class with the methods.
const RUNTIME: &str = "java/lang/Runtime";

/// The methods: each takes the exit code.
const METHODS: [&str; 2] = ["exit", "halt"];

/// Their type.
const DESCRIPTOR: &str = "(I)V";

/// The local with the code.
const CODE: u16 = 1;

/// What is called first, with the exit code.
const CALLED: (&str, (&str, &str)) = ("git_idd/recording/Trials", ("leave", DESCRIPTOR));

const INVOKESTATIC: u8 = 184;

/// Inserts the calls; `None` if it is another class.
///
/// Errors: the class is not as the specification has it, or has no such methods.
pub fn guard(bytes: &[u8]) -> Result<Option<Vec<u8>>, Unsupported> {
    let class = Class::read(bytes)?;
    if *class.name != *RUNTIME {
        return Ok(None);
    }
    let mut constants = Constants::new(class.pool.len());
    let mut codes = Vec::with_capacity(class.methods.len());
    for method in &class.methods {
        let is_one = METHODS.iter().any(|name| *method.name == **name) && *method.descriptor == *DESCRIPTOR;
        let Some(code) = Code::of(&class, method)?.filter(|_| is_one) else {
            codes.push(None);
            continue;
        };
        let mut put = |_: usize, out: &mut Vec<u8>, constants: &mut Constants| {
            put_local(out, load(Kind::Int), CODE);
            out.push(INVOKESTATIC);
            out.extend(constants.method(CALLED.0, CALLED.1)?.to_be_bytes());
            Ok(())
        };
        let all = [Insert { instruction: 0, at: At::Entry, length: 2 + CALL }];
        let inserts = Inserts { all: &all, put: &mut put, guarded: None };
        codes.push(Some(insert::code_attribute(class.version, &code, inserts, &mut constants)?));
    }
    if codes.iter().flatten().count() != METHODS.len() {
        return Err(Unsupported::new("another way to end a program"));
    }
    Ok(Some(insert::with_code(&class, &codes, &constants)))
}
