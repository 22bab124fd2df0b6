import {mkdtemp, readFile, realpath, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {
  addressKeys,
  definitions,
  secretKeys,
  settingKeys,
  summaryOf,
  usualFlag,
  variableOf,
} from '../../../src/settings/definitions.js';
import type {SettingKey} from '../../../src/settings/definitions.js';
import {shownText} from '../../../src/cli/settings/settings.js';
import {judged, readings} from '../../../src/cli/settings/text.js';
import {isSecretName} from '../../../src/http/redact.js';
import {runWarm} from '../warm-cli.js';

const repository = fileURLToPath(new URL('../../..', import.meta.url));
const read = (path: string) => readFile(join(repository, path), 'utf8');

interface Shown {
  readonly name: string;
  readonly value: unknown;
  readonly source: {readonly name: string};
  readonly overrode: readonly {readonly value: unknown; readonly source: {readonly name: string}}[];
}

/** A text for the flag, one for the variable, and one that becomes what the configuration file says. */
const samples = [
  ['a', 'b', 'c'],
  ['true', 'false', 'true'],
  ['3', '4', '5'],
  ['430', '431', '432'],
  ['k=1', 'k=2', 'k=3'],
  ['strict', 'ignore_missing', 'strict'],
  ['/a', '/b', '/c'],
  ['{"a": "1"}', 'auto', '{"a": "2"}'],
] as const;
/** The backends are known without a plugin. */
const backends = ['legacy', 'api', 'auto'] as const;

/** Only a configuration file says them, as objects. */
const objects: ReadonlySet<SettingKey> = new Set(['targetSettings', 'previewSettings']);

/** What a setting is when a text is given for it. */
function valueOf(key: SettingKey, text: string): unknown {
  if (objects.has(key)) return {region: text};
  const {schema, syntax} = definitions[key];
  const {convert, schema: textSchema} = readings[syntax];
  const value = judged(textSchema ?? schema, convert([text], {directory: '/', isVariable: false}));
  if (syntax === 'backendOptions') return {[backends[0]]: value};
  if (syntax === 'url') return shownText(syntax, String(value));
  return syntax === 'secret' ? '********' : value;
}

function textsOf(key: SettingKey): readonly [flag: string, variable: string, config: string] {
  if (key === 'runtimeBackend') return backends;
  const fitting = samples.find((texts) => {
    try {
      for (const text of texts) valueOf(key, text);
      return true;
    } catch {
      return false;
    }
  });
  if (fitting === undefined) throw new Error(`${key} takes none of the samples: add one that it takes`);
  return fitting;
}

/** Puts a value where a key such as `api.origin` says. */
function put(config: Record<string, unknown>, path: string, value: unknown): void {
  const [first = '', second] = path.split('.');
  config[first] = second === undefined ? value : {...Object(config[first]), [second]: value};
}

describe('the table of settings', () => {
  test('says of each address which secrets go there, and all that it names are settings', () => {
    // A clone is compared with this one. Nothing is sent there.
    const isAddress = (key: SettingKey) => definitions[key].syntax === 'url' && key !== 'guardOrigin';
    const addresses = settingKeys.filter((key) => isAddress(key) || definitions[key].flag?.value?.includes('URL'));
    expect(addressKeys.toSorted()).toEqual(addresses.toSorted());
    const named = addressKeys.flatMap((key) => definitions[key].receives?.secrets ?? []);
    expect(settingKeys).toEqual(expect.arrayContaining(named));
    expect(secretKeys.filter((key) => !named.includes(key))).toEqual(['clientKeyPassphrase', 'clientCertificate']);
  });

  let folder: string;
  let all: ReadonlyMap<string, Shown>;
  let configFile: string;

  // Every setting at once, from every source that it can come from.
  beforeAll(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'mycli-definitions-')));
    configFile = join(folder, 'mycli.config.json');
    const args: string[] = [];
    const env: Record<string, string> = {HOME: folder};
    const config: Record<string, unknown> = {};
    const ofTarget: Record<string, unknown> = {};
    for (const key of settingKeys) {
      const {syntax, config: path, perTarget} = definitions[key];
      const flag = usualFlag(key);
      const [given, inEnvironment, configured] = textsOf(key);
      if (flag !== undefined) args.push(`--${flag.name}`, ...(syntax === 'switch' ? [] : [given]));
      const variable = variableOf(key);
      if (variable !== undefined) env[variable] = inEnvironment;
      if (path === undefined) continue;
      if (perTarget === 'only') put(ofTarget, path, valueOf(key, configured));
      else put(config, path, valueOf(key, configured));
    }
    config['targets'] = {[textsOf('targetSlug')[0]]: ofTarget};
    await writeFile(configFile, JSON.stringify(config));
    const ended = await runWarm(['config:show', '--json', ...args], {cwd: folder, env});
    expect(ended).toMatchObject({code: 0});
    const {settings} = JSON.parse(ended.stdout) as {settings: readonly Shown[]};
    all = new Map(settings.map((setting) => [setting.name, setting]));
  });
  afterAll(() => rm(folder, {recursive: true}));

  test.each(settingKeys)('%s comes from its flag, its variable, its key of the config file and its default', (key) => {
    const {config, default: standard, syntax} = definitions[key];
    const flag = usualFlag(key);
    const variable = variableOf(key);
    const [given, inEnvironment, configured] = textsOf(key);
    const shown = (value: unknown): unknown => {
      const absolute = typeof value === 'string' && syntax === 'path' ? join(folder, value) : value;
      // They may open a site that is not public.
      if (syntax === 'headers') return {k: '********'};
      return JSON.parse(JSON.stringify(absolute));
    };
    const expected = [
      ...(flag === undefined ? [] : [{source: `--${flag.name}`, value: shown(valueOf(key, given))}]),
      ...(variable === undefined ? [] : [{source: variable, value: shown(valueOf(key, inEnvironment))}]),
      ...(config === undefined ? [] : [{source: configFile, value: shown(valueOf(key, configured))}]),
      ...(standard === undefined ? [] : [{source: 'default', value: shown(standard)}]),
    ];
    const setting = all.get(key);
    const found = setting === undefined ? [] : [setting, ...setting.overrode];
    expect(found.map(({source, value}) => ({source: source.name, value}))).toEqual(expected);
    expect(expected.length).toBeGreaterThan(0);
  });

  test('is the reference page', async () => {
    const page = await read('docs/reference/configuration.md');
    for (const key of settingKeys) {
      const {flag, config} = definitions[key];
      const row = page.split('\n').find((line) => line.startsWith('| ') && line.includes(summaryOf(key)));
      for (const name of [flag && `--${flag.name}`, variableOf(key), config]) expect(row ?? '').toContain(name ?? '');
    }
  });

  test('names no flag, variable or key twice', () => {
    for (const names of [
      Object.values(definitions).flatMap(({flag}) => flag?.name ?? []),
      Object.values(definitions).flatMap(({flag}) => flag?.char ?? []),
      Object.values(definitions).flatMap(({config}) => config ?? []),
      settingKeys.flatMap((key) => variableOf(key) ?? []),
    ]) {
      expect(new Set(names).size).toBe(names.length);
    }
  });

  test('has a secret in no config file, and masks its variable before anything is loaded', () => {
    const clientKeys = ['clientKey', 'clientKeyPassphrase', 'clientCertificate'];
    expect(secretKeys).toEqual(['apiKey', 'clientSecret', ...clientKeys, 'apiToken', 'checkPassword']);
    for (const key of secretKeys) {
      expect(definitions[key]).not.toHaveProperty('config');
      expect(isSecretName(variableOf(key) ?? '')).toBe(true);
    }
  });
});
