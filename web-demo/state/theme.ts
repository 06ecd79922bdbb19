/**
 * Light, dark, or as the device says.
 *
 * @module
 */

/** Light, dark, or as the device says. */
export type Theme = "light" | "dark" | "device";

const THEME = "stook.theme";

/** What was chosen on this device. */
export function chosenTheme(): Theme {
  const stored = localStorage.getItem(THEME);
  return stored === "light" || stored === "dark" ? stored : "device";
}

/** Shows the page in what was chosen. */
export function applyTheme(): void {
  const theme = chosenTheme();
  if (theme === "device") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}

/** Chooses. */
export function chooseTheme(theme: Theme): void {
  localStorage.setItem(THEME, theme);
  applyTheme();
}
