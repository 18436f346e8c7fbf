//! Finding the Copilot program: an explicit path, `COPILOT_CLI_PATH`, `PATH`, and npm's loaders resolved to the native
//! executable beside them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Arguments that make the CLI, or `copilot-runtime`, an SDK server.
const SERVER_ARGUMENTS: [&str; 4] = ["--headless", "--no-auto-update", "--stdio", "--no-auto-login"];
const NOT_FOUND: &str =
    "GitHub Copilot is not installed: run `npm install -g @github/copilot`, or set COPILOT_CLI_PATH to the program";

/// A program that speaks the SDK protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Program {
    pub path: PathBuf,
    pub arguments: Vec<String>,
}

impl Program {
    fn at(path: PathBuf) -> Self {
        Self { path, arguments: SERVER_ARGUMENTS.map(str::to_owned).to_vec() }
    }
}

/// Where the program is, or what to do.
pub(super) fn find(environment: &BTreeMap<String, String>) -> Result<Program, String> {
    if let Some(path) = environment.get("COPILOT_CLI_PATH").filter(|path| !path.is_empty()) {
        let path = PathBuf::from(path);
        return if path.is_file() {
            Ok(Program::at(native(&path)))
        } else {
            Err(format!("COPILOT_CLI_PATH is {}, and there is no such file", path.display()))
        };
    }
    let name = if cfg!(windows) { "copilot.exe" } else { "copilot" };
    let folders = environment.get("PATH").map(String::as_str).unwrap_or_default();
    std::env::split_paths(folders)
        .map(|folder| folder.join(name))
        .find(|candidate| candidate.is_file())
        .map(|found| Program::at(native(&found)))
        .ok_or_else(|| NOT_FOUND.to_owned())
}

/// The native executable behind npm's loader: killing the loader would leave it running.
fn native(path: &Path) -> PathBuf {
    let resolved = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let is_script = resolved.extension().is_some_and(|extension| extension == "js");
    let packages = resolved.parent().and_then(Path::parent).filter(|_| is_script);
    let system = match std::env::consts::OS {
        "macos" => "darwin",
        "windows" => "win32",
        other => other,
    };
    let machine = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    packages
        .map(|packages| packages.join(format!("copilot-{system}-{machine}")).join("copilot"))
        .filter(|candidate| candidate.is_file())
        .unwrap_or(resolved)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn environment(name: &str, value: &Path) -> BTreeMap<String, String> {
        [(name.to_owned(), value.to_string_lossy().into_owned())].into()
    }

    #[test]
    fn an_npm_loader_on_the_path_is_resolved_to_the_native_program() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("there");
        let native_name = match std::env::consts::ARCH {
            "aarch64" => "arm64",
            _ => "x64",
        };
        let system = if cfg!(target_os = "macos") { "darwin" } else { "linux" };
        let native = root.join(format!("@github/copilot-{system}-{native_name}"));
        for (file, text) in [(root.join("@github/copilot/npm-loader.js"), "js"), (native.join("copilot"), "binary")] {
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("made");
            std::fs::write(file, text).expect("written");
        }
        std::fs::create_dir(root.join("bin")).expect("made");
        std::os::unix::fs::symlink(root.join("@github/copilot/npm-loader.js"), root.join("bin/copilot"))
            .expect("linked");
        let found = find(&environment("PATH", &root.join("bin"))).expect("found");
        assert_eq!(found.path, native.join("copilot"));
        assert_eq!(found.arguments[0], "--headless");
    }

    #[test]
    fn what_is_missing_is_said_with_the_fix() {
        let nowhere = Path::new("/no/such/folder");
        assert!(find(&environment("PATH", nowhere)).expect_err("missing").contains("npm install -g @github/copilot"));
        assert!(find(&environment("COPILOT_CLI_PATH", nowhere)).expect_err("missing").contains("/no/such/folder"));
    }
}
