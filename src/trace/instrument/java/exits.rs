//! Inserts calls into methods of the system, so that a program can be run again in one virtual machine: into those that end
//! it, and into those by which a run leaves something over for the next one.

use crate::instrument::Unsupported;
use crate::instrument::java::class_file::{ClassFile, ClassMethod};
use crate::instrument::java::code::Code;
use crate::instrument::java::descriptor::ValueKind;
use crate::instrument::java::insert::{self, Constants, Inserts, load, put_local};
use crate::instrument::java::layout::{CALL, Insert, InsertPlace};

/// The class whose methods are called.
const TRIALS: &str = "git_idd/recording/Trials";

/// A method that takes an exit code in its first parameter; it is handed to `leave`.
const EXITS: [(&str, &str); 2] = [("java/lang/Runtime", "exit"), ("java/lang/Runtime", "halt")];

/// Classes, methods and types of which a part is enough; `bar` is called there, which ends all trials.
const LEFTOVERS: [(&str, &str, &str); 22] = [
    ("java/lang/Runtime", "addShutdownHook", ""),
    ("java/lang/System", "setSecurityManager", ""),
    ("java/lang/ProcessBuilder", "start", "()"),
    ("java/net/ServerSocket", "bind", "I)"),
    ("java/net/URL", "setURLStreamHandlerFactory", ""),
    ("java/io/File", "createNewFile", ""),
    ("java/io/File", "delete", ""),
    ("java/io/File", "deleteOnExit", ""),
    ("java/io/File", "mkdir", ""),
    ("java/io/File", "renameTo", ""),
    ("java/io/File", "setLastModified", ""),
    ("java/io/FileOutputStream", "<init>", "(Ljava/io/File;Z)"),
    ("java/nio/file/Files", "newOutputStream", ""),
    ("java/nio/file/Files", "createFile", ""),
    ("java/nio/file/Files", "createDirectory", ""),
    ("java/nio/file/Files", "createSymbolicLink", ""),
    ("java/nio/file/Files", "createLink", ""),
    ("java/nio/file/Files", "delete", ""),
    ("java/nio/file/Files", "deleteIfExists", ""),
    ("java/nio/file/Files", "move", ""),
    ("java/nio/file/Files", "copy", ""),
    ("java/nio/file/Files", "setAttribute", ""),
];

/// What is called, and with how many bytes of code.
type ExitCall = ((&'static str, &'static str), usize);

const LEAVE: ExitCall = (("leave", "(I)V"), 2 + CALL);
const BAR: ExitCall = (("bar", "()V"), CALL);

/// The local with the exit code.
const CODE: u16 = 1;

const INVOKESTATIC: u8 = 184;

fn called(class: &str, method: &ClassMethod) -> Option<ExitCall> {
    let is_exit = |(of, name): &(&str, &str)| *of == class && *method.name == **name && *method.descriptor == *"(I)V";
    let is_leftover = |(of, name, part): &(&str, &str, &str)| {
        *of == class && *method.name == **name && method.descriptor.contains(part)
    };
    if EXITS.iter().any(is_exit) { Some(LEAVE) } else { LEFTOVERS.iter().any(is_leftover).then_some(BAR) }
}

/// Inserts the calls; `None` if it is another class.
///
/// Errors: the class is not as the specification has it, or has no such methods.
pub fn guard(bytes: &[u8]) -> Result<Option<Vec<u8>>, Unsupported> {
    let class = ClassFile::read(bytes)?;
    let names = EXITS.iter().map(|(name, _)| *name).chain(LEFTOVERS.iter().map(|(name, ..)| *name));
    let Some(name) = names.into_iter().find(|name| **name == *class.name) else { return Ok(None) };
    let mut constants = Constants::new(class.pool.len());
    let mut codes = Vec::with_capacity(class.methods.len());
    for method in &class.methods {
        let Some(((callee, descriptor), length)) = called(name, method) else {
            codes.push(None);
            continue;
        };
        let Some(code) = Code::of(&class, method)? else {
            codes.push(None);
            continue;
        };
        let mut put = |_: usize, out: &mut Vec<u8>, constants: &mut Constants| {
            if callee == LEAVE.0.0 {
                put_local(out, load(ValueKind::Int), CODE);
            }
            out.push(INVOKESTATIC);
            out.extend(constants.method(TRIALS, callee, descriptor)?.to_be_bytes());
            Ok(())
        };
        let all = [Insert { instruction: 0, at: InsertPlace::Entry, length }];
        let inserts = Inserts { all: &all, put: &mut put, guarded: None };
        codes.push(Some(insert::code_attribute(class.version, &code, inserts, &mut constants)?));
    }
    if codes.iter().all(Option::is_none) {
        return Err(Unsupported::new("other methods than those that are known"));
    }
    Ok(Some(insert::with_code(&class, &codes, &constants)))
}
