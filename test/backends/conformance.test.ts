import {once} from 'node:events';
import {createReadStream} from 'node:fs';
import {readdir} from 'node:fs/promises';
import {connect, createServer, type AddressInfo, type Socket} from 'node:net';
import path from 'node:path';
import {describe, test} from 'vitest';
import {apiBackend} from '../../src/backends/api/backend.js';
import {legacyBackend} from '../../src/backends/legacy/backend.js';
import {ApiKeyStrategy, OAuthClientCredentialsStrategy} from '../../src/http/index.js';
import {backendConformance, startLocalRuntime} from '../../src/testing.js';
import type {ConformanceFixtures, LocalRuntime} from '../../src/testing.js';

/** Stands between a client and a server. The client opens a connection for each request: they are counted and held. */
async function startRelay(server: string) {
  const sockets = new Set<Socket>();
  let connections = 0;
  let onHeld: (() => void) | undefined;
  const relay = createServer((client) => {
    connections += 1;
    sockets.add(client);
    client.on('error', () => client.destroy());
    if (onHeld) {
      onHeld();
      return;
    }
    const upstream = connect(Number(new URL(server).port), '127.0.0.1');
    upstream.on('error', () => client.resetAndDestroy());
    client.on('close', () => upstream.destroy());
    client.pipe(upstream).pipe(client);
  });
  await once(relay.listen(0, '127.0.0.1'), 'listening');
  return {
    origin: `http://127.0.0.1:${String((relay.address() as AddressInfo).port)}`,
    countRequests: () => connections,
    holdRequests: (hold: () => void) => {
      onHeld = hold;
    },
    close: async () => {
      const closed = once(relay, 'close');
      relay.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

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
      const relay = await startRelay(runtime.origin);
      const bundles = path.join(runtime.dataDirectory, 'bundles');
      return {
        ...settings({...runtime, origin: relay.origin}),
        readUploaded: async (id) => createReadStream(path.join(bundles, String(id), 'archive')),
        countUploads: async () => (await readdir(bundles)).length,
        countRequests: relay.countRequests,
        holdRequests: relay.holdRequests,
        limitUploads: (count) => {
          runtime.addFault({action: 'status', status: 429, route: 'upload', count});
        },
        refuseCredentials: () => {
          runtime.addFault('401:route=upload');
        },
        failUploads: () => {
          runtime.addFault('500:route=upload');
        },
        failRequests: () => {
          runtime.addFault('500');
        },
        loseAnswers: (count) => {
          runtime.addFault({action: 'drop', count});
        },
        occupyTarget: () => {
          runtime.addFault('409:route=deploy');
        },
        failDeployments: () => {
          runtime.addFault('fail');
        },
        close: async () => {
          await relay.close();
          await runtime.close();
        },
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

describe('the legacy backend passes the conformance suite', () => {
  const fixtures = fixturesOf(({origin, credentials: {apiKey}}) => ({
    options: {origin, auth: new ApiKeyStrategy({apiKey})},
    secrets: [apiKey],
  }));
  for (const {name, skip, run} of backendConformance(() => legacyBackend, fixtures)) {
    test.skipIf(skip !== undefined)(name, run);
  }
});
