//! The files of the pages, embedded in the program.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::LazyLock;

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine as _};
use sha2::{Digest, Sha256};

/// Name and content of every file below `web/`. The table is written by `build.rs`.
const EMBEDDED: &[(&str, &[u8])] = &include!(concat!(env!("OUT_DIR"), "/web_files.rs"));

/// Files that are parts of other answers and have no path of their own.
const WITHOUT_PATH: [&str; 2] = ["login.html", "reload.html"];

/// Pages that load their modules from a path that contains the version.
const PAGES: [&str; 4] = ["index.html", "jobs.html", "jobTracking.html", API_DOCS];

/// The page that is served one folder below the others.
const API_DOCS: &str = "apiDocs.html";

/// Paths that serve another file.
const ALIASES: [(&str, &str); 2] = [("/", "index.html"), ("/favicon.ico", "favicon.svg")];

struct WebFile {
    kind: &'static str,
    content: Cow<'static, [u8]>,
    /// Changes with the content, so that a browser that has the current version gets 304.
    tag: HeaderValue,
}

type Files = BTreeMap<String, Cow<'static, [u8]>>;

static FILES: LazyLock<Files> = LazyLock::new(|| {
    let mut files = files_of_this_run();
    files.retain(|name, _| !WITHOUT_PATH.contains(&name.as_str()));
    files
});

#[cfg(not(debug_assertions))]
fn files_of_this_run() -> Files {
    embedded_files()
}

/// A development build takes the pages from the folder in `TEST_WEB`, so that a change to a page needs no build.
#[cfg(debug_assertions)]
fn files_of_this_run() -> Files {
    let Some(folder) = std::env::var_os("TEST_WEB").map(std::path::PathBuf::from) else { return embedded_files() };
    let mut files = Files::new();
    let mut folders = vec![folder.clone()];
    while let Some(next) = folders.pop() {
        for path in std::fs::read_dir(next).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())) {
            if path.is_dir() {
                folders.push(path);
            } else if let (Ok(name), Ok(content)) = (path.strip_prefix(&folder), std::fs::read(&path)) {
                files.insert(name.to_string_lossy().into_owned(), Cow::Owned(content));
            }
        }
    }
    files
}

fn embedded_files() -> Files {
    EMBEDDED.iter().map(|(name, content)| ((*name).to_owned(), Cow::Borrowed(*content))).collect()
}

/// Changes when any of the files changes.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let mut hash = Sha256::new();
    for (name, content) in &*FILES {
        hash.update(format!("{name}\0"));
        hash.update(content);
        hash.update("\0");
    }
    digest_text(&hash.finalize())
});

static BY_PATH: LazyLock<HashMap<String, WebFile>> = LazyLock::new(|| {
    let own = FILES.keys().map(|name| (format!("/{name}"), name.as_str()));
    let aliases = ALIASES.iter().map(|(path, name)| ((*path).to_owned(), *name));
    own.chain(aliases)
        .map(|(path, name)| {
            let content = &FILES[name];
            let content = if PAGES.contains(&name) { with_modules(name).into_bytes().into() } else { content.clone() };
            let tag = format!("\"{}\"", digest_text(&Sha256::digest(&content)));
            let tag = HeaderValue::from_str(&tag).expect("base64 in quotes");
            (path, WebFile { kind: content_type(name), content, tag })
        })
        .collect()
});

fn digest_text(digest: &[u8]) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(&digest[..12])
}

/// The page loads its modules from a path that contains their version. Files there never change, so a browser caches
/// them for good, and never mixes modules of two versions. It asks for all that it needs first at once.
fn with_modules(page: &str) -> String {
    let script = "<script type=\"module\" src=\"";
    let root = if page == API_DOCS { "../" } else { "" };
    let folder = format!("{root}version/{}/", &*VERSION);
    let preloads: String = modules_of(&page.replace(".html", ".js"))
        .iter()
        .map(|name| format!("<link rel=\"modulepreload\" href=\"{folder}{name}\">\n"))
        .collect();
    text_of(page).replace(script, &format!("{preloads}{script}{folder}"))
}

/// Every module that a module imports, directly or not, and not later.
fn modules_of(module: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![module.to_owned()];
    while let Some(next) = open.pop() {
        open.extend(imports_of(&next).into_iter().filter(|import| found.insert(import.clone())));
    }
    found
}

fn imports_of(module: &str) -> Vec<String> {
    let text = text_of(module);
    let lines = text.lines().filter(|line| line.starts_with("import "));
    lines.filter_map(|line| Some(resolve(module, line.split_once('"')?.1.split_once('"')?.0))).collect()
}

fn text_of(name: &str) -> Cow<'static, str> {
    FILES.get(name).map_or(Cow::Borrowed(""), |content| String::from_utf8_lossy(content))
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
        "png" => "image/png",
        "webmanifest" => "application/manifest+json",
        other => unreachable!("no page has a file that ends in {other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_pages_is_served_with_its_type() {
        for (name, _) in EMBEDDED.iter().filter(|(name, _)| !WITHOUT_PATH.contains(name)) {
            let response = web_file(&format!("/{name}"), &HeaderMap::new()).expect("there");
            assert_eq!(response.headers()[header::CONTENT_TYPE], content_type(name));
        }
        for name in WITHOUT_PATH {
            assert!(web_file(&format!("/{name}"), &HeaderMap::new()).is_none(), "{name}");
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

    #[test]
    fn the_page_takes_its_modules_from_a_path_that_never_changes() {
        let page = String::from_utf8_lossy(&BY_PATH["/index.html"].content);
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
        for page in PAGES {
            let html = String::from_utf8(BY_PATH[&format!("/{page}")].content.to_vec()).expect("text");
            for module in ["lib/api.js", "lib/dom.js"] {
                let preload = format!("<link rel=\"modulepreload\" href=\"version/{}/{module}\">", &*VERSION);
                assert_eq!(html.matches(&preload).count(), 1, "{page}: {module}");
            }
        }
        assert!(!modules_of("index.js").contains("setup/setup.js"), "it is imported later");
    }

    #[test]
    fn every_import_names_a_file() {
        for name in FILES.keys().filter(|name| content_type(name).starts_with("text/javascript")) {
            let text = text_of(name);
            for line in text.lines().filter(|line| line.starts_with("import ") || line.contains("import(\"")) {
                let import = line.split('"').find(|part| part.starts_with('.')).expect("a relative path");
                let wanted = resolve(name, import);
                assert!(FILES.contains_key(&wanted), "{name} imports {wanted}");
            }
        }
    }
}
