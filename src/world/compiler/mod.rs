//! Compilers of C and C++: their names, and the arguments that they are called with.

pub mod arguments;

/// Names of a C compiler.
pub const NAMES: [&str; 8] =
    ["cc", "gcc", "clang", "c99", "c89", "x86_64-linux-gnu-gcc", "aarch64-linux-gnu-gcc", "x86_64-pc-linux-gnu-gcc"];

/// Names of a C++ compiler.
pub const CPLUSPLUS: [&str; 5] = ["c++", "g++", "clang++", "x86_64-linux-gnu-g++", "aarch64-linux-gnu-g++"];

/// Whether a compiler of this name is replaced: those of GNU and LLVM for this machine, of any version.
pub fn is_known(name: &str) -> bool {
    let is_native = name.contains("linux-gnu")
        || !name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-').contains('-');
    NAMES.contains(&name)
        || CPLUSPLUS.contains(&name)
        || (is_native && matches!(plain(name), "gcc" | "clang" | "g++" | "clang++"))
}

/// Whether a compiler of this name compiles C++.
pub fn is_cplusplus(name: &str) -> bool {
    plain(name).ends_with("++")
}

/// The name of a compiler without its version and its machine.
pub fn plain(name: &str) -> &str {
    let is_version = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let name = name.rsplit_once('-').filter(|(_, version)| is_version(version)).map_or(name, |(name, _)| name);
    name.rsplit_once('-').map_or(name, |(_, name)| name)
}
