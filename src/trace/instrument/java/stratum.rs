//! The lines of functions that a compiler copied into a class.
//!
//! Kotlin gives the lines of such a copy numbers behind the end of the source file. The attribute `SourceDebugExtension` says
//! which line of the file has the call: in the format of JSR-45, stratum `KotlinDebug`, a line
//! `<line>#<file>[,<repeated>]:<first number>[,<increment>]` for each copy.

/// The calls of copied functions: numbers of lines from the first up to the second, and the line of the call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stratum(Vec<(u32, u32, u16)>);

impl Stratum {
    /// Reads the attribute; what is not understood is left out.
    pub fn read(content: &[u8]) -> Self {
        let text = String::from_utf8_lossy(content);
        let lines = text.lines().map(str::trim).skip_while(|line| *line != "*S KotlinDebug");
        let entries = lines.skip_while(|line| *line != "*L").skip(1).take_while(|line| !line.starts_with('*'));
        Self(entries.filter_map(entry).collect())
    }

    /// The line of the file for the number of a line.
    pub fn line(&self, number: u16) -> u16 {
        let is_in = |(first, end, _): &&(u32, u32, u16)| (*first..*end).contains(&u32::from(number));
        self.0.iter().find(is_in).map_or(number, |(_, _, line)| *line)
    }
}

fn entry(text: &str) -> Option<(u32, u32, u16)> {
    let (call, numbers) = text.split_once(':')?;
    let (line, file) = call.split_once('#')?;
    // Older compilers write the number of lines as repetitions, later ones as the increment.
    let n_repeated = file.split_once(',').map_or(Some(1), |(_, n)| n.parse::<u32>().ok())?;
    let (first, increment) = numbers.split_once(',').unwrap_or((numbers, "1"));
    let (first, increment): (u32, u32) = (first.parse().ok()?, increment.parse().ok()?);
    Some((first, first.checked_add(n_repeated.checked_mul(increment)?)?, line.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_copies_are_those_of_their_calls() {
        let text = "SMAP\nMain.kt\nKotlin\n*S Kotlin\n*F\n+ 1 Main.kt\nMainKt\n*L\n1#1,30:1\n1309#2:31\n*E\n\
                    *S KotlinDebug\n*F\n+ 1 Main.kt\nMainKt\n*L\n27#1:31\n27#1,3:32\n12#1:35,4\nx\n9#1:99999999999\n*E\n";
        let stratum = Stratum::read(text.as_bytes());
        for (number, expected) in [(1, 1), (30, 30), (31, 27), (32, 27), (34, 27), (35, 12), (38, 12), (39, 39)] {
            assert_eq!(stratum.line(number), expected, "{number}");
        }
        assert_eq!(Stratum::read(b"SMAP\nX.jsp\nJSP\n*S JSP\n*L\n5#1:1\n*E\n"), Stratum::default());
    }
}
