import {
  DestroyRef,
  InjectionToken,
  inject,
  makeEnvironmentProviders,
  type EnvironmentProviders,
} from '@angular/core';
import { connect, type Client, type ClientOptions } from '@evergrid/client';

/** The page's one connection to a gateway. */
export const EVERGRID_CLIENT = new InjectionToken<Client>('EVERGRID_CLIENT');

/**
 * Gives every `<eg-live-table>` the same connection to the gateway at `url` (the page's own origin
 * when left out). It is opened when the first table wants it, and closed with the app.
 */
export function provideEvergrid(options: ClientOptions): EnvironmentProviders {
  const client = (): Client => {
    const made = connect(options);
    inject(DestroyRef).onDestroy(() => made.close());
    return made;
  };
  return makeEnvironmentProviders([{ provide: EVERGRID_CLIENT, useFactory: client }]);
}
