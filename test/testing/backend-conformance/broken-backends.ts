import {addAbortSignal, PassThrough, Readable} from 'node:stream';
import {buffer} from 'node:stream/consumers';
import {pipeline} from 'node:stream/promises';
import {
  backendError,
  type Backend,
  type BackendContext,
  type Bundle,
  type UploadResult,
} from '../../../src/backends/contract.js';
import type {CreateBody} from '../../../src/http/rate-limit/index.js';
import {isRuntimeCliError} from '../../../src/errors/index.js';
import {authorized, createShelfBackend, urlOf, type ShelfOptions} from './shelf-backend.js';

type Context = BackendContext<ShelfOptions>;
type Shelf = ReturnType<typeof createShelfBackend>;

/** A backend that breaks the contract in one way. */
export interface BrokenBackend {
  readonly fault: string;
  create(): Backend;
  /** What is not as in the good backend. */
  readonly changed: readonly string[];
  /** Names of the cases that tell. */
  readonly caughtBy: readonly string[];
}

const bytes = 'upload (v2): every byte arrives';
const again = 'upload (v2): the whole body is resent after a rate limit';
const limited = 'upload: a persistent rate limit is reported as such';
const refused = 'upload: refused credentials are reported as such';
const failed = 'upload: a failure of the service is reported with a code';
const secrets = 'no error or log contains a secret';
const apart = 'two services do not interfere';
const gone = 'delete: removes the bundle and no other';
const progress = 'upload (v2): progress rises to 100 %';
const finished = 'wait (v2): a push to a target finishes';
const newestBundle = 'list: the newest bundle comes first';
const downloaded = 'download: returns the uploaded bytes';
const downloads = [
  downloaded,
  'download: an abort ends it within a second',
  'download: an unknown bundle is refused with a code',
];

/** Everything that looks at the bytes which the service has. */
const aborted = 'upload (v2): an abort ends it within a second';
const allBytes = [apart, bytes, again, downloaded, gone];

const loggedIn = 'login: the service accepts what it returns';
const loginTold = 'login: no log contains a secret';
const verified = 'verify: accepts valid credentials and changes nothing';
const unverified = 'verify: refused credentials are reported as such';

export const brokenBackends: readonly BrokenBackend[] = [
  broken('has something else than a function', ['has the shape of a backend'], () => ({
    deleteBundle: 'delete' as unknown as Shelf['deleteBundle'],
  })),
  broken('logs in with a secret that the service does not accept', [loggedIn], () => ({
    login: async ({prompt}) => {
      await prompt({message: 'Password', secret: true});
      return {secrets: {key: 'no-such-key'}};
    },
  })),
  broken('returns a secret of a login that it does not declare', [loggedIn, loginTold], () => ({
    login: async ({prompt}) => ({secrets: {password: await prompt({message: 'Password', secret: true})}}),
  })),
  broken('goes on with a login that is aborted', ['login: an abort ends it within a second'], (good) => ({
    login: async (context) => {
      try {
        return await good.login(context);
      } catch (error) {
        if (!context.signal.aborted) throw error;
        return new Promise(() => undefined);
      }
    },
  })),
  broken('logs the secret of a login', [loginTold], (good) => ({
    login: async (context) => {
      const result = await good.login(context);
      context.logger.debug(`logged in: ${JSON.stringify(result)}`);
      return result;
    },
  })),
  broken('does not mask what it learns in a login', [loginTold], (good) => ({
    login: async (context) => good.login({...context, maskSecret: () => undefined}),
  })),
  broken('accepts any credentials in verify()', [unverified], () => ({verify: async () => ({account: 'ann'})})),
  broken('throws errors without a code in verify()', [unverified], (good) => ({
    verify: async (context) => {
      try {
        return await good.verify(context);
      } catch (error) {
        throw new Error(`it did not work: ${String(error)}`);
      }
    },
  })),
  broken('refuses good credentials in verify()', [loggedIn, verified], () => ({
    verify: async () => Promise.reject(backendError({code: 'ERR_UNAUTHORIZED', message: 'The key is refused'})),
  })),
  broken('uploads something in verify()', [verified], (good) => ({
    verify: async (context) => {
      const {options, http} = context;
      const headers = {authorization: `Bearer ${String(options.key)}`};
      await http.post(`${String(options.origin)}/probe/bundles`, {headers, body: 'probe'});
      return good.verify(context);
    },
  })),
  broken('drops the last byte', allBytes, (good) => ({
    upload: async (bundle, context) => {
      const content = await archiveOf(bundle, context);
      return good.upload(withBytes(bundle, content.subarray(0, -1)), context);
    },
  })),
  broken('changes one byte', allBytes, (good) => ({
    upload: async (bundle, context) => {
      const content = await archiveOf(bundle, context);
      content.writeUInt8(content.readUInt8(1000) ^ 1, 1000);
      return good.upload(withBytes(bundle, content), context);
    },
  })),
  broken("keeps the chunks of the host's bodies", [...allBytes, progress], (good) => ({
    upload: async (bundle, context) => {
      const {createBody} = context.bodies.file(withBytes(bundle, await archiveOf(bundle, context))).context;
      const chunks: Uint8Array[] = [];
      for await (const chunk of (createBody as CreateBody)(1)) chunks.push(chunk);
      return good.upload(withBytes(bundle, Buffer.concat(chunks)), context);
    },
  })),
  broken('lets progress run backwards', [progress], (good) => ({
    upload: async (bundle, context) => {
      const result = await good.upload(bundle, context);
      for (const transferred of [bundle.size - 1, bundle.size]) context.onProgress({transferred, total: bundle.size});
      return result;
    },
  })),
  broken('lets progress end before its end', [progress], (good) => ({
    upload: async (bundle, context) => {
      const result = await good.upload(bundle, context);
      context.onProgress({transferred: bundle.size, total: bundle.size + 1});
      return result;
    },
  })),
  broken('reports no progress', [progress], () => ({
    upload: async (bundle, context) => sendUntilTaken(context, [await archiveOf(bundle, context)]),
  })),
  broken('ignores that the upload is aborted', [aborted], (good) => ({
    upload: async (bundle, context) => good.upload(withBytes(bundle, await buffer(bundle.createReadStream())), context),
  })),
  broken('takes a rate limit for success', [again, limited], () => ({
    upload: async (bundle, context) => {
      try {
        return await sendOnce(bundle, context);
      } catch (error) {
        if (Object(error).status === 429) return {bundleId: 'later', raw: {}};
        throw error;
      }
    },
  })),
  broken('gives up at the first rate limit', [again], () => ({upload: sendOnce})),
  broken('sends half of the body the second time', [again], () => ({
    upload: async (bundle, context) => {
      const content = await archiveOf(bundle, context);
      const total = content.length;
      const result = await sendUntilTaken(context, [content, content.subarray(0, total / 2)]);
      context.onProgress({transferred: total, total});
      return result;
    },
  })),
  broken('takes every answer for success', [limited, refused, failed], (good) => ({
    upload: async (bundle, context) => {
      try {
        return await good.upload(bundle, context);
      } catch (error) {
        context.signal.throwIfAborted();
        return {bundleId: 'unknown', raw: String(error)};
      }
    },
  })),
  broken('throws errors without a code', [limited, refused, failed], (good) => ({
    upload: async (bundle, context) => {
      try {
        return await good.upload(bundle, context);
      } catch (error) {
        throw new Error(`it did not work: ${String(error)}`);
      }
    },
  })),
  broken('takes a failure of the service for one of the network', [failed], (good) => ({
    upload: async (bundle, context) => {
      try {
        return await good.upload(bundle, context);
      } catch (error) {
        if (Object(error).status !== 500) throw error;
        throw backendError({code: 'ERR_NETWORK', message: 'The connection was lost'});
      }
    },
  })),
  broken('tells the key in an error', [secrets], (good) => ({
    upload: async (bundle, context) => {
      try {
        return await good.upload(bundle, context);
      } catch (error) {
        if (!isRuntimeCliError(error)) throw error;
        throw backendError({code: error.code, message: `${error.message} (key ${String(context.options.key)})`});
      }
    },
  })),
  broken('tells the key in the cause of an error', [secrets], (good) => ({
    deploy: async (request, context) => {
      try {
        return await good.deploy(request, context);
      } catch (error) {
        const cause = new Error(`request with ${JSON.stringify(authorized(context))} failed`, {cause: error});
        throw Object.assign(backendError({code: 'ERR_REJECTED', message: 'refused'}), {cause});
      }
    },
  })),
  broken('logs the key, in base64', [secrets], (good) => ({
    listBundles: async (range, context) => {
      context.logger.debug(`Authorization: Basic ${btoa(`user:${String(context.options.key)}`)}`);
      return good.listBundles(range, context);
    },
  })),
  broken('does not declare its secret option', [secrets, loggedIn, loginTold], () => ({secrets: []})),
  broken('does not declare its secret variable', [secrets], () => ({secretEnv: []})),
  broken('does not mask what it learns', [secrets], (good) => ({
    upload: (bundle, context) => good.upload(bundle, {...context, maskSecret: () => undefined}),
  })),
  broken('keeps the first context that it is given', [apart], (good) => {
    let kept: Pick<Context, 'http' | 'options' | 'projectSlug'> | undefined;
    return {
      upload: async (bundle, context) => {
        const {http, options, projectSlug} = context;
        kept ??= {http, options, projectSlug};
        return good.upload(bundle, {...context, options: kept.options, projectSlug: kept.projectSlug});
      },
    };
  }),
  broken('asks the service in check()', ['check: recognizes valid settings without the network'], (good) => ({
    check: async (context) => {
      if (context.options.origin !== undefined) await fetch(context.options.origin);
      return good.check(context);
    },
  })),
  broken('finds itself configured without options', ['check: lists what is missing'], () => ({
    check: async () => ({configured: true}),
  })),
  broken('answers a deployment with a date in it', ['deploy: returns a reference in plain JSON'], (good) => ({
    deploy: async (request, context) => {
      const result = await good.deploy(request, context);
      return {...result, deployment: {...result.deployment, startedAt: new Date()}};
    },
  })),
  broken('deploys a bundle that there is not', ['deploy: an unknown bundle is refused with a code'], (good) => ({
    deploy: async (request, context) => {
      try {
        return await good.deploy(request, context);
      } catch {
        return {deployment: {}, status: 'queued', raw: {}};
      }
    },
  })),
  broken('knows deployments of its own process only', [finished], (good) => {
    const made = new Set<unknown>();
    return {
      deploy: async (request, context) => {
        const result = await good.deploy(request, context);
        made.add(result.deployment.deploymentId);
        return result;
      },
      getDeployment: async (deployment, context) => {
        if (!made.has(deployment.deploymentId)) throw backendError({code: 'ERR_REJECTED', message: 'never seen'});
        return good.getDeployment(deployment, context);
      },
    };
  }),
  broken('lists all but the newest bundle', [newestBundle], (good) => ({
    listBundles: async ({limit, offset}, context) => good.listBundles({limit, offset: offset + 1}, context),
  })),
  broken('lists the oldest bundle first', [newestBundle], (good) => ({
    listBundles: async ({limit, offset}, context) => {
      const {items, raw} = await good.listBundles({limit: 1000, offset: 0}, context);
      return {items: items.toReversed().slice(offset, offset + limit), raw};
    },
  })),
  broken('lists a digest that is none of its archives', ['list: a digest matches the archive'], (good) => ({
    listBundles: async (range, context) => {
      const {items, ...list} = await good.listBundles(range, context);
      return {...list, items: items.map((item) => ({...item, sha256: '0'.repeat(64)}))};
    },
  })),
  broken('does not look at the offset', ['list: limit and offset select the page'], (good) => ({
    listBundles: async ({limit}, context) => good.listBundles({limit, offset: 0}, context),
  })),
  broken('tells the oldest deployment first', ['history: the newest deployment comes first'], (good) => ({
    listDeployments: async ({limit, offset, targetSlug}, context) => {
      const {items, raw} = await good.listDeployments({limit: 1000, offset: 0, targetSlug}, context);
      return {items: items.toReversed().slice(offset, offset + limit), raw};
    },
  })),
  broken('does not look at the limit', ['history: limit and offset select the page'], (good) => ({
    listDeployments: async (request, context) => good.listDeployments({...request, limit: 1000}, context),
  })),
  broken('downloads the first half only', [downloaded], (good) => ({
    download: async ({bundleId, writeTo}, context) => {
      const content = await downloadedBytes(good, bundleId, context);
      await pipeline(Readable.from([content.subarray(0, content.length / 2)]), writeTo, {signal: context.signal});
    },
  })),
  broken('tells a digest of the download that is not that of its bytes', [downloaded], (good) => ({
    download: async (request, context) => {
      request.onStart?.({offset: 0, sha256: '0'.repeat(64)});
      await good.download(request, context);
    },
  })),
  broken('ignores that the download is aborted', ['download: an abort ends it within a second'], (good) => ({
    download: async ({bundleId, writeTo}, context) => {
      const content = await downloadedBytes(good, bundleId, context);
      await pipeline(Readable.from([content]), writeTo);
    },
  })),
  broken('has a function for what its service lacks', downloads, () => ({
    download: async () => Promise.reject(new Error('not supported')),
  })),
  broken('leaves what an abort interrupts', [aborted], (good) => ({
    upload: (bundle, context) => uploadInSteps(good, bundle, {...context, onAbort: () => undefined}),
  })),
  broken('deletes nothing', [gone], () => ({deleteBundle: async () => undefined})),
  broken('deletes everything', [gone], (good) => ({
    deleteBundle: async (_, context) => {
      const {items} = await good.listBundles({limit: 1000, offset: 0}, context);
      for (const {bundleId} of items) await good.deleteBundle({bundleId}, context);
    },
  })),
];

function broken(
  fault: string,
  caughtBy: readonly string[],
  change: (good: Shelf) => {readonly [Name in keyof Shelf]?: Shelf[Name] | undefined},
): BrokenBackend {
  return {
    fault,
    caughtBy,
    changed: Object.keys(change(createShelfBackend())),
    create: () => {
      const good = createShelfBackend();
      return {...good, ...change(good)} as Backend;
    },
  };
}

function withBytes(bundle: Bundle, content: Buffer): Bundle {
  return {...bundle, size: content.length, createReadStream: () => Readable.from([content])};
}

async function archiveOf(bundle: Bundle, {signal}: Context): Promise<Buffer> {
  return buffer(addAbortSignal(signal, bundle.createReadStream()));
}

async function downloadedBytes(good: Shelf, bundleId: string | number, context: Context): Promise<Buffer> {
  const passing = new PassThrough();
  const [content] = await Promise.all([buffer(passing), good.download({bundleId, writeTo: passing}, context)]);
  return content;
}

/** Uploads without a retry. */
async function sendOnce(bundle: Bundle, context: Context): Promise<UploadResult> {
  const never = async () => Promise.resolve(false);
  const result = await sendUntilTaken({...context, waitToRetry: never}, [await archiveOf(bundle, context)]);
  context.onProgress({transferred: bundle.size, total: bundle.size});
  return result;
}

/** Uploads with a client of its own that tells no progress; the first of `bodies`, then at each retry the next. */
async function sendUntilTaken(context: Context, bodies: readonly Buffer[]): Promise<UploadResult> {
  for (let retries = 0; ; retries += 1) {
    const body = new Uint8Array(bodies[Math.min(retries, bodies.length - 1)] ?? []);
    const {signal} = context;
    const response = await fetch(urlOf(context, 'bundles'), {
      method: 'POST',
      headers: authorized(context),
      body,
      signal,
    });
    const {status} = response;
    if (response.ok) {
      const raw = (await response.json()) as {id: string};
      return {bundleId: raw.id, raw};
    }
    if (await context.waitToRetry({retries, reason: String(status), status})) continue;
    const code = {401: 'ERR_UNAUTHORIZED', 429: 'ERR_RATE_LIMITED'}[status] ?? 'ERR_SERVER';
    throw backendError({code, message: `the answer was ${String(status)}`, status});
  }
}

/** Uploads with a reservation before it, which is removed afterwards, or when the upload is aborted. */
export async function uploadInSteps(good: Shelf, bundle: Bundle, context: Context): Promise<UploadResult> {
  const headers = authorized(context);
  const {id} = await context.http.post(urlOf(context, 'bundles'), {headers, body: 'reserved'}).json<{id: string}>();
  const reservation = urlOf(context, 'bundles', id);
  context.onAbort(async ({http}) => {
    await http.delete(reservation, {headers});
  });
  const uploaded = await good.upload(bundle, context);
  await context.http.delete(reservation, {headers});
  return uploaded;
}
