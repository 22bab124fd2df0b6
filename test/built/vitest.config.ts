import {fileURLToPath} from 'node:url';
import {defineConfig, type ViteUserConfig} from 'vitest/config';
import all from '../../vitest.config.js';

const {test: {projects: _, ...test} = {}, ...config}: ViteUserConfig = all;

/** The tests of the runtime and of HTTP with the modules in `dist`: a bundler may drop a statement that only throws. */
export default defineConfig({
  ...config,
  resolve: {
    alias: [
      {
        find: /^(?:\.\.\/)+src\/((?:(?:http|errors)\/)?index|testing)\.js$/,
        replacement: fileURLToPath(new URL('../../dist/$1.js', import.meta.url)),
      },
    ],
  },
  test: {...test, include: ['test/{local-runtime,http}/**/*.test.ts'], reporters: ['default']},
});
