import {mkdtemp, readFile, readdir, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {backendConformance, type ConformanceService} from 'mycli/testing';
import {describe, test} from 'vitest';
import {directoryBackend} from '../src/backend.js';

const noServer = 'no server stands between: nothing limits the rate, asks for credentials or holds a secret';

/** A folder of its own. */
async function openService(): Promise<ConformanceService> {
  const directory = await mkdtemp(join(tmpdir(), 'mycli-conformance-'));
  const store = join(directory, 'store');
  return {
    options: {directory: 'store', unpack: true},
    configDirectory: directory,
    async readUploaded(bundleId, projectSlug) {
      const folder = join(store, projectSlug, String(bundleId));
      const archive = (await readdir(folder)).find((name) => name.startsWith('bundle.tar')) ?? 'no archive';
      return readFile(join(folder, archive));
    },
    readUploadedFile: (bundleId, path, projectSlug) =>
      readFile(join(store, projectSlug, String(bundleId), 'files', path)),
    // Bundles are numbered folders, and what is incomplete is in another one.
    async countUploads() {
      const counts = (await namesIn(store)).map(async (projectSlug) => {
        const bundles = (await namesIn(join(store, projectSlug))).filter((name) => /^\d+$/.test(name));
        const contents = await Promise.all(bundles.map((name) => namesIn(join(store, projectSlug, name))));
        // Of a deleted bundle, its record stays.
        const kept = contents.filter((names) => names.some((name) => name !== 'bundle.json'));
        return kept.length + (await namesIn(join(store, projectSlug, 'incoming'))).length;
      });
      return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
    },
    close: () => rm(directory, {recursive: true, force: true}),
  };
}

const namesIn = (folder: string) => readdir(folder).catch((): string[] => []);

describe('the contract of mycli', () => {
  const cases = backendConformance(() => directoryBackend, {
    openService,
    skip: {
      'verify: refused credentials are reported as such': noServer,
      'upload (v1): refused credentials are reported as such': noServer,
      'upload (v2): refused credentials are reported as such': noServer,
      'no error or log contains a secret': noServer,
    },
  });
  for (const {name, run} of cases.filter(({skip}) => skip === undefined)) test(name, run);
});
