try {
  const open = widgets[box.dataset.connect]();
  button.addEventListener("click", open);
  button.disabled = false;
} catch (e) {
  say("Couldn't open the provider's window. Turn off any blocker and reload this page.");
}
