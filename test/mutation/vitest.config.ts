import {defineConfig, type ViteUserConfig} from 'vitest/config';
import all from '../../vitest.config.js';

const config: ViteUserConfig = all;

/** The tests that call the mutated code themselves, and are fast: each mutant waits for those that reach it. */
export default defineConfig({
  ...config,
  test: {
    ...config.test,
    include: ['test/{backends,bundle,http,operations}/**/*.test.ts'],
    setupFiles: ['test/mutation/load-constants.ts'],
  },
});
