import {describe, expect, test} from 'vitest';
import {planBundle} from '../../../src/bundle/index.js';
import {makeFolder} from '../../folder.js';
import {planOptions, smallBuild} from '../project.js';

const next = {
  ...smallBuild,
  'build/streamingHandler.mjs': '',
  'package.json': JSON.stringify({devDependencies: {'@salesforce/storefront-next-dev': '1.3.1'}}),
  'config.server.ts': `export default {runtime: {ssrOnly: ['absent/**'], ssrParameters: {ssrFunctionNodeVersion: '22.x', envBasePath: '/shop'}}};`,
};
const pwaKit = {
  ...smallBuild,
  'package.json': JSON.stringify({
    devDependencies: {'@salesforce/pwa-kit-dev': '3.20.0'},
    dependencies: {react: '19'},
    ccExtensibility: {extends: '@salesforce/retail-react-app', overridesDir: 'overrides'},
  }),
  'overrides/app/own.js': '',
  'overrides/app/routes.jsx': '',
  'node_modules/@salesforce/retail-react-app/app/routes.jsx': '',
};
const collects = {collectsMetadata: true} as const;

describe('a v2 bundle of Storefront Next', () => {
  test('has the parameter names of its own client, and ignores patterns that match nothing unless told otherwise', async () => {
    const cwd = await makeFolder(next);
    const {config, matchMode, warnings} = await planBundle(planOptions(cwd, {ssrParameters: {envBasePath: '/other'}}));
    expect(config.ssrParameters).toEqual({SSRFunctionNodeVersion: '22.x', EnvBasePath: '/other'});
    expect([matchMode, warnings]).toEqual(['ignore_missing', []]);
    expect(config).not.toHaveProperty('bundleMetadata');
    expect(await planBundle(planOptions(cwd, {matchMode: 'strict'}))).toMatchObject({matchMode: 'strict'});
    const v1 = await planBundle(planOptions(cwd, {format: 'v1'}));
    expect(v1.config.ssrParameters).toEqual({ssrFunctionNodeVersion: '22.x', envBasePath: '/shop'});
  });

  test('is configured by .mrt/config.json of the build, unless another path is given', async () => {
    const disk = {
      ssrOnly: ['streamingHandler.mjs', 'ssr.js', 'server/**'],
      ssrShared: ['static/**'],
      bundleMetadata: {dependencies: {a: '1'}},
    };
    const cwd = await makeFolder({...next, 'build/.mrt/config.json': JSON.stringify(disk)});
    const {config, configPath, files} = await planBundle(planOptions(cwd, collects));
    expect(config).toMatchObject(disk);
    expect(configPath).toBe('.mrt/config.json');
    expect(files.map(({path}) => path)).not.toContain('.mrt/config.json');
    const other = await planBundle(planOptions(cwd, {configPath: 'config.json'}));
    expect(other.config.ssrOnly[0]).toBe('absent/**');
  });
});

test.each([
  ['Storefront Next', 'v2', next, {dependencies: {'@salesforce/storefront-next-dev': '1.3.1'}}],
  ['PWA Kit', 'v2', pwaKit, {dependencies: {'@salesforce/pwa-kit-dev': '3.20.0', react: '19'}}],
  [
    'PWA Kit',
    'v1',
    pwaKit,
    {dependencies: {'@salesforce/pwa-kit-dev': '3.20.0', react: '19'}, ccOverrides: ['app/routes.jsx']},
  ],
] as const)(
  'a bundle of %s in %s has the metadata of its own client if it is collected',
  async (_, format, files, metadata) => {
    const cwd = await makeFolder(files);
    const {config} = await planBundle(planOptions(cwd, {...collects, format}));
    expect(config.bundleMetadata).toEqual(metadata);
    expect((await planBundle(planOptions(cwd, {format}))).config).not.toHaveProperty('bundleMetadata');
    const given = {dependencies: {only: '1'}};
    const own = await planBundle(planOptions(cwd, {...collects, format, bundleMetadata: given}));
    expect(own.config.bundleMetadata).toMatchObject(given);
  },
);
