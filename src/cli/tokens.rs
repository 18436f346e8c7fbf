//! `flightdeck tokens`: creates, lists and revokes tokens with scopes.
//!
//! A running server is asked, because it recognises tokens in memory and must know a change at once. Without one, the
//! data folder is locked and its store is changed.

use std::process::ExitCode;

use anyhow::Context as _;
use serde_json::{Value, json};

use super::arguments::{CommonFlags, CreateTokenFlags};
use super::command_context::CommandContext;
use super::output::{print, table};
use crate::http::auth::{RevokeError, ShownNewToken, ShownToken, TokenName, TokenRequest, Tokens};
use crate::model::TokenId;
use crate::session::now;
use crate::store::{DataFolder, Store, StoreError, StoreSettings};

pub(super) fn create(flags: &CreateTokenFlags, common: &CommonFlags) -> anyhow::Result<ExitCode> {
    let context = CommandContext::new(common)?;
    let request =
        TokenRequest { scopes: flags.scopes.iter().copied().collect(), name: flags.name.clone(), life: flags.expires };
    let created = match context.server() {
        Some(server) => {
            let body = json!({
                "scopes": request.scopes,
                "name": request.name.as_ref().map(TokenName::as_str),
                "expires": request.life.to_string(),
            });
            context.wait_for(server.post_json("/api/tokens", &body))?
        }
        None => with_tokens(&context, async |tokens| {
            let now = now();
            Ok::<_, StoreError>(json!(ShownNewToken::new(tokens.create(request, now).await?, now)))
        })??,
    };
    if common.json {
        print(&created.to_string())?;
        return Ok(ExitCode::SUCCESS);
    }
    // Standard output has the secret alone, for `TOKEN=$(flightdeck tokens create …)`.
    print(text(&created["secret"]))?;
    let expiry = match created["expiresAt"].as_str() {
        Some(moment) => format!("expires on {moment}"),
        None => "never expires".to_owned(),
    };
    eprintln!(
        "Created {} ({}); it {expiry}. The token is shown only this once. To revoke it, run `flightdeck tokens revoke {}`.",
        text(&created["id"]),
        scopes(&created),
        text(&created["id"]),
    );
    Ok(ExitCode::SUCCESS)
}

pub(super) fn list(common: &CommonFlags) -> anyhow::Result<ExitCode> {
    let context = CommandContext::new(common)?;
    let listed = match context.get("/api/tokens")? {
        Some(listed) => listed,
        // Asking creates nothing.
        None if !DataFolder::has_database(&context.resolved.data_folder) => json!({ "tokens": [] }),
        None => with_tokens(&context, async |tokens| {
            let (now, stored) = (now(), tokens.list().await?);
            let shown: Vec<ShownToken> = stored.into_iter().map(|token| ShownToken::new(token, now)).collect();
            Ok::<_, StoreError>(json!({ "tokens": shown }))
        })??,
    };
    print(&if common.json { listed.to_string() } else { shown(&listed) })?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn revoke(id: TokenId, common: &CommonFlags) -> anyhow::Result<ExitCode> {
    let context = CommandContext::new(common)?;
    let revoked = match context.server() {
        Some(server) => context.wait_for(server.delete(&format!("/api/tokens/{id}")))?,
        None if !DataFolder::has_database(&context.resolved.data_folder) => {
            return Err(RevokeError::NotFound(id).into());
        }
        None => with_tokens(&context, async |tokens| {
            let now = now();
            Ok::<_, RevokeError>(json!(ShownToken::new(tokens.revoke(id, now).await?, now)))
        })??,
    };
    if common.json {
        print(&revoked.to_string())?;
    } else {
        print(&format!("Revoked {}; it no longer works.", named(&revoked)))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Works on the tokens of the data folder, which no server uses.
fn with_tokens<T>(context: &CommandContext, work: impl AsyncFnOnce(&Tokens) -> T) -> anyhow::Result<T> {
    let folder = DataFolder::lock(&context.resolved.data_folder)?;
    let store = Store::open(&folder, StoreSettings { max_bytes: None })?;
    context.wait_for(async {
        let outcome = match Tokens::load(store.clone()).await {
            Ok(tokens) => Ok(work(&tokens).await),
            Err(error) => Err(error).context("cannot read the tokens"),
        };
        store.close().await;
        outcome
    })
}

fn shown(listed: &Value) -> String {
    let tokens: &[Value] = listed["tokens"].as_array().map_or(&[], Vec::as_slice);
    if tokens.is_empty() {
        return "No tokens. To create one, run `flightdeck tokens create --scope models`.".to_owned();
    }
    let moment = |value: &Value, otherwise: &str| value.as_str().unwrap_or(otherwise).to_owned();
    let row = |token: &Value| {
        vec![
            text(&token["id"]).to_owned(),
            moment(&token["name"], "-"),
            scopes(token),
            text(&token["state"]).to_owned(),
            moment(&token["createdAt"], "-"),
            moment(&token["expiresAt"], "never"),
            moment(&token["lastUsedAt"], "never"),
        ]
    };
    let rows: Vec<Vec<String>> = tokens.iter().map(row).collect();
    table(&["ID", "NAME", "SCOPES", "STATE", "CREATED", "EXPIRES", "LAST USED"], &rows)
}

fn named(token: &Value) -> String {
    match token["name"].as_str() {
        Some(name) => format!("{} ({name})", text(&token["id"])),
        None => text(&token["id"]).to_owned(),
    }
}

fn scopes(token: &Value) -> String {
    let words: &[Value] = token["scopes"].as_array().map_or(&[], Vec::as_slice);
    words.iter().map(text).collect::<Vec<_>>().join(" ")
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::shown;

    #[test]
    fn tokens_are_listed_as_a_table() {
        let token = json!({
            "id": "token-1", "name": null, "scopes": ["models"], "state": "active", "createdAt": "2026-03-01T00:00:00.000Z",
            "expiresAt": null, "lastUsedAt": null, "revokedAt": null,
        });
        let text = shown(&json!({ "tokens": [token] }));
        assert!(text.ends_with("token-1  -     models  active  2026-03-01T00:00:00.000Z  never    never"), "{text}");
        assert!(shown(&json!({ "tokens": [] })).contains("flightdeck tokens create"));
    }
}
