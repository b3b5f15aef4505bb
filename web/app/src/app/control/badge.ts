import { Component, input } from '@angular/core';
import type { Badge } from './badge-labels';

/** A verdict or a state as one word with a colour and an icon. */
@Component({
  selector: 'app-badge',
  template: `
    <span [class]="badge().tone">
      <svg viewBox="0 0 16 16" width="11" height="11" aria-hidden="true">
        <path [attr.d]="icons[badge().tone]" />
      </svg>
      {{ badge().label }}
    </span>
  `,
  styles: `
    span {
      display: inline-flex;
      align-items: center;
      gap: 5px;
      height: 21px;
      padding: 0 8px 0 6px;
      border-radius: 11px;
      background: color-mix(in srgb, currentcolor 11%, transparent);
      font-size: 12px;
      font-weight: 550;
      white-space: nowrap;
    }
    path {
      fill: none;
      stroke: currentcolor;
      stroke-width: 2;
      stroke-linecap: round;
      stroke-linejoin: round;
    }
    .good {
      color: var(--eg-good);
    }
    .busy {
      color: var(--eg-warn);
    }
    .calm {
      color: var(--eg-muted);
    }
    .bad {
      color: var(--eg-bad);
    }
  `,
})
export class BadgeView {
  readonly badge = input.required<Badge>();
  protected readonly icons: Readonly<Record<Badge['tone'], string>> = {
    good: 'M3 8.5l3.5 3.5L13 4.5',
    busy: 'M8 2a6 6 0 1 1-4.2 1.8M8 5v3.2l2.2 1.3',
    calm: 'M3.5 8h9',
    bad: 'M4 4l8 8M12 4l-8 8',
  };
}
