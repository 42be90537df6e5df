//! How the chains of C programs show values and failures: members of unions, values that were never written, reads outside of an
//! array, crashes and texts that are not printed.

use serde_json::Value;

use crate::plain::{explained, explained_by};

/// The links of a chain that have a variable or a function: line, name, value, value of the reference.
fn links(explanation: &Value) -> Vec<(u64, &str, &str, &str)> {
    let chain = explanation["chain"].as_array().unwrap().iter().filter(|link| link["variable"].is_string());
    chain
        .map(|link| {
            let text = |name: &str| link[name].as_str().unwrap();
            (link["line"].as_u64().unwrap(), text("variable"), text("value"), text("reference"))
        })
        .collect()
}

const UNION: &str = "#include <stdio.h>

union value {
    int number;
    float ratio;
    double whole;
};

struct item {
    int kind;
    union value value;
};

static void fill(struct item *item, int kind, int n)
{
    item->kind = kind;
    if (kind == 0)
        item->value.number = n + 1;
    else if (kind == 1)
        item->value.ratio = n / 4.0f;
    else
        item->value.whole = n / 8.0;
}

int main(void)
{
    struct item item;
    fill(&item, 2, 12);
    double found = item.value.whole;
    printf(\"%g\\n\", found);
    return found != 1.5;
}
";

#[test]
fn explain_shows_a_union_by_the_member_that_was_stored() {
    let explanation = explained("a.c", UNION, &UNION.replace("n / 8.0", "n / 3.0"));
    let expected = [(22, "item->value.whole", "4", "1.5"), (29, "found", "4", "1.5")];
    assert_eq!(links(&explanation), expected, "{explanation:#}");
}

/// The second half of the union is not known.
#[test]
fn explain_leads_through_a_member_that_is_shorter_than_its_union() {
    let good = UNION.replace("fill(&item, 2, 12)", "fill(&item, 1, 12)");
    let good = good.replace("double found = item.value.whole", "float found = item.value.ratio");
    let good = good.replace("found != 1.5", "found != 3");
    let explanation = explained("a.c", &good, &good.replace("n / 4.0f", "n / 3.0f"));
    let expected = [(20, "item->value.ratio", "4", "3"), (29, "found", "4", "3")];
    assert_eq!(links(&explanation), expected, "{explanation:#}");
}

#[test]
fn explain_names_a_variable_without_a_value_that_a_function_returns() {
    let good = "#include <stdio.h>

static void dirty(void)
{
    volatile int rows[16];
    for (int i = 0; i < 16; i++)
        rows[i] = 77 + i;
}

static int pick(int kind)
{
    int result;
    if (kind == 1)
        result = 10;
    else
        result = 20;
    return result;
}

int main(void)
{
    dirty();
    int found = pick(2);
    printf(\"%d\\n\", found);
    return found != 20;
}
";
    let explanation = explained("a.c", good, &good.replace("    else\n", "    else if (kind == 3)\n"));
    let links = links(&explanation);
    let (line, function, value, reference) = links[0];
    assert_eq!((line, function, reference), (17, "pick", "20"), "{explanation:#}");
    assert!(value.ends_with(" from result, never written"), "{explanation:#}");
    assert!(!links[1].2.contains("never written"), "{explanation:#}");
}

#[test]
fn explain_names_the_part_of_a_block_that_was_never_written() {
    let good = "#include <stdio.h>
#include <stdlib.h>

static int sum(const int *values, int n)
{
    int total = 0;
    for (int i = 0; i < n; i++)
        total += values[i];
    return total;
}

int main(void)
{
    int n = 4;
    int *values = malloc(n * sizeof *values);
    for (int i = 0; i < n; i++)
        values[i] = i;
    int total = sum(values, n);
    printf(\"%d\\n\", total > 5);
    return total != 6;
}
";
    let bad = good.replace("int i = 0; i < n; i++)\n        values", "int i = 3; i < n; i++)\n        values");
    let explanation = explained("a.c", good, &bad);
    let links = links(&explanation);
    let values: Vec<_> = links.iter().filter(|link| (link.0, link.1) == (8, "total")).map(|link| link.2).collect();
    let (last, rest) = values.split_last().unwrap();
    assert!(!last.contains("never written"), "{explanation:#}");
    assert!(rest.len() == 2 && rest[0].ends_with(" from values[1], never written"), "{explanation:#}");
}

#[test]
fn explain_says_what_a_read_is_outside_of() {
    let good = "#include <stdio.h>
#include <stdlib.h>

static int table[4] = {1, 2, 3, 4};

int main(void)
{
    int last = 3, row[2][2] = {{1, 2}, {3, 4}};
    int *block = malloc(4 * sizeof *block);
    for (int i = 0; i < 4; i++)
        block[i] = 9;
    int a = table[last];
    int b = row[1][last - 2];
    int c = block[last];
    int sum = a + b + c;
    free(block);
    printf(\"%d\\n\", sum);
    return sum != 17;
}
";
    let explanation = explained("a.c", good, &good.replace("last = 3", "last = 5"));
    let links = links(&explanation);
    let value = |variable: &str| links.iter().find(|link| link.1 == variable).map(|link| link.2).unwrap_or_default();
    for (variable, source) in [
        ("a", " from 4 bytes behind the end of table"),
        ("b", " from 4 bytes behind the end of row"),
        ("c", " from 4 bytes behind the end of a block of 16 bytes"),
    ] {
        assert!(value(variable).ends_with(source), "{variable}: {explanation:#}");
    }
    assert!(!value("sum").contains(" from "), "{explanation:#}");
}

#[test]
fn explain_knows_that_a_function_of_the_library_has_written_a_long_text() {
    for read in ["scanf(\"%s\", word)", "gets(word)"] {
        let good = format!(
            "#include <stdio.h>
char *gets(char *);

int main(void)
{{
    char word[64];
    {read};
    int last = word[41];
    return last != 'a';
}}
"
        );
        let test = ["sh", "-c", "printf '%040d ab\\n' 0 | tr ' ' x | ./a"];
        let explanation = explained_by("a.c", &good, &good.replace("word[41]", "word[42]"), &test);
        let links = links(&explanation);
        assert_eq!(links.len(), 1, "{explanation:#}");
        assert!(links[0].1 == "last" && !links[0].2.contains("never written"), "{read}: {explanation:#}");
    }
}

/// The failure: line, whether the change touches it, what it is.
fn failure(explanation: &Value) -> (u64, bool, &str) {
    let failure = &explanation["failure"];
    (failure["line"].as_u64().unwrap(), failure["in_change"].as_bool().unwrap(), failure["what"].as_str().unwrap())
}

#[test]
fn explain_finds_a_crash_in_what_a_function_returns() {
    let good = "static int get(const int *p)
{
    return p ? *p : -1;
}

int main(void)
{
    return get(0) != -1;
}
";
    let explanation = explained("a.c", good, &good.replace("p ? *p : -1", "*p"));
    let what = "the program is killed by signal 11: p is NULL (reference: exits with 0); the reference has return p ? *p : -1 \
                here";
    assert_eq!(failure(&explanation), (3, true, what), "{explanation:#}");
}

#[test]
fn explain_finds_where_the_program_goes_another_way_than_to_what_it_does_not_print() {
    let good = "#include <stdio.h>

int main(void)
{
    int error = 0;
    for (int i = 0; i < 4; i++) {
        if (i == 1)
            error = i;
        printf(\"line %d\\n\", i);
    }
    return 0;
}
";
    let bad = good.replace("        printf", "        if (!error) printf");
    let explanation = explained_by("a.c", good, &bad, &["sh", "-c", "./a | grep -q 'line 1'"]);
    let what =
        "the program says nothing more (reference \"line 1\\n\"); the reference has printf(\"line %d\\n\", i) here";
    assert_eq!(failure(&explanation), (9, true, what), "{explanation:#}");
    assert_eq!(explanation["failure"]["instance"], 2, "{explanation:#}");
}

#[test]
fn explain_says_what_is_missing_before_the_failure_behind_blank_and_comment_lines() {
    let good = "#include <stdio.h>

int main(void)
{
    int n = 1;
    n = n + 1;
    if (n == 2) {
        puts(\"none\");
        return 0;
    }

    // The rest.
    puts(\"some\");
    return 0;
}
";
    let bad = good.replace("    if (n == 2) {\n        puts(\"none\");\n        return 0;\n    }\n", "");
    let explanation = explained_by("a.c", good, &bad, &["sh", "-c", "./a | grep -q none"]);
    let what = "the program says \"some\\n\" (reference \"none\\n\"); the reference also has if (n == 2) { puts(\"none\"); \
                return 0 here";
    assert_eq!(failure(&explanation), (9, true, what), "{explanation:#}");
    let beginning = "No faulty value before it is needed: the failing version lacks code that the reference has.";
    assert_eq!(explanation["beginning"], beginning, "{explanation:#}");
}

/// The first store to a bit-field reads its neighbours, which have no value yet.
#[test]
fn explain_does_not_count_the_neighbours_of_a_bit_field_as_read() {
    let good = "#include <stdio.h>
#include <stdlib.h>

struct flags {
    unsigned low : 3;
    unsigned high : 5;
    int rest;
};

int main(void)
{
    struct flags *flags = malloc(sizeof *flags);
    flags->low = 3;
    flags->high = flags->low + 2;
    int found = flags->high;
    printf(\"%d\\n\", found);
    free(flags);
    return found != 5;
}
";
    let explanation = explained("a.c", good, &good.replace("low = 3", "low = 4"));
    assert!(!explanation.to_string().contains("never written"), "{explanation:#}");
    assert_eq!(explanation["chain"][0]["line"], 13, "{explanation:#}");
}

/// No byte of the lines is read by the program itself.
#[test]
fn explain_knows_texts_that_only_the_library_reads_and_prints() {
    let good = "#include <stdio.h>

int main(void)
{
    char line[40];
    if (!fgets(line, sizeof line, stdin) || !fgets(line, sizeof line, stdin))
        return 2;
    fputs(line, stdout);
    return 0;
}
";
    let test = ["sh", "-c", "printf 'one\\ntwo\\n' | ./a | grep -q two"];
    let explanation = explained_by("a.c", good, &good.replace(" || !fgets(line, sizeof line, stdin)", ""), &test);
    let chain = explanation["chain"].as_array().unwrap();
    let mut texts: Vec<&Value> = chain.iter().map(|link| &link["text"]).filter(|text| text.is_object()).collect();
    texts.dedup();
    let expected = serde_json::json!({"variable": "line", "value": "\"one\\n\"", "reference": "\"two\\n\""});
    assert_eq!(texts, [&expected], "{explanation:#}");
}
