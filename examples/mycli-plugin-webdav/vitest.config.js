import {fileURLToPath} from 'node:url';

const source = (path) => fileURLToPath(new URL(`../../src/${path}`, import.meta.url));

/** Inside mycli's repository the package is its sources. */
const alias = {'mycli/testing': source('testing.ts')};

export default {
  resolve: {alias},
  test: {include: ['test/**/*.test.ts'], pool: 'forks', testTimeout: 300_000, hookTimeout: 300_000},
};
