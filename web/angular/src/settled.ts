import { effect, signal, untracked, type Signal } from '@angular/core';
import type { TableStatus } from '@evergrid/client';

/** A wait that is shorter is none: nobody wants a word about it to flicker by. */
const PASSING_MS = 350;

/** A status without waits that are over at once, as after every click that asks for other rows. */
export function settled(status: Signal<TableStatus>): Signal<TableStatus> {
  const shown = signal(untracked(status));
  effect((onCleanup) => {
    const next = status();
    const passing = next.state === 'loading' || next.state === 'connecting';
    if (!passing || untracked(shown).state !== 'live') {
      shown.set(next);
      return;
    }
    const timer = setTimeout(() => shown.set(next), PASSING_MS);
    onCleanup(() => clearTimeout(timer));
  });
  return shown;
}
