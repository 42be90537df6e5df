//! Known limits of explanations in C and C++. Each test states what is printed now and what would be ideal. When the
//! ideal is reached, the test fails, and its case moves to the tests of what works.

use std::fmt::Debug;

use serde_json::Value;

use crate::plain;

/// What explains the failure of `./a` if `n * 2` becomes `n * 3`.
fn explained(file: &str, good: &str) -> Value {
    plain::explained(file, good, &good.replace("n * 2", "n * 3"))
}

#[track_caller]
pub fn check<T: PartialEq + Debug>(found: &T, expected_now: &T, expected_ideal: &T) {
    assert_ne!(found, expected_ideal, "move this case to working");
    assert_eq!(found, expected_now);
}

/// The variable of the link in a line.
fn variable(explanation: &Value, line: u32) -> Option<&str> {
    let chain = explanation["chain"].as_array().unwrap();
    chain.iter().find(|link| link["line"] == line).unwrap()["variable"].as_str()
}

/// Where a virtual base class begins stands in the table of virtual functions, not in the type.
#[test]
fn a_member_of_a_virtual_base_class_has_no_name_in_a_chain() {
    let explanation = explained(
        "a.cpp",
        "#include <cstdio>

struct Base {
    int weight = 0;
    virtual ~Base() {}
};

struct Left : virtual Base {
    int left = 1;
};

static void load(Base &base, int n)
{
    base.weight = n * 2;
}

int main()
{
    Left item;
    load(item, 21);
    int weight = item.weight;
    item.weight = weight + 1;
    std::printf(\"%d\\n\", item.weight);
    return item.weight != 43;
}
",
    );
    check(&variable(&explanation, 14), &None, &Some("base.weight"));
}

/// Which streams share the buffer of `std::cout` is not recorded.
#[test]
fn what_a_stream_other_than_cout_cerr_and_clog_prints_is_no_output() {
    let explanation = explained(
        "a.cpp",
        "#include <iostream>

static int twice(int n)
{
    return n * 2;
}

int main()
{
    std::ostream out(std::cout.rdbuf());
    int total = twice(21);
    out << \"total \" << total << std::endl;
    std::cout << \"end\" << std::endl;
    return total != 42;
}
",
    );
    let what = explanation["failure"]["what"].as_str().unwrap();
    let ideal = "the program says \"total 63\\n\" (reference \"total 42\\n\")";
    check(&what, &"the program exits with 1 (reference: exits with 0)", &ideal);
}

/// A fork has only the thread that called `fork`, so experiments cannot run the others.
#[test]
fn a_value_that_a_second_thread_computed_is_not_proved_to_begin_with_the_change() {
    let explanation = explained(
        "a.cpp",
        "#include <cstdio>
#include <thread>

static int total;

static void add(int n)
{
    total = total + n * 2;
}

int main()
{
    std::thread worker(add, 21);
    worker.join();
    std::printf(\"%d\\n\", total);
    return total != 42;
}
",
    );
    let now = "The program has several threads, and experiments run only the first one: where the difference comes from is \
               not proved.";
    let ideal = "It begins with the change: the values that the change uses are the same in both runs.";
    check(&explanation["beginning"].as_str().unwrap(), &now, &ideal);
}

/// One chain explains one process, and a child without a program of its own is none.
#[test]
fn a_chain_does_not_lead_into_a_forked_child() {
    let explanation = explained(
        "a.c",
        "#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int twice(int n)
{
    return n * 2;
}

int main(void)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        _exit(twice(21));
    waitpid(child, &status, 0);
    int code = WEXITSTATUS(status);
    printf(\"%d\\n\", code);
    return code != 42;
}
",
    );
    let is_in_child = explanation["chain"].as_array().unwrap().iter().any(|link| link["line"] == 7);
    check(&is_in_child, &false, &true);
}

/// Which member of a union is in use is known from the statement that stored it, not from code of the library.
#[test]
fn a_number_in_an_optional_is_shown_by_its_bytes() {
    let explanation = explained(
        "a.cpp",
        "#include <cstdio>
#include <optional>

int main()
{
    int n = 21;
    std::optional<double> share;
    share = n * 2 / 8.0;
    std::printf(\"%g\\n\", *share);
    return *share != 5.25;
}
",
    );
    let chain = explanation["chain"].as_array().unwrap();
    let link = chain.iter().find(|link| link["line"] == 8).unwrap();
    check(&link["value"].as_str(), &Some("4620552480193773568"), &Some("7.875"));
}
