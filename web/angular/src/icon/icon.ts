import { ChangeDetectionStrategy, Component, computed, input } from '@angular/core';

/** SVG paths of 16 × 16. */
export const ICONS = {
  up: 'M8 13V3M4 7l4-4 4 4',
  down: 'M8 3v10M4 9l4 4 4-4',
  filter: 'M2 3h12L9.5 8.5V13l-3-1.5v-3z',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM11 11l3 3',
  columns: 'M2 3h12v10H2zM6 3v10M10 3v10',
  follow: 'M8 2v8M4.5 7L8 10.5 11.5 7M3 13.5h10',
  save: 'M8 2v8M5 7l3 3 3-3M2.5 11v2.5h11V11',
  close: 'M4 4l8 8M12 4l-8 8',
  first: 'M4 3v10M12 3L7 8l5 5',
  previous: 'M10 3L5 8l5 5',
  next: 'M6 3l5 5-5 5',
  last: 'M12 3v10M4 3l5 5-5 5',
  refresh: 'M13 8a5 5 0 1 1-1.5-3.5L13 6M13 2.5V6H9.5',
  live: 'M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6z',
  wait: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 5v3.5l2 1.5',
  lost: 'M2 6a9 9 0 0 1 12 0M4.5 9a5.5 5.5 0 0 1 7 0M8 12.5h.01M2.5 2.5l11 11',
  refused: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM4 12l8-8',
  pin: 'M6 2h4v4l2 3H4l2-3zM8 9v5',
  pages: 'M4 2h6l2.5 2.5V14H4zM9.5 2v3h3',
  scroll: 'M8 2v12M5 5l3-3 3 3M5 11l3 3 3-3',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
} as const;

export type IconName = keyof typeof ICONS;

/** An icon beside a text; screen readers skip it. */
@Component({
  selector: 'eg-icon',
  changeDetection: ChangeDetectionStrategy.OnPush,
  template: `<svg class="eg-icon" viewBox="0 0 16 16" aria-hidden="true">
    <path [attr.d]="path()" />
  </svg>`,
})
export class Icon {
  readonly name = input.required<IconName>();
  protected readonly path = computed(() => ICONS[this.name()]);
}

const SVG = 'http://www.w3.org/2000/svg';

/** The icon as an element, for code without a template. */
export function iconElement(name: IconName): SVGSVGElement {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 16 16');
  svg.setAttribute('aria-hidden', 'true');
  svg.classList.add('eg-icon');
  const path = document.createElementNS(SVG, 'path');
  path.setAttribute('d', ICONS[name]);
  svg.append(path);
  return svg;
}
