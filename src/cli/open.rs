//! `flightdeck open`: opens the running server in the browser, logged in.

use std::process::ExitCode;

use anyhow::{Context as _, bail};
use serde_json::json;

use super::arguments::{CommonFlags, OpenFlags, resolve};
use super::output::print;
use crate::http::LocalServer;
use crate::http::auth::ServerToken;
use crate::store::ServerNote;

pub(super) fn open(flags: &OpenFlags, common: &CommonFlags) -> anyhow::Result<ExitCode> {
    let folder = resolve(common, Vec::new())?.data_folder;
    let Some(note) = ServerNote::of_running_server(&folder) else {
        bail!("no server is running with the data folder {}; start one with `flightdeck`", folder.display());
    };
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot start the async runtime")?;
    let server = LocalServer::at(&note.url, ServerToken::read(&folder));
    let answer = runtime.block_on(server.post("/api/login-code"))?;
    let code = answer["code"].as_str().context("the server returned no login code")?;
    let link = format!("{}/login?code={code}", note.url);
    if common.json {
        print(&json!({ "url": note.url, "loginUrl": link }).to_string())?;
    } else {
        print(&link)?;
    }
    if !flags.print && !common.json {
        open::that_detached(&link).context("cannot start a browser; open the link above yourself")?;
    }
    Ok(ExitCode::SUCCESS)
}
