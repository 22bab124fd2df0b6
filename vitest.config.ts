import {fileURLToPath} from 'node:url';
import {defineConfig} from 'vitest/config';

// Nothing that a person or a CI system has set must reach the tests, apart from these.
const kept =
  /^(?:PATH|HOME|TMPDIR|LANG|npm_config_\w+|(?:NODE|SSL|VITEST)_\w+|VITEST|TEST|MODE|DEV|PROD|BASE_URL|FUZZ_RUNS)$/i;
for (const name of Object.keys(process.env)) if (!kept.test(name)) Reflect.deleteProperty(process.env, name);

// Local time is not UTC: what takes one for the other is seen.
process.env['TZ'] = process.env['VITEST_TZ'] ?? 'America/Caracas';

/** Tests that start many processes or try thousands of inputs. `npm test` runs all others, `npm run test:ci` these. */
const slow = [
  '{examples/mycli-plugin-{directory,portal}/test,test}/**/conformance.test.ts',
  'test/{conformance,docs,faults,model,package,windows}/**/*.test.ts',
  'test/**/*.property.test.ts',
  'test/bundle/archive/{gzip,pack,stream-bundle}.test.ts',
  'test/cli/command/{containers,plugin*,run,signals,startup,user-code}.test.ts',
  'test/cli/commands/{examples,init,runtime-start}.test.ts',
  'test/cli/output/{masking,pseudo-terminal,questions,step-outputs}.test.ts',
  'test/http/bodies.test.ts',
  'test/operations/target/apply-target.test.ts',
  'test/local-runtime/{large-uploads,persistence,stalled-uploads}.test.ts',
];

export default defineConfig({
  // The example imports the package, as its copies elsewhere do.
  resolve: {alias: {'mycli/testing': fileURLToPath(new URL('src/testing.ts', import.meta.url))}},
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'quick',
          include: [
            'test/**/*.test.ts',
            'examples/mycli-plugin-directory/test/**/*.test.ts',
            'examples/mycli-plugin-freeze/test/*.test.js',
            'examples/mycli-plugin-portal/test/*.test.ts',
          ],
          exclude: slow,
        },
      },
      {extends: true, test: {name: 'slow', include: slow}},
    ],
    // Every exchange with a server must be in the OpenAPI document, and Node must warn of nothing.
    setupFiles: ['test/wire/setup.ts', 'test/warnings.ts'],
    pool: 'forks',
    // The files of a worker share its process and its modules: loading those for each file takes much of the time.
    isolate: false,
    // One more than CI has cores: much of what they do is waiting.
    maxWorkers: 3,
    // For what hangs: nothing here says how fast anything is.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: {poll: {timeout: 300_000}},
    // Those that wait for time-outs do it at the same time.
    maxConcurrency: 20,
    disableConsoleIntercept: true,
    reporters: ['default', 'json'],
    outputFile: {json: 'coverage/tests.json'},
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      // Tested through the built binary, in processes of its own, where this does not look; the conformance suite is
      // tested by slow tests, with backends that are broken on purpose.
      exclude: [
        'src/commands/**',
        'src/cli/{command,setup}/**',
        'src/conformance/**',
        'src/local-runtime/sites/app-program.ts',
      ],
      // Of the quick tests: CI measures no others.
      thresholds: {statements: 88, branches: 83, functions: 86, lines: 90},
      reporter: ['text-summary', 'json-summary'],
      reportsDirectory: 'coverage/report',
    },
  },
});
