//! `git idd cc`, and the names of C compilers under which the program is called in an instrumented build.

use crate::cli::failure::Failure;
use crate::cli::plan::Surroundings;
use crate::report::Status;
use crate::world::record::build::BuildDirectory;
use crate::world::record::build::VARIABLE;
use crate::world::record::build::is_known;
use crate::world::record::shim::Call;
use std::ffi::OsStr;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// As which compiler the program was called, and how many words are not the compiler's; `None` if as itself.
pub fn called_as(args: &[OsString], around: &Surroundings) -> Option<(OsString, usize)> {
    let name = Path::new(args.first()?).file_name()?;
    if name.to_str().is_some_and(is_known) && around.variable(VARIABLE).is_some() {
        return Some((name.to_owned(), 1));
    }
    (args.get(1)? == "cc").then(|| ("cc".into(), 2))
}

/// Compiles as the arguments say; the result is the exit code.
pub fn run(name: &OsStr, words: &[OsString], around: &Surroundings) -> Result<u8, Failure> {
    let Some(place) = around.variable(VARIABLE) else {
        return Err(Failure::new(
            Status::Usage,
            format!("`git idd cc` works for a recording, but `{VARIABLE}` is not set"),
        )
        .with_hint("`git idd record` sets it, and calls the build with this compiler"));
    };
    let build = BuildDirectory::open(Path::new(&place)).map_err(|error| Failure::from_error(&error))?;
    let bin = build.bin();
    let path = around.variable("PATH").unwrap_or_default();
    let others: Vec<&[u8]> =
        path.as_bytes().split(|byte| *byte == b':').filter(|part| *part != bin.as_os_str().as_bytes()).collect();
    let path = OsStr::from_bytes(&others.join(&b':')).to_owned();
    let call = Call { build: &build, name, directory: &around.directory, path };
    let code = call.run(words).map_err(|error| Failure::from_error(&error))?;
    Ok(u8::try_from(code).unwrap_or(1))
}
