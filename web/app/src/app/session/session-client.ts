import { inject } from '@angular/core';
import type { Client } from '@evergrid/client';
import { Session } from './session';

/** The connection of the logged-in user, for components inside the shell. */
export function sessionClient(): Client {
  const client = inject(Session).client();
  if (!client)
    throw new Error('Not logged in: sessionClient() is only available inside the shell.');
  return client;
}
