import {mkdtemp, readFile, readdir, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {backendConformance, type ConformanceService} from 'mycli/testing';
import {describe, test} from 'vitest';
import {directoryBackend} from '../src/backend.js';

const noServer = 'no server stands between: nothing limits the rate, asks for credentials or holds a secret';

/** A folder of its own, with one project. */
async function openService(): Promise<ConformanceService> {
  const directory = await mkdtemp(join(tmpdir(), 'mycli-conformance-'));
  const projectSlug = 'shop';
  const project = join(directory, 'store', projectSlug);
  return {
    options: {directory: 'store', unpack: true},
    configDirectory: directory,
    projectSlug,
    async readUploaded(bundleId) {
      const folder = join(project, String(bundleId));
      const archive = (await readdir(folder)).find((name) => name.startsWith('bundle.tar')) ?? 'no archive';
      return readFile(join(folder, archive));
    },
    readUploadedFile: (bundleId, path) => readFile(join(project, String(bundleId), 'files', path)),
    // Bundles are numbered folders, and what is incomplete is in another one.
    async countUploads() {
      const [bundles = [], incoming = []] = await Promise.all([project, join(project, 'incoming')].map(namesIn));
      return bundles.filter((name) => /^\d+$/.test(name)).length + incoming.length;
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
