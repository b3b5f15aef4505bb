/** Light, dark, or as the system has it: remembered in this browser. */

export type Theme = 'system' | 'light' | 'dark';

export const THEMES: readonly Theme[] = ['system', 'light', 'dark'];

const PLACE = 'evergrid.theme';

export function chosenTheme(): Theme {
  try {
    return THEMES.find((theme) => theme === localStorage.getItem(PLACE)) ?? 'system';
  } catch {
    return 'system';
  }
}

export function chooseTheme(theme: Theme): void {
  try {
    if (theme === 'system') localStorage.removeItem(PLACE);
    else localStorage.setItem(PLACE, theme);
  } catch {
    // Then it holds for this page alone.
  }
  showTheme(theme);
}

export function showTheme(theme: Theme = chosenTheme()): void {
  const root = document.documentElement;
  if (theme === 'system') delete root.dataset['theme'];
  else root.dataset['theme'] = theme;
}
