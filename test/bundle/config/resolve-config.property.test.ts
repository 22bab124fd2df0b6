import {existsSync} from 'node:fs';
import {mkdtemp, readFile} from 'node:fs/promises';
import {join} from 'node:path';
import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {planBundle, type BundleConfig, type BundleFormat} from '../../../src/bundle/index.js';
import type {ConfigSource} from '../../../src/bundle/config/config-sources.js';
import {resolveConfig, withoutUnmatched} from '../../../src/bundle/config/resolve-config.js';
import {makeFolder, writeTree} from '../../folder.js';
import {planOptions, smallBuild} from '../project.js';

type Said = ConfigSource['content'];

const defaults = {
  ssrOnly: ['ssr.js', 'server/**/*'],
  ssrShared: ['static/**/*'],
  ssrParameters: {SSRFunctionNodeVersion: '24.x'},
};

const key = fc.constantFrom('SSRFunctionNodeVersion', 'a', 'b', 'length', 'toString', 'constructor', '__proto__');
/** As JSON.parse makes it: `__proto__` is a key like others. */
const parameters = fc
  .array(fc.tuple(key, fc.jsonValue({maxDepth: 1})), {maxLength: 4})
  .map((entries) => JSON.parse(JSON.stringify(Object.fromEntries(entries))) as Record<string, unknown>);
const pattern = fc.constantFrom('ssr.js', 'server/**', 'gone/*', '*.{js,mjs}');
const patterns = fc.array(fc.oneof(pattern, fc.constant('!server/deep/**')), {maxLength: 3});
const strings = {noNullPrototype: true, maxKeys: 3};

const server: fc.Arbitrary<Said> = fc.record(
  {ssrOnly: patterns.map((list) => [...list, 'ssr.js']), ssrShared: patterns, ssrParameters: parameters},
  {requiredKeys: []},
);
const metadata = fc.record(
  {
    dependencies: fc.dictionary(fc.constantFrom('react', 'constructor'), fc.constantFrom('^1', '2'), strings),
    ccOverrides: fc.array(pattern),
  },
  {requiredKeys: []},
);
const said: fc.Arbitrary<Said> = fc
  .tuple(server, fc.record({bundleMetadata: metadata}, {requiredKeys: []}))
  .map(([one, other]) => ({...one, ...other}));

/** The rules as the interface has them, key by key: `sources` are the strongest first. */
function expectedConfig(sources: readonly Said[]): Omit<BundleConfig, 'bundleMetadata'> {
  const first = <Key extends keyof Said>(name: Key): Said[Key] =>
    sources.map((source) => source[name]).find((value) => value !== undefined);
  const dependencies = sources.map(({bundleMetadata}) => bundleMetadata?.dependencies).find((value) => value);
  const ccOverrides = sources.map(({bundleMetadata}) => bundleMetadata?.ccOverrides).find((value) => value);
  const weakestFirst = [{ssrParameters: defaults.ssrParameters}, ...sources.toReversed()];
  return {
    ssrOnly: first('ssrOnly') ?? defaults.ssrOnly,
    ssrShared: first('ssrShared') ?? defaults.ssrShared,
    ssrParameters: Object.fromEntries(weakestFirst.flatMap((source) => Object.entries(source.ssrParameters ?? {}))),
    ...((dependencies ?? ccOverrides) && {
      bundleMetadata: {...(dependencies && {dependencies}), ...(ccOverrides && {ccOverrides})},
    }),
  };
}

/** A text that is the same for values that JSON writes the same, but for the order of keys. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1))
      : item,
  );
}

describe('settings that are merged', () => {
  const from = (contents: readonly Said[]): ConfigSource[] =>
    contents.map((content, index) => ({from: String(index), content}));
  const unmatched = {
    ssrOnly: ['ssr.mjs', 'server/**/.*', 'server/**/.*/**', 'gone/*'],
    ssrShared: ['client/**/*', 'gone/*'],
  };
  const resolved = (contents: readonly Said[]): BundleConfig =>
    withoutUnmatched(resolveConfig(from(contents)), unmatched).config;
  const sources = fc.array(said, {maxLength: 4});

  test('are those of the strongest source, per key; parameters are merged', () => {
    fc.assert(
      fc.property(sources, (contents) => {
        expect(canonical(resolved(contents))).toBe(canonical(expectedConfig(contents)));
      }),
      {numRuns: 500},
    );
  });

  test('name the sources that they come from', () => {
    fc.assert(
      fc.property(sources, (contents) => {
        for (const {setting, from: named} of resolveConfig(from(contents)).sources) {
          const [name = '', part] = setting.split('.');
          const having = contents.flatMap((content, index) => {
            const value = Reflect.get(content, name) as object | undefined;
            return (part === undefined ? value : value && Reflect.get(value, part)) === undefined
              ? []
              : [String(index)];
          });
          if (name === 'ssrParameters') expect(named).toBe([...having, 'default'].join(', '));
          else expect(named).toBe(having[0] ?? 'default');
        }
      }),
      {numRuns: 300},
    );
  });
});

test('a bundle takes options, then the on-disk file, then what is executed, then defaults, and executes no more', async () => {
  const parent = await makeFolder();
  const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, {nil: undefined, freq: 2});
  const project = fc.tuple(fc.constantFrom('config.server.ts', 'config.server.js', 'config.server.mjs'), server);
  const files = fc.record({disk: maybe(said), project: maybe(project), compiled: maybe(server)});
  const format = fc.constantFrom<BundleFormat>('v1', 'v2', 'v2');
  await fc.assert(
    fc.asyncProperty(format, said, files, async (format, options, {disk, project, compiled}) => {
      const cwd = await mkdtemp(join(parent, 'project-'));
      const log = join(cwd, 'executed');
      const module = (name: string, content: Said) =>
        `import {appendFileSync} from 'node:fs';\nappendFileSync(${JSON.stringify(log)}, '${name} ');\n` +
        `export default JSON.parse(${JSON.stringify(JSON.stringify(content))});\n`;
      const kept = {flavour: {z: 1}, toString: 'a key', metadata: [null]};
      await writeTree(cwd, {
        ...smallBuild,
        ...(disk && {'build/.runtime/config.json': JSON.stringify({...kept, ...disk})}),
        ...(project && {[project[0]]: module('project', project[1])}),
        ...(compiled && {'build/config.server.js': module('compiled', compiled)}),
      });
      const {config} = await planBundle(planOptions(cwd, {format, ...options}));

      const explicit: Said =
        format === 'v2' || options.bundleMetadata === undefined
          ? options
          : {...options, bundleMetadata: {dependencies: options.bundleMetadata.dependencies}};
      const sources: Said[] = [explicit];
      const executed: string[] = [];
      const onDisk = format === 'v2' ? disk : undefined;
      if (onDisk) sources.push(onDisk);
      else {
        const candidates = [['project', project?.[1]] as const, ['compiled', compiled] as const];
        for (const [name, content] of candidates) {
          const open = !sources.some(({ssrOnly}) => ssrOnly) || !sources.some(({ssrShared}) => ssrShared);
          if (content === undefined || !open) continue;
          sources.push(content);
          executed.push(`${name} `);
        }
      }
      expect(existsSync(log) ? await readFile(log, 'utf8') : '').toBe(executed.join(''));
      expect(canonical(config)).toBe(canonical({...(onDisk && kept), ...expectedConfig(sources)}));
    }),
    {numRuns: 80},
  );
});
