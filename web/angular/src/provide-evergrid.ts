import {
  DestroyRef,
  InjectionToken,
  inject,
  makeEnvironmentProviders,
  type EnvironmentProviders,
} from '@angular/core';
import { connect, type Client, type ClientOptions } from '@evergrid/client';

/** The app's connection to a gateway. */
export const EVERGRID_CLIENT = new InjectionToken<Client>('EVERGRID_CLIENT');

/**
 * Provides one connection for all `<eg-live-table>`s, to the gateway at `url` (default: the page's own
 * origin). It is opened for the first table and closed with the app.
 */
export function provideEvergrid(options: ClientOptions): EnvironmentProviders {
  const client = (): Client => {
    const connection = connect(options);
    inject(DestroyRef).onDestroy(() => connection.close());
    return connection;
  };
  return makeEnvironmentProviders([{ provide: EVERGRID_CLIENT, useFactory: client }]);
}
