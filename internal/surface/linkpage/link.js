"use strict";

// Starts a provider's widget in this page and posts its result.
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

const left = () => say("You haven't shared any accounts yet. Try again when you're ready.");

// Each provider adds a function that creates its widget and returns a function that opens it.
const widgets = {};
