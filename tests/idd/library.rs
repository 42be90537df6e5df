//! The library: a hunt that another program starts.

use crate::fixture::Fixture;
use idd_report::Status;
use idd_session::order::{HuntOrder, TestCommand, Until};
use idd_session::{Context, Embedding, Talk};
use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Keeps what is said.
#[derive(Default)]
struct Heard(Vec<String>);

impl Talk for Heard {
    fn say(&mut self, sentence: &str) {
        self.0.push(sentence.to_owned());
    }
}

#[test]
fn a_program_hunts_without_a_command_line_and_goes_on_where_it_stopped() {
    let fixture = Fixture::of(
        "echo good > value; commit init; for n in 1 2 3; do echo $n > n; commit \"change $n\"; done
         echo bad > value; commit 'break it'; echo 4 > n; commit 'change 4'",
    );
    let environment: Vec<(OsString, OsString)> = [
        ("PATH", std::env::var_os("PATH").unwrap()),
        ("HOME", fixture.place().join("home").into()),
        ("TMPDIR", fixture.place().join("tmp").into()),
        ("GIT_CONFIG_NOSYSTEM", "1".into()),
        ("GIT_CONFIG_GLOBAL", fixture.place().join("gitconfig").into()),
    ]
    .map(|(name, value)| (name.into(), value))
    .into();
    let context = Context {
        directory: fixture.repo(),
        environment,
        configuration: Vec::new(),
        interrupt: None,
        kept_executor: None,
        embedding: Embedding::default(),
    }
    .with_configuration();
    let mut order = HuntOrder::new(TestCommand::Shell("grep -q good value".into()));
    order.effort.until = Until::Commit;
    let mut heard = Heard::default();
    let mut hunt = |is_interrupted| {
        let interrupt = Arc::new(AtomicBool::new(is_interrupted));
        idd_session::hunt(order.clone(), &context, interrupt, &mut heard).ok().unwrap()
    };
    assert_eq!(hunt(true).status, Status::Interrupted);
    // Damage, which a hunt on the command line would set aside, too.
    fixture.sh("rm -r .git/idd/cache.sled; echo > .git/idd/cache.sled");
    let report = hunt(false);
    assert_eq!(report.status, Status::Found);
    assert_eq!(report.first_bad.unwrap().commit.subject, "break it".into());
    let n_said = |part: &str| heard.0.iter().filter(|sentence| sentence.contains(part)).count();
    assert_eq!(n_said("Resuming the hunt "), 1, "{:?}", heard.0);
    assert_eq!(n_said("cache.sled` was "), 1, "{:?}", heard.0);
}
