import { Component, signal } from '@angular/core';
import { chooseTheme, chosenTheme, THEMES, type Theme } from './theme';

const ICONS: Readonly<Record<Theme, string>> = {
  system: 'M2.5 3h11v7.5h-11zM6 13.5h4M8 10.5v3',
  light:
    'M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1 1M12 12l1 1M3 13l1-1M12 4l1-1',
  dark: 'M13.5 9.8A6 6 0 0 1 6.2 2.5a6 6 0 1 0 7.3 7.3z',
};

/** Switches between the system's theme, light and dark. */
@Component({
  selector: 'app-theme-switch',
  template: `
    <fieldset>
      <legend class="app-visually-hidden">Theme</legend>
      @for (theme of themes; track theme) {
        <label [title]="'Theme: ' + theme">
          <input
            type="radio"
            name="theme"
            class="app-visually-hidden"
            [value]="theme"
            [checked]="theme === chosen()"
            (change)="choose(theme)"
          />
          <svg viewBox="0 0 16 16" width="15" height="15" aria-hidden="true">
            <path [attr.d]="icons[theme]" />
          </svg>
          <span class="app-visually-hidden">{{ theme }}</span>
        </label>
      }
    </fieldset>
  `,
  styleUrl: './theme-switch.css',
})
export class ThemeSwitch {
  protected readonly themes = THEMES;
  protected readonly icons = ICONS;
  protected readonly chosen = signal(chosenTheme());

  protected choose(theme: Theme): void {
    this.chosen.set(theme);
    chooseTheme(theme);
  }
}
