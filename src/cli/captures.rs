//! Creates the captures from the configuration.

use std::cmp::Reverse;
use std::sync::Arc;

use crate::capture::{Accounting, CaptureSettings, Captures, CapturesParts, Mode};
use crate::config::{Capture, CaptureMode};
use crate::model::Usage;
use crate::session::{Sessions, now};
use crate::store::{DataFolder, Store};

/// All captures.
pub(super) fn captures(config: &Capture, sessions: &Sessions, store: Store, data: &DataFolder) -> Captures {
    let folder = data.captures().unwrap_or_else(|error| {
        // The server must start on a full disk too.
        tracing::warn!(%error, "the folder for captures cannot be created; captures will fail");
        data.path().join(DataFolder::CAPTURES)
    });
    Captures::new(CapturesParts {
        runtimes: sessions.runtimes().clone(),
        store,
        settings: settings(config),
        folder,
        accounting: Arc::new(Shared(sessions.clone())),
        now,
    })
}

fn settings(config: &Capture) -> CaptureSettings {
    let mut aliases: Vec<(String, String)> =
        config.aliases.iter().map(|(name, model)| (name.clone(), model.clone())).collect();
    aliases.sort_by_key(|(name, _)| Reverse(name.len()));
    CaptureSettings {
        mode: match config.mode {
            CaptureMode::Hold => Mode::Hold,
            CaptureMode::Destroy => Mode::Destroy,
        },
        aliases,
        concurrent: config.concurrent.max(1),
        queue: config.queue,
        deadline: config.deadline.or_zero(),
        hold: config.hold.or_zero(),
        waiting: config.waiting,
        keep_log: config.keep_log.or_zero(),
        ..CaptureSettings::default()
    }
}

/// Sessions and captures share the budgets of a day.
struct Shared(Sessions);

impl Accounting for Shared {
    fn add(&self, usage: &Usage) {
        self.0.add_day_usage(usage);
    }

    fn refusal(&self) -> Option<String> {
        self.0.day_refusal()
    }
}
