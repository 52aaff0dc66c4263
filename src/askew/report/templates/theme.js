// Light, dark, or as the system says: an attribute of <html> that the style sheets follow.

const THEMES = { auto: "Auto", light: "Light", dark: "Dark" };

function startTheme() {
  const key = "askew-theme";
  const apply = (name) => {
    if (name === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = name;
  };
  let chosen = "auto";
  try {
    const kept = localStorage.getItem(key);
    if (Object.hasOwn(THEMES, kept ?? "")) chosen = kept;
  } catch {
    // Without storage every page begins as the system says.
  }
  apply(chosen);
  const place = document.querySelector("[data-theme-switch]") ?? document.querySelector("header.top");
  if (!place) return;
  const choose = (event) => {
    apply(event.target.value);
    try {
      localStorage.setItem(key, event.target.value);
    } catch {
      // It then holds until the page is closed.
    }
  };
  const select = el(
    "select", { id: "theme", autocomplete: "off" },
    ...Object.entries(THEMES).map(([name, title]) => el("option", { value: name }, title)),
  );
  select.value = chosen;
  select.addEventListener("change", choose);
  place.append(el("p", { class: "theme" }, el("label", { for: "theme" }, "Colours"), " ", select));
}
