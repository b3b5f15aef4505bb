import { computed, effect, inject, signal, untracked, type WritableSignal } from '@angular/core';
import type { ViewState } from '@evergrid/angular';
import { UrlParams } from './url-params';
import {
  readViewState,
  sameViewState,
  writeViewState,
  type ViewStateParam,
  type ReadViewState,
} from './view-state-params';

export interface SharedViewState {
  readonly look: WritableSignal<ViewState>;
  /** The invalid parameters, which were ignored. */
  readonly ignored: () => readonly string[];
}

/**
 * A view state that is kept in the URL: changes are written there, and changes of the URL, by a link
 * or the back button, change the state. `scope` is a prefix of the parameters, so that several tables
 * share one URL: `final_ui.search=sato`.
 */
export function sharedViewState(scope = '', defaults: ViewState = {}): SharedViewState {
  const urlParams = inject(UrlParams);
  const name = (param: ViewStateParam): string => (scope ? `${scope}.${param}` : param);
  const read = (): ReadViewState => readViewState((param) => urlParams.get(name(param)), defaults);
  const look = signal<ViewState>(read().state);
  // The state in the URL, perhaps not written yet.
  let written = untracked(look);

  effect(() => {
    urlParams.externalChanges();
    const { state: wanted } = read();
    if (sameViewState(wanted, written)) return;
    written = wanted;
    look.set(wanted);
  });
  effect(() => {
    const shown = look();
    if (sameViewState(shown, written)) return;
    written = shown;
    const params = Object.entries(writeViewState(shown, defaults)) as [
      ViewStateParam,
      string | null,
    ][];
    urlParams.writeLater(Object.fromEntries(params.map(([param, text]) => [name(param), text])));
  });
  const ignored = computed(() => {
    urlParams.params();
    return read().ignored;
  });
  return { look, ignored };
}
