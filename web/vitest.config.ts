import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { playwright } from '@vitest/browser-playwright';
import { defineConfig } from 'vitest/config';
import { stages } from './client/tests/browser/stages.js';

// Tests start real gateways and wait for what they see; a slow machine needs patience.
const patience = { testTimeout: 60_000, hookTimeout: 60_000 };

/** The browser of this machine: EVERGRID_TEST_CHROMIUM says which, else the first on the path. */
export function chromium(): string {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const names = ['chromium', 'chromium-browser', 'google-chrome'];
  const places = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  return (
    process.env['EVERGRID_TEST_CHROMIUM'] ?? places.find((place) => existsSync(place)) ?? 'chromium'
  );
}

export default defineConfig({
  test: {
    projects: [
      {
        test: { name: 'app', include: ['app/src/**/*.test.ts'], ...patience },
      },
      {
        test: { name: 'client', include: ['client/tests/*.test.ts'], ...patience },
      },
      {
        test: {
          name: 'client-chromium',
          include: ['client/tests/browser/*.test.ts'],
          ...patience,
          browser: {
            enabled: true,
            headless: true,
            screenshotFailures: false,
            commands: stages,
            provider: playwright({
              launchOptions: {
                executablePath: chromium(),
                args: [
                  ...(process.getuid?.() ? [] : ['--no-sandbox']),
                  '--disable-background-networking',
                ],
              },
            }),
            instances: [{ browser: 'chromium' }],
          },
        },
      },
    ],
  },
});
