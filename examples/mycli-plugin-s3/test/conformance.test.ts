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
  const isUpload = (method: string, path: string) => method === 'PUT' && path.includes('/archives/');
  return {
    options: {...bucket.options, endpoint: proxy.endpoint},
    projectSlug: 'shop',
    env: {AWS_SECRET_ACCESS_KEY: secret},
    secrets: [secret],
    issuedSecrets: () => [secret],
    readUploaded: (bundleId) => bucket.read(`shop/archives/${bundleId}.tar.gz`),
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
    async close() {
      process.env['AWS_SECRET_ACCESS_KEY'] = secret;
      await proxy[Symbol.asyncDispose]();
    },
  };
}

describe('the contract of mycli', () => {
  const cases = backendConformance(() => s3Backend, {openService});
  for (const {name, run} of cases) test(name, run);
});
