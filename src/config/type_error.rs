//! What is wrong with the type of a value, in words that do not presume Rust.

/// Rewrites a message of serde, such as `invalid type: string "a", expected u16`. Others stay as they are.
pub(super) fn in_words(message: &str) -> String {
    let Some((found, expected)) = split(message) else { return message.to_owned() };
    format!("expected {}, got {}", expected_words(expected), found_words(found))
}

fn split(message: &str) -> Option<(&str, &str)> {
    let rest = message.strip_prefix("invalid type: ").or_else(|| message.strip_prefix("invalid value: "))?;
    rest.rsplit_once(", expected ")
}

fn expected_words(expected: &str) -> &str {
    match expected {
        "u8" => "a whole number from 0 to 255",
        "u16" => "a whole number from 0 to 65535",
        "u32" => "a whole number from 0 to 4294967295",
        "u64" | "usize" => "a whole number, 0 or more",
        "i32" | "i64" => "a whole number",
        "f32" | "f64" => "a number",
        "a boolean" => "true or false",
        "a string" | "a path string" => "a text",
        "a sequence" => "a list",
        "a map" => "a table",
        other => other,
    }
}

fn found_words(found: &str) -> String {
    if let Some(text) = found.strip_prefix("string ") {
        return format!("the text {text}");
    }
    let quoted = ["integer ", "floating point ", "boolean "].iter().find_map(|kind| found.strip_prefix(kind));
    match (quoted, found) {
        (Some(value), _) => value.trim_matches('`').to_owned(),
        (None, "map") => "a table".to_owned(),
        (None, "sequence") => "a list".to_owned(),
        (None, other) => other.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::in_words;

    #[test]
    fn types_are_named_as_people_name_them() {
        for (message, words) in [
            (
                "invalid type: string \"abc\", expected u16",
                "expected a whole number from 0 to 65535, got the text \"abc\"",
            ),
            ("invalid value: integer `70000`, expected u16", "expected a whole number from 0 to 65535, got 70000"),
            (
                "invalid value: integer `5000000000`, expected u32",
                "expected a whole number from 0 to 4294967295, got 5000000000",
            ),
            ("invalid value: integer `-1`, expected usize", "expected a whole number, 0 or more, got -1"),
            (
                "invalid type: string \"a, expected b\", expected a boolean",
                "expected true or false, got the text \"a, expected b\"",
            ),
            ("invalid type: sequence, expected a string", "expected a text, got a list"),
            ("\"5\" is not a duration", "\"5\" is not a duration"),
        ] {
            assert_eq!(in_words(message), words);
        }
    }
}
