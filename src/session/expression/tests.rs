use super::*;
use std::cell::Cell;

/// Variables by name: `a` is an array of `int` 10, 20, 30 at address 100, `p` points to `a[1]`, `q` is null.
struct Known {
    n_looked: Cell<u32>,
}

impl StateVariables for Known {
    type Place = (String, i64);

    fn variable(&self, name: &str) -> Option<Self::Place> {
        self.n_looked.set(self.n_looked.get() + 1);
        ["c", "u", "n", "l", "b", "f", "d", "a", "p", "q", "s", "e", "gone"]
            .contains(&name)
            .then(|| (name.to_owned(), 0))
    }

    fn member(&self, (name, _): &Self::Place, member: &str) -> Option<Self::Place> {
        (name == "s" && member == "x").then(|| ("x".to_owned(), 0))
    }

    fn element(&self, (name, _): &Self::Place, index: i64) -> Option<Self::Place> {
        let index = match &**name {
            "a" => index,
            "p" => index + 1,
            _ => return None,
        };
        (0..3).contains(&index).then(|| ("element".to_owned(), index))
    }

    fn held(&self, (name, index): &Self::Place) -> Result<VariableContent, String> {
        let integer =
            |number, bits, is_signed| VariableContent::Number(Number::Integer(number, IntegerType { bits, is_signed }));
        Ok(match &**name {
            "c" => integer(-1, 8, true),
            "u" => integer(4_000_000_000, 32, false),
            "n" => integer(-7, 32, true),
            "l" => integer(1 << 40, 64, true),
            "b" => integer(200, 8, false),
            "f" => VariableContent::Number(Number::Float(0.5, true)),
            "d" => VariableContent::Number(Number::Float(2.5, false)),
            "x" => integer(42, 32, true),
            "e" => integer(1, 32, false),
            "element" => integer(i128::from(10 * (index + 1)), 32, true),
            "a" => VariableContent::Pointer(100, Some(4)),
            "p" => VariableContent::Pointer(104, Some(4)),
            "q" => VariableContent::Pointer(0, Some(4)),
            "s" => VariableContent::Other,
            _ => return Err("the value is not known".to_owned()),
        })
    }

    fn constant(&self, (name, _): &Self::Place, constant: &str) -> Option<Number> {
        (name == "e" && constant == "RED").then(|| Number::int(1))
    }

    fn extent(&self, (name, _): &Self::Place) -> (u64, u64) {
        (100, if name == "a" { 12 } else { 4 })
    }

    fn shown(&self, (name, index): &Self::Place) -> String {
        format!("{name}{index}")
    }
}

fn computed(text: &str) -> Result<String, String> {
    let known = Known { n_looked: Cell::new(0) };
    match loaded(&known, evaluate(&known, &parse(text)?)?)? {
        ExpressionValue::Number(number) => Ok(number.shown()),
        ExpressionValue::Pointer(address, ..) => Ok(format!("@{address}")),
        ExpressionValue::Place(_) => Err("a place".to_owned()),
    }
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(computed(text).as_deref(), Ok(expected), "{text}");
}

#[track_caller]
fn check_error(text: &str, expected: &str) {
    let error = computed(text).unwrap_err();
    assert!(error.contains(expected), "{text}: {error}");
}

#[test]
fn operators_bind_as_in_c() {
    check("1 + 2 * 3", "7");
    check("(1 + 2) * 3", "9");
    check("10 - 3 - 2", "5");
    check("1 << 2 + 1", "8");
    check("1 | 2 ^ 3 & 2", "1");
    check("7 & 3 == 3", "1");
    check("1 < 2 == 1", "1");
    check("0 || 1 && 0", "0");
    check("1 ? 2 : 0 ? 3 : 4", "2");
    check("0 ? 2 : 0 ? 3 : 4", "4");
    check("- -3", "3");
    check("!0 + ~0", "0");
    check("2*-3", "-6");
    check("1||0&&0", "1");
}

#[test]
fn small_integers_are_promoted_and_signs_follow_the_wider_type() {
    check("b + b", "400");
    check("~b", "-201");
    check("c < 0", "1");
    // -1 becomes the largest `unsigned int`, but stays -1 as a `long`.
    check("-1 < 1u", "0");
    check("n < u", "0");
    check("-1 < 1l", "1");
    check("u + u", "3705032704");
    check("u + 0l + u", "8000000000");
    check("l * 2", "2199023255552");
    check("2147483647 + 1", "-2147483648");
    check("0x7fffffff + 1", "-2147483648");
    check("0xffffffff + 1", "0");
    check("4294967295 + 1", "4294967296");
    check("1 ? -1 : 1u", "4294967295");
}

#[test]
fn division_truncates_and_cannot_be_by_zero() {
    check("n / 2", "-3");
    check("n % 2", "-1");
    check("n >> 1", "-4");
    check("u >> 31", "1");
    check("1.0 / 0", "inf");
    check_error("1 / 0", "division by zero");
    check_error("n % (n + 7)", "division by zero");
    check_error("(-2147483647 - 1) / -1", "outside");
    check_error("1 << 32", "0 to 31");
    check_error("1 << -1", "0 to 31");
}

#[test]
fn casts_are_to_numbers() {
    check("(unsigned char) -1", "255");
    check("(char) 200", "-56");
    check("(uint16_t)-1", "65535");
    check("(unsigned) c", "4294967295");
    check("(long long unsigned int) -1", "18446744073709551615");
    check("(int) 2.9", "2");
    check("(int) -2.9", "-2");
    check("(bool) 0.1", "1");
    check("(double) 1 / 4", "0.25");
    check("(n)", "-7");
    check("(unsigned long) p", "104");
    check_error("(unsigned char) 1e9", "outside");
    check_error("(char *) p", "casts to numbers");
    check_error("(struct node) p", "casts to numbers");
}

#[test]
fn floats_are_single_until_a_double_is_there() {
    check("f + f", "1");
    check("d * f", "1.25");
    check("0.1f + 0.2f", "0.3");
    check("0.1 + 0.2", "0.30000000000000004");
    check("d > 2 && d < 3", "1");
    check_error("d % 2", "takes integers");
    check_error("~d", "takes integers");
}

#[test]
fn pointers_lead_to_elements_and_are_compared() {
    check("a[0] + a[1]", "30");
    check("a[n + 9]", "30");
    check("*a", "10");
    check("*(a + 2)", "30");
    check("*(p - 1) + p[1]", "40");
    check("1[a]", "20");
    check("p - a", "1");
    check("p == &a[1]", "0");
    check("p > a", "1");
    check("p && !q", "1");
    check("q == NULL", "1");
    check("p != 0", "1");
    check("*&n", "-7");
    check("s.x", "42");
    check("p + 1", "@108");
    check_error("*q", "null");
    check_error("a[3]", "not known");
    check_error("*n", "no pointer");
    check_error("s + 1", "structure");
    check_error("s.y", "no member `y`");
    check_error("p * 2", "pointer");
    check_error("gone + 1", "not known");
}

#[test]
fn the_second_operand_of_logic_is_evaluated_only_if_it_counts() {
    check("q && *q", "0");
    check("1 || 1 / 0", "1");
    check("q ? *q : 5", "5");
    check_error("0 || 1 / 0", "division by zero");
}

#[test]
fn literals_have_the_first_type_that_holds_them() {
    for (text, size) in [("1", "4"), ("1l", "8"), ("2147483648", "8"), ("0x80000000", "4"), ("'a'", "4"), ("1.0f", "4")]
    {
        check(&format!("sizeof {text}"), size);
    }
    check("010", "8");
    check("0b11", "3");
    check("'\\n' + '\\x41' + '\\0' + 'a' + '\\''", "211");
    check("1.5e3", "1500");
    check("18446744073709551615u", "18446744073709551615");
    check("sizeof a", "12");
    check("sizeof(int) + sizeof(short)", "6");
    for text in ["09", "1x", "18446744073709551616", "'ab'", "'", "1.2.3", "0x"] {
        assert!(computed(text).is_err(), "{text}");
    }
}

#[test]
fn constants_of_enumerations_are_known_beside_a_variable_of_theirs() {
    check("e == RED", "1");
    check("RED != e", "0");
    check_error("n == RED", "no variable `RED`");
}

#[test]
fn what_is_not_evaluated_says_why() {
    check_error("f(1)", "called");
    check_error("n = 3", "assigned");
    check_error("n += 3", "assigned");
    check_error("n <<= 3", "assigned");
    check_error("n++", "assigned");
    check_error("--n", "assigned");
    check_error("\"text\"", "texts");
    check_error("", "empty");
    check_error("1 +", "ends too early");
    check_error("(1", "`)` is missing");
    check_error("a[1", "`]` is missing");
    check_error("1 ? 2", "`:` is missing");
    check_error("1 2", "not expected");
    check_error("unknown", "no variable `unknown`");
    check_error(&"(".repeat(500), "more than 200 parts");
    check_error(&format!("a{}", "[0]".repeat(300)), "more than 200 parts");
    check_error(&"-".repeat(1000).replace("--", "- "), "more than 200 parts");
    check_error(&"1+".repeat(600), "longer than");
    assert_eq!(computed(&format!("1{}", "+1".repeat(90))).as_deref(), Ok("91"));
}
