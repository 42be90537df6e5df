//! Reads expressions of C.

use crate::expression::arithmetic::{BinaryOperator, IntegerType, Number, UnaryOperator};
use crate::expression::{Cast, Expression};
use idd_trace::native::tokens;

/// An expression is not longer, in bytes.
const MAX_LENGTH: usize = 1000;

/// An expression has not more operators and parentheses. So neither reading nor computing it goes deep.
const MAX_PARTS: u32 = 200;

/// The binary operators and how strongly they bind; longer ones first.
const BINARY: [(&str, BinaryOperator, u32); 16] = [
    ("<<", BinaryOperator::ShiftLeft, 8),
    (">>", BinaryOperator::ShiftRight, 8),
    ("<=", BinaryOperator::LessOrEqual, 7),
    (">=", BinaryOperator::GreaterOrEqual, 7),
    ("==", BinaryOperator::Equal, 6),
    ("!=", BinaryOperator::Unequal, 6),
    ("<", BinaryOperator::Less, 7),
    (">", BinaryOperator::Greater, 7),
    ("*", BinaryOperator::Multiply, 10),
    ("/", BinaryOperator::Divide, 10),
    ("%", BinaryOperator::Remainder, 10),
    ("+", BinaryOperator::Add, 9),
    ("-", BinaryOperator::Subtract, 9),
    ("&", BinaryOperator::And, 5),
    ("^", BinaryOperator::Xor, 4),
    ("|", BinaryOperator::Or, 3),
];

const AND: u32 = 2;
const OR: u32 = 1;

/// Reads an expression.
///
/// Errors: it is none of C, or it calls or assigns.
pub fn parse(text: &str) -> Result<Expression, String> {
    if text.len() > MAX_LENGTH {
        return Err(format!("the expression is longer than {MAX_LENGTH} bytes"));
    }
    if text.trim().is_empty() {
        return Err("the expression is empty".to_owned());
    }
    let mut reader = ExpressionReader { rest: text.trim(), n_parts: 0 };
    let found = reader.conditional()?;
    match reader.rest.chars().next() {
        None => Ok(found),
        Some('=') => Err(assignment()),
        Some(other) => Err(format!("`{other}` is not expected here")),
    }
}

fn assignment() -> String {
    "nothing can be assigned: the run is a recording".to_owned()
}

struct ExpressionReader<'t> {
    rest: &'t str,
    n_parts: u32,
}

impl<'t> ExpressionReader<'t> {
    fn eat(&mut self, token: &str) -> bool {
        tokens::eat(&mut self.rest, token)
    }

    fn count(&mut self) -> Result<(), String> {
        self.n_parts += 1;
        if self.n_parts > MAX_PARTS { Err(format!("the expression has more than {MAX_PARTS} parts")) } else { Ok(()) }
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.eat(token) { Ok(()) } else { Err(format!("`{token}` is missing")) }
    }

    fn word(&mut self) -> Option<&'t str> {
        tokens::word(&mut self.rest)
    }

    fn conditional(&mut self) -> Result<Expression, String> {
        self.count()?;
        let mut found = self.binary(OR)?;
        if self.eat("?") {
            let one = self.conditional()?;
            self.expect(":")?;
            let other = self.conditional()?;
            found = Expression::Conditional(Box::new([found, one, other]));
        }
        Ok(found)
    }

    /// Operators that bind at least so strongly.
    fn binary(&mut self, least: u32) -> Result<Expression, String> {
        let mut found = self.unary()?;
        loop {
            let is_logic = |token, strength| self.rest.starts_with(token) && strength >= least;
            if is_logic("||", OR) || is_logic("&&", AND) {
                let is_or = self.eat("||");
                let _ = is_or || self.eat("&&");
                let other = self.binary(if is_or { OR } else { AND } + 1)?;
                found = Expression::Logic(is_or, Box::new(found), Box::new(other));
                continue;
            }
            if self.rest.starts_with("||") || self.rest.starts_with("&&") {
                return Ok(found);
            }
            let operator = BINARY.iter().find(|(token, _, _)| self.rest.starts_with(token));
            let Some((token, operator, strength)) = operator.filter(|(_, _, strength)| *strength >= least) else {
                return Ok(found);
            };
            self.eat(token);
            if self.rest.starts_with('=') && !["<=", ">=", "==", "!=", "<", ">"].contains(token) {
                return Err(assignment());
            }
            let other = self.binary(strength + 1)?;
            found = Expression::Binary(*operator, Box::new(found), Box::new(other));
        }
    }

    fn unary(&mut self) -> Result<Expression, String> {
        self.count()?;
        if self.rest.starts_with("++") || self.rest.starts_with("--") {
            return Err(assignment());
        }
        for (token, operator) in [
            ("-", UnaryOperator::Minus),
            ("+", UnaryOperator::Plus),
            ("~", UnaryOperator::Complement),
            ("!", UnaryOperator::Not),
        ] {
            if self.eat(token) {
                return Ok(Expression::Unary(operator, Box::new(self.unary()?)));
            }
        }
        if self.eat("*") {
            return Ok(Expression::Target(Box::new(self.unary()?)));
        }
        if self.rest.starts_with('&') && self.eat("&") {
            return Ok(Expression::Address(Box::new(self.unary()?)));
        }
        if self.is_word("sizeof") {
            self.word();
            return self.size_of();
        }
        if let Some(cast) = self.cast()? {
            return Ok(Expression::Cast(cast, Box::new(self.unary()?)));
        }
        let primary = self.primary()?;
        self.postfix(primary)
    }

    fn is_word(&self, word: &str) -> bool {
        let rest = self.rest.strip_prefix(word);
        rest.is_some_and(|rest| !rest.starts_with(|letter: char| letter.is_alphanumeric() || letter == '_'))
    }

    fn size_of(&mut self) -> Result<Expression, String> {
        let zero = match self.cast()? {
            None => return Ok(Expression::SizeOf(Box::new(self.unary()?))),
            Some(Cast::Integer(ty)) => Number::Integer(0, ty),
            Some(Cast::Float(is_single)) => Number::Float(0.0, is_single),
        };
        Ok(Expression::SizeOf(Box::new(Expression::Number(zero))))
    }

    /// A type between parentheses; `None` if there is something else.
    fn cast(&mut self) -> Result<Option<Cast>, String> {
        let Some(inside) = self.rest.strip_prefix('(') else { return Ok(None) };
        let end = inside.find([')', '(']).unwrap_or(inside.len());
        let text = inside[..end].trim();
        let plain = text.trim_end_matches(['*', ' ']);
        let words: Vec<&str> = plain.split_whitespace().filter(|word| !["const", "volatile"].contains(word)).collect();
        if matches!(words.first(), Some(&("struct" | "union" | "enum")))
            || (plain.len() < text.len() && (named_type(&words).is_some() || words == ["void"]))
        {
            return Err("only casts to numbers are evaluated".to_owned());
        }
        let Some(cast) = named_type(&words) else { return Ok(None) };
        self.rest = inside[end..].trim_start();
        self.expect(")")?;
        Ok(Some(cast))
    }

    fn primary(&mut self) -> Result<Expression, String> {
        if self.eat("(") {
            let inner = self.conditional()?;
            self.expect(")")?;
            return Ok(inner);
        }
        match self.rest.chars().next() {
            None => Err("the expression ends too early".to_owned()),
            Some('\'') => self.character(),
            Some('"') => Err("texts are not evaluated".to_owned()),
            Some(letter) if letter.is_ascii_digit() || letter == '.' => self.number(),
            Some(letter) if letter.is_alphabetic() || letter == '_' => {
                Ok(Expression::Name(self.word().unwrap_or_default().to_owned()))
            }
            Some('=') => Err(assignment()),
            Some(other) => Err(format!("`{other}` is not expected here")),
        }
    }

    fn postfix(&mut self, primary: Expression) -> Result<Expression, String> {
        let mut found = primary;
        loop {
            self.count()?;
            if self.eat("[") {
                let index = self.conditional()?;
                self.expect("]")?;
                found = Expression::Element(Box::new(found), Box::new(index));
            } else if self.rest.starts_with("->") || self.rest.starts_with('.') {
                let is_pointer = self.eat("->");
                let _ = is_pointer || self.eat(".");
                let name = self.word().ok_or("the name of a member is missing")?;
                found = Expression::Member(Box::new(found), is_pointer, name.to_owned());
            } else if self.rest.starts_with('(') {
                return Err("functions cannot be called: nothing runs, all that is shown was recorded".to_owned());
            } else if self.rest.starts_with("++") || self.rest.starts_with("--") {
                return Err(assignment());
            } else {
                return Ok(found);
            }
        }
    }

    fn character(&mut self) -> Result<Expression, String> {
        let bad = || "a character is written as 'a', '\\n' or '\\x41'".to_owned();
        let inside = self.rest.strip_prefix('\'').ok_or_else(bad)?;
        let mut letters = inside.char_indices();
        let (_, first) = letters.next().ok_or_else(bad)?;
        let begin = if first == '\\' { letters.next().ok_or_else(bad)?.0 } else { 0 };
        let end = inside.char_indices().find(|(at, letter)| *letter == '\'' && *at > begin).ok_or_else(bad)?.0;
        let body = &inside[..end];
        let byte = match body.strip_prefix('\\') {
            None if body.is_ascii() && body.len() == 1 => body.as_bytes()[0],
            None => return Err(bad()),
            Some("n") => b'\n',
            Some("t") => b'\t',
            Some("r") => b'\r',
            Some("a") => 7,
            Some("b") => 8,
            Some("v") => 11,
            Some("f") => 12,
            Some(same @ ("\\" | "'" | "\"" | "?")) => same.as_bytes()[0],
            Some(code) => match code.strip_prefix('x') {
                Some(digits) => u8::from_str_radix(digits, 16).map_err(|_| bad())?,
                None => u8::from_str_radix(code, 8).map_err(|_| bad())?,
            },
        };
        self.rest = inside[end + 1..].trim_start();
        Ok(Expression::Number(Number::int(i128::from(byte.cast_signed()))))
    }

    fn number(&mut self) -> Result<Expression, String> {
        let is_hex = self.rest.starts_with("0x") || self.rest.starts_with("0X");
        let mut before = ' ';
        let end = self.rest.find(|letter: char| {
            let is_sign = matches!(letter, '+' | '-') && matches!(before, 'e' | 'E') && !is_hex;
            before = letter;
            !(letter.is_ascii_alphanumeric() || letter == '.' || is_sign)
        });
        let (text, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        let found = literal(text).ok_or_else(|| format!("`{text}` is no number"))?;
        self.rest = rest.trim_start();
        Ok(Expression::Number(found))
    }
}

fn literal(text: &str) -> Option<Number> {
    let lower = text.to_ascii_lowercase();
    let is_hex = lower.starts_with("0x");
    if !is_hex && lower.contains(['.', 'e']) {
        let single = lower.strip_suffix('f');
        let number: f64 = single.unwrap_or(&lower).parse().ok()?;
        return Some(Number::Float(number, false).to_float(single.is_some()));
    }
    let digits = lower.trim_end_matches(['u', 'l']);
    let is_unsigned = match &lower[digits.len()..] {
        "" | "l" | "ll" => false,
        "u" | "ul" | "ull" | "lu" | "llu" => true,
        _ => return None,
    };
    let is_long = lower[digits.len()..].contains('l');
    let (digits, radix) = match digits {
        _ if is_hex => (&digits[2..], 16),
        "0" => ("0", 10),
        _ if digits.starts_with("0b") => (&digits[2..], 2),
        _ if digits.starts_with('0') => (&digits[1..], 8),
        _ => (digits, 10),
    };
    let number = i128::from(u64::from_str_radix(digits, radix).ok()?);
    let types = [IntegerType::INT, IntegerType::UNSIGNED, IntegerType::LONG, IntegerType::UNSIGNED_LONG];
    // A decimal number without `u` is signed if any signed type holds it.
    let fits = |ty: &&IntegerType| {
        let is_wanted =
            if is_unsigned { !ty.is_signed } else { ty.is_signed || radix != 10 || number > i64::MAX.into() };
        ty.wrap(number) == number && is_wanted && (!is_long || ty.bits == 64)
    };
    types.iter().find(fits).map(|ty| Number::Integer(number, *ty))
}

/// The type of these words; `None` if they name none that is known.
fn named_type(words: &[&str]) -> Option<Cast> {
    let integer = |bits, is_signed| Some(Cast::Integer(IntegerType { bits, is_signed }));
    if let [word] = words {
        let fixed = word.strip_suffix("_t").and_then(|word| match word {
            "int8" => integer(8, true),
            "int16" => integer(16, true),
            "int32" => integer(32, true),
            "int64" | "ssize" | "ptrdiff" | "intptr" => integer(64, true),
            "uint8" => integer(8, false),
            "uint16" => integer(16, false),
            "uint32" => integer(32, false),
            "uint64" | "size" | "uintptr" => integer(64, false),
            _ => None,
        });
        match *word {
            _ if fixed.is_some() => return fixed,
            "float" => return Some(Cast::Float(true)),
            "double" => return Some(Cast::Float(false)),
            "_Bool" | "bool" => return integer(1, false),
            _ => {}
        }
    }
    let known = ["signed", "unsigned", "char", "short", "int", "long"];
    if words.is_empty() || !words.iter().all(|word| known.contains(word)) {
        return None;
    }
    let has = |wanted: &str| words.contains(&wanted);
    let is_signed = !has("unsigned");
    match () {
        () if has("char") => integer(8, is_signed),
        () if has("short") => integer(16, is_signed),
        () if has("long") => integer(64, is_signed),
        () => integer(32, is_signed),
    }
}
