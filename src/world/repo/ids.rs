//! Object ids as libgit2 has them.

use git2::Oid;
use idd_base::{CommitId, ObjectId, TreeId};

pub(super) fn commit_id(id: Oid) -> CommitId {
    CommitId(object_id(id))
}

pub(super) fn tree_id(id: Oid) -> TreeId {
    TreeId(object_id(id))
}

pub(super) fn oid(id: ObjectId) -> Oid {
    Oid::from_bytes(id.as_bytes()).expect("the bytes of an id are as many as either format has")
}

pub(super) fn object_id(id: Oid) -> ObjectId {
    ObjectId::from_bytes(id.as_bytes()).expect("libgit2 knows the same two formats")
}
