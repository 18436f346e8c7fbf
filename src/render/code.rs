//! Code blocks with a header: the language and a copy button.

use super::budget::Budget;
use super::cut::{Extent, cut};
use super::highlight::{highlighted, language_word};
use super::html::Html;

/// A code block. `info` is the info string of a fence, or a language.
pub(super) fn code_block(code: &str, info: &str, budget: &mut Budget) -> Html {
    let language = language_word(info);
    let mut html = Html::new();
    html.markup("<div class=\"code-block\" data-language=\"").text(&language).markup("\">");
    html.markup("<div class=\"code-block-header\"><span class=\"code-language\">");
    html.text(if language.is_empty() { "text" } else { &language });
    html.markup(
        "</span><button type=\"button\" class=\"copy-button\">Copy</button></div><pre><code class=\"highlight\">",
    );
    html.append(&highlighted(code, &language, budget)).markup("</code></pre></div>");
    html
}

/// Like [`code_block`], but long code is cut.
pub(super) fn long_code_block(
    code: &str,
    info: &str,
    extent: Extent,
    whole: Option<&str>,
    budget: &mut Budget,
) -> Html {
    let part = cut(code, extent);
    let mut html = code_block(part.shown, info, budget);
    part.rest(extent, whole, &mut html);
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_names_its_language_and_neither_escapes() {
        let html = code_block("a</code><script>", "zz\" onload=\"x", &mut Budget::default());
        assert_eq!(
            html.as_str(),
            "<div class=\"code-block\" data-language=\"zz\"><div class=\"code-block-header\">\
             <span class=\"code-language\">zz</span><button type=\"button\" class=\"copy-button\">Copy</button></div>\
             <pre><code class=\"highlight\">a&lt;/code&gt;&lt;script&gt;</code></pre></div>"
        );
    }
}
