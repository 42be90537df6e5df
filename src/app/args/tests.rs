use std::time::Duration;

use super::*;
use crate::args::options::Color;
use idd_base::Sought;
use idd_session::order::{HistoryWalk, Level, SignatureMode, TestCommand};

/// Splits at blanks, with `_` for a blank inside a word.
fn words(line: &str) -> Vec<OsString> {
    line.split_whitespace().map(|word| word.replace('_', " ").into()).collect()
}

fn parse_with(line: &str, config: &[(&str, &str)]) -> Result<Invocation, ParseError> {
    let config: Vec<_> = config.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    parse(words(line), &config)
}

#[track_caller]
fn hunt_with(line: &str, config: &[(&str, &str)]) -> HuntOrder {
    match parse_with(line, config).unwrap().request {
        Request::Hunt(hunt) => hunt,
        other => panic!("`{line}` is {other:?}"),
    }
}

#[track_caller]
fn hunt(line: &str) -> HuntOrder {
    hunt_with(line, &[])
}

#[track_caller]
fn usage_with(line: &str, config: &[(&str, &str)]) -> UsageError {
    match parse_with(line, config) {
        Err(ParseError::Usage(error)) => error,
        other => panic!("`{line}` gave {other:?}"),
    }
}

#[track_caller]
fn usage(line: &str) -> String {
    usage_with(line, &[]).message
}

#[test]
fn one_argument_is_a_shell_line_and_several_are_an_argv() {
    assert_eq!(hunt("git-idd ./test.sh_-x").command, TestCommand::Shell("./test.sh -x".into()));
    assert_eq!(hunt("git-idd -- ./test.sh").command, TestCommand::Shell("./test.sh".into()));
    assert_eq!(hunt("git-idd ./test.sh -x").command, TestCommand::Argv(words("./test.sh -x")));
}

#[test]
fn a_hunt_for_a_fix_goes_from_the_good_revision_to_the_bad_one() {
    let plain = hunt("git-idd --find fix ./test.sh").history;
    assert_eq!((plain.find, &*plain.bad, plain.good.len()), (Sought::Fix, "HEAD", 0));
    let given = hunt("git-idd --find fix --good v2 --bad v1 ./test.sh").history;
    assert_eq!((&*given.bad, &given.good[..]), ("v2", &["v1".to_owned()][..]));
    assert!(usage("git-idd --find fix --good v2 --good v3 ./test.sh").contains("takes one `--good`"));
    assert!(usage("git-idd --find fix --explain ./test.sh").contains("needs `--find failure`"));
}

#[test]
fn the_command_of_by_is_a_shell_line_and_needs_a_value_to_look_for() {
    let by = hunt("git-idd --find change --by ./size.sh_-k --bad v2");
    assert_eq!((by.command, by.history.find), (TestCommand::Shell("./size.sh -k".into()), Sought::Change));
    assert_eq!(by.history.bad, "v2");
    assert!(usage("git-idd --find change ./size.sh").contains("needs `--by <command>`"));
    assert!(usage("git-idd --by ./size.sh").contains("needs `--find change`"));
    assert!(usage("git-idd --find change --by ./size.sh ./other.sh").contains("--by"));
    assert!(usage("git-idd --find change --by _").contains("empty"));
}

#[test]
fn options_behind_the_test_command_belong_to_it() {
    let hunt = hunt("git-idd --clean ./test.sh --json -j 4 --");
    assert_eq!(hunt.command, TestCommand::Argv(words("./test.sh --json -j 4 --")));
    assert!(hunt.effort.clean);
    assert_eq!(hunt.effort.jobs, None);
}

#[test]
fn a_hunt_without_options_has_the_documented_defaults() {
    let hunt = hunt("git-idd ./test.sh");
    assert_eq!(hunt.history, HistoryOrder::default());
    assert_eq!((hunt.test.repeat, hunt.test.signature, hunt.test.no_hold), (1, SignatureMode::Auto, false));
    assert_eq!(hunt.effort.level, Level::Line);
    assert_eq!(parse_with("git-idd t", &[]).unwrap().output.color, Color::Auto);
}

#[test]
fn every_option_of_a_hunt_is_understood() {
    let line = "git-idd --bad b --good g --good=h --build make_-s --timeout 90s --match E.* --pass-match ok --signature regex \
                --hold a --hold b --overlay o.patch --shim a --shim b --repair --first-parent --walk linear --path src --level hunk --retry \
                --repeat 3 --flaky=10% --confidence 0.9 --clean --no-cache --no-port --explain -j4 --budget 1h30m --max-probes 100 --notify n --until change --effort 45m --suite s --expose-commit \
                --isolate-home --json -q --color never --exit-zero -- t";
    let invocation = parse_with(line, &[]).unwrap();
    insta::assert_debug_snapshot!(invocation);
}

#[test]
fn the_first_word_decides_whether_it_is_a_subcommand() {
    let request = |line| parse_with(line, &[]).unwrap().request;
    assert_eq!(request("git-idd status"), Request::Status { hunt: None });
    assert_eq!(
        request("git-idd -q --color never resume"),
        Request::Resume { hunt: None, allowance: Allowance::default() }
    );
    assert_eq!(
        request("git-idd log --format=bisect"),
        Request::Log { hunt: None, probe: None, format: LogFormat::Bisect }
    );
    assert_eq!(request("git-idd --json show"), Request::Show { hunt: None, is_full: false });
    assert_eq!(
        request("git-idd report --format sarif"),
        Request::Report { hunt: None, format: ReportFormat::Sarif, page: None, recording: None }
    );
    let page = |file: Option<&str>, is_opened| {
        let page = PageArgs { file: file.map(OsString::from), is_opened };
        Request::Report { hunt: None, format: ReportFormat::Markdown, page: Some(page), recording: None }
    };
    assert_eq!(request("git-idd report --html r.html"), page(Some("r.html"), false));
    assert_eq!(request("git-idd report --open --html=-x"), page(Some("-x"), true));
    assert_eq!(request("git-idd report --open"), page(None, true));
    assert_eq!(request("git-idd apply"), Request::Apply { hunt: None, choice: options::Choice::default() });
    let choice = options::Choice { rung: Some(options::RungOption::Files), revert: false };
    assert_eq!(request("git-idd apply --rung files"), Request::Apply { hunt: None, choice });
    let judged = |fix: &str, hunt: Option<&str>, suite: Option<&str>| {
        let (hunt, suite) = (hunt.map(str::to_owned), suite.map(OsString::from));
        Request::Try(TryArgs { fix: fix.into(), which: HuntChoice { hunt }, suite, budget: None })
    };
    assert_eq!(request("git-idd try -"), judged("-", None, None));
    assert_eq!(request("git-idd try --hunt h x --suite make"), judged("x", Some("h"), Some("make")));
    assert_eq!(request("git-idd reset"), Request::Reset);
    assert_eq!(request("git-idd gc"), Request::Gc);
    assert_eq!(request("git-idd man"), Request::Man);
    assert_eq!(request("git-idd setup --dry-run"), Request::Setup { is_removal: false, is_dry_run: true });
    assert_eq!(request("git-idd help trace step"), Request::Help(vec!["trace".to_owned(), "step".to_owned()]));
    assert_eq!(request("git-idd completions fish"), Request::Completions { shell: Shell::Fish, words: Vec::new() });
    assert_eq!(request("git-idd verify c --yes"), Request::Verify { file: "c".into(), is_agreed: true });
    assert_eq!(hunt("git-idd -- status").command, TestCommand::Shell("status".into()));
    assert_eq!(hunt("git-idd -- log --format=bisect").command, TestCommand::Argv(words("log --format=bisect")));
    assert_eq!(hunt("git-idd ./t status").command, TestCommand::Argv(words("./t status")));
    assert_eq!(hunt("git-idd --build status t").test.build, Some("status".into()));
    assert_eq!(hunt("git-idd -qj 3 t").effort.jobs, Some(3));
    assert_eq!(hunt("git-idd stats").command, TestCommand::Shell("stats".into()));
}

#[test]
fn minimize_takes_two_revisions_and_the_options_of_a_hunt_on_either_side() {
    let request = parse_with("git-idd --build make minimize v1 v2 --level file -- ./t -x", &[]).unwrap().request;
    let Request::Minimize { good, bad, hunt } = request else { panic!("{request:?}") };
    assert_eq!((good.as_str(), bad.as_str()), ("v1", "v2"));
    assert_eq!(hunt.command, TestCommand::Argv(words("./t -x")));
    assert_eq!((hunt.test.build, hunt.effort.level), (Some("make".into()), Level::File));
}

#[test]
fn a_subcommand_refuses_options_of_a_hunt() {
    assert_eq!(usage("git-idd --good v1 status"), "unexpected argument '--good' found");
    assert_eq!(usage("git-idd minimize a b --good v1 -- t"), "unexpected argument '--good' found");
}

#[test]
fn durations_are_friendly_or_seconds() {
    for (text, seconds) in [("90", 90), ("90s", 90), ("5m", 300), ("2h", 7200), ("1h30m", 5400), ("1h_30m", 5400)] {
        assert_eq!(hunt(&format!("git-idd --timeout {text} t")).test.timeout, Some(Duration::from_secs(seconds)));
    }
    for text in ["0", "soon", "-5s", "1y", "0s"] {
        usage(&format!("git-idd --budget={text} t"));
    }
}

#[test]
fn what_makes_no_sense_is_a_usage_error_that_names_the_option() {
    assert_eq!(usage("git-idd -- __"), "the test command is empty");
    assert_eq!(usage("git-idd"), "the test command is missing");
    assert_eq!(usage("git-idd --match ( t"), "invalid value '(' for '--match <REGEX>': unclosed group");
    assert_eq!(usage("git-idd --repeat 0 t"), "invalid value '0' for '--repeat <N>': 0 is not in 1..=1000");
    assert_eq!(usage("git-idd -j0 t"), "invalid value '0' for '--jobs <N>': 0 is not in 1..=1000");
    assert_eq!(usage("git-idd --signature regex t"), "`--signature regex` needs `--match <regex>`");
    let both = "git-idd --signature exit --match x t";
    assert_eq!(usage(both), "`--match` and `--signature exit` exclude each other");
    assert!(usage("git-idd --hold a --no-hold t").contains("--hold <PATH>"));
    assert!(usage("git-idd --build= t").contains("--build"));
    assert_eq!(usage_with("git-idd --jbos 3 t", &[]).hint, "a similar argument exists: '--jobs'");
}

#[test]
fn json_is_known_even_when_nothing_else_is() {
    assert!(usage_with("git-idd --json --walk sideways t", &[]).is_json);
    assert!(usage_with("git-idd status --json --nonsense", &[]).is_json);
    assert!(!usage_with("git-idd --walk sideways -- t --json", &[]).is_json);
    assert!(usage_with("git-idd log --json HEAD", &[]).is_json);
    assert_eq!(usage("git-idd log --json"), "`git idd log` prints text, not JSON");
}

#[test]
fn match_alone_selects_the_signature_by_regex() {
    assert_eq!(hunt("git-idd --match E t").test.signature, SignatureMode::Regex);
}

#[test]
fn help_and_version_are_texts_and_no_errors() {
    assert!(matches!(parse_with("git-idd --version", &[]), Err(ParseError::Display(_))));
    let help = |line: &str| match parse_with(line, &[]) {
        Err(ParseError::Help(help)) => help,
        other => panic!("`{line}` gave {other:?}"),
    };
    assert_eq!((help("git-idd -h"), help("git-idd -qh t")), (Help::Summary, Help::Summary));
    assert_eq!((help("git-idd --help"), help("git-idd --hel")), (Help::Manual, Help::Manual));
    for line in ["git-idd --help status", "git-idd status --help", "git-idd minimize -h", "git-idd trace step -h"] {
        assert!(matches!(help(line), Help::Command(_)), "{line}");
    }
}

#[test]
fn config_gives_options_and_the_command_line_wins() {
    let config = [
        ("idd.jobs", "2"),
        ("idd.build", "make"),
        ("idd.good", "v1"),
        ("idd.good", "v2"),
        ("idd.firstparent", "yes"),
        ("idd.cache", "false"),
        ("idd.timeout", "1m"),
        ("idd.timeout", "2m"),
        ("idd.walk", "linear"),
    ];
    let configured = hunt_with("git-idd t", &config);
    assert_eq!(configured.effort.jobs, Some(2));
    assert_eq!(configured.history.good, ["v1", "v2"]);
    assert!(configured.history.first_parent && configured.effort.no_cache);
    assert_eq!(configured.test.timeout, Some(Duration::from_secs(120)));
    let given = hunt_with("git-idd -j 8 --good v3 --no-first-parent --cache --walk auto t", &config);
    assert_eq!((given.effort.jobs, given.history.walk), (Some(8), HistoryWalk::Auto));
    assert_eq!(given.history.good, ["v3"]);
    assert!(!given.history.first_parent && !given.effort.no_cache);
    assert_eq!(given.test.build, Some("make".into()));
}

#[test]
fn config_is_for_the_commands_that_have_the_option() {
    let config = [("idd.good", "v1"), ("idd.jobs", "many"), ("color.ui", "always")];
    let invocation = parse_with("git-idd status", &config).unwrap();
    assert_eq!((invocation.request, invocation.output.color), (Request::Status { hunt: None }, Color::Always));
    let Request::Minimize { hunt, .. } = parse_with("git-idd minimize a b -- t", &config[..1]).unwrap().request else {
        panic!("minimize is a request of its own");
    };
    assert_eq!(hunt.history, HistoryOrder::default());
}

#[test]
fn config_values_follow_the_rules_of_git() {
    let color = |config: &[(&str, &str)]| parse_with("git-idd t", config).unwrap().output.color;
    assert_eq!(color(&[("color.ui", "false"), ("idd.color", "always")]), Color::Always);
    assert_eq!(color(&[("color.ui", "true")]), Color::Auto);
    assert_eq!(
        hunt_with("git-idd t", &[("idd.good", "v1"), ("idd.good", ""), ("idd.good", "v2")]).history.good,
        ["v2"]
    );
    assert_eq!(hunt_with("git-idd t", &[("idd.build", "make"), ("idd.build", "")]).test.build, None);
    assert!(hunt_with("git-idd t", &[("idd.clean", "1")]).effort.clean);
    assert!(!hunt_with("git-idd t", &[("idd.clean", "true"), ("idd.clean", "off")]).effort.clean);
}

#[test]
fn config_that_contradicts_the_command_line_gives_way() {
    let config = [("idd.match", "E"), ("idd.hold", "a"), ("idd.quiet", "true")];
    assert_eq!(hunt_with("git-idd --signature exit t", &config).test.match_line, None);
    assert_eq!(hunt_with("git-idd --no-hold t", &config).test.hold, Vec::<OsString>::new());
    assert_eq!(hunt_with("git-idd t", &config).test.hold, ["a"]);
    assert!(!hunt_with("git-idd --hold b t", &[("idd.nohold", "true")]).test.no_hold);
    assert!(hunt_with("git-idd t", &[("idd.nohold", "true"), ("idd.hold", "a")]).test.no_hold);
    assert!(hunt_with("git-idd t", &[("idd.fast", "true")]).effort.fast);
    assert!(!hunt_with("git-idd --no-fast t", &[("idd.fast", "true")]).effort.fast);
}

#[test]
fn a_bad_config_value_is_a_usage_error_that_names_the_key() {
    #[track_caller]
    fn check(key: &str, value: &str, expected: &str) {
        assert_eq!(usage_with("git-idd t", &[(key, value)]).message, expected);
    }
    check("idd.jobs", "0", "bad value `0` of the configuration key `idd.jobs`: 0 is not in 1..=1000");
    check("idd.jobs", "many", "bad value `many` of the configuration key `idd.jobs`: invalid digit found in string");
    check("idd.walk", "up", "bad value `up` of the configuration key `idd.walk`: expected one of auto, linear");
    check("idd.match", "(", "bad value `(` of the configuration key `idd.match`: unclosed group");
    check(
        "idd.firstparent",
        "maybe",
        "bad value `maybe` of the configuration key `idd.firstParent`: expected a boolean, such as `true` or `false`",
    );
}

#[test]
fn unknown_config_keys_are_warned_about_and_those_of_other_parts_are_not() {
    #[track_caller]
    fn check(key: &str, expected: &str) {
        let config = [("idd.worktreedir", "/x"), ("idd.env", "CC"), ("idd.grammar.*.tpl", "c"), (key, "2")];
        let warnings = parse_with("git-idd t", &config).unwrap().warnings;
        assert_eq!(warnings, [format!("The configuration key `{key}` is unknown; {expected}")]);
    }
    check("idd.jbos", "did you mean `idd.jobs`?");
    check("idd.timout", "did you mean `idd.timeout`?");
    check("idd.worktredir", "did you mean `idd.worktreeDir`?");
    check("idd.gramar.*.tpl", "did you mean `idd.grammar.*.tpl`?");
    check("idd.speed", "`git idd help` lists the keys.");
    check("idd.speed.*.tpl", "`git idd help` lists the keys.");
}

#[test]
fn a_long_option_may_be_abbreviated_if_no_other_begins_so() {
    let whole = hunt("git-idd --build make --timeout=5 --flaky=0.1 --no-port t --bui x");
    assert_eq!(hunt("git-idd --bui make --time=5 --fla=0.1 --no-po t --bui x"), whole);
    assert_eq!(hunt("git-idd --bui status t").test.build, Some("status".into()));
    let resume = |line: &str| parse_with(line, &[]).unwrap().request;
    assert_eq!(resume("git-idd resume --hu 0-1 --max-p 3"), resume("git-idd resume --hunt 0-1 --max-probes 3"));
    assert_eq!(resume("git-idd --hu 0-1 resume"), resume("git-idd resume --hunt 0-1"));
    assert_eq!(resume("git-idd trace step 3 --rec 0-1"), resume("git-idd trace step 3 --recording 0-1"));
    assert_eq!(resume("git-idd minimize a b -- t --bui"), resume("git-idd minimize a b -- t --bui"));
    assert_eq!(usage("git-idd --bu make t"), "the option `--bu` is ambiguous: it could be `--build` or `--budget`");
    assert!(usage("git-idd show --h 0-1").contains("`--hunt` or `--help`"));
    assert_eq!(usage("git-idd --bx t"), "unexpected argument '--bx' found");
}

#[test]
fn an_option_with_its_value_in_the_word_takes_no_other() {
    assert_eq!(hunt("git-idd --flaky ./t status").command, TestCommand::Argv(words("./t status")));
}

#[test]
fn hunt_args_survive_storing_without_loss() {
    use std::os::unix::ffi::OsStringExt;
    let mut args = words("git-idd --hold x --timeout 90s --");
    args.extend([OsString::from_vec(b"./t\xff.sh".to_vec()), "--x".into()]);
    let Request::Hunt(hunt) = parse(args, &[]).unwrap().request else { panic!("this is a hunt") };
    let stored = serde_json::to_string(&hunt).unwrap();
    assert_eq!(serde_json::from_str::<HuntOrder>(&stored).unwrap(), hunt);
}

#[test]
fn a_command_is_written_as_the_shell_reads_it_back() {
    let argv = TestCommand::Argv(["./t.sh", "a b", "it's", "", "$x"].map(OsString::from).to_vec());
    assert_eq!(String::from_utf8(argv.to_line()).unwrap(), r#"./t.sh 'a b' "it's" '' '$x'"#);
    assert_eq!(TestCommand::Shell("a | b".into()).to_line(), b"a | b");
}

#[test]
fn resume_takes_the_hunt_and_the_short_name_of_jobs_that_a_hunt_has() {
    let resumed = |line: &str| match parse_with(line, &[]).unwrap().request {
        Request::Resume { hunt, allowance } => (hunt, allowance.jobs),
        other => panic!("`{line}` is {other:?}"),
    };
    assert_eq!(resumed("git-idd resume -j 3"), (None, Some(3)));
    assert_eq!(resumed("git-idd resume --jobs=3 --hunt mws7"), (Some("mws7".to_owned()), Some(3)));
    assert!(usage("git-idd resume -n 3").contains("-n"));
}
