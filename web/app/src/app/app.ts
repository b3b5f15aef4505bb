import { Component, inject } from '@angular/core';
import { Login } from './session/login';
import { Session } from './session/session';
import { Shell } from './shell/shell';

/**
 * The login page or the app, at the same URL: a user who follows a shared link sees its page after
 * logging in.
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
