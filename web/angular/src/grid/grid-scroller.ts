import type { GridApi } from 'ag-grid-community';
import { ROW_BUFFER } from './create-grid.js';
import { ROW_HEIGHT } from './grid-theme.js';
import type { Span } from '../window/window-placement.js';

/** A height in pixels that every browser supports. */
const SAFE_HEIGHT = 4_000_000;

/**
 * Scrolls the grid, and detects when the user scrolls.
 * AG Grid's own `ensureIndexVisible` scrolls again when rows arrive later, against the user.
 */
export class GridScroller {
  private readonly element: Element | null;
  private top = 0;
  /** The exact line of the last scroll: whole pixels would add up rounding errors. */
  private lastLine = { top: -1, line: 0 };
  /** The number of lines when it scrolled to the end; -1 if it may be elsewhere by now. */
  private endsAt = -1;

  constructor(
    private readonly host: HTMLElement,
    private readonly api: GridApi,
  ) {
    this.element = host.querySelector('.ag-grid-viewport');
  }

  /** Calls back when the user scrolls. */
  onUserScroll(callback: (direction: 'up' | 'down') => void, signal: AbortSignal): void {
    const onScroll = ({ target }: Event): void => {
      if (!this.element || target !== this.element) return;
      const { scrollTop } = this.element;
      if (Math.abs(scrollTop - this.top) < 1) return;
      const direction = scrollTop < this.top ? 'up' : 'down';
      this.top = scrollTop;
      this.endsAt = -1;
      callback(direction);
    };
    // The browser's event, because AG Grid's comes later.
    this.host.addEventListener('scroll', onScroll, { signal, capture: true });
  }

  /** Calls back when the space for rows changes, for example by a scrollbar. */
  onResize(callback: () => void, signal: AbortSignal): void {
    if (!this.element) return;
    const observer = new ResizeObserver(() => {
      this.endsAt = -1;
      callback();
    });
    observer.observe(this.element);
    signal.addEventListener('abort', () => observer.disconnect());
  }

  /** The first and last line that is at least partly visible. */
  visible(lines: number): Span {
    const { top, bottom } = this.api.getVerticalPixelRange();
    const rows = Math.max(0, Math.ceil((bottom - top) / ROW_HEIGHT) - 1);
    const drawn = this.api.getFirstDisplayedRowIndex();
    // Derived from the drawn lines, which are right even where AG Grid compresses the height.
    const first = drawn > 0 ? drawn + ROW_BUFFER : Math.floor(top / ROW_HEIGHT);
    return { first, last: Math.max(first, Math.min(first + rows, lines - 1)) };
  }

  /** The line at the top at this moment, with the fraction that is scrolled away. */
  topLine(lines: number): number {
    const { element, lastLine } = this;
    if (!element) return 0;
    return element.scrollTop === lastLine.top
      ? lastLine.line
      : element.scrollTop / this.pixelsPerLine(lines);
  }

  /** Makes a line the first visible one. */
  toLine(line: number, lines: number): void {
    this.scrollTo(line, lines);
    this.api.flushAllAnimationFrames();
  }

  /**
   * Keeps the visible lines while the number of lines changes, and returns what to call after the
   * change: where AG Grid compresses the height, the same pixel is then another line.
   */
  keepTopLine(before: number, after: number): () => void {
    if (!before || Math.max(before, after) * ROW_HEIGHT < SAFE_HEIGHT) return () => {};
    const line = this.topLine(before);
    const compressed = this.pixelsPerLine(before) < ROW_HEIGHT;
    // Before the change, so that AG Grid draws the right lines at once.
    if (compressed) this.scrollTo(line, after);
    return () => {
      if (compressed || this.pixelsPerLine(after) < ROW_HEIGHT) this.scrollTo(line, after);
    };
  }

  /** Shows the last lines. Reading the position is slow, so it is skipped where it is known. */
  toEnd(lines: number): void {
    if (!this.element || this.endsAt === lines) return;
    this.setTop(this.element.scrollHeight);
    this.api.flushAllAnimationFrames();
    this.endsAt = lines;
  }

  /** Whether the last line is visible. */
  isAtEnd(): boolean {
    const { element } = this;
    if (!element) return true;
    return element.scrollHeight - element.clientHeight - element.scrollTop <= 2;
  }

  /** Scroll pixels for a line: its height, or less where AG Grid compresses a tall table. */
  private pixelsPerLine(lines: number): number {
    const { element } = this;
    if (!element) return ROW_HEIGHT;
    const { top, bottom } = this.api.getVerticalPixelRange();
    const fullHeight = lines * ROW_HEIGHT - (bottom - top);
    const scrollRange = element.scrollHeight - element.clientHeight;
    return fullHeight > scrollRange + ROW_HEIGHT
      ? (ROW_HEIGHT * scrollRange) / fullHeight
      : ROW_HEIGHT;
  }

  private scrollTo(line: number, lines: number): void {
    const wanted = line * this.pixelsPerLine(lines);
    this.setTop(wanted);
    const top = this.element?.scrollTop ?? 0;
    if (Math.abs(top - wanted) < 1) this.lastLine = { top, line };
  }

  /** Dispatches the event at once: the browser's own would come after the next frame. */
  private setTop(top: number): void {
    const { element } = this;
    if (!element || Math.abs(element.scrollTop - top) < 1) return;
    element.scrollTop = top;
    this.top = element.scrollTop;
    this.endsAt = -1;
    element.dispatchEvent(new Event('scroll'));
  }
}
