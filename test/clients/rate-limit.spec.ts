import {execFile} from 'node:child_process';
import {rm, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {beforeEach, expect, onTestFinished, test} from 'vitest';
import {createRateLimitHooks, createRateLimitMiddleware} from '../../src/http/rate-limit/index.js';
import {refuseFirst, startRecordingServer} from '../http/with-server.js';

/** Where run.sh has installed the clients. */
const installed = join(process.env['MYCLI_TEST_CLIENTS'] ?? '', 'rate-limit');
const repository = fileURLToPath(new URL('../..', import.meta.url));

/** Uses the hooks and the middleware as their clients' types ask for. */
const fits = `
import {createRateLimitHooks, createRateLimitMiddleware} from 'mycli/rate-limit';
import got14 from 'got-14';
import got15 from 'got-15';
import got16 from 'got-16';
import createClient from 'openapi-fetch';

const hooks = createRateLimitHooks();
got14.extend({hooks});
got15.extend({hooks});
got16.extend({hooks});
createClient().use(createRateLimitMiddleware());
`;

const quick = {baseDelayMs: 1, maxDelayMs: 5, logger: {info: () => undefined, warn: () => undefined}};
const body = JSON.stringify({name: 'thing'});

let server: Awaited<ReturnType<typeof startRecordingServer>>;
beforeEach(async () => {
  server = await startRecordingServer(refuseFirst(2));
});

/** Imports an installed package. */
async function load<Module>(file: string): Promise<Module> {
  return (await import(pathToFileURL(join(installed, 'node_modules', file)).href)) as Module;
}

function expectThreeWholeTries(text = body): void {
  expect(server.requests.map((request) => request.body.toString())).toEqual([text, text, text]);
}

interface GotLike {
  extend(defaults: object): {put(url: string, options: object): Promise<{statusCode: number}>};
}

test.each([14, 15, 16])(
  "got %d's rate-limited and failed requests are sent again with their streamed bodies",
  async (version) => {
    const {default: got} = await load<{default: GotLike}>(`got-${version}/dist/source/index.js`);
    const client = got.extend({hooks: createRateLimitHooks(quick)});
    const createBody = async function* () {
      yield Buffer.from('one ');
      yield Buffer.from('two');
    };
    for (const status of [429, 503]) {
      server = await startRecordingServer(refuseFirst(2, status));
      const calculateDelay = ({computedValue}: {computedValue: number}) => Math.min(computedValue, 1);
      const options = {headers: {'content-length': '7'}, context: {createBody}, retry: {limit: 3, calculateDelay}};
      expect((await client.put(server.origin, options)).statusCode).toBe(201);
      expectThreeWholeTries('one two');
      expect(server.requests.map(({headers}) => headers['content-length'])).toEqual(['7', '7', '7']);
    }
  },
);

test("openapi-fetch's retries go through the fetch of its client", async () => {
  interface Client {
    use(middleware: object): void;
    POST(path: string, init: object): Promise<{response: Response}>;
  }
  const {default: createClient} = await load<{default: (options: object) => Client}>('openapi-fetch/dist/index.mjs');
  const urls: string[] = [];
  const ownFetch = async (request: Request) => {
    urls.push(request.url);
    return fetch(request);
  };
  const client = createClient({baseUrl: server.origin, fetch: ownFetch});
  client.use(createRateLimitMiddleware(quick));
  const {response} = await client.POST('/things', {body: {name: 'thing'}});
  expect(response.status).toBe(201);
  expect(urls).toEqual(Array(3).fill(`${server.origin}/things`));
  expectThreeWholeTries();
});

test("ky's hooks retry with the middleware", async () => {
  const {default: ky} = await load<{default: {post(url: string, options: object): Promise<Response>}}>(
    'ky/distribution/index.js',
  );
  const {onRequest, onResponse} = createRateLimitMiddleware(quick);
  const hooks = {
    beforeRequest: [(request: Request) => onRequest({request})],
    afterResponse: [async (request: Request, _: object, response: Response) => onResponse({request, response})],
  };
  const response = await ky.post(`${server.origin}/things`, {body, retry: 0, hooks});
  expect(response.status).toBe(201);
  expectThreeWholeTries();
});

test("undici's own fetch gets its own kind of request again", async () => {
  const undici = await load<{fetch: typeof fetch; Request: typeof Request}>('undici/index.js');
  const kinds: boolean[] = [];
  const ownFetch = async (request: Request) => {
    kinds.push(request instanceof undici.Request);
    return undici.fetch(request);
  };
  const middleware = createRateLimitMiddleware({...quick, fetch: ownFetch});
  const request = new undici.Request(`${server.origin}/things`, {method: 'POST', body});
  middleware.onRequest({request});
  const response = await middleware.onResponse({request, response: await ownFetch(request)});
  expect(response.status).toBe(201);
  expect(kinds).toEqual([true, true, true]);
  expectThreeWholeTries();
});

test('the types of the hooks and the middleware fit those of the clients', async () => {
  const mycli = join(installed, 'node_modules/mycli');
  await symlink(repository, mycli);
  await writeFile(join(installed, 'fits.ts'), fits);
  onTestFinished(async () => rm(mycli));
  const options = [
    '--noEmit',
    '--strict',
    '--exactOptionalPropertyTypes',
    '--skipLibCheck',
    '--module',
    'nodenext',
    '--target',
    'es2022',
    'fits.ts',
  ];
  const tsc = join(repository, 'node_modules/@typescript/native/bin/tsc');
  const {stdout} = await promisify(execFile)(process.execPath, [tsc, ...options], {cwd: installed}).catch(
    (error: unknown) => error as {stdout: string},
  );
  expect(stdout).toBe('');
});
