//! Lists the files below `web/`, so that `src/http/web_files.rs` embeds them all without naming each.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let folder = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo")).join("web");
    let mut paths = files_below(&folder);
    paths.sort();
    let mut table = String::from("[\n");
    for path in paths {
        let name = path.strip_prefix(&folder).expect("below it").to_str().expect("a plain name").replace('\\', "/");
        writeln!(table, "    ({name:?}, include_bytes!({path:?})),").expect("a string takes everything");
    }
    table.push_str("]\n");
    let target = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo")).join("web_files.rs");
    fs::write(&target, table).expect("the build folder is writable");
    println!("cargo::rerun-if-changed=web");
    println!("cargo::rerun-if-changed=build.rs");
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("readable").map(|entry| entry.expect("readable").path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}
