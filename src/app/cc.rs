//! `git idd cc`, and the names of C compilers under which the program is called in an instrumented or watched build.

use idd_session::{Context, Failure};
use idd_world::compiler::is_known;
#[cfg(feature = "explain")]
use idd_world::record::build::{BuildDirectory, VARIABLE};
#[cfg(feature = "explain")]
use idd_world::record::shim::CompilerCall;
use idd_world::run::complaints::compiles;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The compiler name under which the program was called, and the number of words that are not the compiler's; `None` if
/// it was called under its own name.
pub fn called_as(args: &[OsString], context: &Context) -> Option<(OsString, usize)> {
    let name = Path::new(args.first()?).file_name()?;
    let is_set = |variable| context.variable(variable).is_some();
    if name == compiles::LISTER && is_set(compiles::VARIABLE) {
        return Some((name.to_owned(), 1));
    }
    // A build can have kept the link of an earlier run, as the cache of CMake does.
    if name.to_str().is_some_and(is_known) {
        return Some((name.to_owned(), 1));
    }
    (args.get(1)? == "cc").then(|| ("cc".into(), 2))
}

/// Compiles as the arguments say; the result is the exit code.
///
/// - `is_link`: whether the program was called under the name of a compiler.
pub fn run(name: &OsStr, words: &[OsString], is_link: bool, context: &Context) -> Result<u8, Failure> {
    let others = |links: &Path| -> OsString {
        let path = context.variable("PATH").unwrap_or_default();
        let others: Vec<&[u8]> =
            path.as_bytes().split(|byte| *byte == b':').filter(|part| *part != links.as_os_str().as_bytes()).collect();
        OsStr::from_bytes(&others.join(&b':')).to_owned()
    };
    if let Some(file) = context.variable(compiles::VARIABLE) {
        if name == compiles::LISTER {
            let listed = compiles::list(Path::new(&file));
            let written = io::stdout().write_all(listed.as_bytes()).and_then(|()| io::stdout().flush());
            return written.map(|()| 0).map_err(Failure::from);
        }
        let path = others(Path::new(&context.variable(compiles::LINKS).unwrap_or_default()));
        let code = compiles::note(Path::new(&file), name, words, &context.directory, &path);
        return code.map(|code| u8::try_from(code).unwrap_or(1)).map_err(Failure::from);
    }
    #[cfg(feature = "explain")]
    if let Some(place) = context.variable(VARIABLE) {
        let build = BuildDirectory::open(Path::new(&place))?;
        let call = CompilerCall { build: &build, name, directory: &context.directory, path: others(&build.bin()) };
        return call.run(words).map(|code| u8::try_from(code).unwrap_or(1)).map_err(Failure::from);
    }
    if is_link {
        let path = context.variable("PATH").unwrap_or_default();
        let code = compiles::relay(name, words, &context.directory, &path);
        return code.map(|code| u8::try_from(code).unwrap_or(1)).map_err(Failure::from);
    }
    Err(Failure::usage("`git idd cc` works only for a recording, which names its directory in the environment")
        .with_hint("`git idd record` calls the build with this compiler"))
}
