import type { GridApi } from 'ag-grid-community';
import { DRAWN_AROUND } from './grid.js';
import { ROW_HEIGHT } from './theme.js';
import type { Span } from './window.js';

/** Pixels that any browser gives an element. */
const SURELY_FITS = 4_000_000;

/**
 * Moves the grid, and feels when somebody else does.
 * AG Grid's own way to a row goes there again when rows come later, against whoever scrolls.
 */
export class Scroller {
  private readonly element: Element | null;
  private top = 0;
  /** The line that we went to, exactly: pixels are whole, and rounding them adds up. */
  private spot = { top: -1, line: 0 };
  /** How many lines there were when we went to their end; -1 if we may not be there any more. */
  private endsAt = -1;

  constructor(
    private readonly host: HTMLElement,
    private readonly api: GridApi,
  ) {
    this.element = host.querySelector('.ag-grid-viewport');
  }

  /** Calls back when it was not us who scrolled, with the way. */
  listen(pulled: (way: 'up' | 'down') => void, signal: AbortSignal): void {
    const felt = ({ target }: Event): void => {
      if (!this.element || target !== this.element) return;
      const { scrollTop } = this.element;
      if (Math.abs(scrollTop - this.top) < 1) return;
      const way = scrollTop < this.top ? 'up' : 'down';
      this.top = scrollTop;
      this.endsAt = -1;
      pulled(way);
    };
    // From the browser, not from AG Grid: that one tells of it when more may have happened.
    this.host.addEventListener('scroll', felt, { signal, capture: true });
  }

  /** Calls back when the rows have more or less room: also a scrollbar that comes takes of it. */
  measure(resized: () => void, signal: AbortSignal): void {
    if (!this.element) return;
    const observer = new ResizeObserver(() => {
      this.endsAt = -1;
      resized();
    });
    observer.observe(this.element);
    signal.addEventListener('abort', () => observer.disconnect());
  }

  /** The first and last line of which anything is seen. */
  seen(lines: number): Span {
    const { top, bottom } = this.api.getVerticalPixelRange();
    const rows = Math.max(0, Math.ceil((bottom - top) / ROW_HEIGHT) - 1);
    const drawn = this.api.getFirstDisplayedRowIndex();
    // Lines that are drawn but not seen tell where we are even when AG Grid squeezes pixels.
    const first = drawn > 0 ? drawn + DRAWN_AROUND : Math.floor(top / ROW_HEIGHT);
    return { first, last: Math.max(first, Math.min(first + rows, lines - 1)) };
  }

  /** The line at the top, as the browser has it at this moment, with what is scrolled of it. */
  line(lines: number): number {
    const { element, spot } = this;
    if (!element) return 0;
    return element.scrollTop === spot.top ? spot.line : element.scrollTop / this.pixels(lines);
  }

  /** Makes a line the first one that is seen. */
  toLine(line: number, lines: number): void {
    this.go(line, lines);
    this.api.flushAllAnimationFrames();
  }

  /**
   * Keeps the lines on the screen when their number is about to change, and gives back what to do
   * once it has: where AG Grid squeezes, the same pixel is then another line.
   */
  hold(before: number, after: number): () => void {
    if (!before || Math.max(before, after) * ROW_HEIGHT < SURELY_FITS) return () => {};
    const line = this.line(before);
    const squeezed = this.pixels(before) < ROW_HEIGHT;
    // Before, so that AG Grid draws the right lines at once.
    if (squeezed) this.go(line, after);
    return () => {
      if (squeezed || this.pixels(after) < ROW_HEIGHT) this.go(line, after);
    };
  }

  /** Shows the last lines. Asking the browser where we are is dear: it is left out where we know. */
  toEnd(lines: number): void {
    if (!this.element || this.endsAt === lines) return;
    this.set(this.element.scrollHeight);
    this.api.flushAllAnimationFrames();
    this.endsAt = lines;
  }

  /** Whether there is nothing further down. */
  isAtEnd(): boolean {
    const { element } = this;
    if (!element) return true;
    return element.scrollHeight - element.clientHeight - element.scrollTop <= 2;
  }

  /** How far to scroll for a line: its height, or less where AG Grid squeezes what is too long. */
  private pixels(lines: number): number {
    const { element } = this;
    if (!element) return ROW_HEIGHT;
    const { top, bottom } = this.api.getVerticalPixelRange();
    const whole = lines * ROW_HEIGHT - (bottom - top);
    const room = element.scrollHeight - element.clientHeight;
    return whole > room + ROW_HEIGHT ? (ROW_HEIGHT * room) / whole : ROW_HEIGHT;
  }

  private go(line: number, lines: number): void {
    const wanted = line * this.pixels(lines);
    this.set(wanted);
    const top = this.element?.scrollTop ?? 0;
    if (Math.abs(top - wanted) < 1) this.spot = { top, line };
  }

  /** AG Grid is told at once: the browser would tell it after the next frame was drawn. */
  private set(top: number): void {
    const { element } = this;
    if (!element || Math.abs(element.scrollTop - top) < 1) return;
    element.scrollTop = top;
    this.top = element.scrollTop;
    this.endsAt = -1;
    element.dispatchEvent(new Event('scroll'));
  }
}
