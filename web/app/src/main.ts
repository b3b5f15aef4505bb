import { bootstrapApplication } from '@angular/platform-browser';
import { App } from './app/app';
import { appConfig } from './app/config';
import { takeKey } from './app/session/key';
import { showTheme } from './app/shell/theme';

// First of all, before any other code could read, send or remember the address.
takeKey(window);
// Somebody pastes an address with a key over the one of this tab: that is no new page.
addEventListener('hashchange', () => {
  if (takeKey(window)) location.reload();
});

showTheme();
bootstrapApplication(App, appConfig).catch((error: unknown) => console.error(error));
