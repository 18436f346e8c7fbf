//! Python packages in an environment of their own, so that the machine's Python stays unchanged.

use std::path::Path;
use std::process::Command;

use crate::npm::Package;
use crate::shell::{apt_get_install, run, works};

/// Installs what is missing into the environment `python` below a folder.
pub fn install(folder: &Path, packages: &[Package]) -> Result<(), String> {
    let environment = folder.join("python");
    let python = environment.join("bin/python3");
    let has = |(name, version): &Package| {
        let check = format!("import importlib.metadata as m; assert m.version({name:?}) == {version:?}");
        works(Command::new(&python).args(["-c", &check]))
    };
    if packages.iter().all(has) {
        return Ok(());
    }
    let make = || run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&environment));
    if make().is_err() {
        let needs = "the clients in the tests need Python: install Python 3.9 or newer with its module venv";
        apt_get_install(&["python3", "python3-venv"]).ok_or(needs)??;
        make()?;
    }
    let packages = packages.iter().map(|(name, version)| format!("{name}=={version}"));
    run(Command::new(&python).args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(packages))
}
