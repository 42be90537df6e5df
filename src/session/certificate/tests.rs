use super::*;
use crate::kept;
use crate::testing::{Said, World, hunted, order, test, text};

const LIMIT: Duration = Duration::from_secs(20);

/// A proved finding and its certificate.
fn certified() -> (World, Report, Certificate) {
    let world = World::with_all();
    let (report, _) = hunted(&world, &world.plan(order()), test);
    let certificate = of(&world, &report).unwrap();
    (world, report, certificate)
}

fn of(world: &World, report: &Report) -> Result<Certificate, Failure> {
    let plan = saved::plan(&kept::newest(world.location(), None)?.replay)?;
    make(report, &plan, LIMIT, None, world.location())
}

#[test]
fn a_certificate_has_the_six_claims_and_the_changes_that_connect_them() {
    let (world, report, certificate) = certified();
    let roles: Vec<ClaimRole> = certificate.claims.iter().map(|claim| claim.role).collect();
    assert_eq!(
        roles,
        [
            ClaimRole::GoodPasses,
            ClaimRole::BadFails,
            ClaimRole::SufficientFails,
            ClaimRole::NecessaryPasses,
            ClaimRole::TargetFails,
            ClaimRole::FixPasses
        ]
    );
    assert_eq!((certificate.last_good, certificate.first_bad), (world.commits[1], world.commits[2]));
    assert_eq!(certificate.necessary, report.change.necessary.map(|change| change.patch));
    assert_eq!(certificate.fix, report.fix.map(|fix| fix.patch));
    // Bare revisions need no patch.
    assert!(certificate.claims.iter().all(|claim| claim.role.is_bare() == claim.patch.is_empty()));
    assert_eq!(certificate.options, ["--timeout", "20000ms", "--", "./test.sh"].map(Untrusted::from));
}

#[test]
fn a_finding_that_is_not_proved_has_no_certificate() {
    let (world, report, _) = certified();
    let message = |report: Report| text(&of(&world, &report).unwrap_err().message);
    let none = "the finding was not proved, so there is nothing to certify";
    assert_eq!(message(Report { first_bad: None, ..report.clone() }), none);
    assert_eq!(message(Report { evidence: Vec::new(), ..report.clone() }), none);
    assert_eq!(message(Report { evidence: report.evidence[1..].to_vec(), ..report.clone() }), none);
    let together = message(Report { interaction: true, ..report });
    assert_eq!(together, "several commits break the test only together: no single one can be certified");
}

#[test]
fn only_options_that_change_the_meaning_of_a_run_are_certified() {
    let words = |change: &dyn Fn(&mut HuntOrder)| {
        let mut order = order();
        change(&mut order);
        let words = options(&order, Duration::from_millis(1500));
        words.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(words(&|order| order.effort.clean = true), "--timeout 1500ms -- ./test.sh");
    let all = words(&|order| {
        order.command = TestCommand::Argv(vec!["./t".into(), "--x".into()]);
        order.test.build = Some("make -j2".into());
        order.test.repeat = 3;
        order.test.match_line = Some("^E".to_owned());
        order.test.pass_match = Some("OK".to_owned());
        order.test.isolate_home = true;
    });
    assert_eq!(
        all,
        "--build make -j2 --timeout 1500ms --repeat 3 --match ^E --pass-match OK --isolate-home -- ./t --x"
    );
    let exit = words(&|order| order.test.signature = SignatureMode::Exit);
    assert_eq!(exit, "--timeout 1500ms --signature exit -- ./test.sh");
}

#[track_caller]
fn check_signature(ending: &str, expected: Option<Ending>) {
    let reported = idd_report::HuntedFailure {
        ending: ending.to_owned(),
        test: None,
        line: Some("at 0x7f: 12".into()),
        compared: None,
    };
    let found = signature(&reported);
    assert_eq!(found.as_ref().map(|found| found.ending), expected, "{ending}");
    if let Some(found) = found {
        // It is compared without its numbers, and reported with them.
        assert_eq!(found.line, Some(normalise("at 0x7f: 12")));
        assert_eq!(idd_report::HuntedFailure::from(&found), reported);
    }
}

#[test]
fn a_printed_ending_is_read_as_it_was_printed_or_not_at_all() {
    check_signature("exit code 1", Some(Ending::Exit(1)));
    check_signature("signal 11", Some(Ending::Signal(11)));
    check_signature("timeout", Some(Ending::Timeout));
    check_signature("exit code x", None);
    check_signature("not run (path)", None);
    check_signature("", None);
}

/// What a verification says that ends before it runs anything.
fn verified(world: &World, bytes: &[u8], parse: &Parse, is_agreed: bool) -> Result<(String, u8), Failure> {
    let mut said = Said::default();
    let found = verify(bytes, world.location(), &world.context, is_agreed, parse, &mut said);
    assert!(said.0.is_empty(), "it runs something: {said:?}");
    found
}

/// Reads any options as those of the hunt.
const PARSED: &Parse = &|words| (words[0] == "--no-hold").then(order);

#[test]
fn commands_of_others_are_shown_and_not_run_before_the_user_agrees() {
    let (world, _, certificate) = certified();
    let bytes = serde_json::to_vec(&certificate).unwrap();
    let failure = verified(&world, &bytes, PARSED, false).unwrap_err();
    assert_eq!(failure.status, Status::Usage);
    assert!(text(&failure.message).ends_with("would be run here: --timeout 20000ms -- ./test.sh"));
}

#[track_caller]
fn check_invalid((world, valid): (&World, &Certificate), damage: impl FnOnce(&mut Certificate), why: &str) {
    let mut certificate = valid.clone();
    damage(&mut certificate);
    let (text, code) = verified(world, &serde_json::to_vec(&certificate).unwrap(), PARSED, true).unwrap();
    let verdict = if code == VerificationResult::NotReproducible.code() { "not reproducible here" } else { "invalid" };
    assert_eq!(text, format!("{why}\nThe certificate is {verdict}.\n"));
    assert_ne!(code, 0);
}

#[test]
fn a_certificate_that_contradicts_itself_or_the_history_is_invalid_before_anything_runs() {
    let (world, _, valid) = certified();
    let on = (&world, &valid);
    let of_changes = "It makes a claim about a change that it does not have.";
    check_invalid(on, |it| it.schema = "x".to_owned(), "It has another form than this program knows.");
    check_invalid(on, |it| it.last_good = world.commits[0], "Its claims are about other commits than it names.");
    check_invalid(on, |it| it.necessary = None, of_changes);
    check_invalid(
        on,
        |it| it.claims.truncate(1),
        "It does not claim that the last good revision passes and the first bad one fails.",
    );
    check_invalid(on, |it| it.claims.push(it.claims[0].clone()), "It claims twice that the last good revision passes.");
    check_invalid(
        on,
        |it| it.claims[1].tree = world.trees[0],
        "Commit and patch do not make the tree of \"the first bad revision fails\".",
    );
    check_invalid(
        on,
        |it| it.claims[5].patch = "no patch".into(),
        "Commit and patch do not make the tree of \"with the fix it passes\".",
    );
    check_invalid(
        on,
        |it| std::mem::swap(&mut it.necessary, &mut it.fix),
        "Its necessary change differs from the tested one.",
    );
    check_invalid(on, |it| it.sufficient = Some("".into()), "Its sufficient change differs from the tested one.");
    let claimed = |it: &mut Certificate| drop(it.claims.remove(5));
    check_invalid(on, claimed, of_changes);
    check_invalid(on, |it| it.directory = "../x".into(), "Its directory is not inside the repository.");
    check_invalid(on, |it| it.directory = "/x".into(), "Its directory is not inside the repository.");
    check_invalid(on, |it| it.signature.ending = "x".to_owned(), "Its failure is not one that a test can have.");
    let parents = |it: &mut Certificate| {
        it.last_good = world.commits[0];
        (it.claims[0].commit, it.claims[0].tree) = (world.commits[0], world.trees[0]);
    };
    check_invalid(on, parents, "The last good commit is not the parent of the first bad one.");
    let gone = "0123456789012345678901234567890123456789";
    let missing = |it: &mut Certificate| it.claims[0].commit = gone.parse().unwrap();
    check_invalid(on, missing, &format!("Commit {gone} is not in this repository."));
}

#[test]
fn a_text_that_is_no_certificate_or_has_more_fields_is_invalid() {
    let (world, _, valid) = certified();
    let says = |bytes: &[u8], parse: &Parse| verified(&world, bytes, parse, true).unwrap().0;
    assert!(says(b"{", PARSED).starts_with("It is no certificate: "));
    let mut value = serde_json::to_value(&valid).unwrap();
    value["more"] = Value::Null;
    assert!(says(value.to_string().as_bytes(), PARSED).starts_with("It is no certificate: unknown field"));
    let bytes = serde_json::to_vec(&valid).unwrap();
    assert!(says(&bytes, &|_| None).starts_with("Its options are not those of a test.\n"));
    let other_files = |_| {
        let mut order = order();
        order.test.shim.push("/tmp".into());
        Some(order)
    };
    assert!(says(&bytes, &other_files).starts_with("Its options put other files over its trees.\n"));
}

#[test]
fn a_revert_has_the_claims_of_a_fix_but_is_not_certified() {
    let (world, mut report, _) = certified();
    report.fix = None;
    for shown in &mut report.evidence {
        let words = text(&shown.claim).replace(" reached by the fix", "").replace("with the fix", "with the revert");
        shown.claim = words.as_str().into();
    }
    assert_eq!(proven(&report).last().unwrap().0, ClaimRole::FixPasses);
    let certificate = of(&world, &report).unwrap();
    assert_eq!(certificate.claims.last().unwrap().role, ClaimRole::NecessaryPasses);
}
