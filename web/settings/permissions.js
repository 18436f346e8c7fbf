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
    group("Rules for all sessions", "The first rule that matches a tool decides. These rules apply after a session's own rules and before the permission mode.", rules.element),
    group("Always allowed in folders", "What you chose to always allow in a folder. It applies to sessions in exactly that folder.", folders.element),
  ];
}
