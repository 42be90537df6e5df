//! The stories of `fixtures-repos`: those that are hunted in with recorded observations, and those that are always
//! hunted in live, each with the reason.

/// Calls a macro with all stories: the name of the module of their tests, that of the directory, and the reason.
macro_rules! stories {
    ($with:ident) => {
        $with! {
            recorded {
                bad_passes: "bad-passes",
                binary_crlf_symlink_nonutf8: "binary-crlf-symlink-nonutf8",
                body_emptied: "body-emptied",
                broken_window: "broken-window",
                call_without_its_guard: "call-without-its-guard",
                clean_up_dropped: "clean-up-dropped",
                comment_cut: "comment-cut",
                cpp_classes: "cpp-classes",
                crash: "crash",
                culprit_mends_build: "culprit-mends-build",
                escape_sequences: "escape-sequences",
                exception_from_elsewhere: "exception-from-elsewhere",
                field_without_initialisation: "field-without-initialisation",
                fixed_and_broken_again: "fixed-and-broken-again",
                fixed_since: "fixed-since",
                forward_port_conflict: "forward-port-conflict",
                function_emptied: "function-emptied",
                generated_file: "generated-file",
                gitignore_added_late: "gitignore-added-late",
                go_functions: "go-functions",
                good_fails: "good-fails",
                guard_without_variable: "guard-without-variable",
                half_of_a_replaced_line: "half-of-a-replaced-line",
                hang: "hang",
                header_without_body: "header-without-body",
                held_is_culprit: "held-is-culprit",
                hostile_tree: "hostile-tree",
                huge_culprit: "huge-culprit",
                java_refactoring: "java-refactoring",
                javascript_exports: "javascript-exports",
                linear_c: "linear-c",
                linear_java: "linear-java",
                macro_heavy: "macro-heavy",
                make_is_the_test: "make-is-the-test",
                masked_by_older_defect: "masked-by-older-defect",
                merge_culprit: "merge-culprit",
                merge_only_fails: "merge-only-fails",
                moved_function: "moved-function",
                nesting_dropped: "nesting-dropped",
                never_passed: "never-passed",
                no_build_flag: "no-build-flag",
                no_known_good: "no-known-good",
                old_code_new_compiler: "old-code-new-compiler",
                one_commit_per_file: "one-commit-per-file",
                other_failure_same_line: "other-failure-same-line",
                product_becomes_tracked: "product-becomes-tracked",
                reformatted_history: "reformatted-history",
                rename: "rename",
                renamed_symbol: "renamed-symbol",
                repair_flips_verdict: "repair-flips-verdict",
                repair_reverts_culprit: "repair-reverts-culprit",
                root_is_bad: "root-is-bad",
                rust_methods: "rust-methods",
                same_exit_other_failure: "same-exit-other-failure",
                second_culprit_newer: "second-culprit-newer",
                shallow: "shallow",
                signature_change_across_files: "signature-change-across-files",
                single_commit: "single-commit",
                stacked_repairs: "stacked-repairs",
                test_edits_tracked_file: "test-edits-tracked-file",
                test_needs_newer_api: "test-needs-newer-api",
                two_commits_interact: "two-commits-interact",
                type_changed_alone: "type-changed-alone",
                typescript_types: "typescript-types",
                unwrapped_body: "unwrapped-body",
                vacuous_pass: "vacuous-pass",
                value_changed: "value-changed",
                wanted_by_its_tests: "wanted-by-its-tests",
            }
            live {
                fixed_port: "fixed-port", "two probes run at once, and meet at a port";
                flaky: "flaky", "its test has a memory outside of the checkout";
                leaves_children: "leaves-children", "its test leaves processes";
                prebuilt_programs: "prebuilt-programs", "programs are put into the checkout in place of builds";
                seen_by_a_person: "seen-by-a-person", "a person judges the revisions, with files in the checkout";
                several_tests: "several-tests", "each of its tests is a hunt of its own";
                slower_since: "slower-since", "times are measured";
                stale_generated: "stale-generated", "its builds depend on what earlier builds left";
                stale_header: "stale-header", "its builds depend on what earlier builds left";
                version_stamp: "version-stamp", "its build asks git, whose answers depend on the revision";
            }
        }
    };
}

pub(crate) use stories;
