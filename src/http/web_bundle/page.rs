//! A page: which files it loads.

use super::chunk::bundle_name;
use super::{BundleError, Sources};

/// Stands in a page for the version of all files.
pub const VERSION_MARK: &str = "{{version}}";

/// Scripts of people look for links with these names, so they stay. The page's one stylesheet has their content: a browser
/// would ask for each of them again before it paints anything.
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
pub(super) fn html(page: &str, html: &str, entry: &str) -> String {
    let folder = format!("/version/{VERSION_MARK}/");
    let mut made = String::new();
    let mut has_sheet = false;
    for line in html.lines() {
        if let Some(name) = name_in(line, SHEET) {
            if !std::mem::replace(&mut has_sheet, true) {
                made.extend([SHEET, &folder, &sheet_name(page), "\">\n"]);
            }
            if KEPT.contains(&name) {
                made.extend([SHEET, name, "\" disabled>\n"]);
            }
            continue;
        }
        match (name_in(line, MODULE), name_in(line, SCRIPT)) {
            (Some(name), _) if name == entry => {
                made.push_str(&line.replace(entry, &format!("{folder}{}", bundle_name(entry))));
            }
            (_, Some(name)) if !name.starts_with('/') => {
                made.push_str(&line.replace(name, &format!("{folder}{}", plain(name))));
            }
            _ => made.push_str(line),
        }
        made.push('\n');
    }
    made
}

/// The stylesheets of a page, put together in their order: the name of that file, and its text. `None` if there are none.
pub(super) fn sheet(page: &str, html: &str, sources: &Sources<'_>) -> Result<Option<(String, String)>, BundleError> {
    let mut together = String::new();
    for (line, number) in html.lines().zip(1..) {
        let Some(name) = name_in(line, SHEET).map(plain) else { continue };
        let Some(text) = sources.get(name) else {
            return Err(BundleError::new(page, number, format!("there is no file web/{name}")));
        };
        together.extend(["/* ", name, " */\n", text.trim_end(), "\n"]);
    }
    Ok((!together.is_empty()).then(|| (sheet_name(page), together)))
}

fn sheet_name(page: &str) -> String {
    format!("{}.bundle.css", page.trim_end_matches(".html"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "<script src=\"early.js\"></script>\n<link rel=\"stylesheet\" href=\"theme.css\">\n\
        <link rel=\"stylesheet\" href=\"lib/frame.css\">\n<link rel=\"stylesheet\" href=\"index.css\">\n\
        <link rel=\"stylesheet\" href=\"more.css\">\n<script type=\"module\" src=\"index.js\"></script>\n";

    #[test]
    fn the_sheets_of_a_page_are_one_file_and_kept_names_stay_as_links() {
        let sources = Sources::from([
            ("theme.css", "a {}\n"),
            ("lib/frame.css", "b {}\n"),
            ("more.css", "c {}\n"),
            ("index.css", "d {}\n"),
        ]);
        let (name, text) = sheet("index.html", PAGE, &sources).expect("made").expect("there");
        assert_eq!(name, "index.bundle.css");
        assert_eq!(
            text,
            "/* theme.css */\na {}\n/* lib/frame.css */\nb {}\n/* index.css */\nd {}\n/* more.css */\nc {}\n"
        );
        assert_eq!(
            html("index.html", PAGE, "index.js"),
            "<script src=\"/version/{{version}}/early.js\"></script>\n\
             <link rel=\"stylesheet\" href=\"/version/{{version}}/index.bundle.css\">\n\
             <link rel=\"stylesheet\" href=\"index.css\" disabled>\n\
             <script type=\"module\" src=\"/version/{{version}}/index.bundle.js\"></script>\n"
        );
        assert_eq!(sheet("test.html", "<p>", &sources), Ok(None));
    }

    #[test]
    fn a_page_may_be_served_below_a_folder() {
        let page = "<script src=\"../early.js\"></script>\n<link rel=\"stylesheet\" href=\"../theme.css\">\n\
            <script type=\"module\" src=\"docs.js\"></script>\n";
        assert!(sheet("docs.html", page, &Sources::from([("theme.css", "")])).is_ok());
        let made = html("docs.html", page, "docs.js");
        for file in ["early.js", "docs.bundle.css", "docs.bundle.js"] {
            assert!(made.contains(&format!("\"/version/{{{{version}}}}/{file}\"")), "{made}");
        }
    }

    #[test]
    fn a_sheet_that_is_missing_is_named_with_its_line() {
        let error = sheet("index.html", PAGE, &Sources::from([("theme.css", "")])).expect_err("missing");
        assert_eq!(error.to_string(), "web/index.html:3: there is no file web/lib/frame.css");
    }
}
