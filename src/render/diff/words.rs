//! Finds what changed within a line.

use std::ops::Range;

/// Longer lines are not compared.
const LONGEST_LINE: usize = 1_000;

/// The parts of two lines that differ: what is left between a common beginning and a common end, widened to whole
/// words. `None` when the lines have too little in common for that to say anything.
pub(super) fn changed_parts(old: &str, new: &str) -> Option<(Range<usize>, Range<usize>)> {
    if old.len() > LONGEST_LINE || new.len() > LONGEST_LINE || old == new {
        return None;
    }
    let same = |(one, two): &(char, char)| one == two;
    let start: usize = old.chars().zip(new.chars()).take_while(same).map(|(letter, _)| letter.len_utf8()).sum();
    let (old_rest, new_rest) = (&old[start..], &new[start..]);
    let end: usize =
        old_rest.chars().rev().zip(new_rest.chars().rev()).take_while(same).map(|(letter, _)| letter.len_utf8()).sum();
    let common = old[..start].trim_start().len() + old[old.len() - end..].trim_end().len();
    if common * 3 < old.trim().len().max(new.trim().len()) {
        return None;
    }
    // Both lines are the same on either side, so the words there end at the same places.
    let word_start = old[..start].trim_end_matches(is_word).len();
    let word_end = old[old.len() - end..].trim_start_matches(is_word).len();
    let touches_word = |text: &str, range: &Range<usize>| {
        text[range.clone()].starts_with(is_word) || text[range.clone()].ends_with(is_word)
    };
    let exact = (start..old.len() - end, start..new.len() - end);
    if touches_word(old, &exact.0) || touches_word(new, &exact.1) {
        Some((word_start..old.len() - word_end, word_start..new.len() - word_end))
    } else {
        Some(exact)
    }
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(old: &str, new: &str, expected: Option<(&str, &str)>) {
        let found = changed_parts(old, new).map(|(one, two)| (&old[one], &new[two]));
        assert_eq!(found, expected);
    }

    #[test]
    fn the_words_that_changed_are_found() {
        check("    let count = 1;", "    let total = 1;", Some(("count", "total")));
        check("return x + 1", "return x + 2", Some(("1", "2")));
        check("foo_bar(a)", "foo_baz(a)", Some(("foo_bar", "foo_baz")));
        check("call(a)", "call(a, b)", Some(("a", "a, b")));
        check("größe = 1", "größer = 1", Some(("größe", "größer")));
    }

    #[test]
    fn lines_that_have_little_in_common_changed_wholly() {
        check("one", "two", None);
        check("same", "same", None);
        check(&"x".repeat(2_000), "x", None);
        check("        a", "        b", None);
    }
}
