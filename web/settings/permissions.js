// Permissions: modes, rules for all sessions, and what was allowed for good in folders.

import { GROUPS } from "./catalogue.js";
import { FolderRuleList } from "./folderRuleList.js";
import { RulesEditor } from "./rulesEditor.js";
import { group, settingGroup } from "./settingGroup.js";

export function permissionsSection({ store }) {
  const rules = new RulesEditor(store);
  const folders = new FolderRuleList();
  return [
    settingGroup(store, GROUPS.permissions),
    group("Rules for all sessions", "The first rule that covers a tool decides. They follow a session's own rules and come before the permission mode.", rules.element),
    group("Allowed for good in folders", "What you allowed with “Always” for a folder. It holds in sessions that work in exactly that folder.", folders.element),
  ];
}
