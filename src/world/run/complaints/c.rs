//! Checks of C and C++: a unit is compiled with the build's options, with warnings and without output.

use crate::process::shell::quoted;
use crate::run::compile_database::CompileDatabase;
use crate::run::complaints::compiles::Compiles;
use crate::run::complaints::extension;

/// The maximum number of checked units, and of bytes in all their commands.
pub const MAX_UNITS: usize = 40;
const MAX_BYTES: usize = 60 << 10;

/// Additional options for a changed source.
///
/// `-S -O1` and not `-fsyntax-only`, because only gcc's optimiser finds reads of unset variables. It takes as long as
/// compiling, so it is used for a few sources and not for all that include a header: 4,000 lines of C in 1.7 seconds,
/// not in 0.03.
const THOROUGH: &str = "-S -O1 -o /dev/null -Wall -Wextra -fno-diagnostics-show-caret -fdiagnostics-color=never";

/// Additional options for an unchanged source.
const QUICK: &str = "-fsyntax-only -Wall -Wextra -fno-diagnostics-show-caret -fdiagnostics-color=never";

/// Whether a path has the extension of a C or C++ source.
pub fn is_source(path: &[u8]) -> bool {
    extension(path).is_some_and(|extension| ["c", "cc", "cpp", "cxx", "c++", "C", "CC"].contains(&extension))
}

/// Whether a path has the extension of a header.
pub fn is_header(path: &[u8]) -> bool {
    const HEADERS: [&str; 10] = ["h", "hh", "hpp", "hxx", "h++", "H", "inc", "def", "ipp", "tbl"];
    extension(path).is_some_and(|extension| HEADERS.contains(&extension))
}

/// One check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedUnit {
    /// The source, relative to the top.
    pub path: Vec<u8>,
    /// The working directory of the command, relative to the top.
    pub directory: String,
    /// The command, for the shell.
    pub command: Vec<u8>,
}

/// The checks of `sources`: with the commands of the database, or else as the build was seen to compile them; and the
/// sources for which neither is known. At most 40.
///
/// - `n_changed`: the number of changed sources at the beginning of `sources`; these are checked more thoroughly.
pub fn units(
    sources: &[Vec<u8>],
    n_changed: usize,
    database: Option<&CompileDatabase>,
    compiles: Option<&Compiles>,
) -> (Vec<CheckedUnit>, Vec<Vec<u8>>) {
    let (mut units, mut unknown, mut n_bytes) = (Vec::new(), Vec::new(), 0);
    for (index, path) in sources.iter().enumerate() {
        let flags = if index < n_changed { THOROUGH } else { QUICK };
        let known = database.and_then(|database| database.line_with(path, flags));
        let unit = match known {
            Some(command) => Some(CheckedUnit { path: path.clone(), directory: ".".into(), command }),
            None => compiles.and_then(|compiles| compiles.unit(path, flags)),
        };
        let Some(unit) = unit else {
            unknown.push(path.clone());
            continue;
        };
        n_bytes += unit.command.len();
        if units.len() == MAX_UNITS || n_bytes > MAX_BYTES {
            break;
        }
        units.push(unit);
    }
    (units, unknown)
}

/// Adds the checks to a line. Each prints every message once, without positions, so that the output stays short.
pub(super) fn append(text: &mut Vec<u8>, units: &[CheckedUnit]) {
    if units.is_empty() {
        return;
    }
    text.extend(
        b"idd_told() { grep -aE ': (warning|error|fatal error): ' | sed -E 's/:[0-9]+(:[0-9]+)?: /: /' | sort -u; }\n",
    );
    for unit in units {
        text.extend(b"if test -f ");
        text.extend(quoted(&unit.path));
        text.extend(b"; then echo ");
        text.extend(quoted(format!("@idd in c {}", unit.directory).as_bytes()));
        text.extend(b"; (cd ");
        text.extend(quoted(unit.directory.as_bytes()));
        text.extend(b" && ");
        text.extend(&unit.command);
        text.extend(b") 2>&1 | idd_told; fi\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_that_changed_are_looked_at_more_thoroughly_and_what_is_not_known_is_said() {
        let compiles = Compiles::read("[\"<worktree>/d\",\"cc\",\"-DX\"]\n\"a.c\"\n\"../b.c\"\n@idd end\n").unwrap();
        let sources = [b"d/a.c".to_vec(), b"b.c".to_vec(), b"c.c".to_vec()];
        let (units, unknown) = units(&sources, 1, None, Some(&compiles));
        let commands: Vec<&str> = units.iter().map(|unit| std::str::from_utf8(&unit.command).unwrap()).collect();
        assert_eq!(commands, [format!("cc -DX {THOROUGH} a.c"), format!("cc -DX {QUICK} ../b.c")]);
        assert_eq!(unknown, [b"c.c"]);
    }
}
