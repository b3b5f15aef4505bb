import { Component } from '@angular/core';
import { RouterLink } from '@angular/router';

/** The page for unknown URLs. */
@Component({
  selector: 'app-not-found',
  imports: [RouterLink],
  template: `
    <div class="app-page">
      <h1 tabindex="-1">Page not found</h1>
      <p>The address may be wrong, or from another version of Evergrid.</p>
      <p><a routerLink="/">Go to the dashboard</a></p>
    </div>
  `,
})
export class NotFound {}
