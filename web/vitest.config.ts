import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { playwright } from '@vitest/browser-playwright';
import { defineConfig } from 'vitest/config';
import { gatewayCommands } from './client/testing/gateway-commands.js';

// Tests start real gateways, which takes long on a slow machine.
const timeouts = { testTimeout: 60_000, hookTimeout: 60_000 };

/** The browser: EVERGRID_TEST_CHROMIUM, else the first one on the PATH. */
export function chromium(): string {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const names = ['chromium', 'chromium-browser', 'google-chrome'];
  const paths = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  return (
    process.env['EVERGRID_TEST_CHROMIUM'] ?? paths.find((path) => existsSync(path)) ?? 'chromium'
  );
}

export default defineConfig({
  test: {
    projects: [
      {
        test: { name: 'app', include: ['app/src/**/*.test.ts'], ...timeouts },
      },
      {
        test: {
          name: 'client',
          include: ['client/*.test.ts', 'client/src/*.test.ts'],
          exclude: ['**/*.browser.test.ts'],
          ...timeouts,
        },
      },
      {
        test: {
          name: 'client-chromium',
          include: ['client/src/*.browser.test.ts'],
          ...timeouts,
          browser: {
            enabled: true,
            headless: true,
            screenshotFailures: false,
            commands: gatewayCommands,
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
