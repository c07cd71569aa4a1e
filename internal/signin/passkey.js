// Passkeys: fetches options from the server, passes them to the browser and posts the browser's response. Buttons show only if the browser supports this.
"use strict";

async function post(path, body) {
  const answer = await fetch(path, {
    method: "POST", credentials: "same-origin",
    headers: { "Content-Type": "application/json" }, body: body === undefined ? undefined : JSON.stringify(body),
  });
  const value = await answer.json();
  if (!answer.ok) throw new Error(value.error.message);
  return value;
}

async function ceremony(path, ask, query) {
  const fault = document.getElementById("fault");
  fault.hidden = true;
  try {
    const begun = await post(path + "/begin");
    const credential = await ask(begun.options);
    const done = await post(path + "/finish?ticket=" + encodeURIComponent(begun.ticket) + query, credential.toJSON());
    location.assign(done.next);
  } catch (e) {
    if (e.name === "NotAllowedError" || e.name === "AbortError") return; // the person cancelled
    fault.textContent = e.message;
    fault.hidden = false;
  }
}

const able = window.PublicKeyCredential && PublicKeyCredential.parseCreationOptionsFromJSON && PublicKeyCredential.parseRequestOptionsFromJSON;
const signIn = document.getElementById("passkey");
const add = document.getElementById("new-passkey");
if (able && signIn) {
  signIn.hidden = false;
  signIn.addEventListener("click", () => ceremony("/login/passkey",
    (options) => navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) }),
    "&next=" + encodeURIComponent(signIn.dataset.next)));
}
if (able && add) {
  add.hidden = false;
  add.addEventListener("click", () => ceremony("/account/passkeys",
    (options) => navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) }), ""));
}
const join = document.getElementById("join-passkey");
if (able && join) {
  join.hidden = false;
  join.addEventListener("click", () => ceremony(location.pathname + "/passkey",
    (options) => navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) }), ""));
}
