//! Renders GitHub-flavoured Markdown.

use std::sync::LazyLock;

use comrak::nodes::{Ast, NodeHtmlBlock, NodeLink, NodeValue};
use comrak::{Arena, Node, Options, format_html, try_parse_document};

use super::budget::Budget;
use super::code::code_block;
use super::cut::{Extent, grouped};
use super::html::Html;
use super::sanitise::sanitised;
use super::terminal::plain_text;

/// Longer texts are shown as plain text.
const LONGEST_TEXT: usize = 256 * 1024;
/// Deeper nesting of quotations and lists is not meant for people, and browsers cannot handle it.
const DEEPEST: usize = 60;

/// The sanitised link from a footnote back to its mention, which is removed: several blocks on a page may have a
/// footnote 1, so footnotes have no ids.
const LINK_BACK: &str = " <a class=\"\" target=\"_blank\" rel=\"noopener noreferrer nofollow\">↩</a>";

/// The meaning of single line ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineEnds {
    /// Spaces, as Markdown has it.
    Soft,
    /// Line ends, as a person who typed them expects.
    Hard,
}

static OPTIONS: LazyLock<Options<'static>> = LazyLock::new(|| {
    let mut options = Options::default();
    let extension = &mut options.extension;
    extension.strikethrough = true;
    extension.table = true;
    extension.autolink = true;
    extension.tasklist = true;
    extension.footnotes = true;
    extension.alerts = true;
    // HTML in the agent's text is shown as text.
    options.render.escape = true;
    options.render.tasklist_classes = true;
    options
});

/// Why a text is shown as plain text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PlainReason {
    Length,
    Depth,
    Time,
}

/// A text as Markdown, or as plain text with the reason.
pub(super) fn markdown(text: &str, line_ends: LineEnds, extent: Extent, budget: &mut Budget) -> Html {
    let reason = match rendered(text, line_ends, budget) {
        Ok(html) => return html,
        Err(reason) => reason,
    };
    if reason == PlainReason::Time {
        budget.note_ran_out();
    }
    let mut html = Html::new();
    html.markup("<p class=\"render-note\">Shown as plain text: ");
    match reason {
        PlainReason::Length => html.text(&grouped(text.chars().count())).markup(" characters are too many to format."),
        PlainReason::Depth => html.markup("the Markdown is nested too deeply."),
        PlainReason::Time => html.markup("formatting the Markdown takes too long."),
    };
    html.markup("</p>").append(&plain_text(text, extent));
    html
}

fn rendered(text: &str, line_ends: LineEnds, budget: &mut Budget) -> Result<Html, PlainReason> {
    if text.len() > LONGEST_TEXT {
        return Err(PlainReason::Length);
    }
    let mut options = OPTIONS.clone();
    options.render.hardbreaks = line_ends == LineEnds::Hard;
    let arena = Arena::new();
    let root = try_parse_document(&arena, &without_hidden_characters(text), &options, &|| budget.is_over())
        .map_err(|_| PlainReason::Time)?;
    if is_too_deep(root) {
        return Err(PlainReason::Depth);
    }
    Ok(finished(&arena, root, &options, budget))
}

/// Renders the parsed document. The time is linear in the length, so only highlighting is limited.
fn finished<'a>(arena: &'a Arena<'a>, root: Node<'a>, options: &Options<'_>, budget: &mut Budget) -> Html {
    let nodes: Vec<Node<'a>> = root.descendants().collect();
    for node in nodes {
        replace(arena, node, budget);
    }
    let mut markup = String::new();
    // Writing to a string cannot fail.
    let _ = format_html(root, options, &mut markup);
    sanitised(&markup).without(LINK_BACK)
}

/// Control characters and direction overrides have no legitimate use in prose; other direction marks do.
fn without_hidden_characters(text: &str) -> std::borrow::Cow<'_, str> {
    let is_hidden = |letter: char| match letter {
        '\n' | '\r' | '\t' => false,
        '\u{202d}' | '\u{202e}' => true,
        other => other.is_control(),
    };
    if text.contains(is_hidden) { text.replace(is_hidden, "\u{fffd}").into() } else { text.into() }
}

fn is_too_deep(root: Node<'_>) -> bool {
    let mut depth = 0_usize;
    for edge in root.traverse() {
        match edge {
            comrak::arena_tree::NodeEdge::Start(_) => depth += 1,
            comrak::arena_tree::NodeEdge::End(_) => depth -= 1,
        }
        if depth > DEEPEST {
            return true;
        }
    }
    false
}

/// Changes nodes that the library would render differently.
fn replace<'a>(arena: &'a Arena<'a>, node: Node<'a>, budget: &mut Budget) {
    let mut ast = node.data.borrow_mut();
    match &mut ast.value {
        NodeValue::CodeBlock(block) => {
            let html = code_block(&block.literal, &block.info, budget);
            ast.value = NodeValue::Raw(html.into_string());
        }
        NodeValue::HtmlBlock(NodeHtmlBlock { literal, .. }) => {
            let html = code_block(literal, "html", budget);
            ast.value = NodeValue::Raw(html.into_string());
        }
        // Markdown has no other way to break a line in a table cell.
        NodeValue::HtmlInline(tag) if matches!(tag.as_str(), "<br>" | "<br/>" | "<br />") => {
            ast.value = NodeValue::Raw("<br>".to_owned());
        }
        // The page loads nothing from other hosts, so an image becomes a link.
        NodeValue::Image(link) if leads_to_a_website(&link.url) => {
            let mut html = Html::new();
            html.markup("<a class=\"image-link\" href=\"").text(&link.url).markup("\">");
            let before = html.into_string();
            drop(ast);
            unwrap(arena, node, &before, "</a>");
        }
        NodeValue::Image(link) => {
            let before = local_link(link);
            drop(ast);
            unwrap(arena, node, &before, "</span>");
        }
        NodeValue::Link(link) if !leads_to_a_website(&link.url) => {
            let before = local_link(link);
            drop(ast);
            unwrap(arena, node, &before, "</span>");
        }
        _ => {}
    }
}

fn leads_to_a_website(url: &str) -> bool {
    let lower = url.get(..8).unwrap_or(url).to_ascii_lowercase();
    ["http://", "https://", "mailto:"].iter().any(|scheme| lower.starts_with(scheme))
}

/// Most likely a file of the project: its name is shown, but there is nothing to open.
fn local_link(link: &NodeLink) -> String {
    let mut html = Html::new();
    html.markup("<span class=\"local-link\" title=\"").text(&link.url).markup("\">");
    html.into_string()
}

/// Replaces a node with its children, between two pieces of markup.
fn unwrap<'a>(arena: &'a Arena<'a>, node: Node<'a>, before: &str, after: &str) {
    let raw = |markup: &str| {
        let ast = Ast::new(NodeValue::Raw(markup.to_owned()), node.data.borrow().sourcepos.start);
        arena.alloc(comrak::arena_tree::Node::new(ast.into()))
    };
    node.insert_before(raw(before));
    let children: Vec<Node<'a>> = node.children().collect();
    for child in children {
        node.insert_before(child);
    }
    node.insert_before(raw(after));
    node.detach();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html(text: &str) -> String {
        markdown(text, LineEnds::Soft, Extent::Beginning, &mut Budget::default()).into_string()
    }

    fn check(text: &str, expected: &str) {
        assert_eq!(html(text).trim(), expected, "{text}");
    }

    #[test]
    fn markdown_is_what_github_makes_of_it() {
        check(
            "# A *b* **c** ~~d~~ `e<f>`",
            "<h1>A <em>b</em> <strong>c</strong> <del>d</del> <code>e&lt;f&gt;</code></h1>",
        );
        check("3. a\n4. b", "<ol start=\"3\">\n<li>a</li>\n<li>b</li>\n</ol>");
        check(
            "| a | b |\n|---|--:|\n| x<br>y | 1 |",
            "<table>\n<thead>\n<tr>\n<th>a</th>\n<th align=\"right\">b</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>x<br>y</td>\n\
             <td align=\"right\">1</td>\n</tr>\n</tbody>\n</table>",
        );
        let tasks = html("- [x] done\n- [ ] open");
        assert!(
            tasks.contains("<input type=\"checkbox\" class=\"task-list-item-checkbox\" checked=\"\" disabled=\"\">"),
            "{tasks}"
        );
        assert_eq!(tasks.matches("disabled").count(), 2);
        assert!(html("> [!WARNING]\n> hot").contains("<div class=\"markdown-alert markdown-alert-warning\">"));
        let footnote = html("a[^1]\n\n[^1]: note");
        assert!(footnote.contains("<section class=\"footnotes\">") && !footnote.contains('↩'), "{footnote}");
    }

    #[test]
    fn code_is_highlighted_and_can_be_copied() {
        let code = html("```rust,ignore\nfn a() {}\n```");
        assert!(
            code.starts_with("<div class=\"code-block\" data-language=\"rust\"><div class=\"code-block-header\">"),
            "{code}"
        );
        assert!(code.contains("<button type=\"button\" class=\"copy-button\">Copy</button>"), "{code}");
        assert!(code.contains("<pre><code class=\"highlight\"><span class=\"hl-keyword\">fn</span> "), "{code}");
    }

    #[test]
    fn html_of_the_agent_is_shown_and_not_obeyed() {
        check("a <b onclick=x>b</b>", "<p>a &lt;b onclick=x&gt;b&lt;/b&gt;</p>");
        for text in [
            "<script>alert(1)</script>",
            "<div onmouseover=alert(1)>x</div>",
            "`<script>alert(1)</script>`",
            "```html\n<script>alert(1)</script>\n```",
            "```\"><script>alert(1)</script>\nx\n```",
            "[x](<\"><script>alert(1)</script>>)",
            "![<script>alert(1)</script>](x \"<script>alert(1)</script>\")",
            "[^<script>alert(1)</script>]: <script>alert(1)</script>",
            "| <script>alert(1)</script> |\n|---|\n| <img src=x onerror=alert(1)> |",
            "> [!NOTE] <script>alert(1)</script>\n> x",
            "<https://example.com/\"onmouseover=alert(1)>",
            "<!-- --><script>alert(1)</script><!-- -->",
            "&lt;script&gt;alert(1)&lt;/script&gt;",
            "\\<script>alert(1)\\</script>",
        ] {
            let html = html(text);
            // No quotation mark is left open within a tag, so any such word is in text or in a quoted value.
            assert!(!html.contains("<script") && !html.contains("<img") && !html.contains("<div on"), "{text}: {html}");
        }
    }

    #[test]
    fn links_open_safely_and_images_are_not_loaded() {
        let safe = "target=\"_blank\" rel=\"noopener noreferrer nofollow\"";
        check(
            "<https://example.com>",
            &format!("<p><a href=\"https://example.com\" {safe}>https://example.com</a></p>"),
        );
        check("www.example.com", &format!("<p><a href=\"http://www.example.com\" {safe}>www.example.com</a></p>"));
        check("[b](javascript:alert(1))", "<p><span class=\"local-link\" title=\"javascript:alert(1)\">b</span></p>");
        check("[main](src/main.rs)", "<p><span class=\"local-link\" title=\"src/main.rs\">main</span></p>");
        check(
            "![a *cat*](https://example.com/cat.png)",
            &format!("<p><a class=\"image-link\" href=\"https://example.com/cat.png\" {safe}>a <em>cat</em></a></p>"),
        );
        check(
            "![x](data:image/png;base64,AAAA)",
            "<p><span class=\"local-link\" title=\"data:image/png;base64,AAAA\">x</span></p>",
        );
    }

    #[test]
    fn when_time_is_over_for_colours_it_is_not_for_the_rest() {
        let arena = Arena::new();
        let root = comrak::parse_document(&arena, "*a*\n\n```rust\nfn a() {}\n```\n", &OPTIONS);
        let mut late = Budget::without_time();
        let html = finished(&arena, root, &OPTIONS, &mut late).into_string();
        assert!(
            html.starts_with("<p><em>a</em></p>") && html.contains("<code class=\"highlight\">fn a() {}"),
            "{html}"
        );
        assert!(late.ran_out());
    }

    #[test]
    fn typed_line_ends_stay_line_ends() {
        let typed = markdown("a\nb", LineEnds::Hard, Extent::Beginning, &mut Budget::default());
        assert_eq!(typed.as_str(), "<p>a<br>\nb</p>\n");
        assert_eq!(html("a\nb"), "<p>a\nb</p>\n");
    }

    #[test]
    fn what_is_too_long_too_deep_or_too_slow_is_plain_and_says_so() {
        let long = html(&"*a* ".repeat(250_000));
        assert!(
            long.starts_with("<p class=\"render-note\">Shown as plain text: 1,000,000 characters are too many"),
            "{}",
            &long[..200]
        );
        assert!(long.len() < 100_000 && long.contains("class=\"show-all\""));
        for deep in [
            ">".repeat(10_000),
            "> ".repeat(10_000) + "a",
            "- ".repeat(10_000) + "a",
            "*a ".repeat(200) + &"*".repeat(200),
        ] {
            let html = html(&deep);
            assert!(html.len() < 200_000, "{}", html.len());
            assert!(html.matches("<blockquote>").count() < DEEPEST);
        }
        assert!(html(&">".repeat(10_000)).contains("nested too deeply"));
        let slow = markdown(&"a\n\n".repeat(1_000), LineEnds::Soft, Extent::Beginning, &mut Budget::used_up());
        assert!(slow.as_str().contains("takes too long"), "{}", slow.as_str());
    }

    /// Pieces that mean something to Markdown or to HTML; any order of them is some document.
    const PIECES: &str = "*¦**¦_¦`¦```¦```js
¦~~¦~¦[¦]¦(¦)¦![¦](¦](x)¦](https://e.example)¦<¦>¦<br>¦<script>alert(1)</script>¦</a>¦<a href=x>¦<!--¦-->¦&¦&lt;¦&#0;¦
¦

¦> ¦- ¦- [x] ¦1. ¦# ¦|¦|---|
¦---
¦[^1]¦[^1]: ¦> [!NOTE]
¦https://e.example/¦a@e.example¦\\¦\"¦	¦    ¦text";

    proptest::proptest! {
        #[test]
        fn any_document_has_a_harmless_answer(picks in proptest::collection::vec(0..PIECES.split('¦').count(), 0..60)) {
            let pieces: Vec<&str> = PIECES.split('¦').collect();
            let text: String = picks.iter().map(|pick| pieces[*pick]).collect();
            let html = html(&text);
            let acts = ["<script", "<img", "javascript:", "<a href=\"x"].iter().any(|part| html.contains(part));
            proptest::prop_assert!(!acts, "{text:?}: {html}");
        }
    }

    #[test]
    fn malformed_markdown_has_an_answer() {
        for text in
            ["[", "![", "](", "*_", "`", "|", "<", "&#", "[a](", "- ", "#", "\0", "\u{202e}", "[^a]", "\r\n\t", "~~~"]
        {
            let many = text.repeat(10_000);
            assert!(!html(&many).is_empty() || many.trim().is_empty(), "{text:?}");
        }
        assert_eq!(html("a\u{202e}b\0c\u{1b}"), "<p>a\u{fffd}b\u{fffd}c\u{fffd}</p>\n");
    }
}
