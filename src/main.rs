//! The `git-idd` binary: hands arguments and environment to the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    git_idd::main(std::env::args_os().collect(), std::env::vars_os().collect())
}
