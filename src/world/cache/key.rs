//! Keys: everything that an observation depends on, as one digest.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use sha2::{Digest as _, Sha256};

use idd_base::{CommitId, TreeId};

/// The version of everything that the meaning of an observation depends on and that is not in the rest of the key: how
/// trees are written, how commands are started, how output is normalised.
const KEY_VERSION: u64 = 4;

/// The digest of everything that can change the result of a probe.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(pub [u8; 32]);

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({self})")
    }
}

impl FromStr for Key {
    type Err = InvalidKey;

    fn from_str(text: &str) -> Result<Self, InvalidKey> {
        let mut bytes = [0; 32];
        if text.len() != 64 || !text.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')) {
            return Err(InvalidKey);
        }
        for (index, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * index..2 * index + 2], 16).map_err(|_| InvalidKey)?;
        }
        Ok(Self(bytes))
    }
}

/// A text that is not 64 lower-case hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a key of 64 hexadecimal digits")]
pub struct InvalidKey;

/// Everything that one probe depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyParts {
    /// The tree that is probed, without held files and overlay.
    pub tree: TreeId,
    /// The commit, only if the test can read it.
    pub exposed_commit: Option<CommitId>,
    /// The same for every probe of a hunt, see [`ProbePlan::digest`].
    pub plan: [u8; 32],
}

impl KeyParts {
    /// The key.
    pub fn digest(&self) -> Key {
        let mut fields = KeyFields::new("key");
        fields.number(KEY_VERSION);
        fields.bytes(self.tree.0.as_bytes());
        fields.optional(self.exposed_commit.as_ref().map(|commit| commit.0.as_bytes()));
        fields.bytes(&self.plan);
        Key(fields.finish())
    }
}

/// Everything that the test of a product depends on, without the tree of the build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProductParts {
    /// The digest of the product.
    pub product: [u8; 32],
    /// The commit, only if the test can read it.
    pub exposed_commit: Option<CommitId>,
    /// The digest of a plan that names the product and the held files.
    pub plan: [u8; 32],
}

impl ProductParts {
    /// The key.
    pub fn digest(&self) -> Key {
        let mut fields = KeyFields::new("product");
        fields.number(KEY_VERSION);
        fields.bytes(&self.product);
        fields.optional(self.exposed_commit.as_ref().map(|commit| commit.0.as_bytes()));
        fields.bytes(&self.plan);
        Key(fields.finish())
    }
}

/// The part of a test plan that can change the result of a probe; without repeat, clean, limit and signature.
///
/// It does not contain the programs outside of the tree that its commands execute, because they are known only after a
/// run. An observation names them, and counts only while they are unchanged; see [`tools`](crate::tools).
///
/// Everything is bytes: paths and values come from the user and need not be UTF-8.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProbePlan {
    /// The `--from-artifacts` command, which replaces the build, with the names that stand for the commit.
    pub fetch: Option<CommandParts>,
    /// The command that writes generated files before the build.
    pub regenerate: Option<CommandParts>,
    /// The `--precheck` command, in the key of a rejection. A candidate that passed has the same key without it.
    pub precheck: Option<CommandParts>,
    /// The `--build` command.
    pub build: Option<CommandParts>,
    /// The test command.
    pub test: CommandParts,
    /// The files of the product, in the key of a test that was skipped because of an equal product.
    pub artifacts: Vec<Vec<u8>>,
    /// The working directory inside the worktree; empty for its root.
    pub directory: Vec<u8>,
    /// Held and overlaid paths, each with the id of its content; an empty id for a removed path.
    pub overlay: BTreeMap<Vec<u8>, Vec<u8>>,
    /// Whether commands see the checkout at the path of the working tree.
    pub is_in_place: bool,
    /// Directories and large files of the user's working tree that are visible, each with a digest.
    pub shown: BTreeMap<Vec<u8>, Vec<u8>>,
    /// Files outside the tree that the commands name, each with the digest of its content.
    pub outside_files: BTreeMap<Vec<u8>, Vec<u8>>,
    /// The listed environment. A variable that is listed but not set is absent. A variable that only names directories
    /// has a digest of their content. The text of `PATH` is absent.
    pub environment: BTreeMap<Vec<u8>, Vec<u8>>,
    /// Populated submodules, each with its commit.
    pub submodules: BTreeMap<Vec<u8>, Vec<u8>>,
    /// The identity of the system.
    pub platform: Vec<u8>,
    /// Whether workers have a home directory of their own.
    pub is_home_isolated: bool,
}

/// A command as it is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandParts {
    /// A line for the shell.
    Shell(Vec<u8>),
    /// A program and its arguments.
    Argv(Vec<Vec<u8>>),
}

impl Default for CommandParts {
    fn default() -> Self {
        Self::Argv(Vec::new())
    }
}

impl ProbePlan {
    /// The digest of all fields. It does not depend on the order in which maps were filled, and adjacent fields cannot
    /// run together.
    pub fn digest(&self) -> [u8; 32] {
        let Self {
            fetch,
            regenerate,
            precheck,
            build,
            test,
            artifacts,
            directory,
            overlay,
            is_in_place,
            shown,
            outside_files,
            environment,
            submodules,
            platform,
            is_home_isolated,
        } = self;
        let mut fields = KeyFields::new("plan");
        fields.number(KEY_VERSION);
        let has = |command: &Option<CommandParts>| u64::from(command.is_some());
        let has_artifacts = u64::from(!artifacts.is_empty());
        fields.number(has(build) | has(regenerate) << 1 | has(precheck) << 2 | has_artifacts << 3 | has(fetch) << 4);
        for command in build.iter().chain(regenerate).chain(precheck).chain(fetch).chain([test]) {
            fields.command(command);
        }
        if !artifacts.is_empty() {
            fields.number(artifacts.len() as u64);
            for path in artifacts {
                fields.bytes(path);
            }
        }
        for map in [overlay, shown, outside_files, environment, submodules] {
            fields.number(map.len() as u64);
            for (name, value) in map {
                fields.bytes(name);
                fields.bytes(value);
            }
        }
        for bytes in [directory, platform] {
            fields.bytes(bytes);
        }
        fields.number(u64::from(*is_home_isolated) | u64::from(*is_in_place) << 1);
        fields.finish()
    }
}

/// A digest of fields, each after its length and each list after its count: no two lists of parts collide.
struct KeyFields {
    sha256: Sha256,
}

impl KeyFields {
    fn new(kind: &str) -> Self {
        let mut fields = Self { sha256: Sha256::new() };
        fields.bytes(b"git-idd");
        fields.bytes(kind.as_bytes());
        fields
    }

    fn number(&mut self, number: u64) {
        self.sha256.update(number.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.sha256.update(bytes);
    }

    fn optional(&mut self, bytes: Option<&[u8]>) {
        self.number(u64::from(bytes.is_some()));
        if let Some(bytes) = bytes {
            self.bytes(bytes);
        }
    }

    fn command(&mut self, command: &CommandParts) {
        match command {
            CommandParts::Shell(line) => {
                self.number(0);
                self.bytes(line);
            }
            CommandParts::Argv(arguments) => {
                self.number(1);
                self.number(arguments.len() as u64);
                for argument in arguments {
                    self.bytes(argument);
                }
            }
        }
    }

    fn finish(self) -> [u8; 32] {
        self.sha256.finalize().into()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn argv(arguments: &[&str]) -> CommandParts {
        CommandParts::Argv(arguments.iter().map(|argument| argument.as_bytes().to_vec()).collect())
    }

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<Vec<u8>, Vec<u8>> {
        pairs.iter().map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec())).collect()
    }

    #[test]
    fn a_key_is_printed_as_it_was_read() {
        let key = KeyParts { tree: TreeId::sha1([7; 20]), exposed_commit: None, plan: [1; 32] }.digest();
        assert_eq!(key.to_string().parse(), Ok(key));
        assert_eq!("0A".repeat(32).parse::<Key>(), Err(InvalidKey));
        assert_eq!("0a".repeat(31).parse::<Key>(), Err(InvalidKey));
        assert_eq!("é".repeat(32).parse::<Key>(), Err(InvalidKey));
    }

    #[test]
    fn the_digest_is_stable() {
        let plan = ProbePlan { test: CommandParts::Shell(b"make check".to_vec()), ..ProbePlan::default() };
        let parts = KeyParts { tree: TreeId::sha1([7; 20]), exposed_commit: None, plan: plan.digest() };
        insta::assert_snapshot!(parts.digest(), @"cb20f04b2cc294694721ff43c2e7039ae5817df356d35fc2057b7664a61c2a9b");
    }

    #[test]
    fn plans_that_differ_in_any_part_differ_in_their_digest() {
        let plans = [
            ProbePlan::default(),
            ProbePlan { test: argv(&["ab", "c"]), ..ProbePlan::default() },
            ProbePlan { test: argv(&["a", "bc"]), ..ProbePlan::default() },
            ProbePlan { test: argv(&["abc"]), ..ProbePlan::default() },
            ProbePlan { test: argv(&["abc", ""]), ..ProbePlan::default() },
            ProbePlan { test: CommandParts::Shell(b"abc".to_vec()), ..ProbePlan::default() },
            ProbePlan { build: Some(argv(&["abc"])), ..ProbePlan::default() },
            ProbePlan { build: Some(argv(&[])), ..ProbePlan::default() },
            ProbePlan { fetch: Some(argv(&["abc"])), ..ProbePlan::default() },
            ProbePlan { precheck: Some(argv(&["abc"])), ..ProbePlan::default() },
            ProbePlan { regenerate: Some(argv(&["abc"])), ..ProbePlan::default() },
            ProbePlan { regenerate: Some(argv(&["abc"])), build: Some(argv(&["abc"])), ..ProbePlan::default() },
            ProbePlan { artifacts: vec![b"a".to_vec()], ..ProbePlan::default() },
            ProbePlan { artifacts: vec![b"a".to_vec(), Vec::new()], ..ProbePlan::default() },
            ProbePlan { directory: b"a".to_vec(), ..ProbePlan::default() },
            ProbePlan { platform: b"a".to_vec(), ..ProbePlan::default() },
            ProbePlan { overlay: map(&[("a", "b")]), ..ProbePlan::default() },
            ProbePlan { overlay: map(&[("ab", "")]), ..ProbePlan::default() },
            ProbePlan { outside_files: map(&[("a", "b")]), ..ProbePlan::default() },
            ProbePlan { environment: map(&[("a", "b")]), ..ProbePlan::default() },
            ProbePlan { environment: map(&[("a", "b"), ("c", "")]), ..ProbePlan::default() },
            ProbePlan { submodules: map(&[("a", "b")]), ..ProbePlan::default() },
            ProbePlan { is_home_isolated: true, ..ProbePlan::default() },
        ];
        let digests: HashSet<[u8; 32]> = plans.iter().map(ProbePlan::digest).collect();
        assert_eq!(digests.len(), plans.len());
    }

    #[test]
    fn the_key_of_a_product_is_that_of_no_tree_and_of_no_other_product() {
        let parts = ProductParts { product: [1; 32], exposed_commit: None, plan: [1; 32] };
        let others = [
            parts,
            ProductParts { product: [2; 32], ..parts },
            ProductParts { exposed_commit: Some(CommitId::sha1([1; 20])), ..parts },
            ProductParts { plan: [2; 32], ..parts },
        ];
        let mut keys: HashSet<Key> = others.iter().map(ProductParts::digest).collect();
        keys.insert(KeyParts { tree: TreeId::sha1([1; 20]), exposed_commit: None, plan: [1; 32] }.digest());
        assert_eq!(keys.len(), others.len() + 1);
    }

    #[test]
    fn keys_that_differ_in_any_part_differ() {
        let parts = KeyParts { tree: TreeId::sha1([1; 20]), exposed_commit: None, plan: [1; 32] };
        let others = [
            parts,
            KeyParts { tree: TreeId::sha1([2; 20]), ..parts },
            KeyParts { exposed_commit: Some(CommitId::sha1([1; 20])), ..parts },
            KeyParts { exposed_commit: Some(CommitId::sha1([2; 20])), ..parts },
            KeyParts { plan: [2; 32], ..parts },
        ];
        let keys: HashSet<Key> = others.iter().map(KeyParts::digest).collect();
        assert_eq!(keys.len(), others.len());
    }
}
