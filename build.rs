//! Lists the files of the pages, so that `src/http/web_files.rs` embeds them all without naming each: those below `web/`,
//! and those that are made from them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

#[path = "src/http/web_bundle/mod.rs"]
mod web_bundle;

fn main() {
    println!("cargo::rerun-if-changed=web");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/http/web_bundle");
    let folder = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo")).join("web");
    let target = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo"));
    let mut paths: BTreeMap<String, PathBuf> = files_below(&folder)
        .into_iter()
        .map(|path| {
            (path.strip_prefix(&folder).expect("below it").to_str().expect("a plain name").replace('\\', "/"), path)
        })
        .collect();
    match made_files(&paths) {
        Ok(made) => paths.extend(made.into_iter().map(|(name, text)| {
            let path = target.join("web").join(&name);
            fs::create_dir_all(path.parent().expect("has one")).expect("the build folder is writable");
            fs::write(&path, text).expect("the build folder is writable");
            (name, path)
        })),
        Err(error) => println!("cargo::error={error}"),
    }
    let mut table = String::from("[\n");
    for (name, path) in paths {
        let path = path.to_str().expect("a plain path");
        writeln!(table, "    ({name:?}, include_bytes!({path:?})),").expect("a string takes everything");
    }
    table.push_str("]\n");
    fs::write(target.join("web_files.rs"), table).expect("the build folder is writable");
}

fn made_files(paths: &BTreeMap<String, PathBuf>) -> Result<BTreeMap<String, String>, web_bundle::BundleError> {
    // What is no text is neither page nor module.
    let texts: Vec<(&str, String)> =
        paths.iter().filter_map(|(name, path)| Some((name.as_str(), fs::read_to_string(path).ok()?))).collect();
    web_bundle::made_files(&texts.iter().map(|(name, text)| (*name, text.as_str())).collect())
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("readable").map(|entry| entry.expect("readable").path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}
