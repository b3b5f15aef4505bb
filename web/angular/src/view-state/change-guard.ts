import { sameViewState, type ViewState } from './view-state.js';

const ECHO_MS = 1500;

/**
 * Recognises view states that the table itself emitted and that the app passes back.
 * An app may keep the state in its URL and read it from there: while the user types or scrolls, an
 * earlier state may come back after a later one was emitted, and must not undo it.
 */
export class ChangeGuard {
  private pending: { readonly state: ViewState; readonly time: number }[] = [];

  constructor(private readonly now: () => number = () => performance.now()) {}

  emitted(state: ViewState): void {
    this.pending.push({ state, time: this.now() });
  }

  /** Whether the table emitted this state. Each comes back once, and none after a later one. */
  isEcho(state: ViewState): boolean {
    const oldest = this.now() - ECHO_MS;
    this.pending = this.pending.filter(({ time }) => time >= oldest);
    const index = this.pending.findIndex((one) => sameViewState(one.state, state));
    if (index < 0) return false;
    this.pending.splice(0, index + 1);
    return true;
  }
}
