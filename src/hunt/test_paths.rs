//! Which paths look like a part of the tests.

/// Whether a path looks like a part of the tests: below a test directory, or named like a test.
pub fn is_test_path(path: &[u8]) -> bool {
    const DIRECTORIES: [&str; 13] = [
        "_test",
        "test",
        "tests",
        "t",
        "spec",
        "specs",
        "testing",
        "testdata",
        "testsuite",
        "test-suite",
        "testcases",
        "__tests__",
        "unittests",
    ];
    let path = String::from_utf8_lossy(path);
    let is_class = path.rsplit('/').next().is_some_and(is_test_class);
    let path = path.to_lowercase();
    let mut parts: Vec<&str> = path.split('/').collect();
    let name = parts.pop().unwrap_or_default();
    let stem = name.split('.').next().unwrap_or_default();
    let is_named = |word: &str| {
        stem == word
            || stem.starts_with(&format!("{word}_"))
            || stem.starts_with(&format!("{word}-"))
            || stem.ends_with(&format!("_{word}"))
            || stem.ends_with(&format!("-{word}"))
    };
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    // `.github/workflows/tests.yaml` says where tests run, `requirements/tests.txt` with what. `lib/Test/Mojo.pm` is a
    // library: a test of Perl is no module.
    let is_hidden = parts.iter().any(|part| part.starts_with('.'));
    if is_hidden || parts.contains(&"requirements") || stem.starts_with("requirements") || extension == "pm" {
        return false;
    }
    let is_prose = ["md", "rst", "adoc"].contains(&extension);
    parts.iter().any(|part| DIRECTORIES.contains(part))
        || [".test.", ".spec."].iter().any(|mark| name.contains(mark))
        || !is_prose && ["test", "tests", "spec"].into_iter().any(is_named)
        || is_class
}

/// Whether a file says how the tests or the build are run, by its name.
pub fn is_setup_path(path: &[u8]) -> bool {
    const FILES: [&str; 27] = [
        "build.gradle",
        "build.gradle.kts",
        "build.xml",
        "cargo.toml",
        "cmakelists.txt",
        "cmakepresets.json",
        "conftest.py",
        "deno.json",
        "gemfile",
        "gnumakefile",
        "go.mod",
        "justfile",
        "makefile",
        "meson.build",
        "noxfile.py",
        "package.json",
        "phpunit.xml",
        "pom.xml",
        "pyproject.toml",
        "rakefile",
        "settings.gradle",
        "settings.gradle.kts",
        "setup.cfg",
        "setup.py",
        "taskfile.yml",
        "tox.ini",
        "tsconfig.json",
    ];
    let path = String::from_utf8_lossy(path).to_lowercase();
    let name = path.rsplit('/').next().unwrap_or_default();
    // `jest.config.js`, `karma.conf.js`, `.mocharc.yml`.
    let of_runner = |mark: &str| name.split_once(mark).is_some_and(|(runner, _)| !runner.is_empty());
    let is_hidden_rc = name.starts_with('.') && name.split('.').nth(1).is_some_and(|stem| stem.ends_with("rc"));
    FILES.contains(&name) || is_hidden_rc || [".config.", ".conf."].into_iter().any(of_runner)
}

/// Whether a file is named like the class of a test in a language of the JVM: `ParserTest.java`, `TestParser.java`.
fn is_test_class(name: &str) -> bool {
    let Some((stem, "java" | "kt" | "scala" | "groovy")) = name.split_once('.') else { return false };
    let is_upper = |rest: &str| rest.starts_with(|first: char| first.is_uppercase());
    ["Test", "Tests", "TestCase"].into_iter().any(|word| stem.ends_with(word))
        || stem.strip_prefix("Test").is_some_and(is_upper)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, expected: bool) {
        assert_eq!(is_test_path(path.as_bytes()), expected, "{path}");
    }

    #[test]
    fn a_path_is_a_test_by_its_directory_or_its_name() {
        check("tests/add.case", true);
        check("t/0001-basic.sh", true);
        check("src/parser_test.c", true);
        check("test.sh", true);
        check("testsuite/E30.py", true);
        check("tests/tests2/1.c", true);
        check("src/__tests__/a.js", true);
        check("src/parse.test.ts", true);
        check("src/main/java/ParserTest.java", true);
        check("org/example/TestParser.java", true);
        check("org/example/ParserTestCase.kt", true);
        check("org/example/Latest.java", false);
        check("org/example/Testament.java", false);
        check("lib/Test/Mojo.pm", false);
        check(".github/workflows/tests.yaml", false);
        check("requirements/tests.txt", false);
        check("requirements-test.txt", false);
        check("docs/test.md", false);
        check("test/fixtures/links.md", true);
        check("src/latest.c", false);
        check("src/contest.c", false);
        check("attest/main.c", false);
    }

    #[test]
    fn a_path_is_of_the_setup_by_its_name() {
        for (path, expected) in [
            ("Makefile", true),
            ("sub/CMakeLists.txt", true),
            ("tests/conftest.py", true),
            ("jest.config.js", true),
            ("web/karma.conf.js", true),
            (".mocharc.yml", true),
            (".eslintrc", true),
            ("src/crc.c", false),
            ("src.py", false),
            ("src/config.js", false),
            ("src/app.conf", false),
            ("src/make.c", false),
            ("package-lock.json", false),
        ] {
            assert_eq!(is_setup_path(path.as_bytes()), expected, "{path}");
        }
    }
}
