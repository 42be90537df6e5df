//! The integration tests: the rules of the code base, and the real binary on histories made by script.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod browser;
mod certificate;
mod commands;
mod complaints;
mod completions;
mod damage;
mod docs;
mod dominators;
mod expect;
mod explain;
mod explained;
mod fetching;
mod files;
mod fixture;
mod forking;
mod formats;
mod forms;
mod hostile;
mod hunt;
mod kept;
mod library;
mod measuring;
mod messages;
mod nightly;
mod page;
mod places;
mod precheck;
mod product;
mod record;
mod resume;
mod scan;
mod seeds;
mod stages;
mod stale;
mod submodules;
mod suites;
mod switch;
mod tidy;
mod together;
mod tools;
mod trace;
mod usage;
mod verdicts;
mod window;
