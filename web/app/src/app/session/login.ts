import { afterRenderEffect, Component, ElementRef, inject, signal, viewChild } from '@angular/core';
import { Session } from './session';

/** Asks for a key, and says in plain words what is wrong with one. */
@Component({
  selector: 'app-login',
  templateUrl: './login.html',
  styleUrl: './login.css',
})
export class Login {
  protected readonly session = inject(Session);
  protected readonly shown = signal(false);
  protected readonly problem = signal('');
  private readonly field = viewChild<ElementRef<HTMLInputElement>>('field');

  constructor() {
    // As soon as there is something to type: at first, and when the gateway has said no.
    afterRenderEffect(() => {
      if (!this.session.attempt()) this.field()?.nativeElement.focus();
    });
  }

  protected async enter(event: Event): Promise<void> {
    event.preventDefault();
    const field = this.field()?.nativeElement;
    const key = field?.value.trim();
    this.problem.set(key ? '' : 'Enter a key.');
    if (key) await this.session.enter(key);
    else field?.focus();
  }
}
