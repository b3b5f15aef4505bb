import { type ApplicationConfig, inject, provideBrowserGlobalErrorListeners } from '@angular/core';
import {
  provideRouter,
  TitleStrategy,
  withComponentInputBinding,
  withNavigationErrorHandler,
} from '@angular/router';
import { routes } from './routes';
import { PageTitle } from './shell/title';
import { Trouble } from './shell/trouble';

export const appConfig: ApplicationConfig = {
  providers: [
    provideBrowserGlobalErrorListeners(),
    provideRouter(
      routes,
      withComponentInputBinding({ queryParams: false }),
      withNavigationErrorHandler(() => inject(Trouble).note()),
    ),
    { provide: TitleStrategy, useExisting: PageTitle },
  ],
};
