import {backendConformance, type ConformanceFixtures, type ConformanceService} from 'mycli/testing';
import {describe, test} from 'vitest';
import {s3Backend} from '../src/backend.js';
import {startProxy} from './proxy.js';
import {createBucket, endpoint} from './test-store.js';

type Suite = Parameters<ConformanceFixtures['openService']>[0];

const secret = process.env['AWS_SECRET_ACCESS_KEY'] ?? 'no secret';

/** A bucket of its own in the real store, behind a proxy that can break off uploads. */
async function openService({through}: Suite): Promise<ConformanceService> {
  const bucket = await createBucket();
  const proxy = await startProxy(endpoint);
  let received = 0;
  return {
    options: {...bucket.options, endpoint: await through(proxy.endpoint)},
    projectSlug: 'shop',
    env: {AWS_SECRET_ACCESS_KEY: secret},
    secrets: [secret],
    issuedSecrets: () => [secret],
    async readUploaded(bundleId) {
      const record = await bucket.read(`shop/bundles/${bundleId}.json`);
      return bucket.read((JSON.parse(Buffer.from(record).toString()) as {readonly archive: string}).archive);
    },
    interruptUploads(isOn) {
      // Beyond the first part.
      proxy.intercept = ({path, headers}) => {
        const part = partOf(path);
        if (part === undefined) return undefined;
        if (isOn && part > 1) return 'cut';
        received += Number(headers['x-amz-decoded-content-length'] ?? headers['content-length']);
        return undefined;
      };
    },
    countReceivedBytes: () => received,
    async countUploads() {
      const archives = (await bucket.keys()).filter((key) => key?.includes('/archives/'));
      return archives.length + (await bucket.pending()).length;
    },
    async close() {
      await proxy[Symbol.asyncDispose]();
    },
  };
}

/** The number of the part that a request uploads. */
function partOf(path: string): number | undefined {
  const [, part] = /partNumber=(\d+)/.exec(path) ?? [];
  return part === undefined ? undefined : Number(part);
}

describe('the contract of mycli', () => {
  const skip = {
    'upload (v2): a persistent rate limit is reported as such':
      'After a failed upload, its parts are removed, which takes requests of its own.',
  };
  const cases = backendConformance(() => s3Backend, {openService, resumableBytes: 20 * 1024 * 1024, skip});
  for (const {name, skip: reason, run} of cases) test(name, {skip: reason !== undefined}, run);
});
