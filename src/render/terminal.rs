//! Renders the output of commands as a terminal would show it in the end.

use super::ansi::{Piece, Pieces, Style};
use super::cut::{Extent, cut};
use super::html::Html;

/// Terminal output; long output is cut. `whole` is the address of a blob with the whole output.
pub(super) fn terminal(output: &str, extent: Extent, whole: Option<&str>) -> Html {
    let part = cut(output, extent);
    let mut html = Html::new();
    html.markup("<pre class=\"terminal\">");
    let mut screen = Screen::default();
    for line in part.shown.split_inclusive('\n') {
        screen.write_line(line, &mut html);
    }
    html.markup("</pre>");
    part.rest(extent, whole, &mut html);
    html
}

/// Plain text; long text is cut.
pub(super) fn plain_text(text: &str, extent: Extent) -> Html {
    let part = cut(text, extent);
    let mut html = Html::new();
    html.markup("<pre class=\"plain-text\">").text(part.shown).markup("</pre>");
    part.rest(extent, None, &mut html);
    html
}

/// One line of a terminal: text after a carriage return overwrites the line, so only the last state of a progress bar
/// is left.
#[derive(Default)]
struct Screen {
    style: Style,
    cells: Vec<(char, Style)>,
    cursor: usize,
}

impl Screen {
    fn write_line(&mut self, line: &str, html: &mut Html) {
        let (text, end) = match line.strip_suffix('\n') {
            Some(text) => (text, "\n"),
            None => (line, ""),
        };
        // A carriage return before a line's end overwrites nothing.
        let text = text.trim_end_matches('\r');
        if self.style == Style::default() && !text.contains(['\u{1b}', '\r', '\u{8}']) {
            html.text(text);
        } else {
            self.cells.clear();
            self.cursor = 0;
            for piece in Pieces(text) {
                match piece {
                    Piece::Text(text) => text.chars().for_each(|character| self.put(character)),
                    Piece::Style(parameters) => self.style.change(parameters),
                    Piece::EraseLine(part) => self.erase(part),
                }
            }
            self.write_cells(html);
        }
        html.text(end);
    }

    fn put(&mut self, character: char) {
        match character {
            '\r' => self.cursor = 0,
            '\u{8}' => self.cursor = self.cursor.saturating_sub(1),
            '\u{7}' => {}
            _ => {
                let cell = (character, self.style);
                match self.cells.get_mut(self.cursor) {
                    Some(place) => *place = cell,
                    None => self.cells.push(cell),
                }
                self.cursor += 1;
            }
        }
    }

    fn erase(&mut self, part: u8) {
        let blank = (' ', Style::default());
        match part {
            0 => self.cells.truncate(self.cursor),
            1 => self.cells.iter_mut().take(self.cursor + 1).for_each(|cell| *cell = blank),
            2 => {
                self.cells.clear();
                self.cells.resize(self.cursor, blank);
            }
            _ => {}
        }
    }

    fn write_cells(&self, html: &mut Html) {
        let mut text = String::new();
        for run in self.cells.chunk_by(|(_, one), (_, two)| one == two) {
            text.clear();
            text.extend(run.iter().map(|(character, _)| character));
            write_styled(&text, run[0].1, html);
        }
    }
}

fn write_styled(text: &str, style: Style, html: &mut Html) {
    if style == Style::default() {
        html.text(text);
        return;
    }
    html.markup("<span class=\"");
    let mut is_first = true;
    let mut between = |html: &mut Html| {
        if !std::mem::take(&mut is_first) {
            html.markup(" ");
        }
    };
    if let Some(number) = style.foreground {
        between(html);
        html.markup("ansi-fg-").number(number.into());
    }
    if let Some(number) = style.background {
        between(html);
        html.markup("ansi-bg-").number(number.into());
    }
    for class in style.attributes.classes() {
        between(html);
        html.markup(class);
    }
    html.markup("\">").text(text).markup("</span>");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(output: &str, expected: &str) {
        let html = terminal(output, Extent::Beginning, None);
        assert_eq!(html.as_str(), format!("<pre class=\"terminal\">{expected}</pre>"), "{output:?}");
    }

    #[test]
    fn colours_become_classes_and_go_on_over_lines() {
        check(
            "\u{1b}[1;32mok\u{1b}[0m <b>\n\u{1b}[38;5;9;44mx\ny\u{1b}[mz",
            "<span class=\"ansi-fg-2 ansi-bold\">ok</span> &lt;b&gt;\n\
             <span class=\"ansi-fg-9 ansi-bg-4\">x</span>\n<span class=\"ansi-fg-9 ansi-bg-4\">y</span>z",
        );
    }

    #[test]
    fn of_a_progress_line_its_last_state_is_left() {
        check(" 10%\r 50%\r100%\r\ndone\r\n", "100%\ndone\n");
        check("abcdef\rxy", "xycdef");
        check("abcdef\rxy\u{1b}[K!", "xy!");
        check("abc\u{1b}[2K\rxyz", "xyz");
        check("ab\u{8}c", "ac");
        check("\u{8}\u{8}a\u{7}", "a");
    }

    #[test]
    fn long_output_is_cut_and_leads_on() {
        let html = terminal(&"\u{1b}[31mred\n".repeat(12_345), Extent::Beginning, None);
        assert!(html.as_str().ends_with("data-lines=\"12345\">Show all 12,345 lines</button>"));
        assert_eq!(html.as_str().matches("red").count(), 400);
    }

    #[test]
    fn a_million_returns_and_escapes_have_an_answer() {
        check(&"x\r".repeat(30_000), "x");
        check(&"\u{1b}".repeat(60_000), "");
        check(&"\u{1b}[".repeat(30_000), "");
        check(&"\u{1b}[2K".repeat(15_000), "");
    }
}
