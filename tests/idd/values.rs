//! How the chains of C programs show values: members of unions, and values that were never written.

use serde_json::Value;

use crate::plain::explained;

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
