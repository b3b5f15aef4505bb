import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { playwright } from '@vitest/browser-playwright';
import { defineConfig } from 'vitest/config';
import { stages } from '../client/tests/browser/stages.js';

/** The browser of this machine: EVERGRID_CHROMIUM says which, else the first on the path. */
function chromium(): string {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const names = ['chromium', 'chromium-browser', 'google-chrome'];
  const places = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  return (
    process.env['EVERGRID_CHROMIUM'] ?? places.find((place) => existsSync(place)) ?? 'chromium'
  );
}

/** Angular's builder compiles the tests; this says how they are run. */
export default defineConfig({
  test: {
    testTimeout: 60_000,
    hookTimeout: 60_000,
    browser: {
      enabled: true,
      headless: true,
      screenshotFailures: false,
      viewport: { width: 1200, height: 800 },
      commands: stages,
      provider: playwright({
        launchOptions: {
          executablePath: chromium(),
          args: [
            ...(process.getuid?.() ? [] : ['--no-sandbox']),
            '--disable-background-networking',
          ],
        },
        contextOptions: { permissions: ['clipboard-read', 'clipboard-write'] },
      }),
      instances: [{ browser: 'chromium' }],
    },
  },
});
