//! What the service is: its file, and the commands of its manager.

use std::path::PathBuf;

use anyhow::Context as _;
use etcetera::BaseStrategy as _;

use super::manager::{Step, output_of};
use super::{ManagerName, launchd, systemd};
use crate::cli::arguments::Resolved;

/// A service of this user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Definition {
    pub manager: ManagerName,
    /// The file that defines it.
    pub file: PathBuf,
    /// This program.
    pub program: PathBuf,
    /// The data folder, if it is not the usual one.
    pub data_folder: Option<PathBuf>,
    /// Where launchd writes the log.
    pub log: PathBuf,
}

impl Definition {
    pub fn new(manager: ManagerName, resolved: Option<Resolved>) -> anyhow::Result<Self> {
        let program = std::env::current_exe().context("cannot find this program")?;
        let places = etcetera::choose_base_strategy().context("cannot find your home folder")?;
        let file = match manager {
            ManagerName::Systemd => places.config_dir().join("systemd/user").join(systemd::FILE),
            ManagerName::Launchd => places.home_dir().join("Library/LaunchAgents").join(launchd::FILE),
        };
        let log = places.home_dir().join("Library/Logs/flightdeck.log");
        Ok(Self { manager, file, program, data_folder: resolved.map(|resolved| resolved.data_folder), log })
    }

    /// What the server is started with.
    pub fn arguments(&self) -> Vec<String> {
        let mut arguments = vec!["serve".to_owned()];
        if let Some(folder) = &self.data_folder {
            arguments.extend(["--data-dir".to_owned(), folder.to_string_lossy().into_owned()]);
        }
        arguments
    }

    /// The text of the file.
    pub fn text(&self) -> String {
        match self.manager {
            ManagerName::Systemd => systemd::unit(self),
            ManagerName::Launchd => launchd::agent(self),
        }
    }

    pub fn install_steps(&self) -> Vec<Step> {
        match self.manager {
            ManagerName::Systemd => {
                vec![systemd::step(&["daemon-reload"]), systemd::step(&["enable", "--now", systemd::FILE])]
            }
            ManagerName::Launchd => vec![launchd::step(&["load", "-w", &self.file.to_string_lossy()])],
        }
    }

    /// Before the file is removed.
    pub fn uninstall_steps(&self) -> Vec<Step> {
        match self.manager {
            ManagerName::Systemd => vec![systemd::step(&["disable", "--now", systemd::FILE])],
            ManagerName::Launchd => vec![launchd::step(&["unload", "-w", &self.file.to_string_lossy()])],
        }
    }

    /// After the file was removed.
    pub fn after_removal_steps(&self) -> Vec<Step> {
        match self.manager {
            ManagerName::Systemd => vec![systemd::step(&["daemon-reload"])],
            ManagerName::Launchd => Vec::new(),
        }
    }

    /// What the manager says: `running`, or its own word for anything else; `None` if it cannot be asked.
    pub fn state(&self) -> Option<String> {
        match self.manager {
            ManagerName::Systemd => {
                let word = output_of(&systemd::step(&["is-active", systemd::FILE]))?;
                Some(if word == "active" { "running".to_owned() } else { word }).filter(|word| !word.is_empty())
            }
            ManagerName::Launchd => {
                let listed = output_of(&launchd::step(&["list", launchd::LABEL]))?;
                Some(if listed.contains("\"PID\"") { "running" } else { "not running" }.to_owned())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(manager: ManagerName, data_folder: Option<&str>) -> Definition {
        Definition {
            manager,
            file: PathBuf::from("/home/a/file"),
            program: PathBuf::from("/opt/my tools/100%/flight\"deck"),
            data_folder: data_folder.map(PathBuf::from),
            log: PathBuf::from("/home/a/Library/Logs/flightdeck.log"),
        }
    }

    #[test]
    fn a_unit_quotes_what_systemd_would_expand() {
        assert_eq!(
            definition(ManagerName::Systemd, Some("/data $HOME")).text(),
            "[Unit]\nDescription=Flightdeck: coding agents as durable sessions\n\n[Service]\nType=exec\n\
             ExecStart=\"/opt/my tools/100%%/flight\\\"deck\" \"serve\" \"--data-dir\" \"/data $$HOME\"\n\
             Restart=on-failure\nRestartSec=2\nTimeoutStopSec=20\nKillMode=mixed\n\n[Install]\nWantedBy=default.target\n"
        );
    }

    #[test]
    fn an_agent_of_launchd_is_valid_xml() {
        let text = definition(ManagerName::Launchd, Some("/a <b> & c")).text();
        for line in [
            "<string>/opt/my tools/100%/flight&quot;deck</string>",
            "<string>/a &lt;b&gt; &amp; c</string>",
            "<key>SuccessfulExit</key>",
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
        assert!(!definition(ManagerName::Launchd, None).text().contains("--data-dir"));
    }
}
