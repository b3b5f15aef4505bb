import { ChangeDetectionStrategy, Component } from '@angular/core';
import { fragmentOf } from './gateway';

/** The form for gateway and key, if the URL has none. */
@Component({
  selector: 'example-root',
  changeDetection: ChangeDetectionStrategy.OnPush,
  template: `
    <main>
      <h1>Example app</h1>
      <form (submit)="open($event, url.value, key.value)">
        <label>Gateway <input #url required type="url" value="http://127.0.0.1:8080" /></label>
        <label>Key <input #key required type="password" autocomplete="off" /></label>
        <button>Show the tables</button>
      </form>
    </main>
  `,
})
export class GatewayForm {
  protected open(event: Event, url: string, key: string): void {
    event.preventDefault();
    location.hash = fragmentOf({ url, key });
    location.reload();
  }
}
