//! Checks of Java: `javac -Xlint:all` of the changed files, with the classes that the build made.
//!
//! A name that cannot be resolved (of a library outside of the checkout, for example) cannot be resolved at the ends of
//! a change either, so it is no new warning. The analysis continues after such errors.

use crate::compiler::arguments::words_of;
use crate::process::shell::quoted;
use crate::run::complaints::append_present;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// The options of a build that matter for every source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CompilerOptions {
    /// Class paths, as written.
    pub class_paths: Vec<String>,
    /// Options of the compiler, each with its value.
    pub words: Vec<String>,
}

impl CompilerOptions {
    /// Reads the line of a build. Words that the shell would expand are skipped.
    pub fn of(line: &OsStr) -> Self {
        let words: Vec<String> =
            words_of(line.as_bytes()).into_iter().filter_map(|word| word.into_string().ok()).collect();
        let is_plain = |text: &&str| !text.is_empty() && !text.contains(['$', '`', '*']);
        let mut options = Self::default();
        for (index, word) in words.iter().enumerate() {
            let value = words.get(index + 1).map(|value| value.trim_end_matches(';')).filter(is_plain);
            match (&word[..], value) {
                ("-cp" | "-classpath" | "--class-path", Some(value)) => options.class_paths.push(value.to_owned()),
                ("-encoding" | "--release" | "-source" | "--source" | "--add-exports", Some(value))
                    if !options.words.contains(word) =>
                {
                    options.words.extend([word.clone(), value.to_owned()]);
                }
                ("--enable-preview", _) if !options.words.contains(word) => options.words.push(word.clone()),
                _ => {
                    let joined = word.strip_prefix("CLASSPATH=").or_else(|| word.strip_prefix("--class-path="));
                    options.class_paths.extend(joined.filter(is_plain).map(str::to_owned));
                }
            }
        }
        options
    }
}

/// Finds the directories of sources (`S`) and of classes (`C`) from the paths of all `.java` and `.class` files. A
/// directory of classes is the path of a class without the path of its source below the directory of sources.
///
/// `packages` has the directories of sources of the changed files, separated by `:`; others are recognised by Maven's
/// names.
const ROOTS: &str = r#"
BEGIN { n_roots = split(roots, root, ":") }
/\.java$/ { source[++n] = $0; next }
{ sub(/\.class$/, ""); if ($0 !~ /\$/) class[++m] = $0 }
END {
    for (i = 1; i <= n_roots; i++) if (root[i] != "") print "S " root[i]
    for (i = 1; i <= n; i++) {
        sub(/\.java$/, "", source[i])
        for (k = 1; k <= n_roots; k++) {
            front = root[k] == "." ? "" : root[k] "/"
            if (index(source[i], front) == 1) known[substr(source[i], length(front) + 1)] = 1
        }
        if (match(source[i], /src\/(main|test)\/java\//)) {
            known[substr(source[i], RSTART + RLENGTH)] = 1
            front = substr(source[i], 1, RSTART + RLENGTH - 2)
            if (!(front in told)) { told[front] = 1; print "S " front }
        }
    }
    for (i = 1; i <= m; i++) {
        rest = class[i]; front = ""; found = 0
        while (!found) {
            if (rest in known) { found = 1; break }
            at = index(rest, "/")
            if (!at) break
            front = front substr(rest, 1, at); rest = substr(rest, at + 1)
        }
        if (!found && match(class[i], /(target|build)\/(test-)?classes\/(java\/(main|test)\/)?/)) {
            found = 1; front = substr(class[i], 1, RSTART + RLENGTH - 1)
        }
        if (found) { if (front == "") front = "./"; if (!(front in made)) { made[front] = 1; print "C " front } }
    }
}
"#;

/// Joins each diagnostic into one line, without its position: its headline, and its symbol.
const TOLD: &str = r#"
function tell() { if (head != "") print head; head = "" }
/^ +symbol: / { if (head != "") { sub(/^ +symbol: +/, ""); gsub(/ +/, " "); head = head " " $0 } next }
/:[0-9]+: (warning|error): / { tell(); head = $0; sub(/:[0-9]+: /, ": ", head) }
END { tell() }
"#;

/// Adds the check of `files` to a line.
///
/// The names of the packages are read in the worktree, because a file can have another package in each tree.
pub(super) fn append(text: &mut Vec<u8>, files: &[Vec<u8>], options: &CompilerOptions) {
    if files.is_empty() {
        return;
    }
    append_present(text, files);
    // The directory of a source without the directories of its package.
    text.extend(
        b"if test $# -gt 0; then echo '@idd in java .'
idd_roots=$(for idd_file in \"$@\"; do
    idd_package=$(sed -nE 's/^[[:space:]]*package[[:space:]]+([A-Za-z0-9_.]+)[[:space:]]*;.*/\\1/p' \"$idd_file\" | head -n 1 | tr . /)
    idd_place=$(dirname \"$idd_file\")
    case \"/$idd_place\" in */\"$idd_package\") idd_place=${idd_place%\"$idd_package\"}; idd_place=${idd_place%/} ;; esac
    echo \"${idd_place:-.}\"
done | sort -u | tr '\\n' ':')
idd_found=$(find . -name .git -prune -o -type f \\( -name '*.java' -o -name '*.class' \\) -print | sed 's|^\\./||' | sort | awk -v roots=\"$idd_roots\" ",
    );
    text.extend(quoted(ROOTS.as_bytes()));
    text.extend(
        b")
idd_sources=$(echo \"$idd_found\" | sed -n 's/^S //p' | sort -u | tr '\\n' ':')
idd_classes=$(echo \"$idd_found\" | sed -n 's/^C //p' | tr '\\n' ':')
idd_jars=$(find . -name .git -prune -o -type f -name '*.jar' -print | sort | head -n 400 | tr '\\n' ':')
mkdir -p \"$TMPDIR/idd-classes\"
javac -J-XX:+UseSerialGC -J-XX:TieredStopAtLevel=1 -J-Duser.language=en -XDshould-stop.ifError=FLOW \\
    -Xlint:all -proc:none -implicit:none -Xmaxerrs 1000 -Xmaxwarns 1000 -encoding UTF-8",
    );
    for word in &options.words {
        text.push(b' ');
        text.extend(quoted(word.as_bytes()));
    }
    text.extend(b" -d \"$TMPDIR/idd-classes\" -sourcepath \"$idd_sources\" -cp \"$idd_classes$idd_jars\"");
    for path in &options.class_paths {
        text.extend(quoted(path.as_bytes()));
        text.push(b':');
    }
    text.extend(b"\"$CLASSPATH\" \"$@\" > \"$TMPDIR/idd-javac\" 2>&1\n");
    text.extend(b"case $? in 0|1) ;; *) echo '@idd failed java' ;; esac\nawk ");
    text.extend(quoted(TOLD.as_bytes()));
    text.extend(b" \"$TMPDIR/idd-javac\" | sort -u\nfi\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, class_paths: &[&str], words: &[&str]) {
        let CompilerOptions { class_paths: found, words: options } = CompilerOptions::of(OsStr::new(line));
        assert_eq!(found, class_paths, "{line}");
        assert_eq!(options, words, "{line}");
    }

    #[test]
    fn class_path_and_language_are_taken_from_the_build() {
        check("make -s", &[], &[]);
        check("javac -cp lib/a.jar:lib -d out src/*.java", &["lib/a.jar:lib"], &[]);
        check(
            "CLASSPATH='a b.jar' javac --release 11 -encoding latin1 A.java; javac --release 11 B.java",
            &["a b.jar"],
            &["--release", "11", "-encoding", "latin1"],
        );
        check("javac -cp $CP -classpath \"$(cat cp)\" --class-path=x A.java", &["x"], &[]);
    }
}
