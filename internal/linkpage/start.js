try {
  const open = widgets[box.dataset.connect]();
  button.addEventListener("click", open);
  button.disabled = false;
} catch (e) {
  say("The provider's window could not be loaded. Check that nothing blocks it, then reload this page.");
}
