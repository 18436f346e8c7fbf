//! `flightdeck open`: opens the running server in the browser, logged in, or shows the link as a QR code for a phone.

use std::process::ExitCode;

use anyhow::{Context as _, anyhow, bail};
use serde_json::json;

use super::arguments::{CommonFlags, OpenFlags};
use super::command_context::CommandContext;
use super::output::print;
use super::qr::qr_code;
use super::terminal::text::{clean, path};
use crate::config::Server;

pub(super) fn open(flags: &OpenFlags, common: &CommonFlags) -> anyhow::Result<ExitCode> {
    let context = CommandContext::new(common)?;
    let Some(server) = context.server() else {
        let folder = path(&context.resolved.data_folder);
        bail!("no server is running with the data folder {folder}; start one with `flightdeck`");
    };
    let answer = context.wait_for(server.post("/api/login-code"))?;
    let code = answer["code"].as_str().context("the server returned no login code")?;
    let link_at = |url: &str| format!("{url}/login?code={code}");
    if flags.qr {
        let reach = Reach::of(server.url(), &context.resolved.loaded.config.server, flags.address.as_deref());
        let link = link_at(&reach.url);
        if common.json {
            print(&json!({ "url": reach.url, "loginUrl": link, "onlyThisMachine": reach.is_local }).to_string())?;
            return Ok(ExitCode::SUCCESS);
        }
        print(&format!("{}\n{link}", qr_code(&link)?))?;
        if reach.is_local {
            eprintln!(
                "This server can be reached from this machine only, so a phone cannot open the link. Reach it through a TLS \
                 proxy or a private network such as Tailscale, add that name to server.allowed_hosts, and run \
                 `flightdeck open --qr --address https://NAME`."
            );
        }
        return Ok(ExitCode::SUCCESS);
    }
    let link = link_at(server.url());
    if common.json {
        print(&json!({ "url": server.url(), "loginUrl": link }).to_string())?;
    } else {
        print(&link)?;
    }
    if !flags.print && !common.json {
        // Its error repeats the link, which is a secret, and the exit status as Rust writes it.
        open::that_detached(&link).map_err(|_| anyhow!("could not start a browser; open the link above yourself"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Where others reach the server.
#[derive(Debug, PartialEq, Eq)]
struct Reach {
    url: String,
    is_local: bool,
}

impl Reach {
    /// The address that a person names; else the first allowed host behind a proxy; else the server's own.
    fn of(own_url: &str, server: &Server, address: Option<&str>) -> Self {
        let named = address.map(|address| {
            let address = clean(address.trim_end_matches('/'));
            if address.contains("://") { address } else { format!("https://{address}") }
        });
        let proxied =
            || server.allowed_hosts.first().filter(|_| server.behind_proxy).map(|host| format!("https://{host}"));
        if let Some(url) = named.or_else(proxied) {
            return Self { url, is_local: false };
        }
        let is_local = server.address().ok().flatten().is_none_or(|address| address.is_loopback());
        Self { url: own_url.to_owned(), is_local }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phone_gets_an_address_that_it_can_reach_if_there_is_one() {
        let own = "http://localhost:8888";
        let reach = |url: &str, is_local| Reach { url: url.to_owned(), is_local };
        let mut server = Server::default();
        assert_eq!(Reach::of(own, &server, None), reach(own, true));
        assert_eq!(Reach::of(own, &server, Some("deck.example/")), reach("https://deck.example", false));
        server.allowed_hosts = vec!["deck.example".to_owned()];
        assert_eq!(Reach::of(own, &server, None), reach(own, true), "without a proxy nobody else gets there");
        server.behind_proxy = true;
        assert_eq!(Reach::of(own, &server, None), reach("https://deck.example", false));
        server.allowed_hosts.clear();
        server.bind = "10.0.0.5".to_owned();
        assert_eq!(Reach::of("http://10.0.0.5:8888", &server, None), reach("http://10.0.0.5:8888", false));
    }
}
