// Logs in with the code in the address or the token in the form. The server sets a cookie and returns a secret, which
// is kept in this origin's storage: other ports of the host get the cookie too, but never the secret.

// Nothing but this script is served before the login, so it cannot use lib/storage.js.
const KEY = "flightdeck.secret";
const form = document.getElementById("login-form");
const problem = document.getElementById("login-problem");

form.addEventListener("submit", (event) => {
  event.preventDefault();
  logIn(new URLSearchParams(new FormData(form)));
});

const code = new URLSearchParams(location.search).get("code");
if (code) {
  const { next } = Object.fromEntries(new FormData(form));
  logIn(new URLSearchParams({ code, next }), () => continueIfLoggedIn(next));
}

/** `otherwise` may log in another way before the problem is shown. */
async function logIn(fields, otherwise = async () => false) {
  problem.hidden = true;
  try {
    const answer = await fetch("/login", { method: "POST", body: fields });
    const reply = await answer.json();
    if (answer.ok) finishLogin(reply);
    else if (!(await otherwise())) showProblem(reply.message);
  } catch {
    showProblem("The server did not respond. Check that Flightdeck is running, then try again.");
  }
}

/** Handles a used link in a browser that is already logged in. */
async function continueIfLoggedIn(next) {
  const secret = keptSecret();
  if (!secret) return false;
  const answer = await fetch("/api/test", { headers: { "Flightdeck-Secret": secret } });
  if (answer.ok) location.replace(next);
  return answer.ok;
}

function finishLogin({ secret, next }) {
  try {
    localStorage.setItem(KEY, secret);
    location.replace(next);
  } catch {
    continueWithout(secret, new URL(next, location.href));
  }
}

/** Without storage, the next page takes the secret from the fragment, which is never sent to a server, and removes it. */
function continueWithout(secret, next) {
  const isHere = next.pathname === location.pathname && next.search === location.search;
  next.hash = `secret=${secret}`;
  if (!isHere) location.replace(next);
  else {
    // An address that differs in its fragment only would load nothing.
    history.replaceState(null, "", next);
    location.reload();
  }
}

function keptSecret() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function showProblem(text) {
  problem.textContent = text;
  problem.hidden = false;
}
