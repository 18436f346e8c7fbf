//! The process and its connection.

use std::time::Instant;

use super::{Answers, Assumption, BOTH, Probe, Rig, Seen, SessionPlan, call_of, expect};

pub(super) const ASSUMPTIONS: &[Assumption] = &[
    Assumption {
        id: "client.killed-fails-at-once",
        text: "When the program is killed, its sessions and calls fail at once.",
        why: "A caller must get an error, not wait for its own timeout.",
        capabilities: BOTH,
        check: |rig| Box::pin(killed_fails_at_once(rig)),
    },
    Assumption {
        id: "client.next-one-works",
        text: "After a kill, a new process with the same home answers.",
        why: "The next call must not pay for a crash, such as a lock that was left behind.",
        capabilities: BOTH,
        check: |rig| Box::pin(next_one_works(rig)),
    },
];

/// A session in a process of its own whose tool waits, after the process was killed.
async fn killed<'a>(rig: &'a Rig, home: &std::path::Path) -> Result<Probe<'a>, String> {
    let plan = SessionPlan::with_tool("get_weather");
    let mut probe = Probe::open_at(rig, rig.another_server(home).await?, &plan).await?;
    probe.send(&call_of("get_weather")).await?;
    probe.hook().await?;
    probe.server().kill().await;
    Ok(probe)
}

async fn killed_fails_at_once(rig: &Rig) -> Seen {
    let mut probe = killed(rig, &rig.folder("home")?).await?;
    let began = Instant::now();
    let ended = loop {
        match probe.step().await {
            Ok(_) => {}
            Err(error) => break error,
        }
    };
    let session_took = began.elapsed();
    let began = Instant::now();
    let call_failed = probe.destroy().await.is_err();
    let call_took = began.elapsed();
    let seen = format!(
        "the session ended after {} ms ({ended}); a call failed after {} ms: {call_failed}",
        session_took.as_millis(),
        call_took.as_millis()
    );
    // Far from the timeout of a caller, also on a busy machine.
    let at_once = rig.patience / 2;
    let is_at_once = session_took < at_once && call_took < at_once;
    expect(!probe.server().is_alive() && call_failed && is_at_once, || seen.clone())?;
    Ok(seen)
}

async fn next_one_works(rig: &Rig) -> Seen {
    let home = rig.folder("home")?;
    drop(killed(rig, &home).await?);
    let began = Instant::now();
    let server = rig.another_server(&home).await?;
    let plan = SessionPlan::with_tool("get_weather");
    let outcome = async {
        let mut probe = Probe::open_at(rig, std::sync::Arc::clone(&server), &plan).await?;
        probe.turn("@@plain", Answers::DENY).await?;
        let (_, message) = probe.trace.first("assistant.message")?;
        let bytes = message["content"].as_str().unwrap_or_default().len();
        Ok(format!("a new process answered with {bytes} bytes, {} ms after the kill", began.elapsed().as_millis()))
    };
    let outcome = outcome.await;
    server.end().await;
    outcome
}
