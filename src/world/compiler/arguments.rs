//! Understands the arguments of a compiler call.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A command of a compiler driver, as far as the instrumentation needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CompilerJob {
    /// A command that is not instrumented: queries, preprocessing, assembler, other languages, probes of `configure`.
    Other,
    /// Compiles, links, or both.
    Build(Build),
}

/// The language of a source that can be instrumented.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompiledLanguage {
    /// C.
    C,
    /// C++.
    Cplusplus,
}

impl CompiledLanguage {
    /// The compiler's name of the language, for `-x`.
    pub fn name(self) -> &'static str {
        match self {
            Self::C => "c",
            Self::Cplusplus => "c++",
        }
    }

    /// The language of a source by its extension; a C++ compiler (`by_default`) takes C for C++, too.
    fn of(path: &OsStr, by_default: Self) -> Option<Self> {
        match Path::new(path).extension().and_then(OsStr::to_str) {
            Some("c") => Some(by_default),
            Some("cc" | "cp" | "cpp" | "cxx" | "c++" | "C" | "CC" | "CPP") => Some(Self::Cplusplus),
            _ => None,
        }
    }
}

/// A command that makes objects, a program or a library.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Build {
    /// Positions of the sources among the arguments.
    pub sources: Vec<usize>,
    /// The language of each source.
    pub languages: Vec<CompiledLanguage>,
    /// `-o`.
    pub output: Option<OsString>,
    /// Whether it stops before linking.
    pub is_compile_only: bool,
    /// Whether the output of linking is a program, not a library or an object.
    pub is_program: bool,
    /// Options for reading the sources.
    pub front: Vec<OsString>,
    /// Options for the code.
    pub back: Vec<OsString>,
    /// The options for a file of dependencies, if one is written.
    pub dependencies: Option<Dependencies>,
}

/// The file of dependencies that is written beside an object.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dependencies {
    /// `-MF`.
    pub has_file: bool,
    /// `-MT` or `-MQ`.
    pub has_target: bool,
}

/// Options whose value is the next word, for linking.
const LINK_WITH_VALUE: [&str; 9] = ["-L", "-l", "-Xlinker", "-T", "-u", "-z", "-e", "-framework", "-h"];

/// Options whose value is the next word, for compiling.
const COMPILE_WITH_VALUE: [&str; 24] = [
    "-I",
    "-D",
    "-U",
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-iprefix",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-isysroot",
    "-MF",
    "-MT",
    "-MQ",
    "-Xclang",
    "-Xpreprocessor",
    "-target",
    "-arch",
    "--param",
    "-B",
    "-aux-info",
    "-mllvm",
    "-Xassembler",
];

/// Options that disable compiling and linking.
const NOTHING_BUILT: [&str; 10] =
    ["-E", "-S", "-M", "-MM", "-fsyntax-only", "--version", "-dumpversion", "-dumpmachine", "-###", "-emit-llvm"];

/// Parts of paths in which build systems test the compiler.
const PROBE_PLACES: [&str; 5] = ["CMakeScratch", "CMakeTmp", "CompilerIdC", "meson-private", "conftest"];

impl CompilerJob {
    /// Reads the arguments without the program's name, with response files expanded.
    ///
    /// - `directory`: the working directory.
    /// - `compiler`: the language of the compiler.
    pub fn read(words: &[OsString], directory: &Path, compiler: CompiledLanguage) -> Self {
        if is_probe(directory) {
            return Self::Other;
        }
        let mut build = Build { is_program: true, ..Build::default() };
        let mut language: Option<OsString> = None;
        let mut n_inputs = 0;
        let mut index = 0;
        while let Some(word) = words.get(index) {
            let position = index;
            index += 1;
            let text = word.to_string_lossy();
            if NOTHING_BUILT.contains(&&*text) || text.starts_with("-print-") || text.starts_with("-fdump-") {
                return Self::Other;
            }
            match &*text {
                "-" => return Self::Other,
                "-c" => build.is_compile_only = true,
                "-shared" | "-r" | "-nostdlib" | "-nodefaultlibs" => build.is_program = false,
                "-o" => {
                    build.output = words.get(index).cloned();
                    index += 1;
                }
                "-x" => {
                    language = words.get(index).cloned();
                    index += 1;
                }
                _ if text.starts_with("-o") => build.output = Some(OsStr::from_bytes(&word.as_bytes()[2..]).to_owned()),
                _ if text.starts_with("-x") => language = Some(OsStr::from_bytes(&word.as_bytes()[2..]).to_owned()),
                _ if text.starts_with('-') => {
                    let value = |list: &[&str]| list.contains(&&*text).then(|| words.get(index).cloned()).flatten();
                    if let Some(value) = value(&LINK_WITH_VALUE) {
                        index += usize::from(!value.is_empty());
                    } else if let Some(value) = value(&COMPILE_WITH_VALUE) {
                        index += 1;
                        build.option(word, &text, Some(value));
                    } else {
                        build.option(word, &text, None);
                    }
                }
                _ => {
                    n_inputs += 1;
                    if is_probe(Path::new(word)) {
                        return Self::Other;
                    }
                    let source = match language.as_ref().and_then(|language| language.to_str()) {
                        None | Some("none") => CompiledLanguage::of(word, compiler),
                        Some("c") => Some(CompiledLanguage::C),
                        Some("c++") => Some(CompiledLanguage::Cplusplus),
                        Some(_) => None,
                    };
                    if let Some(source) = source {
                        build.sources.push(position);
                        build.languages.push(source);
                    } else if language.as_ref().is_some_and(|language| language != "none") {
                        return Self::Other;
                    }
                }
            }
        }
        if n_inputs == 0 || (build.is_compile_only && build.sources.is_empty()) {
            return Self::Other;
        }
        // Several objects cannot have one output; the error message of the compiler is better.
        if build.is_compile_only && build.output.is_some() && build.sources.len() != 1 {
            return Self::Other;
        }
        Self::Build(build)
    }
}

impl Build {
    fn option(&mut self, word: &OsString, text: &str, value: Option<OsString>) {
        let dependencies = || Dependencies::default();
        match text {
            "-MD" | "-MMD" => drop(self.dependencies.get_or_insert_with(dependencies)),
            "-MF" => self.dependencies.get_or_insert_with(dependencies).has_file = true,
            "-MT" | "-MQ" => self.dependencies.get_or_insert_with(dependencies).has_target = true,
            _ if text.starts_with("-Wp,-M") => {
                let dependencies = self.dependencies.get_or_insert_with(dependencies);
                dependencies.has_file = true;
            }
            _ => {}
        }
        let is_left_out = [
            "-O",
            "-g",
            "-flto",
            "-Werror",
            "-Wl,",
            "-save-temps",
            "-fwhole-program",
            "-fuse-ld",
            "-static",
            "-rdynamic",
        ]
        .iter()
        .any(|prefix| text.starts_with(prefix))
            || matches!(text, "-s" | "-pie" | "-no-pie" | "-pipe" | "-pedantic-errors" | "-ftrapv");
        let is_for_code =
            ["-fpic", "-fPIC", "-fpie", "-fPIE", "-fno-pic", "-fno-PIC", "-fno-pie", "-fno-PIE", "-m", "-pthread"]
                .iter()
                .any(|prefix| text.starts_with(prefix))
                || matches!(text, "-ffunction-sections" | "-fdata-sections" | "-target" | "-fno-plt")
                || text.starts_with("--target");
        if is_left_out {
            return;
        }
        self.front.push(word.clone());
        self.front.extend(value.clone());
        if is_for_code {
            self.back.push(word.clone());
            self.back.extend(value);
        }
    }

    /// The object of a source if nothing is linked.
    pub fn object(&self, source: &OsStr) -> PathBuf {
        match &self.output {
            Some(output) => PathBuf::from(output),
            None => PathBuf::from(Path::new(source).file_name().unwrap_or_default()).with_extension("o"),
        }
    }
}

/// Whether a build system tests the compiler there.
pub fn is_probe(path: &Path) -> bool {
    PROBE_PLACES.iter().any(|place| contains(path.as_os_str(), place))
}

fn contains(path: &OsStr, part: &str) -> bool {
    path.as_bytes().windows(part.len()).any(|window| window == part.as_bytes())
}

/// The words of a response file: separated by space, with quotes and backslashes as the compiler reads them.
pub fn words_of(content: &[u8]) -> Vec<OsString> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote = None;
    let mut bytes = content.iter().copied();
    while let Some(byte) = bytes.next() {
        match (byte, quote) {
            (b'\\', _) => word.get_or_insert_with(Vec::new).extend(bytes.next()),
            (b'"' | b'\'', None) => {
                quote = Some(byte);
                word.get_or_insert_with(Vec::new);
            }
            (_, Some(open)) if byte == open => quote = None,
            (_, None) if byte.is_ascii_whitespace() => {
                words.extend(word.take().map(|word| OsStr::from_bytes(&word).to_owned()));
            }
            _ => word.get_or_insert_with(Vec::new).push(byte),
        }
    }
    words.extend(word.map(|word| OsStr::from_bytes(&word).to_owned()));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> CompilerJob {
        CompilerJob::read(&words_of(line.as_bytes()), Path::new("/work"), CompiledLanguage::C)
    }

    #[track_caller]
    fn build(line: &str) -> Build {
        match read(line) {
            CompilerJob::Build(build) => build,
            CompilerJob::Other => panic!("{line} builds nothing"),
        }
    }

    #[test]
    fn what_builds_nothing_passes_through() {
        for line in [
            "-E a.c",
            "--version",
            "-c conftest.c",
            "-S a.c",
            "-MM a.c",
            "-c a.S",
            "-x c - -o a",
            "",
            "-c a.c b.c -o c.o",
        ] {
            assert_eq!(read(line), CompilerJob::Other, "{line}");
        }
        assert_eq!(
            CompilerJob::read(
                &["-c".into(), "a.c".into()],
                Path::new("/b/CMakeFiles/CMakeScratch/x"),
                CompiledLanguage::C
            ),
            CompilerJob::Other
        );
    }

    #[test]
    fn values_of_options_are_no_sources() {
        let build =
            build("-I inc -D x.c -MT y.c -MD -MF dep/a.d -O2 -g3 -Werror -fPIC -include z.c -c -o out/a.o src/a.c");
        assert_eq!(build.sources, [18]);
        assert_eq!(build.object("src/a.c".as_ref()), Path::new("out/a.o"));
        assert_eq!(build.dependencies, Some(Dependencies { has_file: true, has_target: true }));
        assert_eq!(build.back, ["-fPIC"]);
        assert!(
            build.is_compile_only && !build.front.contains(&"-O2".into()) && !build.front.contains(&"-Werror".into())
        );
    }

    #[test]
    fn the_language_is_that_of_the_extension_of_the_option_and_of_the_compiler() {
        use CompiledLanguage::{C, Cplusplus};
        assert_eq!(
            build("-o p a.c b.cpp c.cc d.cxx e.C f.o").languages,
            [C, Cplusplus, Cplusplus, Cplusplus, Cplusplus]
        );
        assert_eq!(build("-c -x c++ a.c").languages, [Cplusplus]);
        assert_eq!(build("-xc a.cpp -x none b.cpp").languages, [C, Cplusplus]);
        assert_eq!(read("-x c++-header a.h -o a.pch"), CompilerJob::Other);
        let words = words_of(b"-c a.c");
        let CompilerJob::Build(build) = CompilerJob::read(&words, Path::new("/work"), Cplusplus) else { panic!() };
        assert_eq!(build.languages, [Cplusplus]);
    }

    #[test]
    fn several_sources_may_be_compiled_and_linked_at_once() {
        let both = build("-o prog a.c b.o c.c -L lib -lm -Wl,-z,now");
        assert_eq!((both.sources, both.is_compile_only, both.is_program), (vec![2, 4], false, true));
        assert!(!build("-shared -o liba.so a.o").is_program);
        assert_eq!(build("-c a/b.c").object("a/b.c".as_ref()), Path::new("b.o"));
    }

    #[test]
    fn response_files_are_divided_as_compilers_do() {
        assert_eq!(words_of(b"-DA=\\\"x\\\" 'a b' \"c\\\\d\"\n\t'' e"), ["-DA=\"x\"", "a b", "c\\d", "", "e"]);
    }
}
