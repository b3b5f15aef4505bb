import {
  afterNextRender,
  DestroyRef,
  Directive,
  ElementRef,
  inject,
  input,
  output,
} from '@angular/core';

const GAP = 4;
const EDGE = 8;

/**
 * Shows its element above the page, beside an anchor.
 * The browser closes it on Escape and on clicks outside, and returns the focus.
 */
@Directive({
  selector: '[egPopover]',
  host: { popover: 'auto', class: 'eg-popover', '(toggle)': 'toggled($event)' },
})
export class Popover {
  readonly anchor = input.required<HTMLElement>({ alias: 'egPopover' });
  readonly closed = output<void>();
  private readonly element = inject<ElementRef<HTMLElement>>(ElementRef).nativeElement;

  constructor() {
    const opener = document.activeElement;
    // If the element is removed while it is open, the focus would be lost.
    inject(DestroyRef).onDestroy(() => {
      const now = document.activeElement;
      const lost = !now || now === document.body || this.element.contains(now);
      if (lost && opener instanceof HTMLElement) opener.focus({ preventScroll: true });
    });
    afterNextRender(() => {
      this.element.showPopover();
      this.place();
      const first = this.find('[data-first]') ?? this.find('input, select, textarea, button');
      first?.focus();
    });
  }

  protected toggled(event: Event): void {
    if ((event as ToggleEvent).newState === 'closed') this.closed.emit();
  }

  private find(selector: string): HTMLElement | null {
    return this.element.querySelector(selector);
  }

  private place(): void {
    const { style, offsetWidth, offsetHeight } = this.element;
    const at = this.anchor().getBoundingClientRect();
    const { innerWidth, innerHeight } = window;
    const left = Math.max(EDGE, Math.min(at.left, innerWidth - offsetWidth - EDGE));
    const below = at.bottom + GAP;
    const above = at.top - GAP - offsetHeight;
    const fits = below + offsetHeight <= innerHeight - EDGE || above < EDGE;
    style.left = `${left}px`;
    style.top = `${Math.max(EDGE, fits ? Math.min(below, innerHeight - offsetHeight - EDGE) : above)}px`;
  }
}
