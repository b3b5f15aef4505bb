import { DestroyRef, inject, signal, type Signal } from '@angular/core';

/** The time in milliseconds since 1970, updated once a second, for texts such as "12 s ago". */
export function clock(): Signal<number> {
  const now = signal(Date.now());
  const timer = setInterval(() => now.set(Date.now()), 1000);
  inject(DestroyRef).onDestroy(() => clearInterval(timer));
  return now.asReadonly();
}
