"use strict";

// Starts a provider's widget in this page and posts what it gives. Each function makes a widget and answers how it is opened.
const box = document.getElementById("widget");
const button = document.getElementById("open");
const config = JSON.parse(box.dataset.config);

function give(given) {
  const form = document.getElementById("give");
  form.elements.given.value = JSON.stringify(given);
  button.disabled = true;
  form.submit();
}

function say(text) {
  const line = document.getElementById("trouble");
  line.textContent = text;
  line.hidden = false;
}

const left = () => say("Nothing was shared yet. Open it again when you are ready.");

const widgets = {
  plaid() {
    const back = new URLSearchParams(location.search).has("oauth_state_id") ? { receivedRedirectUri: location.href } : {};
    const link = Plaid.create({
      token: config.token,
      ...back,
      onSuccess(token, about) {
        // Signing in again changes no credentials, so there is nothing to give.
        give(box.dataset.reauth ? {} : {
          public_token: token,
          institution: about.institution,
          accounts: (about.accounts || []).map((a) => ({ name: a.name, mask: a.mask })),
        });
      },
      onExit: left,
    });
    return () => link.open();
  },
  teller() {
    const connect = TellerConnect.setup({
      ...config,
      onSuccess(e) {
        give({ access_token: e.accessToken, enrollment_id: e.enrollment.id, user_id: e.user ? e.user.id : "", signatures: e.signatures || [] });
      },
      onExit: left,
      onFailure: () => say("This did not work. Try again, or later."),
    });
    return () => connect.open();
  },
};

try {
  const open = widgets[box.dataset.connect]();
  button.addEventListener("click", open);
  button.disabled = false;
} catch (e) {
  say("The window of the provider could not be loaded. Check that nothing blocks it, and load this page again.");
}
