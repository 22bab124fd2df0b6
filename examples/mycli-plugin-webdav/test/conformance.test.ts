import {randomUUID} from 'node:crypto';
import {chmod, mkdir, readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {backendConformance, type ConformanceService} from 'mycli/testing';
import {afterAll, beforeAll, describe, test} from 'vitest';
import {startProxy, type Intercept} from '../../mycli-plugin-s3/test/proxy.js';
import {webdavBackend} from '../src/backend.js';
import {basic, env, namesIn, startApache, type Apache} from './apache.js';

/** A busy machine takes long for the lists of a hundred. */
const caseTimeoutMs = 300_000;

let apache: Apache;
beforeAll(async () => {
  apache = await startApache();
});
afterAll(() => apache[Symbol.asyncDispose]());

/** A folder of its own on the real server, behind a proxy for the header that has an address in it. */
async function openService(): Promise<ConformanceService> {
  const proxy = await startProxy(apache.url);
  const name = `shops ${randomUUID()}`;
  const folder = join(apache.files, name);
  await mkdir(folder);
  // The server may run as another user.
  await chmod(folder, 0o777);
  // As reverse proxies do: the server refuses to move anything to another origin.
  const forward: Intercept = ({headers}) => {
    const {destination} = headers;
    if (typeof destination === 'string') headers['destination'] = destination.replace(proxy.endpoint, apache.url);
    return undefined;
  };
  proxy.intercept = forward;
  return {
    options: {url: `${proxy.endpoint}/${encodeURIComponent(name)}`},
    env,
    secrets: [env.WEBDAV_PASSWORD],
    issuedSecrets: () => [basic],
    async readUploaded(bundleId, projectSlug) {
      const bundle = join(folder, projectSlug, 'bundles', String(bundleId));
      const archive = (await namesIn(bundle)).find((one) => one.startsWith('bundle.tar')) ?? 'no archive';
      return readFile(join(bundle, archive));
    },
    async countUploads() {
      const places = (await namesIn(folder)).flatMap((project) => [`${project}/bundles`, `${project}/incoming`]);
      return (await Promise.all(places.map((place) => namesIn(join(folder, place))))).flat().length;
    },
    async close() {
      await proxy[Symbol.asyncDispose]();
    },
  };
}

describe('the contract of mycli', () => {
  for (const {name, run} of backendConformance(() => webdavBackend, {openService, caseTimeoutMs})) test(name, run);
});
