// The overview: what all sessions are doing, as the server tells it.

const statusLine = document.getElementById("status");
const table = document.getElementById("sessions");
const rows = table.tBodies[0];
const empty = document.getElementById("no-sessions");
const rowOf = new Map();

function showSession({ sessionId, title, state, detail, pending }) {
  const gone = state === null || state === "closed";
  if (gone) {
    rowOf.get(sessionId)?.remove();
    rowOf.delete(sessionId);
  } else {
    let row = rowOf.get(sessionId);
    if (!row) {
      row = rows.insertRow(0);
      for (let cell = 0; cell < 4; cell += 1) row.insertCell();
      rowOf.set(sessionId, row);
    }
    const [name, doing, about, waits] = row.cells;
    name.textContent = sessionId;
    doing.textContent = state;
    doing.className = state;
    doing.title = detail ?? "";
    about.textContent = title ?? "";
    waits.textContent = pending.map((request) => request.headline).join("; ");
  }
  const waiting = [...rows.rows].filter((row) => row.cells[1].textContent === "waiting").length;
  document.title = waiting > 0 ? `(${waiting}) Flightdeck` : "Flightdeck";
  table.hidden = rowOf.size === 0;
  empty.hidden = rowOf.size > 0;
}

function watch() {
  const stream = new EventSource("api/events");
  stream.onopen = () => {
    rowOf.forEach((row) => row.remove());
    rowOf.clear();
    table.hidden = true;
    empty.hidden = false;
    statusLine.textContent = location.host;
    statusLine.classList.remove("lost");
  };
  stream.onmessage = (event) => showSession(JSON.parse(event.data));
  stream.onerror = () => {
    statusLine.textContent = "The server does not answer; trying again …";
    statusLine.classList.add("lost");
  };
}

async function showRuntimes() {
  const { runtimes } = await (await fetch("api/runtimes")).json();
  const list = document.getElementById("runtimes");
  for (const { name, ready, hint } of runtimes) {
    const term = document.createElement("dt");
    term.textContent = ready ? name : `${name} (not ready)`;
    const description = document.createElement("dd");
    description.textContent = hint;
    list.append(term, description);
  }
}

document.getElementById("commands").textContent = [
  `alias deck='curl -s -H "Authorization: Bearer $TOKEN"'`,
  `deck -d "$PWD" ${location.origin}/api/copilot/session/start/demo`,
  `deck -d help ${location.origin}/api/copilot/session/session-1/query`,
  `deck -N ${location.origin}/api/copilot/session/session-1/events`,
].join("\n");
watch();
await showRuntimes();
