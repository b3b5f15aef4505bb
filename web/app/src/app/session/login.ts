import { afterRenderEffect, Component, ElementRef, inject, signal, viewChild } from '@angular/core';
import { Session } from './session';

/** The login page. */
@Component({
  selector: 'app-login',
  templateUrl: './login.html',
  styleUrl: './login.css',
})
export class Login {
  protected readonly session = inject(Session);
  protected readonly shown = signal(false);
  protected readonly error = signal('');
  private readonly field = viewChild<ElementRef<HTMLInputElement>>('field');

  constructor() {
    // At first, and after the gateway has refused a key.
    afterRenderEffect(() => {
      if (!this.session.attempt()) this.field()?.nativeElement.focus();
    });
  }

  protected async logIn(event: Event): Promise<void> {
    event.preventDefault();
    const field = this.field()?.nativeElement;
    const key = field?.value.trim();
    this.error.set(key ? '' : 'Enter a key.');
    if (key) await this.session.logIn(key);
    else field?.focus();
  }
}
