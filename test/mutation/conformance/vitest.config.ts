import {defineConfig, type ViteUserConfig} from 'vitest/config';
import all from '../../../vitest.config.js';

const {test: {projects: _, ...test} = {}, ...config}: ViteUserConfig = all;

/** The conformance suite run against the backend of its own tests, and nothing else that tests it. */
export default defineConfig({
  ...config,
  test: {
    ...test,
    include: ['test/conformance/backend-conformance.test.ts'],
    testNamePattern: /^conformance: a good backend passes every case/,
    setupFiles: [],
  },
});
