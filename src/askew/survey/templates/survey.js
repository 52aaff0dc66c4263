"use strict";
// Keys choose and save. Without this script the form works as any other.
(() => {
  const form = document.querySelector("form[data-keys]");
  const sides = { 1: "left", 2: "right", 3: "none", ArrowLeft: "left", ArrowRight: "right" };
  document.addEventListener("keydown", (event) => {
    const at = event.target;
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (at.closest("textarea, input[type=text], button, a, summary")) return;
    if (event.key === "Enter") {
      event.preventDefault();
      form.requestSubmit();
      return;
    }
    // Radio buttons move by arrow keys on their own.
    if (event.key.startsWith("Arrow") && at.closest("input")) return;
    const side = sides[event.key];
    const radio = side && form.querySelector(`input[name=choice][value=${side}]`);
    if (!radio) return;
    event.preventDefault();
    radio.checked = true;
    radio.focus();
  });
  const errors = document.getElementById("errors");
  if (errors) errors.focus();
})();
