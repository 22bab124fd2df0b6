import {describe, expect, test} from 'vitest';
import * as mycli from '../../src/index.js';
import {callOptions, callProblems} from '../../src/operations/option-schemas.js';

/** Called with what TypeScript would refuse. */
type Call = (options: never) => Promise<unknown>;

const auth = new mycli.ApiKeyStrategy({apiKey: 'key'});

/** The calls whose options are checked by a table that is not named after them. */
const others: Readonly<Record<string, readonly [table: keyof typeof callOptions, call: Call]>> = {
  previewPush: ['pushRuntimeBundle', mycli.previewPush],
  previewBuild: ['buildBundle', mycli.previewBuild],
  buildBundleInto: ['buildBundle', (options) => mycli.buildBundleInto(process.stdout, options)],
  listTargets: ['project', mycli.listTargets],
  listPreviews: ['project', mycli.listPreviews],
  listVariables: ['target', mycli.listVariables],
  pushBundleV2: ['pushBundleV2', (options) => mycli.pushBundleV2(options, auth)],
  inspectArchive: ['inspectArchive', (options) => mycli.inspectArchive('none.tar', options)],
  tailLogs: ['tailLogs', (options) => mycli.tailLogs(options).next()],
};

const calls = [
  ...Object.keys(callOptions).flatMap((name): readonly (readonly [string, readonly string[], Call])[] => {
    const call = name in others ? undefined : (mycli as unknown as Record<string, Call | undefined>)[name];
    return call === undefined ? [] : [[name, Object.keys(callOptions[name as keyof typeof callOptions]), call]];
  }),
  ...Object.entries(others).map(([name, [table, call]]) => [name, Object.keys(callOptions[table]), call] as const),
];

/** Anything may be a reference of a deployment: only the backend knows. */
const free = new Set(['deployment']);

describe.each(calls)('%s', (_, names, call) => {
  test('refuses a value of the wrong type for each of its options', async () => {
    for (const name of names.filter((one) => !free.has(one))) {
      // No option takes a symbol, and no schema turns one into something else.
      await expect(call({[name]: Symbol('wrong')} as never), name).rejects.toMatchObject({
        ...{code: expect.stringMatching(/^ERR_(?:OPTION|PATTERN)_INVALID$/), exitCode: 3},
        message: expect.stringMatching(new RegExp(`^${name}(?:\\.\\w+)? `)),
      });
    }
  });

  test('refuses an option that it does not have, and names the nearest', async () => {
    const [name = ''] = names.filter((one) => one.length > 5);
    const misspelt = `${name}x`;
    await expect(call({[misspelt]: true} as never)).rejects.toMatchObject({
      code: 'ERR_OPTION_INVALID',
      message: `${misspelt} is not an option (did you mean ${name}?).`,
    });
  });
});

test('an option of another call is ignored: calls may share an object of options', () => {
  expect(callProblems({projectSlug: 'shop', buildDirectory: 5}, callOptions.project as never)).toEqual([]);
});

test('every call of the library that takes options is among them', () => {
  const functions = Object.entries(mycli).flatMap(([name, value]) =>
    typeof value === 'function' && /^[a-z]/.test(name) && value.length > 0 ? [name] : [],
  );
  const withoutOptions = [
    ...['bundleSource', 'createBackendRegistry', 'createRateLimitMiddleware', 'defineConfig', 'isRuntimeCliError'],
  ];
  const known = new Set([...calls.map(([name]) => name), ...withoutOptions]);
  expect(functions.filter((name) => !known.has(name))).toEqual([]);
});

test.each([
  [{force: 'false'}, 'force must be true or false.', mycli.deleteTarget],
  [{v2: 'false'}, 'v2 must be true or false.', mycli.pushRuntimeBundle],
  [{wait: 'false'}, 'wait must be true or false.', mycli.pushRuntimeBundle],
  [{targetslug: 'staging'}, 'targetslug is not an option (did you mean targetSlug?).', mycli.pushRuntimeBundle],
  [
    {rateLimit: {maxRetrys: 9}},
    'rateLimit has an unknown key: maxRetrys (did you mean maxRetries?).',
    mycli.listBundles,
  ],
  [
    {rateLimit: {maxRetries: -1}},
    'rateLimit.maxRetries must be a non-negative integer, not -1.',
    mycli.pushRuntimeBundle,
  ],
  [
    {guard: {cleantree: true}},
    'guard has an unknown key: cleantree (did you mean cleanTree?).',
    mycli.pushRuntimeBundle,
  ],
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
