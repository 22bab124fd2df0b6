import {describe, expect, test} from 'vitest';
import {createBackendRegistry} from '../../src/backends/registry.js';

const complete = {
  apiVersion: 1,
  name: 'acme',
  summary: 'A backend for tests',
  formats: ['v2'],
  capabilities: ['deploy'],
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
        suggestions: ['Did you mean "legacy"?'],
      }),
    );
  });

  test.each([
    ['is no object', 'acme', 'must be an object'],
    ['has no valid name', {...complete, name: 'Acme!'}, 'does not match'],
    ['has a reserved name', {...complete, name: 'legacy'}, 'reserved'],
    ['speaks another version', {...complete, apiVersion: 2}, 'version 2'],
    ['has no summary', {...complete, summary: undefined}, 'summary'],
    ['has no format', {...complete, formats: []}, 'formats'],
    ['has an unknown format', {...complete, formats: ['v3']}, 'formats'],
    ['has an unknown capability', {...complete, capabilities: ['teleport']}, 'capabilities'],
    ['lacks the function of a capability', {...complete, capabilities: ['list']}, 'listBundles'],
    ['cannot upload', {...complete, upload: undefined}, 'upload'],
  ])('a backend that %s is left out and reported with its plugin', (_, backend, problem) => {
    const registry = createBackendRegistry([{plugin: 'broken-plugin', backend}]);
    expect(registry.registrations).toHaveLength(2);
    expect(registry.failures).toHaveLength(1);
    expect(registry.failures[0]?.message).toContain('broken-plugin');
    expect(registry.failures[0]?.message).toContain(problem);
  });

  test('the first of two backends with one name stands', () => {
    const registry = createBackendRegistry([
      {plugin: 'first', backend: complete},
      {plugin: 'second', backend: {...complete, summary: 'Another one'}},
    ]);
    expect(registry.get('acme').summary).toBe(complete.summary);
    expect(registry.failures).toEqual([
      {plugin: 'second', message: 'plugin second: first has a backend named "acme" already'},
    ]);
  });

  test('asking for a backend that a failed plugin may have brought tells of the failure', () => {
    const registry = createBackendRegistry([], [{plugin: 'acme', message: 'plugin acme: hook timed out'}]);
    expect(() => registry.get('acme')).toThrow(expect.objectContaining({suggestions: ['plugin acme: hook timed out']}));
  });
});
