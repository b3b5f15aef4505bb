import { Component, inject } from '@angular/core';
import { Login } from './session/login';
import { Session } from './session/session';
import { Shell } from './shell/shell';

/**
 * The log-in page or the app, at the same address: whoever follows a shared link and has no key
 * yet is at the right place as soon as they have logged in.
 */
@Component({
  selector: 'app-root',
  imports: [Login, Shell],
  template: `
    @if (session.client()) {
      <app-shell />
    } @else {
      <app-login />
    }
  `,
})
export class App {
  protected readonly session = inject(Session);

  constructor() {
    this.session.resume();
  }
}
