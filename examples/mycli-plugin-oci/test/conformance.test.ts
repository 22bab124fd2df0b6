import {randomUUID} from 'node:crypto';
import {readdir, readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {backendConformance, type ConformanceService} from 'mycli/testing';
import {afterAll, beforeAll, describe, test} from 'vitest';
import {ociBackend} from '../src/backend.js';
import {basic, env, startRegistry, type TestRegistry} from './registry.js';

/** A busy machine takes long for the lists of a hundred. */
const caseTimeoutMs = 300_000;

let registry: TestRegistry;
beforeAll(async () => {
  registry = await startRegistry();
});
afterAll(() => registry[Symbol.asyncDispose]());

const namesIn = (folder: string) => readdir(folder).catch((): string[] => []);

/** A folder of repositories of its own. */
async function openService(): Promise<ConformanceService> {
  const name = `shops/${randomUUID()}`;
  const before = registry.tokens.length;
  const folder = join(registry.files, 'repositories', name);
  return {
    options: {url: `${registry.url}/${name}`},
    env,
    secrets: [env.OCI_PASSWORD],
    issuedSecrets: () => [basic, ...registry.tokens.slice(before)],
    async readUploaded(bundleId, projectSlug) {
      const tag = join(folder, projectSlug, '_manifests/tags', String(bundleId), 'current/link');
      const read = (digest: string) => {
        const hex = digest.trim().replace('sha256:', '');
        return readFile(join(registry.files, 'blobs/sha256', hex.slice(0, 2), hex, 'data'));
      };
      const manifest = JSON.parse(String(await read(await readFile(tag, 'utf8')))) as {
        readonly layers: readonly [{readonly digest: string}];
      };
      return read(manifest.layers[0].digest);
    },
    // Those that are bundles: what was cut off stays in _uploads until the registry purges it.
    async countUploads() {
      const projects = (await namesIn(folder)).map((project) => join(folder, project, '_manifests/tags'));
      const tags = (await Promise.all(projects.map(namesIn))).flat();
      return tags.filter((tag) => !['staging', 'production'].includes(tag)).length;
    },
  };
}

const skip = {
  'deploy: of two at the same time, one is live':
    'the API has no conditional writes, so the history may lose one of two deployments, as the README says',
};

describe('the contract of mycli', () => {
  for (const one of backendConformance(() => ociBackend, {openService, caseTimeoutMs, skip}))
    test.skipIf(one.skip !== undefined)(one.name, one.run);
});
