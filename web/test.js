// Shows that the API answers.
const response = await fetch("api/test");
const { message } = await response.json();
document.body.textContent = message;
