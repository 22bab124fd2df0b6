import {backendConformance, type ConformanceService} from 'mycli/testing';
import {describe, test} from 'vitest';
import {s3Backend} from '../src/backend.js';
import {startProxy} from './proxy.js';
import {createBucket, endpoint} from './test-store.js';

const secret = process.env['AWS_SECRET_ACCESS_KEY'] ?? 'no secret';

/** A bucket of its own in the real store, behind a proxy that can be told to limit and to fail. */
async function openService(): Promise<ConformanceService> {
  const bucket = await createBucket();
  const proxy = await startProxy(endpoint);
  let received = 0;
  const isUpload = (method: string, path: string) => method === 'PUT' && path.includes('/archives/');
  return {
    options: {...bucket.options, endpoint: proxy.endpoint},
    projectSlug: 'shop',
    env: {AWS_SECRET_ACCESS_KEY: secret},
    secrets: [secret],
    issuedSecrets: () => [secret],
    async readUploaded(bundleId) {
      const record = await bucket.read(`shop/bundles/${bundleId}.json`);
      return bucket.read((JSON.parse(Buffer.from(record).toString()) as {readonly archive: string}).archive);
    },
    limitUploads(count) {
      let left = count;
      proxy.intercept = ({method, path}) =>
        isUpload(method, path) && left-- > 0 ? {status: 503, code: 'SlowDown'} : undefined;
    },
    refuseCredentials() {
      process.env['AWS_SECRET_ACCESS_KEY'] = `${secret}-no-more`;
    },
    failUploads() {
      proxy.intercept = ({method, path}) =>
        isUpload(method, path) ? {status: 507, code: 'InsufficientStorage'} : undefined;
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
      process.env['AWS_SECRET_ACCESS_KEY'] = secret;
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
  const cases = backendConformance(() => s3Backend, {openService, resumableBytes: 20 * 1024 * 1024});
  for (const {name, run} of cases) test(name, run);
});
