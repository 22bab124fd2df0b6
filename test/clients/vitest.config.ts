import {defineConfig} from 'vitest/config';

// For `npm run test:suite clients`, which installs the clients first.
export default defineConfig({
  test: {
    include: ['test/clients/*.spec.ts'],
    // One of the clients waits half a minute before it looks at a deployment for the first time.
    testTimeout: 300_000,
  },
});
