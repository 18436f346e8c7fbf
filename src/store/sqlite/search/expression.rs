//! Terms as an expression of FTS5. Every term is a quoted string, so nothing that a person writes is an operator.

use crate::store::{SearchKind, SearchTerm, SearchTerms};

/// The column of a kind.
pub(super) fn column(kind: SearchKind) -> &'static str {
    match kind {
        SearchKind::Prompt => "prompt",
        SearchKind::Message => "message",
        SearchKind::Reasoning => "reasoning",
        SearchKind::ToolCall => "call",
        SearchKind::ToolOutput => "output",
    }
}

pub(super) fn expression(terms: &SearchTerms) -> String {
    // Without AND in between: a term in which there is no word then matches everything instead of nothing.
    let wanted: Vec<String> = terms.wanted.iter().map(quoted).collect();
    let mut expression = format!("({})", wanted.join(" "));
    if !terms.excluded.is_empty() {
        let excluded: Vec<String> = terms.excluded.iter().map(quoted).collect();
        expression = format!("({expression} NOT ({}))", excluded.join(" OR "));
    }
    if terms.kinds.is_empty() {
        return expression;
    }
    let columns: Vec<&str> = terms.kinds.iter().map(|kind| column(*kind)).collect();
    format!("{{{}}} : {expression}", columns.join(" "))
}

/// FTS5 reads its expressions as C strings, which end with a NUL.
fn quoted(term: &SearchTerm) -> String {
    let text = term.text.replace('"', "\"\"").replace('\0', " ");
    format!("\"{text}\"{}", if term.is_prefix { " *" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn term(text: &str, is_prefix: bool) -> SearchTerm {
        SearchTerm { text: text.to_owned(), is_prefix }
    }

    #[test]
    fn nothing_that_is_searched_for_is_an_operator() {
        let mut terms =
            SearchTerms { wanted: vec![term("a \"b\" OR", false), term("NEAR(", true)], ..SearchTerms::default() };
        assert_eq!(expression(&terms), r#"("a ""b"" OR" "NEAR(" *)"#);
        terms.excluded = vec![term("c", false), term("d", false)];
        terms.kinds = vec![SearchKind::ToolCall, SearchKind::ToolOutput];
        assert_eq!(expression(&terms), r#"{call output} : (("a ""b"" OR" "NEAR(" *) NOT ("c" OR "d"))"#);
    }
}
