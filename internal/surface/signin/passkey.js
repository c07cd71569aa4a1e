// Passkeys: fetches options from the server, passes them to the browser and posts the browser's response. Buttons show only
// if the browser supports passkeys and the page was opened at the address that they belong to: plain http on a LAN and
// addresses in numbers have none.
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
const get = (options) => navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });
const create = (options) => navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) });

function offer(id, path, ask, query) {
  const button = document.getElementById(id);
  if (!able || !button || new URL(button.dataset.origin).origin !== location.origin) return;
  button.closest(".passkey").hidden = false;
  button.addEventListener("click", () => ceremony(path, ask, query(button)));
}

offer("passkey", "/login/passkey", get, (button) => "&next=" + encodeURIComponent(button.dataset.next));
offer("new-passkey", "/account/passkeys", create, () => "");
offer("join-passkey", location.pathname + "/passkey", create, () => "");
