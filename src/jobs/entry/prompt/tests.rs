use proptest::prelude::*;

use super::*;

fn variables(of: &[(&str, &[&str])]) -> BTreeMap<String, Prompt> {
    of.iter().map(|(name, lines)| ((*name).to_owned(), prompt(lines))).collect()
}

fn prompt(lines: &[&str]) -> Prompt {
    lines.iter().map(|line| (*line).to_owned()).collect()
}

fn expanded(of: &[(&str, &[&str])], lines: &[&str], needs: Needs) -> Result<String, Vec<String>> {
    expand_static(&variables(of), "test", &prompt(lines), needs)
        .map_err(|problems| problems.iter().map(ToString::to_string).collect())
}

#[test]
fn a_name_is_letters_in_parts_joined_by_hyphens() {
    for (text, expected) in [
        ("", vec![]),
        ("plain", vec![]),
        ("$", vec![]),
        ("$$", vec![]),
        ("$1", vec![]),
        ("$-a", vec![]),
        ("$a", vec!["a"]),
        ("$$a", vec!["a"]),
        ("$a$b", vec!["a", "b"]),
        ("$reviewers1", vec!["reviewers"]),
        ("$user-input", vec!["user-input"]),
        ("$user-input-", vec!["user-input"]),
        ("$user--input", vec!["user"]),
        ("$user-1", vec!["user"]),
        ("a $b_c é$é $dé", vec!["b", "d"]),
        ("cost: 5$ and $100", vec![]),
    ] {
        assert_eq!(variables_in(text).collect::<Vec<_>>(), expected, "{text}");
    }
}

#[test]
fn static_expansion_joins_lines_and_expands_recursively() {
    for (of, lines, expected) in [
        (&[][..], &["line1", "line2", "line3"][..], "line1\nline2\nline3"),
        (&[("greeting", &["Hello"][..]), ("full", &["$greeting", "World"])], &["$full"], "Hello\nWorld"),
        (&[], &["Say $user-input please"], "Say $user-input please"),
        (&[("reviewers", &["Ann"])], &["$reviewers1 and $reviewers2"], "Ann1 and Ann2"),
        (&[("user-input", &["never"])], &["$user-input"], "$user-input"),
        (&[("a", &["$task-model"])], &["$a $gate-note"], "$task-model $gate-note"),
        (&[("empty", &[""])], &["a$empty", "b"], "a\nb"),
    ] {
        assert_eq!(expanded(of, lines, Needs::Nothing).as_deref(), Ok(expected), "{lines:?}");
    }
}

#[test]
fn every_error_of_static_expansion_says_where() {
    for (of, lines, expected) in [
        (&[][..], &[][..], vec!["test: Prompt is empty."]),
        (&[], &["  ", ""], vec!["test: Prompt is empty."]),
        (&[("a", &[][..])], &["$a"], vec!["test/$a: Prompt is empty."]),
        (&[], &["$unknown-var"], vec!["test: Cannot find prompt variable: $unknown-var."]),
        (
            &[("outer", &["$inner"]), ("inner", &["$missing"])],
            &["$outer"],
            vec!["test/$outer/$inner: Cannot find prompt variable: $missing."],
        ),
        (
            &[("outer", &["$x"])],
            &["$a $outer $b $a"],
            vec![
                "test: Cannot find prompt variable: $a.",
                "test/$outer: Cannot find prompt variable: $x.",
                "test: Cannot find prompt variable: $b.",
            ],
        ),
        (
            &[("price", &["5$"]), ("unit", &["each"])],
            &["$price$unit"],
            vec!["test: Cannot find prompt variable: $each."],
        ),
        (&[("a", &["$a"])], &["$a"], vec!["test/$a: Prompt variables form a cycle: $a → $a."]),
        (
            &[("a", &["$b"]), ("b", &["$c"]), ("c", &["$b"])],
            &["$a"],
            vec!["test/$a/$b/$c: Prompt variables form a cycle: $b → $c → $b."],
        ),
    ] {
        let expected = Err(expected.into_iter().map(str::to_owned).collect());
        assert_eq!(expanded(of, lines, Needs::Nothing), expected, "{lines:?}");
    }
}

#[test]
fn a_condition_mentions_a_boolean_tool() {
    for text in ["call job_boolean_true", "call job_boolean_false", "$answer"] {
        let answer = [("answer", &["job_boolean_true or job_boolean_false"][..])];
        assert!(expanded(&answer, &[text], Needs::BooleanTool).is_ok(), "{text}");
    }
    let expected = "test: Boolean tool (job_boolean_true or job_boolean_false) must be mentioned.".to_owned();
    assert_eq!(expanded(&[], &["Is it so?"], Needs::BooleanTool), Err(vec![expected]));
    assert!(expanded(&[], &["Is it so?"], Needs::Nothing).is_ok());
}

#[test]
fn expansion_that_grows_without_end_is_refused_at_once() {
    // Each variable doubles the next: 2^60 bytes if it were carried out.
    let name = |at: usize| format!("v{}", "x".repeat(at));
    let mut of: BTreeMap<_, _> = (0..60).map(|at| (name(at), vec![format!("${0} ${0}", name(at + 1))])).collect();
    of.insert(name(60), vec!["end".to_owned()]);
    let problems = expand_static(&of, "test", &vec![format!("${}", name(0))], Needs::Nothing).expect_err("too long");
    assert!(problems[0].message.starts_with("Prompt is too long: more than 256 KB"), "{problems:?}");

    of.insert(name(60), vec!["$missing".to_owned()]);
    let problems = expand_static(&of, "test", &vec![format!("${}", name(0))], Needs::Nothing).expect_err("missing");
    assert_eq!(problems.len(), 1);
}

#[test]
fn a_long_chain_of_variables_is_refused() {
    let name = |at: usize| "x".repeat(at + 1);
    let of: BTreeMap<_, _> = (0..1000).map(|at| (name(at), vec![format!("${}", name(at + 1))])).collect();
    let problems = expand_static(&of, "test", &vec!["$x".to_owned()], Needs::Nothing).expect_err("too deep");
    assert_eq!(problems[0].message, "Prompt variables are nested more than 100 deep.");
}

#[test]
fn all_prompts_of_an_entry_together_are_limited() {
    let of = variables(&[]);
    let mut expander = Expander::new(&of);
    let long = vec!["x".repeat(200_000)];
    let refused = (0..200).find_map(|_| expander.expand("test", &long, Needs::Nothing).err()).expect("a limit");
    assert!(refused[0].message.starts_with("Prompts are too long: more than 16 MB"), "{refused:?}");
}

#[test]
fn dynamic_expansion_takes_values_as_they_are() {
    let values = RuntimeVariables {
        user_input: Some("fix $task-model".to_owned()),
        task_model: Some("m".to_owned()),
        reported_document: Some("doc.md".to_owned()),
        reported_true_reason: Some("yes".to_owned()),
        reported_false_reason: Some(String::new()),
        gate_note: None,
    };
    for (text, expected) in [
        ("$user-input", "fix $task-model"),
        ("[$task-model]", "[m]"),
        ("$reported-document: $reported-true-reason", "doc.md: yes"),
        ("$reported-false-reason", MISSING),
        ("$gate-note.", "<MISSING>."),
        ("$other", MISSING),
        ("5$", "5$"),
    ] {
        assert_eq!(expand_dynamic(text, &values), expected, "{text}");
    }
    assert_eq!(expand_known("$task-model: $gate-note$", &values), "m: $gate-note$");
}

proptest! {
    #[test]
    fn pieces_are_the_text(text in "[$a-c1é -]{0,40}") {
        let again: String = pieces(&text).map(|piece| match piece {
            Piece::Text(plain) => plain.to_owned(),
            Piece::Variable(name) => format!("${name}"),
        }).collect();
        prop_assert_eq!(again, text);
    }

    /// Variables `a` to `e` refer to anything, themselves included.
    #[test]
    fn expansion_never_leaves_a_variable_of_the_entry(
        texts in prop::collection::vec(prop::collection::vec("(\\$[a-f]|\\$|\\$user-input|text|1| |-){0,6}", 0..3), 5),
        lines in prop::collection::vec("(\\$[a-f]|\\$|\\$gate-note|text|1| |-){0,6}", 0..3),
    ) {
        let of: BTreeMap<_, _> = ["a", "b", "c", "d", "e"].map(str::to_owned).into_iter().zip(texts).collect();
        match expand_static(&of, "test", &lines, Needs::Nothing) {
            Ok(text) => prop_assert!(variables_in(&text).all(is_runtime_variable), "{text}"),
            Err(problems) => {
                prop_assert!(!problems.is_empty());
                prop_assert!(problems.iter().all(|problem| problem.path.starts_with("test")), "{problems:?}");
            }
        }
    }
}
