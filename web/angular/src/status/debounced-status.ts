import { effect, signal, untracked, type Signal } from '@angular/core';
import type { TableStatus } from '@evergrid/client';

/** Shorter waits are not shown, because the status would flicker. */
const DELAY_MS = 350;

/** A status that shows loading only if it lasts, and not after every click that loads rows. */
export function debouncedStatus(status: Signal<TableStatus>): Signal<TableStatus> {
  const shown = signal(untracked(status));
  effect((onCleanup) => {
    const next = status();
    const isLoading = next.state === 'loading' || next.state === 'connecting';
    if (!isLoading || untracked(shown).state !== 'live') {
      shown.set(next);
      return;
    }
    const timer = setTimeout(() => shown.set(next), DELAY_MS);
    onCleanup(() => clearTimeout(timer));
  });
  return shown;
}
