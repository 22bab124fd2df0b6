import {describe, expect, test} from 'vitest';
import * as mycli from '../../src/index.js';
import {optionSchemas} from '../../src/operations/option-schemas.js';
import {startLocalRuntime} from '../../src/testing.js';

/** Called with what TypeScript would refuse. */
type Call = (options: never) => Promise<unknown>;

const auth = new mycli.ApiKeyStrategy({apiKey: 'key'});
const withoutOptions = new Set(['bundleSource', 'createBackendRegistry', 'defineConfig', 'isRuntimeCliError']);
/** The calls whose options are not the only argument. `createRateLimitMiddleware` has tests of its own. */
const others: Readonly<Record<string, Call | undefined>> = {
  buildBundleInto: (options) => mycli.buildBundleInto(process.stdout, options),
  pushBundleV2: (options) => mycli.pushBundleV2(options, auth),
  inspectArchive: (options) => mycli.inspectArchive('none.tar', options),
  tailLogs: (options) => mycli.tailLogs(options).next(),
  createRateLimitMiddleware: undefined,
};
const calls = Object.entries(mycli).flatMap(([name, value]): readonly (readonly [string, Call])[] => {
  if (typeof value !== 'function' || !/^[a-z]/.test(name) || value.length === 0 || withoutOptions.has(name)) return [];
  const call = name in others ? others[name] : (value as unknown as Call);
  return call === undefined ? [] : [[name, call]];
});

describe.each(calls)('%s', (_, call) => {
  test.each([[null], [5], ['shop'], [[]]])('refuses %j in place of its options', async (options) => {
    await expect(call(options as never)).rejects.toMatchObject({
      code: 'ERR_OPTION_INVALID',
      message: 'The argument must be an object of options.',
    });
  });

  test('refuses a value of the wrong type for each option', async () => {
    // Only a backend knows what a reference of a deployment is.
    for (const name of Object.keys(optionSchemas).filter((one) => one !== 'deployment')) {
      // No option takes a symbol, and no schema turns one into something else.
      await expect(call({[name]: Symbol('wrong')} as never), name).rejects.toMatchObject({
        ...{code: expect.stringMatching(/^ERR_(?:OPTION|PATTERN)_INVALID$/), exitCode: 3},
        message: expect.stringMatching(new RegExp(`^${name}(?:\\.\\w+)? `)),
      });
    }
  });

  test('refuses a name that is no option, and has the nearest', async () => {
    await expect(call({projectslug: 'shop'} as never)).rejects.toMatchObject({
      code: 'ERR_OPTION_INVALID',
      message: 'projectslug is not an option (did you mean projectSlug?).',
    });
  });
});

test.each<readonly [options: object, message: string, call: Call]>([
  [{force: 'false'}, 'force must be true or false.', mycli.deleteTarget],
  [{v2: 'false'}, 'v2 must be true or false.', mycli.pushRuntimeBundle],
  [{wait: 'false'}, 'wait must be true or false.', mycli.pushRuntimeBundle],
  [{targetslug: 'staging'}, 'targetslug is not an option (did you mean targetSlug?).', mycli.pushRuntimeBundle],
  [
    {rateLimit: {maxRetrys: 9}},
    'rateLimit has an unknown key: maxRetrys (did you mean maxRetries?).',
    mycli.listBundles,
  ],
  [{rateLimit: {maxRetries: -1}}, 'rateLimit.maxRetries must be a non-negative integer.', mycli.pushRuntimeBundle],
  [
    {rateLimit: {maxDelayMs: '5'}},
    'rateLimit.maxDelayMs must be a number of milliseconds from 0 to 2147483647.',
    mycli.pushRuntimeBundle,
  ],
  [
    {guard: {cleantree: true}},
    'guard has an unknown key: cleantree (did you mean cleanTree?).',
    mycli.pushRuntimeBundle,
  ],
  ...[0, 1.5, -1].map((limit) => [{limit}, 'limit must be a positive integer.', mycli.listBundles] as const),
  ...[-1, Infinity].map((offset) => [{offset}, 'offset must be a non-negative integer.', mycli.listBundles] as const),
  // What could delete everything.
  ...[0, 1.5].map((keep) => [{keep}, 'keep must be a positive integer.', mycli.pruneBundles] as const),
  [{olderThanMs: -1}, 'olderThanMs must be at least 0.', mycli.pruneBundles],
  [{bundleIds: []}, 'bundleIds must not be empty.', mycli.deleteBundles],
  [
    {legacyAuth: {}},
    'legacyAuth must be an AuthStrategy, such as new ApiKeyStrategy({apiKey}).',
    mycli.pushRuntimeBundle,
  ],
])('%j: %s', async (options, message, call) => {
  const error: unknown = await call({projectSlug: 'shop', preference: 'legacy', ...options} as never).catch(
    (reason: unknown) => reason,
  );
  expect(mycli.isRuntimeCliError(error)).toBe(true);
  expect(error).toMatchObject({code: 'ERR_OPTION_INVALID', message});
});

test.each([
  [{port: '80'}, 'port must be a port.'],
  [{dataFolder: 'x', appPort: 0}, 'dataFolder is not an option; appPort is not an option (did you mean appsPort?).'],
  [{deploymentSeconds: 1e17}, 'deploymentSeconds must be at most 2147483.'],
  [{auth: 'false', faults: 5}, 'auth must be true or false; faults must be an array.'],
])('startLocalRuntime refuses %j', async (options, message) => {
  await expect(startLocalRuntime(options as never)).rejects.toMatchObject({code: 'ERR_OPTION_INVALID', message});
});

test.each([
  'pushRuntimeBundle',
  'pushBundleV2',
  'deployBundle',
  'rollbackBundle',
  'promoteBundle',
  'deleteBundles',
  'deployPreview',
])('%s, which cannot be tried, refuses dryRun', async (name) => {
  const call = calls.find(([one]) => one === name)?.[1];
  await expect(call?.({dryRun: true} as never)).rejects.toMatchObject({message: 'dryRun is not an option.'});
});
