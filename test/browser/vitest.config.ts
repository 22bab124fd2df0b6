import {defineConfig} from 'vitest/config';

// For `npm run test:suite browser`, which installs Chromium if it is missing.
export default defineConfig({
  test: {
    include: ['test/browser/*.spec.ts'],
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
