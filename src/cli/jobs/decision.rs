//! `flightdeck jobs approve` and `flightdeck jobs reject`.

use std::process::ExitCode;

use anyhow::bail;
use serde_json::{Value, json};

use super::super::arguments::CommonFlags;
use super::super::command_context::CommandContext;
use super::super::connection::server;
use super::super::output::print;
use super::super::terminal::keyboard::{can_ask, confirm};
use super::super::terminal::style::Style;
use super::super::terminal::text::{clean, one_line, value};
use super::arguments::DecisionFlags;
use super::connection::about_job;
use super::gate::Gate;
use crate::client::LocalServer;
use crate::model::JobId;

/// What is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Approve,
    Reject,
}

impl Verdict {
    fn route(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Reject => "reject",
        }
    }

    fn question(self) -> &'static str {
        match self {
            Self::Approve => "Approve this?",
            Self::Reject => "Reject this?",
        }
    }

    fn done(self) -> &'static str {
        match self {
            Self::Approve => "Approved",
            Self::Reject => "Rejected",
        }
    }
}

pub(super) fn decide(verdict: Verdict, flags: &DecisionFlags, common: &CommonFlags) -> anyhow::Result<ExitCode> {
    let context = CommandContext::new(common)?;
    let (id, server) = (flags.id, server(&context)?);
    let job = context.wait_for(details(&server, id))?;
    let gate = chosen(&job, id, flags.gate.as_deref())?;
    eprintln!("{}", gate.shown(Style::of_errors()));
    let digest = match &flags.digest {
        Some(digest) => digest.clone(),
        None if flags.yes => gate.digest.clone(),
        None if can_ask() => {
            if !confirm(verdict.question())? {
                eprintln!("Nothing was decided.");
                return Ok(ExitCode::FAILURE);
            }
            gate.digest.clone()
        }
        None => bail!(
            "nobody can be asked here; to answer what is shown above, add `--digest {}`, or --yes",
            clean(&gate.digest)
        ),
    };
    let body = json!({ "waitingId": gate.id, "digest": digest, "note": flags.note });
    match context.wait_for(server.post_json(&format!("/api/jobs/{id}/{}", verdict.route()), &body)) {
        Ok(_) => {}
        Err(error) if error.name() == "GateChanged" => {
            eprintln!("flightdeck: {}", about_job(error, id));
            let job = context.wait_for(details(&server, id))?;
            for gate in Gate::all(&job).iter().filter(|now| now.id == gate.id) {
                eprintln!("It shows this now:\n{}", gate.shown(Style::of_errors()));
            }
            return Ok(ExitCode::FAILURE);
        }
        Err(error) => return Err(about_job(error, id)),
    }
    if common.json {
        let approved = verdict == Verdict::Approve;
        print(&json!({ "jobId": id, "waitingId": gate.id, "approved": approved, "digest": digest }).to_string())?;
    } else {
        print(&format!("{} {} of {id}.", verdict.done(), one_line(&gate.id)))?;
    }
    Ok(ExitCode::SUCCESS)
}

async fn details(server: &LocalServer, id: JobId) -> anyhow::Result<Value> {
    server.get(&format!("/api/jobs/{id}")).await.map_err(|error| about_job(error, id))
}

/// The one that is decided about.
fn chosen(job: &Value, id: JobId, wanted: Option<&str>) -> anyhow::Result<Gate> {
    let mut gates = Gate::all(job);
    let headlines = |gates: &[Gate]| gates.iter().map(|gate| ["\n  ", &gate.headline()].concat()).collect::<String>();
    match wanted {
        Some(wanted) => {
            let waiting = headlines(&gates);
            let gate = gates.into_iter().find(|gate| gate.id == wanted);
            gate.ok_or_else(|| {
                let waiting = if waiting.is_empty() { " nothing".to_owned() } else { waiting };
                anyhow::anyhow!("nothing with the id {} waits in {id}; waiting:{waiting}", clean(wanted))
            })
        }
        None if gates.len() == 1 => Ok(gates.remove(0)),
        None if gates.is_empty() => bail!("{id} waits for no decision; its status is {}", value(&job["status"])),
        None => bail!("{id} waits for several decisions; choose one with --gate ID:{}", headlines(&gates)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_gate_needs_no_name_and_several_do() {
        let waiting = |id: &str| json!({ "waitingId": id, "title": "Go?" });
        let job = |ids: &[&str]| json!({ "status": "Running", "waiting": ids.iter().map(|id| waiting(id)).collect::<Vec<_>>() });
        let choose = |ids: &[&str], wanted| {
            let chosen = chosen(&job(ids), JobId::from_number(1), wanted);
            chosen.map(|gate| gate.id).map_err(|error| error.to_string())
        };
        assert_eq!(choose(&["gate-1"], None), Ok("gate-1".to_owned()));
        assert_eq!(choose(&["gate-1", "gate-2"], Some("gate-2")), Ok("gate-2".to_owned()));
        let several = choose(&["gate-1", "gate-2"], None).expect_err("an error");
        assert!(several.ends_with("--gate ID:\n  gate-1: Go?\n  gate-2: Go?"), "{several}");
        let none = choose(&[], None).expect_err("an error");
        assert_eq!(none, "job-1 waits for no decision; its status is Running");
        let unknown = choose(&["gate-1"], Some("gate-9")).expect_err("an error");
        assert_eq!(unknown, "nothing with the id gate-9 waits in job-1; waiting:\n  gate-1: Go?");
    }
}
