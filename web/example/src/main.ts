import { bootstrapApplication } from '@angular/platform-browser';
import { provideEvergrid } from '@evergrid/angular';
import { Dashboard } from './dashboard';
import { gatewayFromFragment } from './gateway';
import { GatewayForm } from './gateway-form';

// A real app knows its gateway, and gets the key of the logged-in user from its own server. Here
// both come from the URL or from a form.
const gateway = gatewayFromFragment(location.hash);
const started = gateway
  ? bootstrapApplication(Dashboard, { providers: [provideEvergrid(gateway)] })
  : bootstrapApplication(GatewayForm);
started.catch((error: unknown) => console.error(error));
