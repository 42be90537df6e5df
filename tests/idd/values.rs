//! How the chains of C programs show values: members of unions.

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
