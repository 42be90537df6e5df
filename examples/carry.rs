//! Carries patches in bulk, one merge for each line of input: the entry of `scripts/bench port`.
//!
//! `carry <git directory> <scratch directory>` reads lines `<base> <ours> <patched>` (ids of trees) and prints for each
//! `clean <tree> <rung>` or `conflict`. Objects go into a repository in the scratch directory that borrows those of the
//! given one; nothing is written to the given one.

use idd_base::TreeId;
use idd_change::trees::{Favor, Merged, Trees};
use idd_world::repo::store::{HeldFiles, TreeStore};
use idd_world::repo::{graph, private};
use std::error::Error;
use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::{env, io};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<PathBuf> = env::args_os().skip(1).map(PathBuf::from).collect();
    let [git_directory, scratch] = arguments.as_slice() else {
        return Err("usage: carry <git directory> <scratch directory>".into());
    };
    let given = private::open(git_directory)?;
    let head = graph::resolve(&given, "HEAD")?;
    let store = TreeStore::new(private::create(scratch, &given, head)?, HeldFiles::default(), Vec::new())?;
    let mut stdout = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let line = line?;
        let ids: Vec<&str> = line.split_whitespace().collect();
        let [base, ours, patched] = ids.as_slice() else { return Err(format!("three ids expected: `{line}`").into()) };
        let ids: [TreeId; 3] = [base.parse()?, ours.parse()?, patched.parse()?];
        match store.merge(ids[0], ids[1], ids[2], Favor::Neither)? {
            Merged::Clean(tree, rung) => writeln!(stdout, "clean {tree} {}", format!("{rung:?}").to_lowercase())?,
            Merged::Conflict => writeln!(stdout, "conflict")?,
        }
        stdout.flush()?;
    }
    Ok(())
}
