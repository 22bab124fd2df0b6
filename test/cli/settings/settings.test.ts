import {describe, expect, test} from 'vitest';
import {definitions, rejectProblems, variableOf} from '../../../src/settings/definitions.js';
import {
  describeSettings,
  nameOf,
  explainEach,
  resolveSettings,
  runSettings,
  type ConfigSettings,
  type Settings,
  type SettingsSources,
} from '../../../src/cli/settings/settings.js';
import {checkedSecret} from '../../../src/cli/settings/load-settings.js';
import {OptionText} from '../../../src/backends/plugins/option-text.js';
import {isRuntimeCliError} from '../../../src/errors/index.js';

const configPath = '/project/mycli.config.ts';

interface Given extends Partial<Pick<SettingsSources, 'flags' | 'env'>> {
  readonly config?: ConfigSettings;
  readonly targets?: ReadonlyMap<string, ConfigSettings>;
}

function sourcesOf({flags = {}, env = {}, config: settings = {}, targets = new Map()}: Given): SettingsSources {
  return {flags, env, cwd: '/work', file: {path: configPath, directory: '/project', settings, targets}};
}

const resolved = (given: Given): Settings => resolveSettings(sourcesOf(given));

function explained(given: Given, key: string) {
  return explainEach(sourcesOf(given)).find(({name}) => name === key);
}

function failure(act: () => unknown): {
  code: string;
  message: string;
  exitCode: number;
  suggestions: readonly string[];
} {
  try {
    act();
  } catch (error) {
    if (isRuntimeCliError(error)) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('text', () => {
  test.each([
    ['scopes', ['a', 'b c'], ['a', 'b', 'c'], 'd,e f', ['d', 'e', 'f']],
    ['buildDirectory', '../f', '/f', '/e', '/e'],
    ['ssrOnly', ['a/{b,c}', 'd,e'], ['a/{b,c}', 'd', 'e'], '["f,g"]', ['f,g']],
    ['ssrShared', ['[]'], [], 'a,b', ['a', 'b']],
    ['v2', false, false, 'yes', true],
    ['timeout', '0.5', 0.5, '2', 2],
    ['nodeVersion', '24.x', '24.x', '22.x', '22.x'],
  ] as const)('of %s: the flag %j is %j, the variable %j is %j', (key, flag, fromFlag, variable, fromVariable) => {
    const flagName = definitions[key].flag?.name ?? '';
    const env = {[variableOf(key) ?? '']: variable};
    expect(resolved({flags: {[flagName]: flag}, env})[key]).toEqual({
      value: fromFlag,
      source: {kind: 'flag', name: `--${flagName}`},
    });
    expect(resolved({env})[key]?.value).toEqual(fromVariable);
  });

  test.each([
    ['statusCodes', '[429, 500]', [429, 500]],
    ['dependencies', '{"a": "1"}', {a: '1'}],
    ['dependencies', 'auto', 'auto'],
    ['matchMode', ' ignore_missing', 'ignore_missing'],
  ] as const)('of %s, which has no flag: the variable %j is %j', (key, variable, value) => {
    expect(resolved({env: {[variableOf(key) ?? '']: variable}})[key]?.value).toEqual(value);
  });
});

describe('precedence', () => {
  test.each(['', '   '])('an environment variable that is %j counts as unset', (value) => {
    const env = {MYCLI_TARGET: value, MYCLI_TIMEOUT: value};
    const settings = resolved({env, config: {targetSlug: 'c'}});
    expect(settings.targetSlug?.value).toBe('c');
    expect(settings.timeout.value).toBe(600);
  });
});

test('there is no target with --no-target, whatever the other sources say', () => {
  const given = {flags: {'no-target': true}, env: {MYCLI_TARGET: 'live'}, config: {targetSlug: 'live', wait: false}};
  expect(resolved(given).targetSlug).toBeUndefined();
  const targets = new Map([['live', {guardConfirm: true}]]);
  expect(resolved({...given, targets}).guardConfirm?.value).not.toBe(true);
});

test('an empty --target is an error that names --no-target', () => {
  const given = {flags: {'no-target': false, target: ''}, env: {MYCLI_TARGET: 'live'}};
  expect(failure(() => resolved(given))).toMatchObject({
    code: 'ERR_USAGE',
    suggestions: ['To push without deploying, pass --no-target.'],
  });
});

describe('settings of a target', () => {
  const config: ConfigSettings = {guardBranch: ['main'], guardCiOnly: true};
  const targets = new Map<string, ConfigSettings>([['live', {guardBranch: ['release/*'], guardConfirm: true}]]);
  const guards = (flags: Readonly<Record<string, string>>) => {
    const {guardBranch, guardCiOnly, guardConfirm} = resolved({flags, config, targets});
    return [guardBranch, guardCiOnly, guardConfirm].map((setting) => setting?.value);
  };

  test('replace single keys of those for all targets', () => {
    expect(guards({target: 'live'})).toEqual([['release/*'], true, true]);
  });

  test.each([{}, {target: 'staging'}, {target: 'constructor'}])('do not apply with %j', (flags) => {
    expect(guards(flags)).toEqual([['main'], true, undefined]);
  });

  test('apply to a target that the file itself chooses', () => {
    expect(resolved({config: {...config, targetSlug: 'live'}, targets}).guardConfirm?.value).toBe(true);
  });
});

describe('settings made of keys', () => {
  test('SSR parameters of every source are merged, the stronger over the weaker', () => {
    const settings = resolved({
      flags: {'ssr-param': ['a=1', 'b=text', 'c={"d":[true]}', 'e=x=y', '__proto__=z']},
      env: {MYCLI_SSR_PARAM: 'a=0,f={"g":1,"h":2}'},
      config: {ssrParameters: {a: -1, i: null}},
    });
    expect(settings.ssrParameters).toEqual({
      value: {a: 1, b: 'text', c: {d: [true]}, e: 'x=y', f: {g: 1, h: 2}, i: null, ['__proto__']: 'z'},
      source: {kind: 'flag', name: '--ssr-param'},
    });
  });

  test('a variable may hold a JSON object', () => {
    expect(resolved({env: {MYCLI_SSR_PARAM: '{"a": "x,y", "b": 1}'}}).ssrParameters?.value).toEqual({a: 'x,y', b: 1});
  });

  test.each([
    ['3.10', '3.10'],
    ['3.1', 3.1],
    ['-0', '-0'],
    ['1e3', '1e3'],
    ['12345678901234567890', '12345678901234567890'],
    ['{"v": 3.10, "w": ["1.0 \\" 2.0", 2.0, 5]}', {v: '3.10', w: ['1.0 " 2.0', '2.0', 5]}],
    ['01', '01'],
  ])('the SSR parameter %j is sent as it was typed', (text, value) => {
    expect(resolved({flags: {'ssr-param': [`v=${text}`]}}).ssrParameters?.value).toEqual({v: value});
  });

  test('backend options for a target are laid over the others, below the command line', () => {
    const targets = {production: {bucket: 'live', region: 'us'}, staging: {}};
    const config = {backendOptions: {acme: {bucket: 'test', keep: 3, targets}, other: {x: 1}}};
    const optionsAt = (flags: SettingsSources['flags']) => resolved({flags, config}).backendOptions.value;
    expect(optionsAt({})).toEqual({acme: {bucket: 'test', keep: 3}, other: {x: 1}});
    expect(optionsAt({target: 'staging'})['acme']).toEqual({bucket: 'test', keep: 3});
    expect(optionsAt({target: 'toString'})['acme']).toEqual({bucket: 'test', keep: 3});
    expect(optionsAt({target: 'production'})['acme']).toEqual({bucket: 'live', region: 'us', keep: 3});
    expect(
      optionsAt({target: 'production', 'runtime-backend': 'acme', 'backend-option': ['bucket=mine']})['acme'],
    ).toEqual({bucket: new OptionText('mine'), region: 'us', keep: 3});
    const atVariable = resolved({env: {MYCLI_TARGET: 'production'}, config});
    expect(atVariable.backendOptions.value['acme']).toMatchObject({bucket: 'live'});
  });

  test.each([[['production']], [{production: 'eu'}], ['production']])('targets %j are refused', (targets) => {
    const config = {backendOptions: {acme: {targets}}};
    expect(failure(() => resolved({config}))).toMatchObject({
      code: 'ERR_CONFIG_INVALID',
      message: `backends in ${configPath} must have an object of options for each target in acme.targets.`,
    });
  });
});

describe('wrong values', () => {
  test.each([
    ['max-retries', '-1', '--max-retries must be a non-negative integer.'],
    ['request-timeout', '2147484', '--request-timeout must be a number of seconds above 0 and at most 2147483.'],
    ['ssr-param', ['novalue'], '--ssr-param must be key=value.'],
    ['target', '', '--target must not be empty.'],
    ['ssr-only', [''], '--ssr-only must not be empty.'],
    ['project', 'shop ', '--project must not have spaces around it.'],
    ['organization', '"org"', '--organization must not have quotation marks around it.'],
  ])('--%s %s is a usage error', (flag, value, message) => {
    const error = failure(() => resolved({flags: {[flag]: value}}));
    expect(error).toMatchObject({code: 'ERR_USAGE', exitCode: 2, message});
  });

  test.each([
    ['MYCLI_RETRY_STATUS', '200', 'must be an HTTP status from 400 to 599.'],
    ['MYCLI_RETRY_MAX_DELAY', '3000000000', 'must be a number of milliseconds from 0 to 2147483647.'],
    ['MYCLI_POLL_INTERVAL', '0', 'must be a number of seconds above 0.'],
    ['MYCLI_MATCH_MODE', 'loose', 'must be strict or ignore_missing.'],
  ])('%s=%s is invalid', (variable, value, message) => {
    const error = failure(() => resolved({env: {[variable]: value}}));
    expect(error).toMatchObject({code: 'ERR_OPTION_INVALID', message: `${variable} ${message}`});
  });

  test('a variable loses what a file of Windows leaves around its value, but not quotation marks', () => {
    const settings = resolved({env: {MYCLI_PROJECT: 'shop\r', MYCLI_RUNTIME_ORIGIN: ' https://runtime.example\r\n'}});
    expect(settings).toMatchObject({projectSlug: {value: 'shop'}, origin: {value: 'https://runtime.example'}});
    expect(failure(() => resolved({env: {MYCLI_PROJECT: '"shop"'}}))).toMatchObject({
      exitCode: 3,
      message: 'MYCLI_PROJECT must not have quotation marks around it.',
    });
    expect(() => checkedSecret('"0123abcd"', 'MYCLI_API_KEY')).toThrow(
      'The value of MYCLI_API_KEY has quotation marks around it.',
    );
  });

  test('a wrong variable is an input error that names the variable', () => {
    const error = failure(() => resolved({env: {MYCLI_WAIT: 'perhaps'}}));
    const message = 'MYCLI_WAIT must be true or false.';
    expect(error).toMatchObject({code: 'ERR_OPTION_INVALID', exitCode: 3, message});
  });
});

test('settings are shown with their source, a configuration file as seen from the working directory', () => {
  const settings = resolved({flags: {target: 'staging'}, config: {projectSlug: 'shop'}});
  expect(describeSettings(settings, ['projectSlug', 'targetSlug'], '/project')).toEqual([
    'project  shop  (mycli.config.ts)',
    'target   staging  (--target)',
  ]);
  expect(describeSettings(settings, ['projectSlug'], '/project/app')).toEqual(['project  shop  (../mycli.config.ts)']);
  const legacy = resolveSettings({flags: {'runtime-backend': 'legacy'}, env: {}, cwd: '/project'});
  expect(describeSettings(legacy, ['runtimeBackend'], '/project')).toEqual([
    'backend  Runtime (API key)  (--runtime-backend)',
  ]);
});

test('a command to type has the URLs of a backend as they are set', () => {
  const [typed, variable] = ['https://me:canary-1@a.example/x', 'https://me:canary-2@b.example'];
  const flags = {'runtime-backend': 'acme', 'backend-option': [`url=${typed}`, 'at=me@a.example']};
  const settings = resolved({flags, env: {MYCLI_BACKEND_OPTION: `proxy=${variable}`}});
  const options = runSettings(settings, resolved({}), flags, '/work').find(({flag}) => flag === '--backend-option');
  // Output shows none that it would mask.
  expect(options?.run.toSorted()).toEqual(['at=me@a.example', `proxy=${variable}`, `url=${typed}`]);
});

test('explained settings: an overridden value that could not be used is told', () => {
  const given = {flags: {timeout: '1'}, env: {MYCLI_TIMEOUT: 'soon'}, config: {timeout: 3}};
  expect(explained(given, 'timeout')?.overrode).toMatchObject([
    {source: {name: 'MYCLI_TIMEOUT'}, problem: expect.stringContaining('MYCLI_TIMEOUT') as string},
    {source: {kind: 'config'}, value: 3},
    {source: {kind: 'default'}, value: 600},
  ]);
});

test('explained settings: secrets are masked, and neither their files nor stdin are read', () => {
  const flags = {'api-key': '-', 'api-token': '@/nowhere', 'runtime-backend': 'acme'};
  const env = {MYCLI_API_KEY: 'canary-1', MYCLI_CLIENT_SECRET: 'canary-2', MYCLI_BACKEND_OPTION: 'authToken=canary-3'};
  const servers = [{password: 'canary-4'}, '//ops:canary-5@acme.example'];
  const given = {flags, env, config: {backendOptions: {acme: {region: 'eu', servers}}}};
  expect(JSON.stringify(explainEach(sourcesOf(given)))).not.toContain('canary');
  expect(explained(given, 'apiKey')).toMatchObject({value: '********', overrode: [{value: '********'}]});
  expect(explained(given, 'backendOptions')).toMatchObject({value: {acme: {region: 'eu', authToken: '********'}}});
});

test('an error about options calls each what it is where it was set', () => {
  const settings = resolved({flags: {static: true}, env: {MYCLI_PROJECT: 'shop'}, config: {ssrOnly: ['a']}});
  const options = ['static', 'projectSlug', 'ssrOnly.0', 'ssrShared.0'];
  const problems = options.map((option) => ({option, message: 'is odd', suggestion: `Remove ${option}.`}));
  expect(failure(() => rejectProblems(problems, (option) => nameOf(option, settings)))).toMatchObject({
    message: '--static is odd; MYCLI_PROJECT is odd; ssrOnly in /project/mycli.config.ts is odd; ssrShared.0 is odd.',
    suggestions: expect.arrayContaining(['Remove static.']) as string[],
    details: {problems},
  });
});
