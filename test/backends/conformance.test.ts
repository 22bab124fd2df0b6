import {createReadStream} from 'node:fs';
import {readdir} from 'node:fs/promises';
import path from 'node:path';
import {describe, test} from 'vitest';
import {apiBackend} from '../../src/backends/api/backend.js';
import {legacyBackend} from '../../src/backends/legacy/backend.js';
import {ApiKeyStrategy, OAuthClientCredentialsStrategy} from '../../src/http/index.js';
import {backendConformance, startLocalRuntime} from '../../src/testing.js';
import type {ConformanceFixtures, LocalRuntime} from '../../src/testing.js';

/** A local runtime of its own for every service, with credentials that can be told from all other text. */
function fixturesOf(
  settings: (runtime: Pick<LocalRuntime, 'origin' | 'credentials'>) => {options: unknown; secrets: string[]},
): ConformanceFixtures {
  return {
    async openService() {
      const runtime = await startLocalRuntime({
        deploymentSeconds: 0.05,
        credentials: {apiKey: 'canary-api-key-7f3a', clientSecret: 'canary-client-secret-91c2'},
      });
      const bundles = path.join(runtime.dataDirectory, 'bundles');
      return {
        ...settings(runtime),
        readUploaded: async (id) => createReadStream(path.join(bundles, String(id), 'archive')),
        countUploads: async () => (await readdir(bundles)).length,
        occupyTarget: () => {
          runtime.addFault('409:route=deploy');
        },
        failDeployments: () => {
          runtime.addFault('fail');
        },
        close: () => runtime.close(),
      };
    },
  };
}

describe('the Api backend passes the conformance suite', () => {
  const fixtures = fixturesOf(({origin, credentials}) => {
    const {clientId, clientSecret, tokenUrl, organizationId} = credentials;
    const auth = new OAuthClientCredentialsStrategy({clientId, clientSecret, tokenUrl});
    return {options: {connection: {origin, organizationId, auth}}, secrets: [clientSecret]};
  });
  for (const {name, skip, run} of backendConformance(() => apiBackend, fixtures)) {
    test.skipIf(skip !== undefined)(name, run);
  }
});

const legacyFixtures: ConformanceFixtures = {
  ...fixturesOf(({origin, credentials: {apiKey}}) => ({
    options: {origin, auth: new ApiKeyStrategy({apiKey})},
    secrets: [apiKey],
  })),
  skip: {
    'upload (v1): deploys nothing': 'with a target it does, which the tests of pushes cover',
    'targets whose slugs differ are different targets':
      'the service refuses such slugs, and what the tests send must be what its document has',
  },
};

describe('the legacy backend passes the conformance suite', () => {
  for (const {name, skip, run} of backendConformance(() => legacyBackend, legacyFixtures)) {
    test.skipIf(skip !== undefined)(name, run);
  }
});

describe('the legacy backend passes the conformance suite with uploads that are packed while they are sent', () => {
  const {uploadStream} = legacyBackend;
  const streaming: typeof legacyBackend = {
    ...legacyBackend,
    formats: ['v1'],
    upload: (bundle, context) => uploadStream({...bundle, read: () => bundle.createReadStream()}, context),
  };
  const cases = backendConformance(() => streaming, legacyFixtures).filter(({name}) => name.startsWith('upload'));
  for (const {name, skip, run} of cases) test.skipIf(skip !== undefined)(name, run);
});
