//! The files of the pages, embedded in the program.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine as _};
use sha2::{Digest, Sha256};

use super::web_bundle::page::VERSION_MARK;
use super::web_shell::with_shell;

/// Name and content of every file of the pages. The table is written by `build.rs`.
const EMBEDDED: &[(&str, &[u8])] = &include!(concat!(env!("OUT_DIR"), "/web_files.rs"));

/// Files that are parts of other answers and have no path of their own.
const WITHOUT_PATH: [&str; 2] = ["login.html", "reload.html"];

/// Paths that serve another file.
const ALIASES: [(&str, &str); 2] = [("/", "index.html"), ("/favicon.ico", "favicon.svg")];

/// It contains the list of the files that it keeps.
const SERVICE_WORKER: &str = "sw.js";

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
    std::env::var_os("TEST_WEB").map_or_else(embedded_files, |folder| super::web_folder::files_in(folder.as_ref()))
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
            let content = match name {
                SERVICE_WORKER => service_worker(),
                page if is_page(page) => text_of(page).replace(VERSION_MARK, &VERSION).into_bytes().into(),
                _ => FILES[name].clone(),
            };
            let tag = format!("\"{}\"", digest_text(&Sha256::digest(&content)));
            let tag = HeaderValue::from_str(&tag).expect("base64 in quotes");
            (path, WebFile { kind: content_type(name), content, tag })
        })
        .collect()
});

pub(super) fn is_page(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, end)| end == "html")
}

fn digest_text(digest: &[u8]) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(&digest[..12])
}

fn text_of(name: &str) -> Cow<'static, str> {
    String::from_utf8_lossy(&FILES[name])
}

fn service_worker() -> Cow<'static, [u8]> {
    let pages: Vec<(&str, Cow<'_, str>)> =
        FILES.keys().filter(|name| is_page(name)).map(|name| (name.as_str(), text_of(name))).collect();
    let pages = pages.iter().map(|(name, text)| (*name, &**text));
    with_shell(&text_of(SERVICE_WORKER), &VERSION, pages, |name| FILES.contains_key(name)).into_bytes().into()
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
        "map" => "application/json",
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
        assert!(page.contains(&format!("src=\"/{prefix}index.bundle.js\"")), "{page}");
        let module = web_file(&format!("/{prefix}index.bundle.js"), &HeaderMap::new()).expect("there");
        assert!(module.headers()[header::CACHE_CONTROL].to_str().expect("text").contains("immutable"));
        assert!(web_file("/version/another/index.bundle.js", &HeaderMap::new()).is_none());
        let plain = web_file("/index.js", &HeaderMap::new()).expect("there");
        assert!(plain.headers().get(header::CACHE_CONTROL).is_none(), "the gate decides");
    }

    #[test]
    fn what_a_session_needs_first_is_in_the_first_file() {
        let module = |name: &str| format!("$modules.set({name:?}");
        let (first, later) = (text_of("index.bundle.js"), text_of("index.later.js"));
        assert!(first.contains(&module("sessionResponse.js")) && !later.contains(&module("sessionResponse.js")));
        assert!(later.contains(&module("setup/setup.js")) && !first.contains(&module("setup/setup.js")));
    }

    #[test]
    fn the_sheets_that_scripts_of_people_rely_on_stay_linked_by_name() {
        let page = String::from_utf8_lossy(&BY_PATH["/index.html"].content);
        for sheet in ["index.css", "messageBlock.css", "sessionResponse.css"] {
            assert!(page.contains(&format!("<link rel=\"stylesheet\" href=\"{sheet}\" disabled>")), "{sheet}");
            assert!(text_of("index.bundle.css").contains(&*text_of(sheet)), "{sheet}");
        }
    }

    #[test]
    fn every_file_that_a_page_names_is_there() {
        for (path, file) in BY_PATH.iter().filter(|(path, _)| is_page(path)) {
            let page = String::from_utf8_lossy(&file.content);
            let named = page.split(['"', '\'']).filter(|text| text.starts_with("/version/"));
            for name in named {
                assert!(web_file(name, &HeaderMap::new()).is_some(), "{path}: {name}");
            }
        }
    }

    #[test]
    fn the_service_worker_keeps_files_that_exist_and_no_data() {
        let worker = String::from_utf8_lossy(&BY_PATH["/sw.js"].content);
        let list = worker.split_once("const SHELL = ").and_then(|(_, rest)| rest.split_once(';')).expect("a list").0;
        let paths: Vec<String> = serde_json::from_str(list).expect("JSON");
        for wanted in ["/", "/jobs.html", "/index.css", "/manifest.webmanifest"] {
            assert!(paths.iter().any(|path| path == wanted), "{wanted}: {paths:?}");
        }
        for path in &paths {
            assert!(web_file(path, &HeaderMap::new()).is_some(), "{path}");
            assert!(!path.starts_with("/api") && !path.starts_with("/login"), "{path}");
        }
        assert!(worker.contains(&format!("const VERSION = \"{}\"", &*VERSION)), "{worker}");
    }
}
