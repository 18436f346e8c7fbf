//! A link as a QR code in a terminal.

use anyhow::Context as _;
use qrcode::render::unicode::Dense1x2;
use qrcode::{EcLevel, QrCode};

/// The code in half blocks, dark on light on a terminal with a dark background.
pub(super) fn qr_code(link: &str) -> anyhow::Result<String> {
    let code = QrCode::with_error_correction_level(link, EcLevel::L).context("the link is too long for a QR code")?;
    // Terminals are mostly dark: the light modules are drawn, the dark ones are left empty.
    Ok(code.render::<Dense1x2>().dark_color(Dense1x2::Light).light_color(Dense1x2::Dark).quiet_zone(true).build())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_becomes_a_square_of_half_blocks() {
        let code = qr_code("http://localhost:8888/login?code=fdl_0123456789").expect("a code");
        let lines: Vec<&str> = code.lines().collect();
        let width = lines[0].chars().count();
        assert!(lines.iter().all(|line| line.chars().count() == width), "{code}");
        assert!(lines.len() * 2 >= width && lines.len() * 2 <= width + 1, "{} lines of {width}", lines.len());
        assert!(code.chars().all(|letter| " ▀▄█\n".contains(letter)), "{code}");
    }
}
