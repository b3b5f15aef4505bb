import { bootstrapApplication } from '@angular/platform-browser';
import { provideEvergrid } from '@evergrid/angular';
import { Desk } from './desk';
import { gatewayFromAddress } from './gateway';
import { Question } from './question';

// A real app knows its gateway, and asks its own server for the key of the person who is
// logged in. Here both come from the address, or from a form.
const gateway = gatewayFromAddress(location.hash);
const started = gateway
  ? bootstrapApplication(Desk, { providers: [provideEvergrid(gateway)] })
  : bootstrapApplication(Question);
started.catch((error: unknown) => console.error(error));
