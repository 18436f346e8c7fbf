//! What happens to the server: its disk fills up, it is stopped, killed, or loses power, and it starts again.

use std::collections::HashSet;

use super::World;
use crate::model::PromptId;
use crate::session::machine::{Command, Input, Machine};

impl World {
    pub(super) fn disk_changes(&mut self) {
        if self.store.refuses {
            self.store.refuses = false;
            self.drive(Input::StoreRecovered);
        } else if self.random.one_in(4) {
            self.store.refuses = true;
            self.drive(Input::StoreRefuses("the disk is full".to_owned()));
        }
    }

    pub(super) fn shut_down(&mut self) {
        self.drive(Input::Command(Command::ShutDown));
        while self.store.has_handed() && !self.store.refuses {
            self.store.work();
        }
        self.crash();
    }

    /// The server is killed and started again.
    pub(super) fn crash(&mut self) {
        if self.trace {
            eprintln!("         crash");
        }
        self.store.kill();
        self.restart();
    }

    pub(super) fn lose_power(&mut self) {
        let lost = self.random.below(4);
        if self.trace {
            eprintln!("         power cut, {lost} commits lost");
        }
        let before: HashSet<PromptId> = self.store.records.prompts.keys().copied().collect();
        self.store.cut_power(lost);
        let lost = before.into_iter().filter(|id| !self.store.records.prompts.contains_key(id));
        let lost: HashSet<PromptId> = lost.collect();
        // A prompt with a key is committed durably; here every commit may be lost, so its key is free again.
        self.accepted.retain(|_, id| !lost.contains(id));
        self.restart();
    }

    fn restart(&mut self) {
        self.disconnect();
        // An outcome that was not committed yet is decided again.
        let ended: HashSet<PromptId> = self.reported.iter().copied().filter(|id| self.ended(*id)).collect();
        self.reported = ended;
        self.store.refuses = false;
        let stored = self.store.load();
        let open = stored.turn.clone();
        self.machine = Machine::new(stored);
        if let Some(open) = open {
            self.machine.resume(&open, self.store.replay(&open));
        }
        self.drive(Input::Restarted);
        self.queue_rests = self.random.one_in(2);
        if !self.queue_rests {
            self.drive(Input::QueueResumed);
        }
    }
}
