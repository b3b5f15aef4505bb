import { inject } from '@angular/core';
import type { Client } from '@evergrid/client';
import { Session } from './session';

/** The connection of whoever is logged in: for all that lives inside the shell. */
export function sessionClient(): Client {
  const client = inject(Session).client();
  if (!client) throw new Error('Nobody is logged in, so this part of the page should not be here.');
  return client;
}
