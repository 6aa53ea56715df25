// Light or dark: as the system is set, until the user switches.

const THEME_KEY = "clawperator-theme";

/** The theme that was chosen, or null. */
function chosenTheme() {
  try {
    return localStorage.getItem(THEME_KEY);
  } catch {
    return null; // a frame that may keep nothing
  }
}

/** Whether the page is dark now. */
export function isDark() {
  const set = document.documentElement.dataset.theme;
  return set ? set === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

/** Shows the theme that was chosen before. */
export function startTheme() {
  const chosen = chosenTheme();
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
}

/** Switches to the other theme, and remembers that where it can. */
export function switchTheme() {
  const theme = isDark() ? "light" : "dark";
  document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem(THEME_KEY, theme);
  } catch { /* it holds until the page is closed */ }
  document.dispatchEvent(new CustomEvent("themechange"));
  return theme;
}
