import {fileURLToPath} from 'node:url';
import {defineConfig, type ViteUserConfig} from 'vitest/config';
import all from '../../vitest.config.js';

const include = [
  'test/{local-runtime,http,modules}/**/*.test.ts',
  'test/bundle/archive/*.test.ts',
  'test/cli/command/{binary,signals,startup}.test.ts',
];
// Their processes run what is in dist anyway, or take gigabytes, or nothing in them depends on Node; `test:browser` looks
// at the pages from dist.
const exclude = [
  'test/local-runtime/{hostile-data,large-uploads,pages,persistence,ssr}.test.ts',
  '**/*.property.test.ts',
];

const {test: {projects: _, ...test} = {}, ...config}: ViteUserConfig = all;

/**
 * Tests of the runtime and of HTTP with the modules in `dist`, as a bundler may drop a statement that only throws, and
 * those of what depends most on Node: `npm run test:suite node-24` runs them all there.
 */
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
  test: {...test, include, exclude, reporters: ['default']},
});
