import { playwright } from '@vitest/browser-playwright';
import { defineConfig } from 'vitest/config';
import { gatewayCommands } from '../client/testing/gateway-commands.js';
import { chromium } from '../vitest.config.js';

/** Angular's builder compiles the tests; this configures how Vitest runs them. */
export default defineConfig({
  test: {
    testTimeout: 60_000,
    hookTimeout: 60_000,
    browser: {
      enabled: true,
      headless: true,
      screenshotFailures: false,
      viewport: { width: 1200, height: 800 },
      commands: gatewayCommands,
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
