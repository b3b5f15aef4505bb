import { computed, effect, inject, signal, untracked, type WritableSignal } from '@angular/core';
import type { Look } from '@evergrid/angular';
import { Address } from './address';
import { readLook, sameLook, writeLook, type LookWord, type ReadLook } from './look';

export interface SharedLook {
  readonly look: WritableSignal<Look>;
  /** Words of the address that made no sense, for a sentence about it. */
  readonly unread: () => readonly string[];
}

/**
 * A look that is in the address: changes go there, and whatever the address says, by a pasted
 * link or the back button, is shown. With a `scope` its words begin with that, so that several
 * tables have room in one address: `final_ui.search=sato`.
 */
export function sharedLook(scope = '', usual: Look = {}): SharedLook {
  const address = inject(Address);
  const name = (word: LookWord): string => (scope ? `${scope}.${word}` : word);
  const read = (): ReadLook => readLook((word) => address.word(name(word)), usual);
  const look = signal<Look>(read().look);
  // What the address says, or is about to say.
  let told = untracked(look);

  effect(() => {
    address.moves();
    const { look: wanted } = read();
    if (sameLook(wanted, told)) return;
    told = wanted;
    look.set(wanted);
  });
  effect(() => {
    const shown = look();
    if (sameLook(shown, told)) return;
    told = shown;
    const words = Object.entries(writeLook(shown, usual)) as [LookWord, string | null][];
    address.put(Object.fromEntries(words.map(([word, text]) => [name(word), text])));
  });
  const unread = computed(() => {
    address.params();
    return read().unread;
  });
  return { look, unread };
}
