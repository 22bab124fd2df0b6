import {randomUUID} from 'node:crypto';
import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {backendConformance, type ConformanceService} from 'mycli/testing';
import {afterAll, beforeAll, describe, test} from 'vitest';
import {startProxy, type Intercept} from '../../mycli-plugin-s3/test/proxy.js';
import {webdavBackend} from '../src/backend.js';
import {basic, env, namesIn, startApache, type Apache} from './apache.js';

let apache: Apache;
beforeAll(async () => {
  apache = await startApache();
});
afterAll(() => apache[Symbol.asyncDispose]());

/** A project of its own on the real server, behind a proxy that can be told to limit and to fail. */
async function openService(): Promise<ConformanceService> {
  const proxy = await startProxy(apache.url);
  const projectSlug = `shop ${randomUUID()}`;
  const folder = join(apache.files, projectSlug);
  // As reverse proxies do: the server refuses to move anything to another origin.
  const forward: Intercept = ({headers}) => {
    const {destination} = headers;
    if (typeof destination === 'string') headers['destination'] = destination.replace(proxy.endpoint, apache.url);
    return undefined;
  };
  proxy.intercept = forward;
  return {
    options: {url: proxy.endpoint},
    projectSlug,
    env,
    secrets: [env.WEBDAV_PASSWORD],
    issuedSecrets: () => [basic],
    async readUploaded(bundleId) {
      const bundle = join(folder, 'bundles', String(bundleId));
      const archive = (await namesIn(bundle)).find((name) => name.startsWith('bundle.tar')) ?? 'no archive';
      return readFile(join(bundle, archive));
    },
    countUploads: async () =>
      (await namesIn(join(folder, 'bundles'))).length + (await namesIn(join(folder, 'incoming'))).length,
    async close() {
      await proxy[Symbol.asyncDispose]();
    },
  };
}

describe('the contract of mycli', () => {
  for (const {name, run} of backendConformance(() => webdavBackend, {openService})) test(name, run);
});
