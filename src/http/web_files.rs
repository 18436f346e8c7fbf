//! The files of the pages, embedded in the program.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine as _};
use sha2::{Digest, Sha256};

macro_rules! embedded {
    ($($name:literal),* $(,)?) => { [$(($name, include_str!(concat!("../../web/", $name)))),*] };
}

/// Name and content. The login page is separate, because it is served without authentication.
const FILES: &[(&str, &str)] = &embedded![
    "early.js",
    "favicon.svg",
    "frame.css",
    "index.css",
    "index.html",
    "index.js",
    "jobTracking.css",
    "jobTracking.html",
    "jobTracking.js",
    "jobTracking/attemptTab.js",
    "jobTracking/chart.js",
    "jobTracking/chartGraph.js",
    "jobTracking/chartLayout.js",
    "jobTracking/chartNode.js",
    "jobTracking/chartPlaces.js",
    "jobTracking/chartView.js",
    "jobTracking/drivingTab.js",
    "jobTracking/gateTab.js",
    "jobTracking/jobFollower.js",
    "jobTracking/previewPage.js",
    "jobTracking/previewWork.js",
    "jobTracking/statusBar.js",
    "jobTracking/taskSession.js",
    "jobTracking/trackingPage.js",
    "jobTracking/waitingCard.js",
    "jobTracking/waitingCards.js",
    "jobTracking/workView.js",
    "jobTracking/zoom.js",
    "jobs.css",
    "jobs.html",
    "jobs.js",
    "jobs/allowances.js",
    "jobs/entry.js",
    "jobs/jobStart.js",
    "jobs/matrix.js",
    "jobs/models.js",
    "jobs/stopButton.js",
    "lib/address.js",
    "lib/announcer.js",
    "lib/api.js",
    "lib/attempts.js",
    "lib/banners.js",
    "lib/clipboard.js",
    "lib/connection.js",
    "lib/dialog.js",
    "lib/dom.js",
    "lib/drafts.js",
    "lib/eventStream.js",
    "lib/exactText.js",
    "lib/format.js",
    "lib/icons.js",
    "lib/inboxStream.js",
    "lib/jobInput.js",
    "lib/jobs.js",
    "lib/later.js",
    "lib/notifications.js",
    "lib/pageTitle.js",
    "lib/sessionList.js",
    "lib/states.js",
    "lib/stopServer.js",
    "lib/widthBar.js",
    "login.js",
    "messageBlock.css",
    "messageBlock.js",
    "panels/captures.js",
    "panels/changes.js",
    "panels/doctor.js",
    "panels/folderRules.js",
    "panels/frame.js",
    "panels/inbox.js",
    "panels/keys.js",
    "panels/moreMenu.js",
    "panels/pageFrame.js",
    "panels/sessionDetails.js",
    "panels/sidePanel.js",
    "panels/usage.js",
    "session/askAgain.js",
    "session/attachments.js",
    "session/composer.js",
    "session/emptySession.js",
    "session/farEvents.js",
    "session/finished.js",
    "session/followEnd.js",
    "session/foundBlock.js",
    "session/heldQueue.js",
    "session/history.js",
    "session/keptTasks.js",
    "session/lostSession.js",
    "session/notices.js",
    "session/plainText.js",
    "session/polling.js",
    "session/promptHistory.js",
    "session/questionForm.js",
    "session/renderedContent.js",
    "session/requestBlock.js",
    "session/requests.js",
    "session/resizeBar.js",
    "session/sessionBanners.js",
    "session/sessionEnding.js",
    "session/sessionHeader.js",
    "session/sessionView.js",
    "session/sharedFolder.js",
    "session/taskDecision.js",
    "session/taskSelect.js",
    "session/toolCall.js",
    "session/transcriptPage.js",
    "session/turnPrompts.js",
    "session/workingLine.js",
    "sessionResponse.css",
    "sessionResponse.js",
    "setup/agentLogin.js",
    "setup/agentSessions.js",
    "setup/folderPicker.js",
    "setup/models.js",
    "setup/recentSessions.js",
    "setup/runningJobs.js",
    "setup/runtimes.js",
    "setup/setup.js",
    "setup/textSearch.js",
    "setup/workingDirectory.js",
    "test.html",
    "test.js",
    "theme.css",
];

/// Pages that load their modules from a path that contains the version.
const PAGES: [&str; 3] = ["index.html", "jobs.html", "jobTracking.html"];

/// Paths that serve another file.
const ALIASES: [(&str, &str); 2] = [("/", "index.html"), ("/favicon.ico", "favicon.svg")];

struct WebFile {
    kind: &'static str,
    content: Cow<'static, str>,
    /// Changes with the content, so that a browser that has the current version gets 304.
    tag: HeaderValue,
}

/// Changes when any of the files changes.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let mut hash = Sha256::new();
    for (name, content) in FILES {
        hash.update(format!("{name}\0{content}\0"));
    }
    digest_text(&hash.finalize())
});

static BY_PATH: LazyLock<HashMap<String, WebFile>> = LazyLock::new(|| {
    let content_of = |name: &str| FILES.iter().find(|(file, _)| *file == name).map(|(_, content)| *content);
    let own = FILES.iter().map(|(name, content)| (format!("/{name}"), *name, *content));
    let aliases = ALIASES.iter().filter_map(|(path, name)| Some(((*path).to_owned(), *name, content_of(name)?)));
    own.chain(aliases)
        .map(|(path, name, content)| {
            let content = if PAGES.contains(&name) { versioned(content).into() } else { Cow::Borrowed(content) };
            let tag = format!("\"{}\"", digest_text(&Sha256::digest(content.as_bytes())));
            let tag = HeaderValue::from_str(&tag).expect("base64 in quotes");
            (path, WebFile { kind: content_type(name), content, tag })
        })
        .collect()
});

fn digest_text(digest: &[u8]) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(&digest[..12])
}

/// The page loads its modules from a path that contains their version. Files there never change, so a browser caches
/// them for good, and never mixes modules of two versions.
fn versioned(html: &str) -> String {
    let version = &*VERSION;
    html.replace(
        "<link rel=\"modulepreload\" href=\"",
        &format!("<link rel=\"modulepreload\" href=\"version/{version}/"),
    )
    .replace("<script type=\"module\" src=\"", &format!("<script type=\"module\" src=\"version/{version}/"))
}

/// The file at a path.
pub(super) fn web_file(path: &str, headers: &HeaderMap) -> Option<Response> {
    let current = path.strip_prefix("/version/").and_then(|rest| rest.strip_prefix(VERSION.as_str()));
    let file = BY_PATH.get(current.unwrap_or(path))?;
    let known = headers.get(header::IF_NONE_MATCH).is_some_and(|known| *known == file.tag);
    let tag = (header::ETAG, file.tag.clone());
    let mut response = if known {
        (StatusCode::NOT_MODIFIED, [tag]).into_response()
    } else {
        let kind = (header::CONTENT_TYPE, HeaderValue::from_static(file.kind));
        ([tag, kind], file.content.clone()).into_response()
    };
    if current.is_some() {
        response
            .headers_mut()
            .insert(header::CACHE_CONTROL, HeaderValue::from_static("private, max-age=31536000, immutable"));
    }
    Some(response)
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
    use std::path::{Path, PathBuf};

    use super::*;

    /// Pages that have no path of their own.
    const WITHOUT_PATH: [&str; 2] = ["reload.html", "login.html"];

    #[test]
    fn every_file_of_the_pages_is_served_with_its_type() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("web");
        for path in files_below(&root) {
            let name = path.strip_prefix(&root).expect("below it").to_str().expect("plain").replace('\\', "/");
            if WITHOUT_PATH.contains(&name.as_str()) {
                continue;
            }
            let response = web_file(&format!("/{name}"), &HeaderMap::new());
            let response = response.unwrap_or_else(|| panic!("web/{name} is not in the table of embedded files"));
            assert_eq!(response.headers()[header::CONTENT_TYPE], content_type(&name));
        }
    }

    fn files_below(folder: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).expect("readable").map(|entry| entry.expect("readable").path());
        entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
    }

    #[test]
    fn what_a_browser_has_already_is_not_sent_again() {
        let first = web_file("/", &HeaderMap::new()).expect("there");
        let mut headers = HeaderMap::new();
        headers.insert(header::IF_NONE_MATCH, first.headers()[header::ETAG].clone());
        assert_eq!(web_file("/index.html", &headers).expect("there").status(), StatusCode::NOT_MODIFIED);
        assert_eq!(web_file("/index.js", &headers).expect("there").status(), StatusCode::OK);
    }

    #[test]
    fn the_page_takes_its_modules_from_a_path_that_never_changes() {
        let page = &BY_PATH["/index.html"].content;
        let prefix = format!("version/{}/", &*VERSION);
        assert!(page.contains(&format!("src=\"{prefix}index.js\"")), "{page}");
        let module = web_file(&format!("/{prefix}index.js"), &HeaderMap::new()).expect("there");
        assert!(module.headers()[header::CACHE_CONTROL].to_str().expect("text").contains("immutable"));
        assert!(web_file("/version/another/index.js", &HeaderMap::new()).is_none());
        let plain = web_file("/index.js", &HeaderMap::new()).expect("there");
        assert!(plain.headers().get(header::CACHE_CONTROL).is_none(), "the gate decides");
    }

    #[test]
    fn what_the_page_needs_first_is_asked_for_at_once() {
        let content_of = |name: &str| FILES.iter().find(|(file, _)| *file == name).expect("an embedded file").1;
        let imports = |name: &str| -> Vec<String> {
            let lines = content_of(name).lines().filter(|line| line.starts_with("import "));
            lines.filter_map(|line| Some(resolve(name, line.split_once('"')?.1.split_once('"')?.0))).collect()
        };
        for page in PAGES {
            let mut wanted = imports(&page.replace(".html", ".js"));
            let mut position = 0;
            while let Some(name) = wanted.get(position).cloned() {
                wanted.extend(imports(&name).into_iter().filter(|import| !wanted.contains(import)).collect::<Vec<_>>());
                position += 1;
            }
            wanted.sort_unstable();
            wanted.dedup();
            let preloaded: Vec<&str> = content_of(page)
                .lines()
                .filter_map(|line| line.strip_prefix("<link rel=\"modulepreload\" href=\"")?.strip_suffix("\">"))
                .collect();
            assert_eq!(preloaded, wanted, "{page}");
        }
    }

    /// The name of the file that a module imports by a relative path.
    fn resolve(module: &str, import: &str) -> String {
        let mut parts: Vec<&str> = module.split('/').collect();
        parts.pop();
        for part in import.split('/') {
            match part {
                "." => {}
                ".." => drop(parts.pop()),
                name => parts.push(name),
            }
        }
        parts.join("/")
    }

    #[test]
    fn every_import_names_a_file() {
        for (name, content) in
            FILES.iter().filter(|(name, _)| std::path::Path::new(name).extension().is_some_and(|end| end == "js"))
        {
            let statements = content.lines().filter(|line| line.starts_with("import ") || line.contains("import(\""));
            for line in statements {
                let import = line.split('"').find(|part| part.starts_with('.')).expect("a relative path");
                let wanted = resolve(name, import);
                assert!(FILES.iter().any(|(file, _)| *file == wanted), "{name} imports {wanted}");
            }
        }
    }
}
