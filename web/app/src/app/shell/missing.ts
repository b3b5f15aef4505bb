import { Component } from '@angular/core';
import { RouterLink } from '@angular/router';

/** For addresses that no page has. */
@Component({
  selector: 'app-missing',
  imports: [RouterLink],
  template: `
    <div class="app-page">
      <h1 tabindex="-1">There is no such page</h1>
      <p>The address may be mistyped, or from another version of Evergrid.</p>
      <p><a routerLink="/">Go to the dashboard</a></p>
    </div>
  `,
})
export class Missing {}
