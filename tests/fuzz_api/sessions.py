"""Fills a new server with sessions for generated requests: some that have said something, one that asks, one that is closed."""

import json
import sys
import urllib.request

url, folder = sys.argv[1:]


def post(path, body):
    request = urllib.request.Request(url + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as reply:
        return json.load(reply)


def session():
    created = post("/api/copilot/session", {"runtime": "demo", "permissionMode": "ask", "workingDirectory": folder})
    return "/api/copilot/session/" + created["sessionId"]


for prompt in ["hello", "reason", "tool 200000", "usage 10 20 1 0.5 2", "error no"]:
    post(session() + "/prompt", {"text": prompt, "wait": True})
for prompt in ["permission", "question"]:
    post(session() + "/prompt", {"text": prompt})
post(session() + "/stop", {})
