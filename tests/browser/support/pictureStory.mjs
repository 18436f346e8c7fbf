// The small project of the pictures, and what the model says about it.

import { execFileSync } from "node:child_process";
import { cp, mkdir, mkdtemp, realpath, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { agentsFolder } from "./environment.mjs";

export const FIX = "The greeting for nobody in particular is wrong. Find out why and fix it.";
export const PUBLISH = "Publish it";
/** What the steps of the job are asked besides. */
export const STEPS = {
  plan: "Plan the change.",
  check: "Run the checks.",
  review: "Review the change.",
  verdict: "Sum up the reviews.",
};

const bash = (command, description) => ({ name: "bash", arguments: { command, description } });

/** What the model says to each prompt, one answer after each tool call. */
export function answer(project) {
  const file = path.join(project, "src/greeting.mjs");
  const stories = {
    [FIX]: [
      { text: "I look at the code and run the checks first.", tool: { name: "view", arguments: { path: file } } },
      { tool: bash("node check.mjs", "Run the checks") },
      {
        text: "`greeting(\"\")` puts nothing where a name belongs. An empty name should fall back to `world`.",
        tool: { name: "edit", arguments: { path: file, old_str: "  return `Hello, ${name}!`;", new_str: "  const whom = name.trim() || \"world\";\n  return `Hello, ${whom}!`;" } },
      },
      { tool: bash("node check.mjs", "Run the checks again") },
      {
        text: `The greeting is fixed: an empty name is greeted as **world**.

| call | before | now |
|---|---|---|
| \`greeting("Ada")\` | Hello, Ada! | Hello, Ada! |
| \`greeting("")\` | Hello, ! | Hello, world! |

\`\`\`js
export function greeting(name) {
  const whom = name.trim() || "world";
  return \`Hello, \${whom}!\`;
}
\`\`\`

- [x] all checks pass
- [ ] the change is not committed yet
`,
      },
    ],
    [STEPS.plan]: [{ text: "1. Let `greeting` fall back to `world` when the name is empty.\n2. Run `node check.mjs`." }],
    [STEPS.check]: [{ tool: bash("node check.mjs", "Run the checks") }, { text: "All checks pass." }],
    [STEPS.review]: [{ tool: { name: "view", arguments: { path: file } } }, { text: "The change does what was asked, and nothing else." }],
    [STEPS.verdict]: [{ text: "All reviewers agree.\n\n| review | findings |\n|---|---|\n| correctness | none |\n| tests | none |\n| simplicity | none |\n" }],
    [PUBLISH]: [{ text: "I commit the change and push it.", tool: bash('git commit --all --message "Greet the world when nobody is named" && git push origin main', "Commit and push") }, { text: "Done." }],
  };
  return (messages) => {
    const at = messages.findLastIndex(({ role }) => role === "user");
    const text = JSON.stringify(messages[at]?.content ?? "");
    const story = Object.entries(stories).find(([prompt]) => text.includes(prompt))?.[1] ?? [{ text: "Ready." }];
    const step = messages.slice(at).filter(({ role }) => role === "tool").length;
    return story[Math.min(step, story.length - 1)];
  };
}

export async function makeProject() {
  const project = path.join(await realpath(await mkdtemp(path.join(os.tmpdir(), "flightdeck-"))), "greeter");
  await mkdir(path.join(project, "src"), { recursive: true });
  await writeFile(path.join(project, "src/greeting.mjs"), "/** Greets somebody by name. */\nexport function greeting(name) {\n  return `Hello, ${name}!`;\n}\n");
  await writeFile(
    path.join(project, "check.mjs"),
    `import { greeting } from "./src/greeting.mjs";
let failed = 0;
for (const [name, wanted] of [["Ada", "Hello, Ada!"], ["", "Hello, world!"]]) {
  const right = greeting(name) === wanted;
  failed += right ? 0 : 1;
  console.log(\`\${right ? "\\x1b[32mok\\x1b[0m    " : "\\x1b[1;31mFAILED\\x1b[0m"}  greeting(\${JSON.stringify(name)}) gives \${JSON.stringify(greeting(name))}\`);
}
process.exitCode = failed;
`,
  );
  // The pictures show where the agent is, so it is not in the folder of whoever takes them.
  await cp(path.join(agentsFolder, "node_modules/@github/copilot-linux-x64"), path.join(project, "../bin"), { recursive: true });
  const git = (...words) => execFileSync("git", ["-c", "user.name=Test", "-c", "user.email=test@example.com", ...words], { cwd: project, stdio: "pipe" });
  git("init", "--quiet", "--initial-branch=main");
  git("add", ".");
  git("commit", "--quiet", "--message=Greet people");
  return project;
}

/** What a server needs so that the real Copilot asks a model of the pictures, with its own folder beside the project. */
export function copilotEnvironment(project, model) {
  return {
    COPILOT_CLI_PATH: path.join(project, "../bin/copilot"),
    COPILOT_CACHE_HOME: path.join(agentsFolder, "cache"),
    COPILOT_HOME: path.join(project, "../copilot"),
    COPILOT_PROVIDER_BASE_URL: model.url,
    COPILOT_PROVIDER_API_KEY: "sk-scripted",
    COPILOT_MODEL: "scripted-model",
    COPILOT_OFFLINE: "true",
    COPILOT_AUTO_UPDATE: "false",
  };
}
