//! Diffs as tables.

use std::ops::Range;

use super::file::{DiffLine, FileDiff, LineKind};
use super::words::changed_parts;
use crate::render::cut::{Extent, grouped, show_all};
use crate::render::html::Html;

/// Longer lines are cut, because only programs write and read them.
const LONGEST_LINE: usize = 10_000;
/// The most rows that a browser gets.
const MOST_ROWS: usize = 20_000;

/// All files, cut if they are long in total.
pub(in crate::render) fn diff_tables(files: &[FileDiff], extent: Extent) -> Html {
    let total = total_lines(files);
    let mut left = allowed_lines(extent);
    let mut html = Html::new();
    for file in files {
        if left == 0 && !file.lines.is_empty() {
            break;
        }
        let shown = &file.lines[..file.lines.len().min(left)];
        left -= shown.len();
        file_table(file, shown, &mut html);
    }
    if is_cut(files, extent) {
        match extent {
            Extent::Beginning => show_all(total, 0, &mut html),
            Extent::All => {
                html.markup("<p class=\"render-note\">The rest is too large to show. In total: ");
                html.text(&grouped(total)).markup(" lines.</p>");
            }
        }
    }
    html
}

/// Whether lines were left out.
pub(super) fn is_cut(files: &[FileDiff], extent: Extent) -> bool {
    total_lines(files) > allowed_lines(extent)
}

fn total_lines(files: &[FileDiff]) -> usize {
    files.iter().map(|file| file.lines.len()).sum()
}

fn allowed_lines(extent: Extent) -> usize {
    extent.lines().min(MOST_ROWS)
}

fn file_table(file: &FileDiff, lines: &[DiffLine], html: &mut Html) {
    html.markup("<div class=\"diff\"><div class=\"diff-file\">").text(&file.path).markup("</div>");
    for note in &file.notes {
        html.markup("<p class=\"diff-note\">").text(note).markup("</p>");
    }
    if !lines.is_empty() {
        html.markup("<table class=\"diff-lines\"><tbody>");
        let changed = changed_words(lines);
        for (line, changed) in lines.iter().zip(changed) {
            row(line, changed, html);
        }
        html.markup("</tbody></table>");
    }
    html.markup("</div>");
}

fn row(line: &DiffLine, changed: Option<Range<usize>>, html: &mut Html) {
    html.markup(match line.kind {
        LineKind::Added => "<tr class=\"diff-line diff-added\">",
        LineKind::Removed => "<tr class=\"diff-line diff-removed\">",
        LineKind::Context => "<tr class=\"diff-line diff-context\">",
        LineKind::Hunk => "<tr class=\"diff-line diff-hunk\">",
    });
    for number in [line.old, line.new] {
        html.markup("<td class=\"diff-number\">");
        if let Some(number) = number {
            html.number(number);
        }
        html.markup("</td>");
    }
    html.markup("<td class=\"diff-text\">");
    let text = line.text.trim_end_matches('\r');
    match changed {
        Some(part) => {
            let (before, rest) = text.split_at(part.start);
            let (word, after) = rest.split_at(part.len());
            html.text(before).markup("<span class=\"diff-word\">").text(word).markup("</span>").text(after);
        }
        None if text.len() > LONGEST_LINE => {
            html.text(&text[..text.floor_char_boundary(LONGEST_LINE)]).markup(" …");
        }
        None => {
            html.text(text);
        }
    }
    html.markup("</td></tr>");
}

/// For each line, the part that changed. If a group of removed lines is followed by the same number of added lines, they
/// are compared one by one.
fn changed_words(lines: &[DiffLine]) -> Vec<Option<Range<usize>>> {
    let mut changed: Vec<Option<Range<usize>>> = vec![None; lines.len()];
    let mut from = 0;
    let runs: Vec<&[DiffLine]> = lines.chunk_by(|one, two| one.kind == two.kind).collect();
    for pair in runs.windows(2) {
        let [removed, added] = pair else { continue };
        let matches = removed[0].kind == LineKind::Removed && added[0].kind == LineKind::Added;
        if matches && removed.len() == added.len() {
            for (position, (old, new)) in removed.iter().zip(*added).enumerate() {
                let parts = changed_parts(old.text.trim_end_matches('\r'), new.text.trim_end_matches('\r'));
                if let Some((old_part, new_part)) = parts {
                    changed[from + position] = Some(old_part).filter(|part| !part.is_empty());
                    changed[from + removed.len() + position] = Some(new_part).filter(|part| !part.is_empty());
                }
            }
        }
        from += removed.len();
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::super::{new_file, parse_unified, unified_diff};
    use super::*;

    fn tables(text: &str, extent: Extent) -> String {
        diff_tables(&parse_unified(text), extent).into_string()
    }

    #[test]
    fn a_diff_is_a_table_with_numbers_and_what_changed_in_a_line() {
        let text = "--- a/x<y>.rs\n+++ b/x<y>.rs\n@@ -1,2 +1,2 @@\n a<b>\n-let one = 1;\n+let two = 1;\n";
        assert_eq!(
            tables(text, Extent::Beginning),
            "<div class=\"diff\"><div class=\"diff-file\">x&lt;y&gt;.rs</div><table class=\"diff-lines\"><tbody>\
             <tr class=\"diff-line diff-hunk\"><td class=\"diff-number\"></td><td class=\"diff-number\"></td>\
             <td class=\"diff-text\">@@ -1,2 +1,2 @@</td></tr>\
             <tr class=\"diff-line diff-context\"><td class=\"diff-number\">1</td><td class=\"diff-number\">1</td>\
             <td class=\"diff-text\">a&lt;b&gt;</td></tr>\
             <tr class=\"diff-line diff-removed\"><td class=\"diff-number\">2</td><td class=\"diff-number\"></td>\
             <td class=\"diff-text\">let <span class=\"diff-word\">one</span> = 1;</td></tr>\
             <tr class=\"diff-line diff-added\"><td class=\"diff-number\"></td><td class=\"diff-number\">2</td>\
             <td class=\"diff-text\">let <span class=\"diff-word\">two</span> = 1;</td></tr>\
             </tbody></table></div>"
        );
    }

    #[test]
    fn long_diffs_are_cut_over_all_their_files() {
        let file = |name: &str| {
            let lines = "+x\n".repeat(300);
            format!("diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n@@ -0,0 +1,300 @@\n{lines}")
        };
        let text = ["one", "two", "three"].map(file).concat();
        let beginning = tables(&text, Extent::Beginning);
        assert_eq!(beginning.matches("<tr ").count(), 400);
        assert!(beginning.contains("two") && !beginning.contains("three"));
        assert!(
            beginning
                .ends_with("<button type=\"button\" class=\"show-all\" data-lines=\"903\">Show all 903 lines</button>")
        );
        let all = tables(&text, Extent::All);
        assert_eq!(all.matches("<tr ").count(), 903);
        let endless = format!("--- a/x\n+++ b/x\n@@ -0,0 +1,99999 @@\n{}", "+x\n".repeat(99_999));
        let cut = tables(&endless, Extent::All);
        assert_eq!(cut.matches("<tr ").count(), MOST_ROWS);
        assert!(cut.contains("100,000 lines"), "{}", &cut[cut.len() - 200..]);
    }

    #[test]
    fn a_line_without_an_end_is_cut() {
        let text = format!("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-{0}\n+{0}y\n", "<".repeat(1_000_000));
        assert!(unified_diff("x", &text, true).html.as_str().len() < 100_000);
    }

    #[test]
    fn what_is_left_out_is_said() {
        let cut = new_file("x", "a\nb", false);
        assert!(cut.truncated && cut.html.as_str().contains("class=\"render-note\""));
        assert!(cut.html.as_str().contains("<td class=\"diff-number\"></td><td class=\"diff-number\">2</td>"));
        assert!(!new_file("x", "a\nb", true).truncated);
        assert!(new_file("x", &"a\n".repeat(MOST_ROWS + 1), true).truncated);
        let named = unified_diff("we\"ird", "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", true);
        assert!(named.html.as_str().contains("<div class=\"diff-file\">we&quot;ird</div>"));
    }
}
