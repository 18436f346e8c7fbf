//! The shell: the files that the service worker keeps, so that the pages open without the server.

use std::collections::BTreeSet;

use super::web_bundle::page::VERSION_MARK;
use super::web_files::is_page;

/// Stands in the service worker for the list of its files.
const SHELL_MARK: &str = "\"{{shell}}\"";

/// What notifications show.
const PICTURES: [&str; 2] = ["/icons/app-192.png", "/icons/badge-96.png"];

/// The service worker with its version and its files filled in. `pages` are name and text of all pages; those that can be
/// installed, because they link the manifest, are the shell, with everything that they load.
pub(super) fn with_shell<'a>(
    worker: &str,
    version: &str,
    pages: impl Iterator<Item = (&'a str, &'a str)>,
    exists: impl Fn(&str) -> bool,
) -> String {
    let mut paths: BTreeSet<String> = PICTURES.iter().map(|path| (*path).to_owned()).collect();
    for (name, html) in pages.filter(|(_, html)| html.contains("rel=\"manifest\"")) {
        if name == "index.html" {
            paths.insert("/".to_owned());
        }
        paths.insert(format!("/{name}"));
        for file in files_in(html) {
            let later = file.replace(".bundle.js", ".later.js");
            paths.extend([file, &later].into_iter().filter(|file| exists(plain_name(file))).map(full_path));
        }
    }
    let list = paths.iter().map(|path| format!("{:?}", path.replace(VERSION_MARK, version))).collect::<Vec<_>>();
    worker.replace(VERSION_MARK, version).replace(SHELL_MARK, &list.join(", "))
}

/// What a page loads from here; links to other pages are no files.
fn files_in(html: &str) -> impl Iterator<Item = &str> {
    ["src=\"", "href=\""]
        .into_iter()
        .flat_map(|attribute| html.split(attribute).skip(1))
        .filter_map(|rest| rest.split_once('"').map(|(file, _)| file))
        .filter(|file| !is_page(file))
}

/// The name of a file without the path of its version.
fn plain_name(file: &str) -> &str {
    let file = file.trim_start_matches('/');
    file.strip_prefix("version/").and_then(|rest| rest.split_once('/')).map_or(file, |(_, name)| name)
}

fn full_path(file: &str) -> String {
    format!("/{}", file.trim_start_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shell_has_what_installable_pages_load_and_nothing_else() {
        let pages = [
            (
                "index.html",
                "<link rel=\"manifest\" href=\"manifest.webmanifest\"><a href=\"jobs.html\"></a>\
                 <script src=\"/version/{{version}}/index.bundle.js\"></script><a href=\"https://example.com\"></a>",
            ),
            ("test.html", "<script src=\"test.js\"></script>"),
        ];
        let known = ["manifest.webmanifest", "index.bundle.js", "index.later.js", "test.js"];
        let worker = "const VERSION = \"{{version}}\";\nconst SHELL = [\"{{shell}}\"];\n";
        assert_eq!(
            with_shell(worker, "v1", pages.into_iter(), |name| known.contains(&name)),
            "const VERSION = \"v1\";\nconst SHELL = [\"/\", \"/icons/app-192.png\", \"/icons/badge-96.png\", \"/index.html\", \
             \"/manifest.webmanifest\", \"/version/v1/index.bundle.js\", \"/version/v1/index.later.js\"];\n"
        );
    }
}
