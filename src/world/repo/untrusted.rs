//! The readers of raw objects, for tests that give them any bytes.

use crate::repo::{graph, loose, object};
use idd_base::CommitId;

/// Reads a loose object file; returns whether it is an object, with any id.
pub fn read_loose(mut bytes: &[u8]) -> bool {
    loose::inflate(&mut bytes).is_some()
}

/// Reads the content of a tree, and of a commit; returns whether it is one of them.
pub fn read_content(bytes: &[u8]) -> (bool, bool) {
    (
        object::parse_tree(bytes, 20).is_ok() || object::parse_tree(bytes, 32).is_ok(),
        graph::parse(CommitId::sha1([0; 20]), bytes).is_some(),
    )
}
