//! A page: which files it loads.

use std::collections::BTreeMap;

use super::chunk::bundle_name;
use super::{BundleError, Sources};

/// Stands in a page for the version of all files.
pub const VERSION_MARK: &str = "{{version}}";

/// Scripts of people rely on these links, so they stay as they are.
const KEPT: [&str; 5] = ["index.css", "messageBlock.css", "sessionResponse.css", "jobs.css", "jobTracking.css"];

const MODULE: &str = "<script type=\"module\" src=\"";
const SCRIPT: &str = "<script src=\"";
const SHEET: &str = "<link rel=\"stylesheet\" href=\"";

/// The module that a page runs. One that is named by its full path stays as it is: the page may be shown at any path.
pub(super) fn entry_of(html: &str) -> Option<&str> {
    html.lines().find_map(|line| name_in(line, MODULE)).filter(|name| !name.starts_with('/'))
}

fn name_in<'a>(line: &'a str, start: &str) -> Option<&'a str> {
    line.trim().strip_prefix(start)?.split_once('"').map(|(name, _)| name)
}

/// The name of a file below `web/`. A page that is served below a folder names files of the folder above.
fn plain(name: &str) -> &str {
    name.trim_start_matches("../").trim_start_matches("./")
}

/// The page with the files that were made for it. Files below the path of their version never change, so that a browser
/// keeps them for good and never mixes those of two versions. The path is a full one: a page may be served anywhere.
pub(super) fn html(html: &str, entry: &str) -> String {
    let folder = format!("/version/{VERSION_MARK}/");
    let mut made = String::new();
    for part in parts(html) {
        match part {
            Part::Line(line) if name_in(line, MODULE) == Some(entry) => {
                made.push_str(&line.replace(entry, &format!("{folder}{}", bundle_name(entry))));
            }
            Part::Line(line) => match name_in(line, SCRIPT) {
                Some(name) if !name.starts_with('/') => {
                    made.push_str(&line.replace(name, &format!("{folder}{}", plain(name))));
                }
                _ => made.push_str(line),
            },
            Part::Sheets(names) => made.extend([SHEET, &folder, &sheet_name(&names), "\">"]),
        }
        made.push('\n');
    }
    made
}

/// Stylesheets that follow each other in a page, put together.
pub(super) fn sheets(page: &str, html: &str, sources: &Sources<'_>) -> Result<BTreeMap<String, String>, BundleError> {
    let mut made = BTreeMap::new();
    for part in parts(html) {
        let Part::Sheets(names) = part else { continue };
        let mut together = String::new();
        for name in &names {
            let Some(text) = sources.get(name) else {
                let line = html.lines().zip(1..).find(|(line, _)| name_in(line, SHEET).map(plain) == Some(name));
                let line = line.map_or(1, |(_, number)| number);
                return Err(BundleError::new(page, line, format!("there is no file web/{name}")));
            };
            together.extend(["/* ", name, " */\n", text.trim_end(), "\n"]);
        }
        if names.len() > 1 {
            made.insert(sheet_name(&names), together);
        }
    }
    Ok(made)
}

/// The same sheets have the same name in every page, so that a browser loads them once.
fn sheet_name(names: &[&str]) -> String {
    if let [only] = names {
        return (*only).to_owned();
    }
    let stems: Vec<&str> = names.iter().map(|name| name.trim_end_matches(".css")).collect();
    format!("{}.bundle.css", stems.join("-").replace('/', "-"))
}

enum Part<'a> {
    Line(&'a str),
    /// Links to stylesheets that may be put together.
    Sheets(Vec<&'a str>),
}

fn parts(html: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    for line in html.lines() {
        let sheet = name_in(line, SHEET).filter(|name| !KEPT.contains(name)).map(plain);
        match (sheet, parts.last_mut()) {
            (Some(name), Some(Part::Sheets(names))) => names.push(name),
            (Some(name), _) => parts.push(Part::Sheets(vec![name])),
            (None, _) => parts.push(Part::Line(line)),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "<script src=\"early.js\"></script>\n<link rel=\"stylesheet\" href=\"theme.css\">\n\
        <link rel=\"stylesheet\" href=\"lib/frame.css\">\n<link rel=\"stylesheet\" href=\"index.css\">\n\
        <link rel=\"stylesheet\" href=\"more.css\">\n<script type=\"module\" src=\"index.js\"></script>\n";

    #[test]
    fn sheets_that_follow_each_other_are_one_file_and_kept_names_stay() {
        let sources = Sources::from([
            ("theme.css", "a {}\n"),
            ("lib/frame.css", "b {}\n"),
            ("more.css", "c {}\n"),
            ("index.css", "d {}\n"),
        ]);
        let made = sheets("index.html", PAGE, &sources).expect("made");
        assert_eq!(
            made.into_iter().collect::<Vec<_>>(),
            [(
                "theme-lib-frame.bundle.css".to_owned(),
                "/* theme.css */\na {}\n/* lib/frame.css */\nb {}\n".to_owned()
            )]
        );
        assert_eq!(
            html(PAGE, "index.js"),
            "<script src=\"/version/{{version}}/early.js\"></script>\n\
             <link rel=\"stylesheet\" href=\"/version/{{version}}/theme-lib-frame.bundle.css\">\n\
             <link rel=\"stylesheet\" href=\"index.css\">\n\
             <link rel=\"stylesheet\" href=\"/version/{{version}}/more.css\">\n\
             <script type=\"module\" src=\"/version/{{version}}/index.bundle.js\"></script>\n"
        );
    }

    #[test]
    fn a_page_may_be_served_below_a_folder() {
        let page = "<script src=\"../early.js\"></script>\n<link rel=\"stylesheet\" href=\"../theme.css\">\n\
            <script type=\"module\" src=\"docs.js\"></script>\n";
        assert!(sheets("docs.html", page, &Sources::from([("theme.css", "")])).is_ok());
        let made = html(page, "docs.js");
        for file in ["early.js", "theme.css", "docs.bundle.js"] {
            assert!(made.contains(&format!("\"/version/{{{{version}}}}/{file}\"")), "{made}");
        }
    }

    #[test]
    fn a_sheet_that_is_missing_is_named_with_its_line() {
        let error = sheets("index.html", PAGE, &Sources::from([("theme.css", "")])).expect_err("missing");
        assert_eq!(error.to_string(), "web/index.html:3: there is no file web/lib/frame.css");
    }
}
