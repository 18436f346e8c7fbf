//! A prompt from arguments, files and standard input.

use std::io::{IsTerminal as _, Read as _};
use std::path::Path;

use anyhow::{Context as _, bail};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::{Value, json};

use super::super::terminal::text::path;
use super::arguments::RunFlags;
use crate::client::Prompt;

/// The prompt: the arguments, then text files, then standard input if it is piped.
pub(super) fn prompt(flags: &RunFlags, start: &Path) -> anyhow::Result<Prompt> {
    let mut prompt = Prompt::default();
    let mut parts = vec![flags.prompt.join(" ")];
    let mut reads_input = true;
    for file in &flags.files {
        if file.as_os_str() == "-" {
            parts.push(standard_input()?);
            reads_input = false;
            continue;
        }
        let data = std::fs::read(start.join(file)).with_context(|| format!("cannot read {}", path(file)))?;
        match String::from_utf8(data) {
            Ok(text) if !text.contains('\0') => parts.push(text),
            Ok(text) => prompt.attachments.push(attachment(file, text.as_bytes())),
            Err(error) => prompt.attachments.push(attachment(file, error.as_bytes())),
        }
    }
    if reads_input && !std::io::stdin().is_terminal() {
        parts.push(standard_input()?);
    }
    let parts: Vec<&str> = parts.iter().map(|part| part.trim_end()).filter(|part| !part.is_empty()).collect();
    prompt.text = parts.join("\n\n");
    if prompt.text.is_empty() && prompt.attachments.is_empty() {
        bail!("the prompt is empty: pass it as arguments, with -f FILE, or on standard input");
    }
    Ok(prompt)
}

fn standard_input() -> anyhow::Result<String> {
    let mut data = Vec::new();
    std::io::stdin().lock().read_to_end(&mut data).context("cannot read standard input")?;
    String::from_utf8(data).ok().context("standard input is not UTF-8 text; attach a file with -f FILE instead")
}

fn attachment(file: &Path, data: &[u8]) -> Value {
    let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy();
    json!({ "name": name, "mime": mime(file), "data": BASE64_STANDARD.encode(data) })
}

fn mime(file: &Path) -> &'static str {
    let extension = file.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    match extension.as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "pdf" => "application/pdf",
        _ => "application/octet-stream",
    }
}
