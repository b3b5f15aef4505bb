/**
 * The client's side of the conversation with a gateway. No I/O: messages in, messages out.
 *
 * Panes outlive connections. A connection goes: (welcome) → all panes are opened, with `resume`
 * where the same gateway can go on from → … → `lost`. Times are milliseconds since 1970.
 */

import { EvergridError, sentence } from './errors.js';
import { BrokenFrame, frameOf } from './frames.js';
import { decode, encode, MAX_SUB, PROTOCOL, type Failed, type Welcome } from './messages.js';
import { Outbox } from './outbox.js';
import { Pane, type Viewer } from './pane.js';
import { keyOf, type Question } from './question.js';
import type { ConnectionStatus, Place, Snapshot } from './types.js';

/** What a message means for the connection: we are in, or it is over. */
export type Verdict = Welcome | EvergridError | undefined;

// A disagreement about numbers, which another number ends.
const NUMBER_CODES: ReadonlySet<string> = new Set(['sub_in_use', 'unknown_sub']);

const utf8 = new TextEncoder();

export class Desk {
  readonly outbox = new Outbox();
  readonly #panes = new Set<Pane>();
  // Those that others may join: not while one still shows rows of another place.
  readonly #shared = new Map<string, Pane>();
  readonly #bySub = new Map<number, Pane>();
  readonly #random: () => number;
  #connection: ConnectionStatus;
  #welcome: Welcome | undefined;
  #lastSub = 0;

  constructor(connection: ConnectionStatus, random: () => number = Math.random) {
    this.#connection = connection;
    this.#random = random;
  }

  // What people want

  /** The pane for this, shared with all who want the same; `seen` is where the viewer looks now. */
  join(viewer: Viewer, question: Question, place: Place, seen?: Pane): Pane {
    const known = this.#shared.get(keyOf(question, place));
    const pane = known ?? new Pane(question, place, this.#random, seen);
    pane.viewers.add(viewer);
    if (known) return pane;
    this.#panes.add(pane);
    this.#share(pane);
    this.#ask(pane);
    pane.refresh(this.#connection);
    return pane;
  }

  /** Looks elsewhere: the pane moves with its only viewer, and stays for the others. */
  move(viewer: Viewer, pane: Pane, place: Place): Pane {
    const { sub } = pane;
    const isTaken = this.#shared.has(keyOf(pane.question, place));
    if (sub === undefined || isTaken || pane.viewers.size > 1) {
      const other = this.join(viewer, pane.question, place, pane);
      if (other !== pane) this.leave(viewer, pane);
      return other;
    }
    this.#unshare(pane);
    pane.move(place);
    if (this.outbox.holdsOpen(sub)) {
      this.outbox.put(pane.opening(sub, this.#welcome?.instance ?? ''));
      this.#share(pane);
    } else {
      this.outbox.put({ type: 'move', sub, ...place });
    }
    return pane;
  }

  /** The last one to leave closes the window. */
  leave(viewer: Viewer, pane: Pane): void {
    if (!pane.viewers.delete(viewer) || pane.viewers.size) return;
    this.#panes.delete(pane);
    this.#unshare(pane);
    this.#close(pane);
  }

  /** Asks again for what was refused or put off. */
  askAgain(): void {
    for (const pane of this.#panes) if (pane.sub === undefined) this.#ask(pane);
    this.#refresh();
  }

  // What the connection does

  /** How the connection is, for the sentences of every pane. */
  stand(connection: ConnectionStatus): void {
    this.#connection = connection;
    this.#refresh();
  }

  /** No connection any more; the last word came at `heard`. */
  lost(heard: number): void {
    this.#welcome = undefined;
    this.outbox.clear();
    this.#bySub.clear();
    for (const pane of this.#panes) pane.lose(heard);
  }

  /** Takes in a control message. */
  text(text: string, now: number): Verdict {
    const said = decode(text);
    switch (said?.type) {
      case 'welcome':
        return this.#start(said);
      case 'heart':
        this.outbox.put({ type: 'heart' });
        return undefined;
      case 'state': {
        const pane = this.#bySub.get(said.sub);
        pane?.told(said);
        pane?.refresh(this.#connection);
        return undefined;
      }
      case 'error':
        return this.#failed(said, now);
      default:
        return undefined;
    }
  }

  /** Takes in a frame; BrokenFrame when it is none at all. */
  binary(data: ArrayBuffer, now: number): void {
    const frame = frameOf(data);
    const pane = this.#bySub.get(frame.sub);
    if (!pane || !this.#welcome) return;
    const wasSettled = pane.settled;
    let snapshot: Snapshot;
    try {
      snapshot = pane.paint(frame, this.#welcome.instance);
    } catch (error) {
      if (!(error instanceof BrokenFrame)) throw error;
      this.#close(pane);
      pane.distrust();
      pane.fail('broken_frame', 'The gateway sent rows that cannot be read.', now);
      pane.refresh(this.#connection);
      return;
    }
    if (pane.settled && !wasSettled) this.#share(pane);
    // First the rows, then that they are live.
    pane.show(snapshot);
    pane.refresh(this.#connection);
  }

  /** Asks for what is due; milliseconds until there is more to ask for. */
  due(now: number): number | undefined {
    let least: number | undefined;
    for (const pane of this.#panes) {
      if (pane.retryAt === undefined) continue;
      if (pane.retryAt <= now) this.#ask(pane);
      else least = Math.min(least ?? Infinity, pane.retryAt - now);
    }
    return least;
  }

  #start(welcome: Welcome): Verdict {
    if (welcome.protocol !== PROTOCOL) {
      const what = `The gateway speaks protocol ${welcome.protocol}, this page ${PROTOCOL}. Reload the page.`;
      return new EvergridError('unsupported_protocol', what);
    }
    this.#welcome = welcome;
    for (const pane of this.#panes) this.#ask(pane);
    return welcome;
  }

  #ask(pane: Pane): void {
    if (!this.#welcome) return;
    const message = pane.opening(this.#nextSub(), this.#welcome.instance);
    const size = utf8.encode(encode(message)).length;
    const most = this.#welcome.max_message_bytes;
    if (size > most) {
      const what = `The question has ${size} bytes, the gateway takes ${most}. Use a shorter filter.`;
      pane.refuse('too_large', what);
      return;
    }
    this.#bySub.set(message.sub, pane);
    this.outbox.put(message);
  }

  /** Two that move to the same place at the same time stay two: they are likely to move on. */
  #share(pane: Pane): void {
    const key = keyOf(pane.question, pane.place);
    if (!this.#shared.has(key)) this.#shared.set(key, pane);
  }

  #unshare(pane: Pane): void {
    const key = keyOf(pane.question, pane.place);
    if (this.#shared.get(key) === pane) this.#shared.delete(key);
  }

  /** None is used twice, so what comes late for a window that is closed finds nobody. */
  #nextSub(): number {
    this.#lastSub = (this.#lastSub % MAX_SUB) + 1;
    return this.#lastSub;
  }

  #close(pane: Pane): void {
    if (pane.sub === undefined) return;
    this.outbox.put({ type: 'close', sub: pane.sub });
    this.#forget(pane);
  }

  #forget(pane: Pane): void {
    if (pane.sub !== undefined) this.#bySub.delete(pane.sub);
    pane.sub = undefined;
  }

  #failed(said: Failed, now: number): Verdict {
    const message = sentence(said.message);
    if (said.fatal) return new EvergridError(said.code, message, said.retry ?? false);
    const pane = said.sub === undefined ? undefined : this.#bySub.get(said.sub);
    if (!pane) return undefined;
    // After a refused move the window is still open.
    if (said.code === 'bad_window' && pane.answered) this.#close(pane);
    this.#forget(pane);
    if (said.retry || NUMBER_CODES.has(said.code)) pane.fail(said.code, message, now);
    else pane.refuse(said.code, message);
    pane.refresh(this.#connection);
    return undefined;
  }

  #refresh(): void {
    for (const pane of [...this.#panes]) pane.refresh(this.#connection);
  }
}
