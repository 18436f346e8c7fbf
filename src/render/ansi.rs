//! Parses the escape sequences of terminals.

/// The style of a character.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Style {
    /// One of sixteen colours.
    pub foreground: Option<u8>,
    pub background: Option<u8>,
    pub attributes: Attributes,
}

/// Bold, dim and so on, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Attributes(u8);

impl Attributes {
    /// Each with its class; the position is the bit.
    const CLASSES: [&'static str; 6] =
        ["ansi-bold", "ansi-dim", "ansi-italic", "ansi-underline", "ansi-inverse", "ansi-strike"];
    const BOLD: u8 = 1;
    const DIM: u8 = 1 << 1;
    const ITALIC: u8 = 1 << 2;
    const UNDERLINE: u8 = 1 << 3;
    const INVERSE: u8 = 1 << 4;
    const STRIKE: u8 = 1 << 5;

    pub fn classes(self) -> impl Iterator<Item = &'static str> {
        Self::CLASSES.into_iter().enumerate().filter(move |(bit, _)| self.0 & (1 << bit) != 0).map(|(_, class)| class)
    }

    fn set(&mut self, bits: u8) {
        self.0 |= bits;
    }

    fn clear(&mut self, bits: u8) {
        self.0 &= !bits;
    }
}

/// One piece of terminal output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// Text without escape sequences; may contain `\r`, `\n` and backspaces.
    Text(&'a str),
    /// The parameters of a change of style.
    Style(&'a str),
    /// Erases the rest of the line (`0`), its beginning (`1`), or all of it (`2`).
    EraseLine(u8),
}

/// Splits output at escape sequences; unsupported ones are left out.
pub(super) struct Pieces<'a>(pub &'a str);

const ESCAPE: char = '\u{1b}';
/// A sequence without an end is not a sequence.
const LONGEST_SEQUENCE: usize = 4_096;

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        while !self.0.is_empty() {
            let Some(rest) = self.0.strip_prefix(ESCAPE) else {
                let end = self.0.find(ESCAPE).unwrap_or(self.0.len());
                let (text, rest) = self.0.split_at(end);
                self.0 = rest;
                return Some(Piece::Text(text));
            };
            match rest.chars().next() {
                Some('[') => {
                    if let Some(piece) = self.control_sequence(&rest[1..]) {
                        return Some(piece);
                    }
                }
                // Titles, links, images: a text up to a bell or a string terminator.
                Some(']' | 'P' | '_' | '^' | 'X') => self.0 = after_string(&rest[1..]),
                // A character set: one more character.
                Some('(' | ')' | '*' | '+' | '#' | '%') => self.0 = after_characters(rest, 2),
                Some(letter) if letter.is_ascii_graphic() => self.0 = after_characters(rest, 1),
                _ => self.0 = rest,
            }
        }
        None
    }
}

impl<'a> Pieces<'a> {
    /// `rest` is what follows the introducer: parameters, then one final letter.
    fn control_sequence(&mut self, rest: &'a str) -> Option<Piece<'a>> {
        let is_parameter = |byte: &u8| matches!(byte, 0x20..=0x3f);
        let length = rest.bytes().take(LONGEST_SEQUENCE).take_while(is_parameter).count();
        let parameters = &rest[..length];
        let Some(last @ 0x40..=0x7e) = rest.as_bytes().get(length) else {
            // Cut off; the rest is text again.
            self.0 = &rest[length..];
            return None;
        };
        self.0 = &rest[length + 1..];
        match last {
            b'm' => Some(Piece::Style(parameters)),
            b'K' => Some(Piece::EraseLine(parameters.parse().unwrap_or(0))),
            _ => None,
        }
    }
}

/// The rest after a string that a bell or a string terminator ends. A string without an end on its line is dropped up to
/// the end of that line, so that a broken one does not swallow everything.
fn after_string(rest: &str) -> &str {
    let mut bytes = rest.bytes().enumerate().take(LONGEST_SEQUENCE);
    let Some((end, byte)) = bytes.find(|(_, byte)| matches!(byte, 0x07 | 0x1b | b'\n')) else {
        return &rest[rest.floor_char_boundary(LONGEST_SEQUENCE)..];
    };
    match byte {
        0x07 => &rest[end + 1..],
        0x1b => rest[end + 1..].strip_prefix('\\').unwrap_or(&rest[end..]),
        _ => &rest[end..],
    }
}

fn after_characters(rest: &str, count: usize) -> &str {
    rest.char_indices().nth(count).map_or("", |(position, _)| &rest[position..])
}

impl Style {
    /// Applies the parameters of a style change.
    pub fn change(&mut self, parameters: &str) {
        // `38:5:1` is another way to write `38;5;1`.
        let mut numbers =
            parameters.split([';', ':']).map(|number| if number.is_empty() { Some(0) } else { number.parse().ok() });
        while let Some(number) = numbers.next() {
            let Some(number) = number else { continue };
            match number {
                0 => *self = Self::default(),
                1 => self.attributes.set(Attributes::BOLD),
                2 => self.attributes.set(Attributes::DIM),
                3 => self.attributes.set(Attributes::ITALIC),
                4 | 21 => self.attributes.set(Attributes::UNDERLINE),
                7 => self.attributes.set(Attributes::INVERSE),
                9 => self.attributes.set(Attributes::STRIKE),
                22 => self.attributes.clear(Attributes::BOLD | Attributes::DIM),
                23 => self.attributes.clear(Attributes::ITALIC),
                24 => self.attributes.clear(Attributes::UNDERLINE),
                27 => self.attributes.clear(Attributes::INVERSE),
                29 => self.attributes.clear(Attributes::STRIKE),
                30..=37 => self.foreground = Some(number - 30),
                38 => self.foreground = extended_colour(&mut numbers).or(self.foreground),
                39 => self.foreground = None,
                40..=47 => self.background = Some(number - 40),
                48 => self.background = extended_colour(&mut numbers).or(self.background),
                49 => self.background = None,
                90..=97 => self.foreground = Some(number - 82),
                100..=107 => self.background = Some(number - 92),
                _ => {}
            }
        }
    }
}

/// The colour after 38 or 48: `5;N` or `2;R;G;B`.
fn extended_colour(numbers: &mut impl Iterator<Item = Option<u8>>) -> Option<u8> {
    match numbers.next()?? {
        5 => Some(nearest_of_table(numbers.next()??)),
        2 => Some(nearest([numbers.next()??, numbers.next()??, numbers.next()??])),
        _ => None,
    }
}

/// The sixteen colours of xterm; only the distances between them matter here.
const SIXTEEN: [[u8; 3]; 16] = [
    [0, 0, 0],
    [205, 0, 0],
    [0, 205, 0],
    [205, 205, 0],
    [0, 0, 238],
    [205, 0, 205],
    [0, 205, 205],
    [229, 229, 229],
    [127, 127, 127],
    [255, 0, 0],
    [0, 255, 0],
    [255, 255, 0],
    [92, 92, 255],
    [255, 0, 255],
    [0, 255, 255],
    [255, 255, 255],
];

/// The 256-colour table: sixteen colours, a 6×6×6 cube, and 24 greys.
fn nearest_of_table(number: u8) -> u8 {
    match number {
        0..=15 => number,
        16..=231 => {
            let level = |step: u8| if step == 0 { 0 } else { 55 + 40 * step };
            let cell = number - 16;
            nearest([level(cell / 36), level(cell / 6 % 6), level(cell % 6)])
        }
        232..=255 => nearest([8 + 10 * (number - 232); 3]),
    }
}

fn nearest(colour: [u8; 3]) -> u8 {
    let distance =
        |other: &[u8; 3]| colour.iter().zip(other).map(|(one, two)| u32::from(one.abs_diff(*two)).pow(2)).sum::<u32>();
    let (number, _) = (0..).zip(&SIXTEEN).min_by_key(|(_, other)| distance(other)).unwrap_or((7, &SIXTEEN[7]));
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    fn style(parameters: &str) -> Style {
        let mut style = Style::default();
        style.change(parameters);
        style
    }

    #[test]
    fn styles_come_and_go() {
        assert_eq!(style("31;1").foreground, Some(1));
        assert_eq!(style("97;100"), Style { foreground: Some(15), background: Some(8), ..Style::default() });
        assert_eq!(style("1;2;3;4;7;9").attributes.classes().count(), 6);
        for nothing in
            ["", "0", "1;22", "3;4;9;23;24;29", "7;27", "31;39", "41;49", "999", "x", "38", "38;5", "38;2;1", "31;"]
        {
            assert_eq!(style(nothing), Style::default(), "{nothing}");
        }
    }

    #[test]
    fn many_colours_become_the_nearest_of_sixteen() {
        assert_eq!(style("38;5;9").foreground, Some(9));
        assert_eq!(style("38;5;196").foreground, Some(9));
        assert_eq!(style("48;5;232").background, Some(0));
        assert_eq!(style("38;5;255").foreground, Some(7));
        assert_eq!(style("38;2;250;5;5;1").foreground, Some(9));
        assert_eq!(style("38:2:0:200:0").foreground, Some(2));
        assert!(style("38;2;250;5;5;1").attributes.classes().eq(["ansi-bold"]));
    }

    #[test]
    fn every_other_sequence_is_left_out_and_a_broken_one_swallows_little() {
        let text = |input| {
            Pieces(input)
                .filter_map(|piece| if let Piece::Text(text) = piece { Some(text) } else { None })
                .collect::<Vec<_>>()
                .concat()
        };
        assert_eq!(text("a\u{1b}[2Jb\u{1b}[10;20Hc\u{1b}[?25ld"), "abcd");
        assert_eq!(text("\u{1b}]0;title\u{7}a\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\b"), "alinkb");
        assert_eq!(text("\u{1b}(Ba\u{1b}7b\u{1b}=c\u{1b}Md"), "abcd");
        assert_eq!(text("\u{1b}]0;never ends\nnext"), "\nnext");
        assert_eq!(text("\u{1b}[31"), "");
        assert_eq!(text("a\u{1b}"), "a");
        assert_eq!(text("a\u{1b}ßb"), "aßb");
        assert_eq!(text("a\u{1b}[3ßb"), "aßb");
        let endless = format!("\u{1b}]{}", "ß".repeat(LONGEST_SEQUENCE));
        assert_eq!(text(&endless).chars().count(), LONGEST_SEQUENCE / 2);
    }
}
