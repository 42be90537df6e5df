//! Programs that hang: what `explain`, `invariants` and `chop` say of the loop that does not end.

use crate::explain::{explained, repository};
use crate::plain::idd;

#[test]
fn a_hang_is_explained_from_where_the_loop_stops_making_progress() {
    let good = "#include <stdio.h>
#include <string.h>

static const char *find(const char *s, const char *end, int length)
{
    while (s < end) {
        if (length > 0 && *s == 'x')
            return s;
        s += length ? length : 1;
    }
    return end;
}

int main(int argc, char **argv)
{
    const char *s = argv[1];
    printf(\"%d\\n\", (int)(find(s, s + strlen(s), argc - 2) - s));
    return 0;
}
";
    let place = repository(good, &good.replace("s += length ? length : 1", "s += length"));
    // The program is killed after a second of its own time, and not by the test's limit.
    let test = "ulimit -S -t 1; ./a abc";
    let explanation = explained(place.path(), test, &[]);
    let failure = &explanation["failure"];
    let expected = "the program does not end: it repeats this loop, in which s, end and length stay the same (reference: exits with 0)";
    assert_eq!((&failure["what"], &failure["line"]), (&expected.into(), &6.into()), "{explanation}");
    let chain = explanation["chain"].as_array().unwrap();
    assert_eq!((&chain[0]["line"], &chain[0]["in_change"]), (&9.into(), &true.into()), "{explanation}");
    assert!(chain.iter().any(|link| link["kind"] == "decision" && link["line"] == 6), "{explanation}");
    // How often the rest would run is not known.
    assert!(chain.iter().all(|link| link["of"].is_null()), "{explanation}");

    let words = ["invariants", "--good", "HEAD~1", "--build", "cc -o a a.c", "--once", "--", test];
    let (told, complaint, code) = idd(place.path(), &words);
    assert_eq!(code, Some(0), "{told}{complaint}");
    let expected = "on it repeats this loop, in which s, end and length stay the same";
    assert!(told.contains(expected) && told.contains("while (s < end)"), "{told}");
    let words = ["chop", "--good", "HEAD~1", "--build", "cc -o a a.c", "--once", "--", test];
    let (told, complaint, code) = idd(place.path(), &words);
    assert_eq!(code, Some(0), "{told}{complaint}");
    assert!(told.contains("first:\n* a.c:9 "), "{told}");
}
