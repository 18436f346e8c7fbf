//! A change to a file as a unified diff.

/// Context lines around a change.
const CONTEXT: usize = 3;

/// One hunk from the first line that differs to the last. Longer than a clever diff, never wrong, and linear.
pub(super) fn unified(path: &str, old: Option<&str>, new: &str) -> String {
    let before: Vec<&str> = old.unwrap_or_default().lines().collect();
    let after: Vec<&str> = new.lines().collect();
    let same_start = before.iter().zip(&after).take_while(|(one, other)| one == other).count();
    let most = before.len().min(after.len()) - same_start;
    let same_end =
        before.iter().rev().zip(after.iter().rev()).take(most).take_while(|(one, other)| one == other).count();
    let from = if old.is_none_or(str::is_empty) {
        "/dev/null".to_owned()
    } else {
        format!("a/{}", path.trim_start_matches('/'))
    };
    let mut text = format!("--- {from}\n+++ b/{}\n", path.trim_start_matches('/'));
    let first = same_start.saturating_sub(CONTEXT);
    let trailing = same_end.min(CONTEXT);
    let (removed, added) = (&before[same_start..before.len() - same_end], &after[same_start..after.len() - same_end]);
    let around = same_start - first + trailing;
    let place = |count: usize| if count == 0 { (first, 0) } else { (first + 1, count) };
    let ((old_start, old_count), (new_start, new_count)) = (place(around + removed.len()), place(around + added.len()));
    text.push_str(&["@@ -", &range(old_start, old_count), " +", &range(new_start, new_count), " @@\n"].concat());
    let end = before.len() - same_end;
    let parts = [(' ', &before[first..same_start]), ('-', removed), ('+', added), (' ', &before[end..end + trailing])];
    for (sign, lines) in parts {
        for line in lines {
            text.push(sign);
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}

fn range(start: usize, count: usize) -> String {
    format!("{start},{count}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_file_is_all_additions() {
        assert_eq!(unified("/a/b", Some(""), "one\ntwo\n"), "--- /dev/null\n+++ b/a/b\n@@ -0,0 +1,2 @@\n+one\n+two\n");
        assert_eq!(unified("b", None, "one"), "--- /dev/null\n+++ b/b\n@@ -0,0 +1,1 @@\n+one\n");
    }

    #[test]
    fn a_change_is_shown_with_what_is_around_it() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let new = "1\n2\n3\n4\nfive\n6\n7\n8\n9\n";
        assert_eq!(
            unified("f", Some(old), new),
            "--- a/f\n+++ b/f\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"
        );
    }

    #[test]
    fn repeated_lines_and_removals_are_counted_right() {
        assert_eq!(unified("f", Some("a\na\n"), "a\n"), "--- a/f\n+++ b/f\n@@ -1,2 +1,1 @@\n a\n-a\n");
        assert_eq!(unified("f", Some("a\n"), ""), "--- a/f\n+++ b/f\n@@ -1,1 +0,0 @@\n-a\n");
    }
}
