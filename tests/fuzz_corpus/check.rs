//! What must hold for any input of a stream reader. Used by the fuzz targets and, over the corpus, by the tests.

use flightdeck::agent::AgentEvent;
use flightdeck::agent::acp::AcpReader;
use flightdeck::agent::copilot::SdkReader;
use flightdeck::agent::headless::{ClaudeReader, CopilotReader};
use flightdeck::agent::transcript::{ProcessEnd, StreamReader, Terminal, judge};
use flightdeck::model::Response;
use flightdeck::session::TranscriptWriter;

/// Reads the input twice and looks at what came of it.
pub fn check(runtime: &str, input: &[u8]) {
    let written = read(runtime, input);
    assert!(written == read(runtime, input), "the same input means the same each time");
    for block in ["Message", "Reasoning", "ToolExecution"] {
        let count = |part: &str| {
            let beginning = format!("{{\"callback\":\"on{part}{block}\"");
            written.iter().filter(|response| response.starts_with(&beginning)).count()
        };
        assert_eq!(count("Start"), count("End"), "every block that begins ends");
    }
    for response in &written {
        assert!(Response::from_json(response).is_some(), "what is written can be read: {response}");
    }
}

fn read(runtime: &str, input: &[u8]) -> Vec<String> {
    match runtime {
        "acp" => messages(input, acp),
        "sdk" => messages(input, sdk),
        _ => stream(runtime, input),
    }
}

/// What an agent says over a connection that stays: there is no end that would have to be judged.
fn messages(input: &[u8], mut read: impl FnMut(&[u8], &mut Vec<AgentEvent>)) -> Vec<String> {
    let (mut scribe, mut events) = (TranscriptWriter::default(), Vec::new());
    read(input, &mut events);
    events.push(AgentEvent::Idle);
    events.into_iter().flat_map(|event| scribe.write(event)).map(|response| response.to_json()).collect()
}

fn acp(input: &[u8], events: &mut Vec<AgentEvent>) {
    for is_copilot in [true, false] {
        let mut reader = AcpReader::new(is_copilot);
        for line in input.split(|byte| *byte == b'\n') {
            reader.read(&String::from_utf8_lossy(line), events);
        }
        events.push(AgentEvent::Idle);
    }
}

fn sdk(input: &[u8], events: &mut Vec<AgentEvent>) {
    // As the stream itself, and each line as what stands in a frame: mutations seldom leave a frame whole.
    SdkReader::default().read_stream(input, events);
    events.push(AgentEvent::Idle);
    let mut reader = SdkReader::default();
    for line in input.split(|byte| *byte == b'\n') {
        reader.read(line.to_vec(), events);
    }
}

fn stream(runtime: &str, input: &[u8]) -> Vec<String> {
    let mut reader: Box<dyn StreamReader> = match runtime {
        "claude" => Box::new(ClaudeReader::new()),
        _ => Box::new(CopilotReader::new()),
    };
    let (mut scribe, mut written, mut events) = (TranscriptWriter::default(), Vec::new(), Vec::new());
    for line in input.split(|byte| *byte == b'\n') {
        reader.read(&String::from_utf8_lossy(line), &mut events);
        written.extend(events.drain(..).flat_map(|event| scribe.write(event)));
    }
    let end = reader.finish(&mut events);
    let failure = judge("The agent", &end, &ProcessEnd::default());
    if failure.is_none() {
        assert_eq!(end.terminal, Terminal::Good, "success only by a good terminal event");
        assert!(end.open_tools.is_empty() && end.failure.is_none() && !end.aborted, "{end:?}");
    }
    events.extend(failure.map(|failure| AgentEvent::TurnFailed { failure }));
    events.push(AgentEvent::Idle);
    written.extend(events.into_iter().flat_map(|event| scribe.write(event)));
    written.iter().map(Response::to_json).collect()
}
