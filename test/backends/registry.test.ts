import {describe, expect, test} from 'vitest';
import {createBackendRegistry} from '../../src/backends/registry.js';

const complete = {
  apiVersion: 1,
  name: 'acme',
  summary: 'A backend for tests',
  formats: ['v2'],
  check: () => Promise.resolve({configured: true}),
  upload: () => Promise.resolve({bundleId: 1, raw: undefined}),
  deploy: () => Promise.resolve({deployment: {}, status: 'queued', raw: undefined}),
};

describe('the registry of backends', () => {
  test('holds the built-in backends and those of plugins, in order', () => {
    const registry = createBackendRegistry([{plugin: 'mycli-plugin-acme', version: '1.2.3', backend: complete}]);
    expect(registry.registrations.map(({backend, plugin}) => [backend.name, plugin])).toEqual([
      ['api', 'mycli'],
      ['legacy', 'mycli'],
      ['acme', 'mycli-plugin-acme'],
    ]);
    expect(registry.failures).toEqual([]);
    expect(registry.get('acme').summary).toBe(complete.summary);
  });

  test('an unknown name is an error that lists the known ones and suggests the nearest', () => {
    const registry = createBackendRegistry();
    expect(() => registry.get('legcy')).toThrow(
      expect.objectContaining({
        code: 'ERR_BACKEND_UNKNOWN',
        exitCode: 3,
        message: expect.stringContaining('auto, api, legacy') as string,
        suggestions: ['Did you mean legacy?'],
      }),
    );
  });

  test.each([
    ['is no object', 'acme', 'must be an object'],
    ['has no valid name', {...complete, name: 'Acme!'}, 'does not match'],
    ['is for a later version', {...complete, apiVersion: 2}, 'this mycli has version 1. Update mycli'],
    ['is for an earlier version', {...complete, apiVersion: 0}, 'this mycli has version 1. Update the plugin'],
    ['has a version that is text', {...complete, apiVersion: '1'}, 'apiVersion must be the number 1, not "1"'],
    ['has no summary', {...complete, summary: undefined}, 'summary'],
    ['has no format', {...complete, formats: []}, 'formats'],
    ['has an unknown format', {...complete, formats: ['v3']}, 'formats'],
    ['has options that are not a schema', {...complete, options: null}, 'options must be a Standard Schema'],
    [
      'has secrets that are not names',
      {...complete, secrets: ['token', 5]},
      'secrets must be an array of option names',
    ],
    [
      'has secret variables that are not names',
      {...complete, secretEnv: 'ACME_KEY'},
      'secretEnv must be an array of names of environment variables',
    ],
    ['has ids of an unknown kind', {...complete, bundleIds: 'uuid'}, 'bundleIds must be "number"'],
    ['requires what is no name', {...complete, required: [5]}, 'required must be an array of option names'],
    ['has no name', {...complete, name: 5}, 'the backend name 5 does not match ^[a-z]'],
    ['lists with no function', {...complete, listBundles: []}, 'listBundles must be a function'],
    ['cannot upload', {...complete, upload: undefined}, 'upload'],
  ])('a backend that %s is left out and reported with its plugin', (_, backend, problem) => {
    const registry = createBackendRegistry([{plugin: 'broken-plugin', backend}]);
    expect(registry.registrations).toHaveLength(2);
    expect(registry.failures).toHaveLength(1);
    expect(registry.failures[0]?.message).toMatch(/^Plugin broken-plugin: /);
    expect(registry.failures[0]?.plugin).toBe('broken-plugin');
    expect(registry.failures[0]?.message).toContain(problem);
  });

  test.each<[string, object]>([
    ['a schema that is an object', {options: {'~standard': {validate: () => ({value: {}})}}}],
    [
      'a schema that is a function',
      {options: Object.assign(() => true, {'~standard': {validate: () => ({value: {}})}})},
    ],
    ['secrets', {secrets: ['token']}],
    ['no check', {check: undefined}],
    ['both formats', {formats: ['v1', 'v2']}],
    ['the longest name', {name: 'a'.repeat(32)}],
    ['no capabilities', {deploy: undefined}],
    ['members of a later version', {teleport: 'maybe', capabilities: ['teleport']}],
  ])('a backend with %s is registered', (_, more) => {
    const registry = createBackendRegistry([{plugin: 'acme', backend: {...complete, ...more}}]);
    expect(registry.failures).toEqual([]);
    expect(registry.registrations).toHaveLength(3);
  });

  test('a name that nothing is near to may be the backend of a plugin', () => {
    const registry = createBackendRegistry();
    expect(() => registry.get('somewhere-else')).toThrow(
      expect.objectContaining({
        suggestions: [expect.stringContaining('plugins:install PLUGIN')],
        details: {backend: 'somewhere-else', known: ['api', 'legacy']},
      }),
    );
    expect([registry.has('api'), registry.has('somewhere-else')]).toEqual([true, false]);
  });

  test('"auto" may be what was meant', () => {
    expect(() => createBackendRegistry().get('atuo')).toThrow(
      expect.objectContaining({suggestions: ['Did you mean auto?']}),
    );
  });

  test.each(['auto', 'api'])('the name "%s" is reserved', (name) => {
    const {failures} = createBackendRegistry([{plugin: 'p', backend: {...complete, name}}]);
    expect(failures).toEqual([{plugin: 'p', message: `Plugin p: the backend name "${name}" is reserved.`}]);
  });

  const twoPlugins = [
    {plugin: 'first', backend: complete},
    {plugin: '@b/second', backend: {...complete, summary: 'Another one'}},
  ];

  test('of two plugins with a backend of one name, neither is used until one is named', () => {
    const registry = createBackendRegistry(twoPlugins);
    expect([registry.has('acme'), registry.has('first/acme'), registry.has('third/acme')]).toEqual([true, true, false]);
    expect(() => registry.get('acme')).toThrow(
      expect.objectContaining({
        code: 'ERR_BACKEND_UNKNOWN',
        message: 'Several plugins have a backend named "acme": first, @b/second.',
        suggestions: [
          'Pass --runtime-backend first/acme or --runtime-backend @b/second/acme.',
          expect.stringContaining('In mycli.config, use that name'),
        ],
      }),
    );
    expect(registry.get('first/acme').summary).toBe(complete.summary);
    expect(registry.find('@b/second/acme')).toMatchObject({plugin: '@b/second', name: '@b/second/acme'});
    expect(registry.failures).toEqual([]);
  });

  test('a backend can be named with its plugin where there is no need', () => {
    const registry = createBackendRegistry([{plugin: 'first', backend: complete}]);
    expect(registry.find('first/acme')).toBe(registry.find('acme'));
    expect(registry.find('acme').name).toBe('acme');
  });

  test('the configuration can choose between two plugins with a backend of one name, but not both', () => {
    const choose = (...chosen: readonly string[]) => createBackendRegistry(twoPlugins, [], chosen);
    expect(choose('@b/second/acme', 'other').get('acme').summary).toBe('Another one');
    expect(() => choose('@b/second/acme', 'first/acme').get('acme')).toThrow(/Several plugins/);
  });

  test('the first of two backends with one name in one plugin stands', () => {
    const registry = createBackendRegistry([
      {plugin: 'first', backend: complete},
      {plugin: 'first', backend: {...complete, summary: 'Another one'}},
    ]);
    expect(registry.get('acme').summary).toBe(complete.summary);
    expect(registry.failures).toEqual([
      {plugin: 'first', message: 'Plugin first: it has two backends with the name "acme".'},
    ]);
  });

  test('asking for a backend that a failed plugin may have brought tells of the failure', () => {
    const registry = createBackendRegistry([], [{plugin: 'acme', message: 'plugin acme: hook timed out'}]);
    expect(() => registry.get('acme')).toThrow(expect.objectContaining({suggestions: ['plugin acme: hook timed out']}));
  });
});
