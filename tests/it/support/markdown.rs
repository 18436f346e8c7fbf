//! Tables and code spans of the project's Markdown files.

/// The cells of every table row in a text, headers and separators left out.
pub fn table_rows(markdown: &str) -> Vec<Vec<String>> {
    let lines: Vec<&str> = markdown.lines().collect();
    let is_separator = |line: &str| line.starts_with('|') && line.chars().all(|letter| "|-: ".contains(letter));
    let is_row = |at: usize| {
        let is_header = lines.get(at + 1).is_some_and(|next| is_separator(next));
        lines[at].starts_with('|') && !is_separator(lines[at]) && !is_header
    };
    (0..lines.len()).filter(|at| is_row(*at)).map(|at| cells(lines[at])).collect()
}

/// The part of a text below a heading, up to the next heading of the same or a higher level.
pub fn section<'a>(markdown: &'a str, heading: &str) -> &'a str {
    let level = heading.chars().take_while(|letter| *letter == '#').count();
    let start = markdown.find(&format!("{heading}\n")).unwrap_or_else(|| panic!("no heading {heading:?}"));
    let body = &markdown[start + heading.len() + 1..];
    let is_next = |line: &str| {
        let hashes = line.chars().take_while(|letter| *letter == '#').count();
        (1..=level).contains(&hashes)
    };
    let mut length = 0;
    for line in body.split_inclusive('\n') {
        if is_next(line) {
            break;
        }
        length += line.len();
    }
    &body[..length]
}

/// What stands between backquotes.
pub fn code_spans(markdown: &str) -> Vec<&str> {
    markdown.split('`').skip(1).step_by(2).collect()
}

fn cells(row: &str) -> Vec<String> {
    let row = row.trim().trim_start_matches('|').trim_end_matches('|').replace("\\|", "\u{0}");
    row.split('|').map(|cell| cell.replace('\u{0}', "|").trim().to_owned()).collect()
}

#[test]
fn tables_sections_and_spans_are_found() {
    let text = "# a\n| x | y |\n|---|---|\n| `1\\|2` | 3 |\n## b\nin `b` and `c`\n# d\n`e`\n";
    assert_eq!(table_rows(text), [["`1|2`", "3"]]);
    assert_eq!(code_spans(section(text, "## b")), ["b", "c"]);
    assert_eq!(code_spans(section(text, "# a")), ["1\\|2", "b", "c"]);
}
