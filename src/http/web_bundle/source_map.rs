//! The way back from a line of a bundle to its source, for the tools of browsers.

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// A source map (ECMA-426) of whole lines.
#[derive(Default)]
pub(super) struct SourceMap {
    sources: Vec<String>,
    mappings: String,
    /// The next line of the source.
    line: i64,
    /// The source and line of the last mapping: each is written as the difference to the one before.
    last: (i64, i64),
}

impl SourceMap {
    /// Lines that are in no source.
    pub fn skip(&mut self, lines: usize) {
        self.mappings.extend(std::iter::repeat_n(';', lines));
    }

    /// The following lines are those of a source.
    pub fn begin(&mut self, source: &str) {
        self.sources.push(source.to_owned());
        self.line = 0;
    }

    /// One line of the source.
    pub fn line(&mut self) {
        let source = i64::try_from(self.sources.len()).unwrap_or(i64::MAX) - 1;
        let (last_source, last_line) = self.last;
        for number in [0, source - last_source, self.line - last_line, 0] {
            push_number(&mut self.mappings, number);
        }
        self.mappings.push(';');
        self.last = (source, self.line);
        self.line += 1;
    }

    pub fn json(&self, file: &str) -> String {
        let sources = self.sources.iter().map(|source| format!("{source:?}")).collect::<Vec<_>>().join(",");
        format!(
            "{{\"version\":3,\"file\":{file:?},\"sources\":[{sources}],\"names\":[],\"mappings\":{:?}}}\n",
            self.mappings
        )
    }
}

/// A number in base 64, five bits a digit, the lowest first; the lowest bit is the sign, the highest of a digit says that
/// more follow.
fn push_number(text: &mut String, number: i64) {
    let mut rest = number.unsigned_abs() << 1 | u64::from(number < 0);
    loop {
        let digit = usize::try_from(rest & 31).unwrap_or_default();
        rest >>= 5;
        text.push(char::from(DIGITS[if rest > 0 { digit | 32 } else { digit }]));
        if rest == 0 {
            return;
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    fn numbers(segment: &str) -> Vec<i64> {
        let (mut numbers, mut value, mut shift) = (Vec::new(), 0_i64, 0);
        for letter in segment.bytes() {
            let digit =
                i64::try_from(DIGITS.iter().position(|digit| *digit == letter).expect("a digit")).expect("small");
            value |= (digit & 31) << shift;
            shift += 5;
            if digit & 32 == 0 {
                numbers.push(if value & 1 == 1 { -(value >> 1) } else { value >> 1 });
                (value, shift) = (0, 0);
            }
        }
        numbers
    }

    /// The source and the line, from 1, of a line of the bundle, from 0.
    pub fn source_of(map: &str, bundled: usize) -> Option<(String, i64)> {
        let map: serde_json::Value = serde_json::from_str(map).expect("JSON");
        let (mut source, mut line) = (0, 0);
        for (number, segment) in map["mappings"].as_str()?.split(';').enumerate() {
            let found = numbers(segment);
            if let [_, source_step, line_step, _] = found[..] {
                source += source_step;
                line += line_step;
            }
            if number == bundled {
                let name = map["sources"][usize::try_from(source).ok()?].as_str()?;
                return (!found.is_empty()).then(|| (name.to_owned(), line + 1));
            }
        }
        None
    }

    #[test]
    fn numbers_are_written_as_the_format_says() {
        for (number, text) in [(0, "A"), (1, "C"), (-1, "D"), (15, "e"), (16, "gB"), (-16, "hB"), (1_000, "w+B")] {
            let mut written = String::new();
            push_number(&mut written, number);
            assert_eq!((written.as_str(), numbers(text)), (text, vec![number]));
        }
    }
}
