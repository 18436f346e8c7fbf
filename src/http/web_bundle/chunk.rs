//! Modules as one script: each is a function that runs when it is used first.

use super::module::Module;
use super::source_map::SourceMap;

/// Keeps the modules: `$use` runs one that is here, `$load` one that may still have to come.
const REGISTRY: &str = "\
const $modules = new Map();
const $exports = new Map();
function $use(name) {
  if (!$exports.has(name)) $exports.set(name, $modules.get(name)());
  return $exports.get(name);
}
";

const LOAD_NOTHING: &str = "\
async function $load(name) {
  return $use(name);
}
";

/// A browser remembers an address that it could not load, so the next attempt has another one.
const LOAD_LATER: &str = "\
let $failures = 0;
let $rest = null;
async function $load(name) {
  if (!$modules.has(name)) {
    $rest ??= import(`./{{later}}${$failures === 0 ? \"\" : `?attempt=${$failures}`}`)
      .then(({ define }) => define($modules, $use, $load))
      .catch((error) => {
        $failures += 1;
        $rest = null;
        throw error;
      });
    await $rest;
  }
  return $use(name);
}
";

/// The file of what a page runs at first, and its map.
pub(super) fn first(entry: &str, modules: &[Module<'_>], has_later: bool) -> [(String, String); 2] {
    let load = if has_later { LOAD_LATER.replace("{{later}}", &later_name(entry)) } else { LOAD_NOTHING.to_owned() };
    let mut script = Script::default();
    script.add(REGISTRY);
    script.add(&load);
    for module in modules {
        script.add_module(module, module.name == entry);
    }
    // What the page itself contains is painted before it is filled (see `web/early.js`).
    script.add("await globalThis.flightdeckFirstFrame;\n");
    script.add(&format!("await $use({entry:?});\n"));
    script.files(bundle_name(entry))
}

/// The file of what a page may run later, and its map.
pub(super) fn later(entry: &str, modules: &[Module<'_>]) -> [(String, String); 2] {
    let mut script = Script::default();
    script.add("export function define($modules, $use, $load) {\n");
    for module in modules {
        script.add_module(module, false);
    }
    script.add("}\n");
    script.files(later_name(entry))
}

/// The name of the file that a page loads instead of a module.
pub(super) fn bundle_name(entry: &str) -> String {
    format!("{}.bundle.js", entry.trim_end_matches(".js"))
}

fn later_name(entry: &str) -> String {
    format!("{}.later.js", entry.trim_end_matches(".js"))
}

#[derive(Default)]
struct Script {
    text: String,
    map: SourceMap,
}

impl Script {
    /// Adds lines that are in no source.
    fn add(&mut self, lines: &str) {
        self.text.push_str(lines);
        self.map.skip(lines.lines().count());
    }

    fn add_module(&mut self, module: &Module<'_>, waits: bool) {
        let function = if waits { "async () =>" } else { "() =>" };
        self.add(&format!("$modules.set({:?}, {function} {{\n", module.name));
        self.map.begin(module.name);
        for line in &module.lines {
            self.text.push_str(line);
            self.text.push('\n');
            self.map.line();
        }
        self.add(&format!("return {{ {} }};\n}});\n", module.exports.join(", ")));
    }

    fn files(mut self, name: String) -> [(String, String); 2] {
        let map_name = format!("{name}.map");
        self.text.extend(["//# sourceMappingURL=", map_name.as_str(), "\n"]);
        let map = self.map.json(&name);
        [(name, self.text), (map_name, map)]
    }
}
