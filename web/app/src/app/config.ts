import { type ApplicationConfig, inject, provideBrowserGlobalErrorListeners } from '@angular/core';
import {
  provideRouter,
  TitleStrategy,
  withComponentInputBinding,
  withNavigationErrorHandler,
  withRouterConfig,
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
      // The handler has said it: nobody waits for a link's promise, and the console is for the rest.
      withRouterConfig({ resolveNavigationPromiseOnError: true }),
    ),
    { provide: TitleStrategy, useExisting: PageTitle },
  ],
};
