//! The second line of defence: of the rendered Markdown, only listed elements, attributes, classes and URLs are kept.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use ammonia::{Builder, UrlRelative};

use super::highlight;
use super::html::Html;

const TAGS: &str = "a blockquote br button code del div em h1 h2 h3 h4 h5 h6 hr input li ol p pre section span strong sup \
                    table tbody td th thead tr ul";
const LINK_TYPES: &str = "noopener noreferrer nofollow";

static SANITISER: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let mut builder = Builder::empty();
    builder
        .tags(TAGS.split_whitespace().collect())
        .clean_content_tags(["script", "style"].into())
        .generic_attributes(HashSet::new())
        .tag_attributes(HashMap::from([
            ("a", HashSet::from(["href", "title"])),
            ("div", HashSet::from(["data-language"])),
            ("input", HashSet::from(["disabled", "checked"])),
            ("ol", HashSet::from(["start"])),
            ("span", HashSet::from(["title"])),
        ]))
        .tag_attribute_values(HashMap::from([
            ("button", HashMap::from([("type", HashSet::from(["button"]))])),
            ("input", HashMap::from([("type", HashSet::from(["checkbox"]))])),
            ("td", HashMap::from([("align", HashSet::from(["left", "center", "right"]))])),
            ("th", HashMap::from([("align", HashSet::from(["left", "center", "right"]))])),
        ]))
        .set_tag_attribute_values(HashMap::from([
            ("a", HashMap::from([("target", "_blank")])),
            // Inputs are disabled, so nothing can be submitted.
            ("input", HashMap::from([("disabled", "")])),
        ]))
        .allowed_classes(HashMap::from([
            ("a", HashSet::from(["image-link"])),
            ("button", HashSet::from(["copy-button"])),
            ("code", HashSet::from(["highlight"])),
            (
                "div",
                HashSet::from([
                    "code-block",
                    "code-block-header",
                    "markdown-alert",
                    "markdown-alert-note",
                    "markdown-alert-tip",
                    "markdown-alert-important",
                    "markdown-alert-warning",
                    "markdown-alert-caution",
                ]),
            ),
            ("input", HashSet::from(["task-list-item-checkbox"])),
            ("li", HashSet::from(["task-list-item"])),
            ("p", HashSet::from(["markdown-alert-title"])),
            ("section", HashSet::from(["footnotes"])),
            ("span", ["code-language", "local-link"].into_iter().chain(highlight::classes()).collect()),
            ("sup", HashSet::from(["footnote-ref"])),
            ("ul", HashSet::from(["contains-task-list"])),
        ]))
        .url_schemes(["http", "https", "mailto"].into())
        .url_relative(UrlRelative::Deny)
        .link_rel(Some(LINK_TYPES))
        .strip_comments(true);
    builder
});

/// The parts of this markup that may be shown.
pub(super) fn sanitised(markup: &str) -> Html {
    Html::from_sanitiser(SANITISER.clean(markup).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(markup: &str, expected: &str) {
        assert_eq!(sanitised(markup).as_str(), expected);
    }

    #[test]
    fn nothing_that_could_act_goes_through() {
        check("<script>alert(1)</script>a", "a");
        check("<style>*{}</style>a", "a");
        check("<p onclick=\"x()\" style=\"color:red\" id=\"start-button\" class=\"evil\">a</p>", "<p class=\"\">a</p>");
        check("<img src=x onerror=alert(1)><svg onload=x></svg><iframe src=x></iframe>a", "a");
        check("<form action=/api/stop><input type=submit formaction=/x name=y></form>", "<input disabled=\"\">");
        check(
            "<button type=submit formaction=/api/stop class=\"copy-button show-all\">a</button>",
            "<button class=\"copy-button\">a</button>",
        );
        check("<object data=x></object><embed src=x><base href=x><meta http-equiv=refresh>a", "a");
    }

    #[test]
    fn links_lead_to_websites_only_and_bring_nothing_back() {
        let link = |href: &str| sanitised(&format!("<a href=\"{href}\">a</a>")).into_string();
        for good in ["http://example.com/", "https://example.com/?a=b", "mailto:a@example.com"] {
            assert_eq!(link(good), format!("<a href=\"{good}\" target=\"_blank\" rel=\"{LINK_TYPES}\">a</a>"));
        }
        for bad in [
            "javascript:alert(1)",
            "JaVaScRiPt:alert(1)",
            " javascript:x",
            "java\tscript:x",
            "data:text/html,x",
            "vbscript:x",
            "/api/stop",
            "//evil.example/",
            "#start-button",
            "file:///etc/passwd",
            "blob:x",
            "",
        ] {
            assert!(!link(bad).contains("href"), "{bad}: {}", link(bad));
        }
    }
}
