import { type ApplicationConfig, inject, provideBrowserGlobalErrorListeners } from '@angular/core';
import {
  provideRouter,
  TitleStrategy,
  withComponentInputBinding,
  withNavigationErrorHandler,
  withRouterConfig,
} from '@angular/router';
import { routes } from './routes';
import { PageTitle } from './shell/page-title';
import { LoadErrors } from './shell/load-error';

export const appConfig: ApplicationConfig = {
  providers: [
    provideBrowserGlobalErrorListeners(),
    provideRouter(
      routes,
      withComponentInputBinding({ queryParams: false }),
      withNavigationErrorHandler(() => inject(LoadErrors).report()),
      // The handler has reported the error; it must not be reported again as an unhandled rejection.
      withRouterConfig({ resolveNavigationPromiseOnError: true }),
    ),
    { provide: TitleStrategy, useExisting: PageTitle },
  ],
};
