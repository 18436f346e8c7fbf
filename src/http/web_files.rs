//! The files of the pages, embedded in the program.

use std::collections::HashMap;
use std::sync::LazyLock;

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine as _};
use sha2::{Digest, Sha256};

macro_rules! embedded {
    ($($name:literal),* $(,)?) => { [$(($name, include_str!(concat!("../../web/", $name)))),*] };
}

/// Name and content. The login stands apart: it is shown to people who may not have these.
const FILES: &[(&str, &str)] = &embedded![
    "address.js",
    "agentSessions.js",
    "announcer.js",
    "api.js",
    "attachments.js",
    "banners.js",
    "changes.js",
    "clipboard.js",
    "composer.js",
    "dialog.js",
    "diffText.js",
    "doctor.js",
    "dom.js",
    "drafts.js",
    "emptySession.js",
    "favicon.svg",
    "finished.js",
    "folderPicker.js",
    "followEnd.js",
    "format.js",
    "history.js",
    "icons.js",
    "inbox.js",
    "inboxStream.js",
    "index.css",
    "index.html",
    "index.js",
    "keys.js",
    "login.js",
    "messageBlock.css",
    "messageBlock.js",
    "models.js",
    "moreMenu.js",
    "nearView.js",
    "notices.js",
    "notifications.js",
    "pageTitle.js",
    "panels.css",
    "plainText.js",
    "polling.js",
    "promptHistory.js",
    "questionForm.js",
    "recentSessions.js",
    "rendered.css",
    "renderedContent.js",
    "requests.js",
    "resizeBar.js",
    "runningJobs.js",
    "runtimes.js",
    "sessionBanners.js",
    "sessionDetails.js",
    "sessionEnding.js",
    "sessionHeader.js",
    "sessionList.js",
    "sessionResponse.css",
    "sessionResponse.js",
    "sessionView.js",
    "setup.css",
    "setup.js",
    "sharedFolder.js",
    "sidePanel.js",
    "states.js",
    "test.html",
    "test.js",
    "theme.css",
    "theme.js",
    "toEndButton.js",
    "toolCall.js",
    "transcriptPage.js",
    "workingDirectory.js",
];

/// Paths that show another file.
const ALIASES: [(&str, &str); 2] = [("/", "index.html"), ("/favicon.ico", "favicon.svg")];

struct WebFile {
    kind: &'static str,
    content: &'static str,
    /// Changes with the content, so that a browser asks again and gets nothing while nothing is new.
    tag: HeaderValue,
}

static BY_PATH: LazyLock<HashMap<String, WebFile>> = LazyLock::new(|| {
    let content_of = |name: &str| FILES.iter().find(|(file, _)| *file == name).map(|(_, content)| *content);
    let own = FILES.iter().map(|(name, content)| (format!("/{name}"), *name, *content));
    let aliases = ALIASES.iter().filter_map(|(path, name)| Some(((*path).to_owned(), *name, content_of(name)?)));
    own.chain(aliases)
        .map(|(path, name, content)| {
            let tag = format!("\"{}\"", BASE64_URL_SAFE_NO_PAD.encode(&Sha256::digest(content.as_bytes())[..12]));
            let tag = HeaderValue::from_str(&tag).expect("base64 in quotes");
            (path, WebFile { kind: content_type(name), content, tag })
        })
        .collect()
});

/// The file at a path.
pub(super) fn web_file(path: &str, headers: &HeaderMap) -> Option<Response> {
    let file = BY_PATH.get(path)?;
    let known = headers.get(header::IF_NONE_MATCH).is_some_and(|known| *known == file.tag);
    let tag = (header::ETAG, file.tag.clone());
    Some(if known {
        (StatusCode::NOT_MODIFIED, [tag]).into_response()
    } else {
        ([tag, (header::CONTENT_TYPE, HeaderValue::from_static(file.kind))], file.content).into_response()
    })
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map_or("", |(_, extension)| extension) {
        "html" => "text/html; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "svg" => "image/svg+xml",
        other => unreachable!("no page has a file that ends in {other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pages that are shown without being asked for by name.
    const APART: [&str; 2] = ["come-again.html", "login.html"];

    #[test]
    fn every_file_of_the_pages_is_served_with_its_type() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("web");
        for entry in std::fs::read_dir(folder).expect("readable") {
            let name = entry.expect("readable").file_name().into_string().expect("plain");
            if APART.contains(&name.as_str()) {
                continue;
            }
            let response = web_file(&format!("/{name}"), &HeaderMap::new());
            let response = response.unwrap_or_else(|| panic!("web/{name} is not in the table of embedded files"));
            assert_eq!(response.headers()[header::CONTENT_TYPE], content_type(&name));
        }
    }

    #[test]
    fn what_a_browser_has_already_is_not_sent_again() {
        let first = web_file("/", &HeaderMap::new()).expect("there");
        let mut headers = HeaderMap::new();
        headers.insert(header::IF_NONE_MATCH, first.headers()[header::ETAG].clone());
        assert_eq!(web_file("/index.html", &headers).expect("there").status(), StatusCode::NOT_MODIFIED);
        assert_eq!(web_file("/index.js", &headers).expect("there").status(), StatusCode::OK);
    }
}
