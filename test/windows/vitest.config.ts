import {defineConfig} from 'vitest/config';

// For `npm run test:windows`, which installs Wine and fetches the Node of Windows if they are missing.
export default defineConfig({
  test: {
    include: ['test/windows/*.spec.ts'],
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
