import {createBackendRegistry} from '../../src/backends/registry.js';

/** Options for a backend of a plugin that has `members` beside those that each has. */
export function acme(members: object) {
  const backend = {
    ...{apiVersion: 1, name: 'acme', summary: 'Acme', formats: ['v2']},
    check: () => Promise.resolve({configured: true}),
    upload: () => Promise.resolve({bundleId: 1, raw: undefined}),
    deploy: () => Promise.resolve({deployment: {}, status: 'queued', raw: undefined}),
    ...members,
  };
  const backends = createBackendRegistry([{plugin: 'mycli-plugin-acme', backend}]);
  return {preference: 'acme', projectSlug: 'shop', targetSlug: 'staging', backends} as const;
}
