//! The demo's scripts and how a prompt selects one.

use crate::model::{SlashCommand, Usage};

/// The most text that `many` may produce, because the block's end carries all of it in one event.
const MOST_TEXT: usize = 64 * 1024 * 1024;
const DEFAULT_SIZE: usize = 16;
/// The most output that `tool` may produce.
const MOST_OUTPUT: usize = 16 * 1024 * 1024;

/// The most blocks that `blocks` may produce.
const MOST_BLOCKS: usize = 100_000;

/// A script, selected by the first word of the prompt.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Script {
    Hello,
    Help,
    Reason,
    Markdown,
    /// A tool call with this many bytes of output; 0 for a few lines.
    Tool(usize),
    Edit,
    /// A tool call whose output has colours.
    Colours,
    /// This many short blocks of all kinds, at full speed.
    Blocks(usize),
    Permission,
    Question,
    /// Fails with the rest of the prompt in its message.
    Error(String),
    Crash,
    Many(Many),
    /// Reports these usage figures.
    Usage(Usage),
    /// A known script with invalid arguments: answers with the expected usage.
    Misused(String),
    /// Anything else.
    Echo(String),
}

/// `many N [rate] [size]`: N deltas of `size` bytes in one message, `rate` per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Many {
    pub count: usize,
    /// Deltas per second; 0 is full speed.
    pub rate: u32,
    pub size: usize,
}

impl Many {
    /// The text of delta number `index`: its number, filled up to exactly `size` bytes.
    pub fn delta(self, index: usize) -> String {
        let number = index.to_string();
        let digits = self.size.saturating_sub(1);
        let mut text = "0".repeat(digits.saturating_sub(number.len()));
        text.push_str(&number[number.len().saturating_sub(digits)..]);
        text.push(if (index + 1).is_multiple_of(8) { '\n' } else { ' ' });
        text
    }
}

/// What the demo agent lists as its commands; a slash before the first word makes no difference.
const COMMANDS: [(&str, &str, &str); 12] = [
    ("hello", "Says hello", ""),
    ("help", "Lists what the demo can do", ""),
    ("reason", "Thinks before it answers", ""),
    ("markdown", "Answers with headings, lists, tables and code", ""),
    ("tool", "Runs a tool with an output of that many bytes", "[BYTES]"),
    ("edit", "Pretends to change a file", ""),
    ("colours", "Prints the colours of a terminal", ""),
    ("blocks", "Writes many short blocks", "N"),
    ("permission", "Asks for a permission", ""),
    ("question", "Asks a question", ""),
    ("usage", "Reports these figures", "INPUT [OUTPUT] [PREMIUM] [COST] [CREDITS]"),
    ("many", "Streams an answer", "N [RATE] [SIZE]"),
];

/// The commands of the demo agent.
pub(super) fn commands() -> Vec<SlashCommand> {
    let hint = |hint: &str| (!hint.is_empty()).then(|| hint.to_owned());
    let command =
        |(name, description, input)| SlashCommand { hint: hint(input), ..SlashCommand::new(name, Some(description)) };
    COMMANDS.map(command).into()
}

impl Script {
    pub fn of(prompt: &str) -> Self {
        let mut words = prompt.split_whitespace();
        let first = words.next().unwrap_or_default().trim_start_matches('/').to_lowercase();
        let rest: Vec<&str> = words.collect();
        match first.as_str() {
            "hello" => Self::Hello,
            "help" => Self::Help,
            "reason" => Self::Reason,
            "markdown" => Self::Markdown,
            "tool" => match rest.first().map(|word| word.parse::<usize>()) {
                None => Self::Tool(0),
                Some(Ok(size)) if size <= MOST_OUTPUT => Self::Tool(size),
                Some(_) => Self::Misused(format!("`tool [BYTES]`, with BYTES up to {MOST_OUTPUT}")),
            },
            "edit" => Self::Edit,
            "colours" => Self::Colours,
            "blocks" => match rest.first().map(|word| word.parse::<usize>()) {
                Some(Ok(count)) if (1..=MOST_BLOCKS).contains(&count) => Self::Blocks(count),
                _ => Self::Misused(format!("`blocks N`, with N from 1 to {MOST_BLOCKS}")),
            },
            "permission" => Self::Permission,
            "question" => Self::Question,
            "error" => Self::Error(rest.join(" ")),
            "crash" => Self::Crash,
            "usage" => usage(&rest).map_or_else(
                || {
                    Self::Misused(
                        "`usage INPUT [OUTPUT] [PREMIUM] [COST] [CREDITS]`: numbers, or `-` for a figure that is not reported"
                            .to_owned(),
                    )
                },
                Self::Usage,
            ),
            "many" => many(&rest).map_or_else(
                || {
                    Self::Misused(format!(
                        "`many N [RATE] [SIZE]`: integers, N and SIZE at least 1, N times SIZE at most {MOST_TEXT}"
                    ))
                },
                Self::Many,
            ),
            _ => Self::Echo(prompt.to_owned()),
        }
    }
}

fn many(arguments: &[&str]) -> Option<Many> {
    let count: usize = arguments.first()?.parse().ok()?;
    let rate = arguments.get(1).map_or(Some(0), |word| word.parse().ok())?;
    let size: usize = arguments.get(2).map_or(Some(DEFAULT_SIZE), |word| word.parse().ok())?;
    let fits = count >= 1 && size >= 1 && arguments.len() <= 3 && count.checked_mul(size)? <= MOST_TEXT;
    fits.then_some(Many { count, rate, size })
}

fn usage(arguments: &[&str]) -> Option<Usage> {
    let mut usage = Usage { num_turns: Some(1), ..Usage::default() };
    for (position, word) in arguments.iter().enumerate().filter(|(_, word)| **word != "-") {
        match position {
            0 => usage.input_tokens = Some(word.parse().ok()?),
            1 => usage.output_tokens = Some(word.parse().ok()?),
            2 => usage.premium_requests = Some(word.parse().ok()?),
            3 => usage.cost_usd = Some(word.parse().ok()?),
            4 => usage.credits = Some(word.parse().ok()?),
            _ => return None,
        }
    }
    (!arguments.is_empty()).then_some(usage)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_word_chooses_whatever_its_case_and_place() {
        assert_eq!(Script::of("  HELLO there"), Script::Hello);
        assert_eq!(Script::of("error no disk"), Script::Error("no disk".to_owned()));
        assert_eq!(Script::of("/hello"), Script::Hello);
        assert_eq!(Script::of("say hello"), Script::Echo("say hello".to_owned()));
        assert_eq!(Script::of(""), Script::Echo(String::new()));
    }

    #[test]
    fn blocks_takes_a_count_within_bounds() {
        assert_eq!(Script::of("blocks 5"), Script::Blocks(5));
        for wrong in ["blocks", "blocks 0", "blocks x", "blocks 100001"] {
            assert!(matches!(Script::of(wrong), Script::Misused(_)), "{wrong}");
        }
    }

    #[test]
    fn usage_takes_figures_and_dashes() {
        let expected =
            Usage { input_tokens: Some(100), premium_requests: Some(0.5), num_turns: Some(1), ..Usage::default() };
        assert_eq!(Script::of("usage 100 - 0.5"), Script::Usage(expected));
        for wrong in ["usage", "usage x", "usage -1", "usage 1 2 3 4 5 6"] {
            assert!(matches!(Script::of(wrong), Script::Misused(_)), "{wrong}");
        }
    }

    #[test]
    fn many_takes_count_rate_and_size() {
        assert_eq!(Script::of("many 5"), Script::Many(Many { count: 5, rate: 0, size: DEFAULT_SIZE }));
        assert_eq!(Script::of("many 5 10 3"), Script::Many(Many { count: 5, rate: 10, size: 3 }));
        for wrong in
            ["many", "many x", "many 0", "many 1 -1", "many 1 1 0", "many 1 1 1 1", "many 999999999 0 999999999"]
        {
            assert!(matches!(Script::of(wrong), Script::Misused(_)), "{wrong}");
        }
    }

    #[test]
    fn every_delta_has_exactly_its_size() {
        for size in [1, 2, 7, 300, 1_000_000] {
            let many = Many { count: 2000, rate: 0, size };
            for index in [0, 7, 1999] {
                assert_eq!(many.delta(index).len(), size, "{size} {index}");
            }
        }
    }
}
