import { bootstrapApplication } from '@angular/platform-browser';
import { App } from './app/app';
import { appConfig } from './app/app-config';
import { takeKey } from './app/session/stored-key';
import { showTheme } from './app/shell/theme';

// Before any other code can read, send or store the URL.
takeKey(window);
// Pasting a URL with a key into this tab does not load a new page.
addEventListener('hashchange', () => {
  if (takeKey(window)) location.reload();
});

showTheme();
bootstrapApplication(App, appConfig).catch((error: unknown) => console.error(error));
