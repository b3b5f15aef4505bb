import { ChangeDetectionStrategy, Component } from '@angular/core';
import { addressOf } from './gateway';

/** Asks for gateway and key when the address has none. */
@Component({
  selector: 'our-desk',
  changeDetection: ChangeDetectionStrategy.OnPush,
  template: `
    <main>
      <h1>Our desk</h1>
      <form (submit)="open($event, url.value, key.value)">
        <label>Gateway <input #url required type="url" value="http://127.0.0.1:8080" /></label>
        <label>Key <input #key required type="password" autocomplete="off" /></label>
        <button>Show the tables</button>
      </form>
    </main>
  `,
})
export class Question {
  protected open(event: Event, url: string, key: string): void {
    event.preventDefault();
    location.hash = addressOf({ url, key });
    location.reload();
  }
}
