import {backendConformance, type ConformanceFixtures, type ConformanceService} from 'mycli/testing';
import {describe, test} from 'vitest';
import {s3Backend} from '../src/backend.js';
import {createBucket, endpoint} from './test-store.js';

/** A busy machine takes long for the lists of a hundred. */
const caseTimeoutMs = 300_000;

type Suite = Parameters<ConformanceFixtures['openService']>[0];

const secret = process.env['AWS_SECRET_ACCESS_KEY'] ?? 'no secret';

/** A bucket of its own in the real store. */
async function openService({through}: Suite): Promise<ConformanceService> {
  const bucket = await createBucket();
  return {
    options: {...bucket.options, endpoint: await through(endpoint)},
    env: {AWS_SECRET_ACCESS_KEY: secret},
    secrets: [secret],
    issuedSecrets: () => [secret],
    async readUploaded(bundleId, projectSlug) {
      const record = await bucket.read(`${projectSlug}/bundles/${bundleId}.json`);
      return bucket.read((JSON.parse(Buffer.from(record).toString()) as {readonly archive: string}).archive);
    },
    async countUploads() {
      const archives = (await bucket.keys()).filter((key) => key?.includes('/archives/'));
      return archives.length + (await bucket.pending()).length;
    },
  };
}

describe('the contract of mycli', () => {
  const skip = {
    'upload (v2): a persistent rate limit is reported as such':
      'After a failed upload, its parts are removed, which takes requests of its own.',
  };
  const cases = backendConformance(() => s3Backend, {
    openService,
    resumableBytes: 20 * 1024 * 1024,
    skip,
    caseTimeoutMs,
  });
  for (const {name, skip: reason, run} of cases) test(name, {skip: reason !== undefined}, run);
});
