//! Finds the native executable behind npm's loader script, because killing the loader would leave it running.

use std::path::{Path, PathBuf};

/// npm's name for this platform, such as `linux-x64`.
pub(in crate::agent) fn platform() -> String {
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
    format!("{system}-{machine}")
}

/// The file names that a program may have.
pub(in crate::agent) fn file_names(name: &str) -> Vec<String> {
    if cfg!(windows) { vec![format!("{name}.exe"), format!("{name}.cmd")] } else { vec![name.to_owned()] }
}

/// The executable behind `path`, and whether it is a native one. npm installs `@scope/name` with a loader in
/// JavaScript, and the executable beside it as `@scope/name-PLATFORM`.
pub(super) fn behind_loader(path: &Path, package: &str, name: &str) -> (PathBuf, bool) {
    let resolved = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let kind = resolved.extension().and_then(|extension| extension.to_str()).unwrap_or_default().to_ascii_lowercase();
    let packages = match kind.as_str() {
        "js" | "cjs" | "mjs" => {
            // …/node_modules/@scope/name/loader.js: the scope's folder is wherever the package's name ends.
            resolved.ancestors().find(|folder| folder.ends_with(package)).and_then(Path::parent).map(Path::to_owned)
        }
        // npm's shim on Windows is next to `node_modules`.
        "cmd" | "ps1" => resolved.parent().map(|folder| folder.join("node_modules").join(scope(package))),
        _ => return (resolved, true),
    };
    let unscoped = package.rsplit('/').next().unwrap_or(package);
    packages
        .map(|packages| packages.join(format!("{unscoped}-{}", platform())))
        .and_then(|folder| file_names(name).into_iter().map(|file| folder.join(file)).find(|file| file.is_file()))
        .map_or((resolved, false), |native| (native, true))
}

fn scope(package: &str) -> &str {
    package.split_once('/').map_or("", |(scope, _)| scope)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_loader_leads_to_the_native_program_beside_it_and_anything_else_is_what_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("there");
        let native = root.join(format!("@github/copilot-{}/copilot", platform()));
        let loader = root.join("@github/copilot/npm-loader.js");
        for file in [&native, &loader] {
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("made");
            std::fs::write(file, "").expect("written");
        }
        let link = root.join("copilot");
        std::os::unix::fs::symlink(&loader, &link).expect("linked");
        assert_eq!(behind_loader(&link, "@github/copilot", "copilot"), (native.clone(), true));
        assert_eq!(behind_loader(&native, "@github/copilot", "copilot"), (native.clone(), true));
        std::fs::remove_file(&native).expect("removed");
        assert_eq!(behind_loader(&link, "@github/copilot", "copilot"), (loader, false));
    }
}
