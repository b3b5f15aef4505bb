import { sameLook, type Look } from './look.js';

const PATIENCE_MS = 1500;

/**
 * Tells looks that somebody chose from those that we gave away ourselves and that come back late.
 * An app puts looks into its address and reads them from there: while somebody types or scrolls,
 * an earlier one may come back after a later one was given, and must not undo it.
 */
export class Echo {
  private given: { readonly look: Look; readonly time: number }[] = [];

  constructor(private readonly now: () => number = () => performance.now()) {}

  give(look: Look): void {
    this.given.push({ look, time: this.now() });
  }

  /** Whether a look is one of ours. Each comes back once, and none after a later one. */
  isEcho(look: Look): boolean {
    const oldest = this.now() - PATIENCE_MS;
    this.given = this.given.filter(({ time }) => time >= oldest);
    const place = this.given.findIndex((one) => sameLook(one.look, look));
    if (place < 0) return false;
    this.given.splice(0, place + 1);
    return true;
  }
}
