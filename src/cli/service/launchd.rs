//! An agent of launchd.

use super::definition::Definition;
use super::manager::Step;

pub(super) const LABEL: &str = "dev.flightdeck.server";
pub(super) const FILE: &str = "dev.flightdeck.server.plist";

/// A call of launchctl.
pub(super) fn step(arguments: &[&str]) -> Step {
    Step { program: "launchctl", arguments: arguments.iter().map(|argument| (*argument).to_owned()).collect() }
}

/// The property list. The server is started again only if it failed, so `flightdeck stop` stops it.
pub(super) fn agent(definition: &Definition) -> String {
    let program = definition.program.to_string_lossy().into_owned();
    let words = std::iter::once(program).chain(definition.arguments());
    let words: Vec<String> = words.map(|word| format!("\t\t<string>{}</string>\n", escaped(&word))).collect();
    let words = words.concat();
    let log = escaped(&definition.log.to_string_lossy());
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
         <plist version=\"1.0\">\n<dict>\n\
         \t<key>Label</key>\n\t<string>{LABEL}</string>\n\
         \t<key>ProgramArguments</key>\n\t<array>\n{words}\t</array>\n\
         \t<key>RunAtLoad</key>\n\t<true/>\n\
         \t<key>KeepAlive</key>\n\t<dict>\n\t\t<key>SuccessfulExit</key>\n\t\t<false/>\n\t</dict>\n\
         \t<key>ExitTimeOut</key>\n\t<integer>20</integer>\n\
         \t<key>StandardErrorPath</key>\n\t<string>{log}</string>\n\
         </dict>\n</plist>\n"
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
