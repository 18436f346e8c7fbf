// Shows that the API answers.
import { ask } from "./lib/api.js";

const { message } = await ask("api/test");
document.body.textContent = message;
