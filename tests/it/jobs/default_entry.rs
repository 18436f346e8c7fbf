//! The jobs that come with Flightdeck and the one of the tutorial, done by the real Copilot in a real git repository.
//! What the model decides is scripted; its tools, the commands that check the work and the commits are real.

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use super::{TestJob, git, of_kind, prompts};
use crate::support::source::project_file;
use crate::support::{CopilotServer, Program};

/// A repository with a program, a test and a commit, and a Copilot that works in it.
struct Repository {
    copilot: CopilotServer,
    folder: PathBuf,
}

impl Repository {
    async fn new(program: Program) -> Self {
        let copilot = CopilotServer::start(program).await;
        let folder = copilot.server.work();
        let package = json!({ "name": "greeter", "type": "module", "scripts": { "test": "node --test" } });
        let test = "import assert from 'node:assert';\nimport { test } from 'node:test';\nimport { greet } from './greeter.js';\n\
                    test('greets', () => assert.equal(greet('you'), 'Hello, you!'));\n";
        for (name, text) in [
            ("package.json", package.to_string().as_str()),
            ("greeter.js", "export const greet = (name) => `Hello, ${name}!`;\n"),
            ("greeter.test.js", test),
            ("CHANGELOG.md", "# Changes\n"),
        ] {
            std::fs::write(folder.join(name), text).expect("written");
        }
        git(&folder, &["init", "-q", "-b", "main"]);
        git(&folder, &["config", "user.name", "Test"]);
        git(&folder, &["config", "user.email", "test@example.com"]);
        git(&folder, &["add", "."]);
        git(&folder, &["commit", "-qm", "Greet people"]);
        Self { copilot, folder }
    }

    /// What the model does when it is asked to do something: the tools of each answer, one answer after the other.
    fn script(&self, prompt: &str, steps: &[Value]) {
        self.copilot.model.on(prompt, &format!("@@steps {}", json!(steps)));
    }

    fn path(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    fn create(&self, name: &str, text: &str) -> Value {
        tool("create", &json!({ "path": self.path(name), "file_text": text }))
    }

    fn edit(&self, name: &str, from: &str, to: &str) -> Value {
        tool("edit", &json!({ "path": self.path(name), "old_str": from, "new_str": to }))
    }

    fn view(&self, name: &str) -> Value {
        tool("view", &json!({ "path": self.path(name) }))
    }

    fn script_reviewers(&self) {
        for area in ["correctness", "tests", "simplicity"] {
            let report = self.create(&format!(".flightdeck/review-{area}.md"), "- greeter.js:1: say goodbye too\n");
            let folder = bash("mkdir -p .flightdeck");
            self.script(&format!("Your area is {area}"), &[bash("git diff HEAD"), folder, report]);
        }
        let review = self.create(".flightdeck/review.md", "Must be fixed: greeter.js:1, say goodbye too.\n");
        self.script("Three reviewers reported", &[review]);
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.join(name)).expect("a file")
    }

    fn git(&self, arguments: &[&str]) -> String {
        let output = Command::new("git").arg("-C").arg(&self.folder).args(arguments).output().expect("git runs");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    async fn start(&self, job: &str, input: &str) -> TestJob {
        let mut body = json!({ "jobName": job });
        if !input.is_empty() {
            body["userInput"] = json!(input);
        }
        TestJob::start_with(&self.copilot.server, body).await
    }
}

fn tool(name: &str, arguments: &Value) -> Value {
    json!([{ "name": name, "arguments": arguments }])
}

fn bash(command: &str) -> Value {
    tool("bash", &json!({ "command": command, "description": "Run it" }))
}

#[tokio::test]
async fn a_feature_is_planned_approved_built_reviewed_and_committed() {
    for program in Program::BOTH {
        let repository = Repository::new(program).await;
        let broken = "export const leave = (name) => `Bye, ${nam}!`;\n";
        let test = "import assert from 'node:assert';\nimport { test } from 'node:test';\nimport { leave } from './leave.js';\n\
                    test('leaves', () => assert.equal(leave('you'), 'Bye, you!'));\n";
        let plan = repository.create(".flightdeck/plan.md", "Say goodbye.\n");
        let folder = bash("mkdir -p .flightdeck");
        repository.script("Plan this change.", &[repository.view("greeter.js"), folder, plan]);
        let revised = repository.edit(".flightdeck/plan.md", "Say goodbye.", "Say goodbye, with a test.");
        repository.script("A person rejected the plan", &[repository.view(".flightdeck/plan.md"), revised]);
        let implementation = [repository.create("leave.js", broken), repository.create("leave.test.js", test)];
        repository.script("Carry out the plan", &implementation);
        // The first time the agent looks and says that all is well.
        repository.script("Build this repository", &[bash("npm run test")]);
        repository.script(
            "The build or a test fails.",
            &[repository.edit("leave.js", "${nam}", "${name}"), bash("npm run test")],
        );
        repository.script_reviewers();
        let yes = tool("job_boolean_true", &json!({ "reason": "no open questions" }));
        repository.script("If it has no open questions", &[repository.view(".flightdeck/review.md"), yes]);
        repository.script(
            "Fix the findings",
            &[repository.edit("CHANGELOG.md", "# Changes\n", "# Changes\n\n- Says goodbye.\n")],
        );
        let add = bash("git add leave.js leave.test.js CHANGELOG.md");
        repository.script("Commit the changes", &[bash("git log"), add, bash("git commit -m 'Say goodbye'")]);

        let job = repository.start("feature", "Say goodbye").await;
        let waiting = job.waits().await;
        assert!(waiting["prompt"].to_string().contains("plan.md"), "{program:?}: {waiting:#}");
        assert_eq!(job.answer("reject", &waiting, Some("test it")).await.status, 200);
        let waiting = job.waits().await;
        assert_eq!(repository.read(".flightdeck/plan.md"), "Say goodbye, with a test.\n", "{program:?}");
        job.approve(&waiting).await;
        job.end_as("Succeeded").await;

        assert_eq!(repository.git(&["log", "--format=%s"]), "Say goodbye\nGreet people\n", "{program:?}");
        assert_eq!(repository.git(&["status", "--porcelain"]), "?? .flightdeck/\n", "{program:?}");
        assert!(repository.read("leave.js").contains("${name}") && repository.read("CHANGELOG.md").contains("goodbye"));
        let log = job.log().await;
        let sent = prompts(&log);
        let asked = |text: &str| sent.iter().filter(|prompt| prompt.contains(text)).count();
        assert_eq!(asked("test it"), 1, "the note reaches the agent");
        assert_eq!(asked("The build or a test fails."), 1, "{program:?}: {sent:#?}");
        let retry = sent.iter().find(|prompt| prompt.contains("The build or a test fails.")).expect("a retry");
        assert!(retry.contains("nam is not defined"), "the agent is told what failed: {retry}");
        let denied: Vec<_> = job.decisions().await.into_iter().filter(|text| text.contains("Denied")).collect();
        assert_eq!(denied, Vec::<String>::new(), "{program:?}: the jobs may do what they ask for");
        assert_eq!(of_kind(&log, "jobFailed"), Vec::<Value>::new());
    }
}

#[tokio::test]
async fn a_question_a_change_a_review_and_a_commit() {
    let repository = Repository::new(Program::Runtime).await;
    // A question changes nothing, whatever the model tries.
    repository.script("Answer this question", &[repository.view("greeter.js"), repository.create("answer.md", "no")]);
    repository.start("ask", "Who is greeted?").await.end_as("Succeeded").await;
    assert_eq!(repository.git(&["status", "--porcelain"]), "");

    repository.script("Make this change", &[repository.edit("greeter.js", "Hello", "Hi")]);
    let adapted = repository.edit("greeter.test.js", "Hello", "Hi");
    repository.script("Build this repository", &[bash("npm run test"), adapted, bash("npm run test")]);
    repository.start("code", "Say Hi").await.end_as("Succeeded").await;
    assert!(repository.read("greeter.js").contains("Hi, "));

    repository.script_reviewers();
    repository.start("review", "").await.end_as("Succeeded").await;
    assert!(repository.read(".flightdeck/review.md").contains("goodbye"));

    let both = bash("git add greeter.js greeter.test.js");
    repository.script("Commit the changes", &[both, bash("git commit -m 'Say Hi'")]);
    repository.start("commit", "").await.end_as("Succeeded").await;
    assert_eq!(repository.git(&["log", "--format=%s"]), "Say Hi\nGreet people\n");
}

#[tokio::test]
async fn a_build_that_stays_broken_fails_the_job_and_what_was_denied_did_not_happen() {
    let repository = Repository::new(Program::Runtime).await;
    repository.script("Make this change", &[repository.edit("greeter.js", "Hello", "Hi"), bash("git push")]);
    repository.script("Build this repository", &[bash("git commit -am 'It works'")]);
    let job = repository.start("code", "Say Hi").await;
    job.end_as("Failed").await;
    assert_eq!(repository.git(&["log", "--format=%s"]), "Greet people\n", "nobody may commit");
    let denied = job.decisions().await.into_iter().filter(|text| text.contains("Denied")).count();
    assert!(denied >= 2, "a person is told: {denied}");
}

#[tokio::test]
async fn the_job_of_the_tutorial() {
    for program in Program::BOTH {
        let repository = Repository::new(program).await;
        let text = project_file("docs/jobs.md");
        let entry = text.split("```json\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
        std::fs::create_dir(repository.folder.join(".flightdeck")).expect("made");
        std::fs::write(repository.folder.join(".flightdeck/jobs.json"), entry).expect("written");
        let http = repository.copilot.server.http();
        let described =
            http.get(&format!("/api/jobs/entry?workingDirectory={}", repository.folder.display())).await.json();
        let trust = json!({ "path": described["path"], "hash": described["hash"] });
        assert_eq!(http.post_json("/api/jobs/trust", &trust).await.status, 200);

        // At first the agent only reads; told that nothing has changed, it writes.
        repository.script("Describe the commits", &[bash("git log")]);
        let written = repository.edit("CHANGELOG.md", "# Changes\n", "# Changes\n\nversion 1.2 greets people.\n");
        repository.script("CHANGELOG.md has not changed.", &[written]);
        let job = repository.start("changelog", "version 1.2").await;
        let waiting = job.waits().await;
        assert!(repository.git(&["diff"]).contains("+version 1.2 greets people."), "{program:?}");
        assert!(waiting["shown"]["changes"].to_string().contains("CHANGELOG.md"), "{waiting:#}");
        job.approve(&waiting).await;
        job.end_as("Succeeded").await;
    }
}
