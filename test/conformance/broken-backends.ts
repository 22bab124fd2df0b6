import {addAbortSignal, PassThrough, Readable} from 'node:stream';
import {buffer} from 'node:stream/consumers';
import {pipeline} from 'node:stream/promises';
import {backendError} from '../../src/backends/context.js';
import type {
  Backend,
  BackendContext,
  Bundle,
  BundleId,
  BundleItem,
  DeploymentRef,
  DeploymentState,
  DownloadStart,
  ListRange,
  ListResult,
  UploadResult,
} from '../../src/backends/contract.js';
import type {CreateBody} from '../../src/http/rate-limit/index.js';
import {isRuntimeCliError} from '../../src/errors/index.js';
import {authorized, createShelfBackend, urlOf, type ShelfOptions} from './shelf-backend.js';

type Context = BackendContext<ShelfOptions>;
type Shelf = ReturnType<typeof createShelfBackend>;

/** A backend that breaks the contract in one way. */
export interface BrokenBackend {
  readonly fault: string;
  create(): Backend;
  /** Names of the cases that tell. */
  readonly caughtBy: readonly string[];
}

const bytes = 'upload (v2): every byte arrives';
const again = 'upload (v2): a rate limit is waited for';
const limited = 'upload (v2): a persistent rate limit is reported as such';
const refused = 'upload (v2): refused credentials are reported as such';
const failed = 'upload (v2): a failure of the service is reported as such';
const secrets = 'no error or log contains a secret';
const apart = 'two services do not interfere';
const gone = 'delete: removes the bundle and no other';
const progress = 'upload (v2): progress rises to 100 %';
const finished = 'wait (v2): a push to a target finishes';
const newestBundle = 'list: the newest bundle comes first';
const leftAlone = 'options, bundles and requests are left as they are';
const unheld = 'upload (v2): the bundle is not held in memory';
const large = 'upload (v2): every byte of a large bundle arrives';
const unknownDeployment = 'wait: an unknown deployment is refused with a code';
const ownReference = 'deploy: the reference is that of the new deployment';
const uploadTime = 'list: createdAt is when the bundle was uploaded';
const users = 'list: inUseBy names the targets that run the bundle';
const ownHistory = 'history: each target has its own';
const downloaded = 'download: returns the uploaded bytes';
const bundleTotal = 'list: the total is that of all pages';
const ready = 'list: an uploaded bundle becomes ready';
const usable = 'history: its references can be checked';
const resumed = 'download: it resumes where it stopped, or starts over';
const otherArchive = 'download: a different archive is not resumed';
const downloads = [
  downloaded,
  'download: an abort in the middle ends it within a second',
  'download: an unknown bundle is refused with a code',
  'download: a failure of the service is reported as such',
  resumed,
  otherArchive,
];

/** Everything that looks at the bytes which the service has. */
const aborted = 'upload (v2): an abort in the middle ends it within a second';
const allBytes = [apart, bytes, again, downloaded, gone];
const abortedWhole = 'upload (v2): an abort leaves nothing behind';

const listedTargets = 'targets: each target that was deployed to is listed once, with an http(s) URL or none';
const targetPages = 'targets: limit and offset select the page, and each has the total of all';
const targetHistory = 'targets: each has a history';
const logRead = 'logs: the log of a finished deployment is complete, the same each time, and continued by its cursors';
const ownLog = 'logs: each deployment has its own';
const promoted = 'promote: the bundle of one target runs on the other';
const replaced = 'promote: a bundle that the target no longer runs is refused';
const unknownPromoted = 'promote: an unknown bundle is refused with a code';

const uploadDeploys = 'upload (v2): deploys with a target if it says so, and otherwise not';
const failedDeployment = 'wait: a deployment that fails is reported as such';

const loggedIn = 'login: the service accepts what it returns';
const loginTold = 'login: no log contains a secret';
const verified = 'verify: accepts valid credentials and changes nothing';
const unverified = 'verify: refused credentials are reported as such';

export const brokenBackends: readonly BrokenBackend[] = [
  broken('has a member that is not a function', ['has the shape of a backend'], () => ({
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
  broken('does not end a login that is aborted', ['login: an abort ends it within a second'], (good) => ({
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
    verify: async () => Promise.reject(backendError('ERR_UNAUTHORIZED', 'The key is refused')),
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
  broken('reports progress that runs backwards', [progress], (good) => ({
    upload: async (bundle, context) => {
      const result = await good.upload(bundle, context);
      for (const transferred of [bundle.size - 1, bundle.size]) context.onProgress({transferred, total: bundle.size});
      return result;
    },
  })),
  broken('reports progress that ends early', [progress], (good) => ({
    upload: async (bundle, context) => {
      const result = await good.upload(bundle, context);
      context.onProgress({transferred: bundle.size, total: bundle.size + 1});
      return result;
    },
  })),
  broken('reports no progress', [progress], () => ({
    upload: async (bundle, context) => sendUntilTaken(context, [await archiveOf(bundle, context)]),
  })),
  broken('ignores that the upload is aborted', [aborted, abortedWhole], (good) => ({
    upload: async (bundle, context) => good.upload(withBytes(bundle, await buffer(bundle.createReadStream())), context),
  })),
  broken('treats a rate limit as success', [again, limited], () => ({
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
  broken('sends half of the body when it retries', [again], () => ({
    upload: async (bundle, context) => {
      const content = await archiveOf(bundle, context);
      const total = content.length;
      const result = await sendUntilTaken(context, [content, content.subarray(0, total / 2)]);
      context.onProgress({transferred: total, total});
      return result;
    },
  })),
  broken('treats every answer as success', [limited, refused, failed], (good) => ({
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
  broken('reports a failure of the service as one of the network', [failed], (good) => ({
    upload: async (bundle, context) => {
      try {
        return await good.upload(bundle, context);
      } catch (error) {
        if (Object(error).status !== 500) throw error;
        throw backendError('ERR_NETWORK', 'The connection was lost');
      }
    },
  })),
  broken('reveals the key in an error', [limited, refused, failed], (good) => ({
    upload: async (bundle, context) => {
      try {
        return await good.upload(bundle, context);
      } catch (error) {
        if (!isRuntimeCliError(error)) throw error;
        throw Object.assign(new Error(`${error.message} (key ${String(context.options.key)})`), {code: error.code});
      }
    },
  })),
  broken('reveals the key in the cause of an error', [secrets], (good) => ({
    deploy: (request, context) =>
      onStatus(404, good.deploy(request, context), () => {
        const cause = new Error(`request with ${JSON.stringify(authorized(context))} failed`);
        throw Object.assign(backendError('ERR_BUNDLE_UNKNOWN', 'refused'), {cause});
      }),
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
  broken('says that it is configured without options', ['check: lists what is missing'], () => ({
    required: [],
    check: async () => ({configured: true}),
  })),
  broken('returns a deployment reference with a Date in it', ['deploy: returns a reference in plain JSON'], (good) => ({
    deploy: async (request, context) => {
      const result = await good.deploy(request, context);
      return {...result, deployment: {...result.deployment, startedAt: new Date()}};
    },
  })),
  broken('deploys a bundle that does not exist', ['deploy: an unknown bundle is refused with a code'], (good) => ({
    deploy: (request, context) =>
      onStatus(404, good.deploy(request, context), () => ({deployment: {}, status: 'queued' as const, raw: {}})),
  })),
  broken('only knows deployments of its own process', [finished, usable], (good) => {
    const made = new Set<unknown>();
    return {
      deploy: async (request, context) => {
        const result = await good.deploy(request, context);
        made.add(result.deployment.deploymentId);
        return result;
      },
      getDeployment: async (deployment, context) => {
        if (!made.has(deployment.deploymentId)) throw backendError('ERR_REJECTED', 'never seen');
        return good.getDeployment(deployment, context);
      },
    };
  }),
  broken('lists all but the newest bundle', [newestBundle, bundleTotal, ready], (good) => ({
    listBundles: async ({limit, offset}, context) => good.listBundles({limit, offset: offset + 1}, context),
  })),
  broken('lists the oldest bundle first', [newestBundle], (good) => ({
    listBundles: async ({limit, offset}, context) => {
      const {items, raw} = await good.listBundles({limit: 1000, offset: 0}, context);
      return {items: items.toReversed().slice(offset, offset + limit), raw};
    },
  })),
  broken('lists a digest that is not that of the archive', ['list: a digest matches the archive'], (good) => ({
    listBundles: async (range, context) => {
      const {items, ...list} = await good.listBundles(range, context);
      return {...list, items: items.map((item) => ({...item, sha256: '0'.repeat(64)}))};
    },
  })),
  broken('ignores the offset of a list', ['list: limit and offset select the page'], (good) => ({
    listBundles: async ({limit}, context) => good.listBundles({limit, offset: 0}, context),
  })),
  broken('lists the oldest deployment first', ['history: the newest deployment comes first'], (good) => ({
    listDeployments: async ({limit, offset, targetSlug}, context) => {
      const {items, raw} = await good.listDeployments({limit: 1000, offset: 0, targetSlug}, context);
      return {items: items.toReversed().slice(offset, offset + limit), raw};
    },
  })),
  broken('ignores the limit of a history', ['history: limit and offset select the page'], (good) => ({
    listDeployments: async (request, context) => good.listDeployments({...request, limit: 1000}, context),
  })),
  broken('downloads only the first half', [downloaded], (good) => ({
    download: async ({bundleId, writeTo}, context) => {
      const content = await downloadedBytes(good, bundleId, context);
      await pipeline(Readable.from([content.subarray(0, content.length / 2)]), writeTo, {signal: context.signal});
    },
  })),
  broken('reports a digest that is not that of the downloaded bytes', [downloaded], (good) => ({
    download: async (request, context) => {
      const onStart = (start: DownloadStart) => request.onStart?.({...start, sha256: '0'.repeat(64)});
      await good.download({...request, onStart}, context);
    },
  })),
  broken(
    'ignores that the download is aborted',
    ['download: an abort in the middle ends it within a second'],
    (good) => ({
      download: async ({bundleId, writeTo}, context) => {
        const content = await downloadedBytes(good, bundleId, context);
        await pipeline(Readable.from([content]), writeTo);
      },
    }),
  ),
  broken('has a function for something that its service cannot do', downloads, () => ({
    download: async () => Promise.reject(new Error('not supported')),
  })),
  broken('leaves behind what an abort interrupts', [abortedWhole], (good) => ({
    upload: (bundle, context) => uploadInSteps(good, bundle, {...context, onAbort: () => undefined}),
  })),
  broken('deletes nothing', [gone], (good) => ({
    deleteBundle: async ({bundleId}, context) => {
      await listWith(good, bundleId, context);
    },
  })),
  broken('deletes everything', [gone], (good) => ({
    deleteBundle: async (request, context) => {
      for (const {bundleId} of await listWith(good, request.bundleId, context)) {
        await good.deleteBundle({bundleId}, context);
      }
    },
  })),
  broken('reads the whole bundle before it sends any of it', [unheld], (good) => ({
    upload: async (bundle, context) => good.upload(withBytes(bundle, await archiveOf(bundle, context)), context),
  })),
  broken('treats the end of a range as exclusive', [large], (good) => ({
    upload: (bundle, context) => good.upload(inParts(bundle), context),
  })),
  broken('leaves a reservation behind for each retry', [again], () => ({
    upload: async (bundle, context) => {
      let retries = 0;
      const result = await sendWhole(bundle, context, async (attempt) => {
        retries += 1;
        return context.waitToRetry(attempt);
      });
      for (; retries > 0; retries -= 1) {
        await context.http.post(urlOf(context, 'bundles'), {headers: authorized(context), body: 'reserved'});
      }
      return result;
    },
  })),
  broken('retries although no retries are left', [limited], () => ({
    upload: (bundle, context) =>
      sendWhole(bundle, context, async (attempt) => (await context.waitToRetry(attempt)) || attempt.retries < 5),
  })),
  broken(
    'repeats an upload that is stored each time',
    ['upload (v2): a lost answer leaves the outcome open, and nothing is done twice'],
    (good) => ({
      upload: (bundle, context) => good.upload(bundle, repeating(context, true)),
    }),
  ),
  broken(
    'repeats a deployment that may be running',
    ['deploy: a lost answer leaves the outcome open, and nothing is done twice'],
    (good) => ({
      deploy: (request, context) => good.deploy(request, repeating(context, true)),
    }),
  ),
  broken('does not retry the list of bundles', ['list: a lost answer is requested again'], (good) => ({
    listBundles: (range, context) => good.listBundles(range, repeating(context, false)),
  })),
  broken('does not retry the list of deployments', ['history: a lost answer is requested again'], (good) => ({
    listDeployments: (request, context) => good.listDeployments(request, repeating(context, false)),
  })),
  broken('does not retry the check of a deployment', ['wait: a lost answer is requested again'], (good) => ({
    getDeployment: (deployment, context) => good.getDeployment(deployment, repeating(context, false)),
  })),
  broken('changes its options', [leftAlone], (good) => ({
    upload: (bundle, context) => {
      // As code that is not in strict mode would: without an error.
      Reflect.set(context.options, 'key', context.options.key?.trim());
      return good.upload(bundle, context);
    },
  })),
  broken('changes the bundle', [leftAlone], (good) => ({
    upload: (bundle, context) => {
      Object.assign(bundle.config, {uploadedTo: context.projectSlug});
      return good.upload(bundle, context);
    },
  })),
  broken('changes a request', [leftAlone], (good) => ({
    deploy: (request, context) => good.deploy(Object.assign(request, {bundleId: String(request.bundleId)}), context),
  })),
  broken('ignores that a deployment is aborted', ['deploy: an abort ends it within a second'], (good) => ({
    deploy: (request, context) => deaf(context, good.deploy(request, context)),
  })),
  broken('ignores that a check is aborted', ['wait: an abort ends it within a second'], (good) => ({
    getDeployment: (deployment, context) => deaf(context, good.getDeployment(deployment, context)),
  })),
  broken('ignores that a list is aborted', ['list: an abort ends it within a second'], (good) => ({
    listBundles: (range, context) => deaf(context, good.listBundles(range, context)),
  })),
  broken('ignores that a history is aborted', ['history: an abort ends it within a second'], (good) => ({
    listDeployments: (request, context) => deaf(context, good.listDeployments(request, context)),
  })),
  broken('treats an aborted deletion as done', ['delete: an abort ends it within a second'], (good) => ({
    deleteBundle: (request, context) =>
      good.deleteBundle(request, context).catch((error: unknown) => {
        if (!context.signal.aborted) throw error;
      }),
  })),
  broken('treats a list that fails as empty', ['list: a failure of the service is reported as such'], (good) => ({
    listBundles: (range, context) =>
      onFailure(good.listBundles(range, context), () => ({items: [], total: 0, raw: undefined})),
  })),
  broken('treats a history that fails as empty', ['history: a failure of the service is reported as such'], (good) => ({
    listDeployments: (request, context) =>
      onFailure(good.listDeployments(request, context), () => ({items: [], total: 0, raw: undefined})),
  })),
  broken(
    'treats a check that fails as a deployment in progress',
    ['wait: a failure of the service is reported as such'],
    (good) => ({
      getDeployment: (deployment, context) =>
        onFailure(good.getDeployment(deployment, context), () => ({status: 'in_progress' as const, raw: undefined})),
    }),
  ),
  broken('treats a deletion that fails as done', ['delete: a failure of the service is reported as such'], (good) => ({
    deleteBundle: (request, context) => onFailure(good.deleteBundle(request, context), () => undefined),
  })),
  broken(
    'reports a failure of a download as one of the network',
    ['download: a failure of the service is reported as such'],
    (good) => ({
      download: (request, context) => onFailure(good.download(request, context), unreachable),
    }),
  ),
  broken(
    'reports a failure of a deployment as one of the network',
    ['deploy: a failure of the service is reported as such'],
    (good) => ({
      deploy: (request, context) => onFailure(good.deploy(request, context), unreachable),
    }),
  ),
  broken('deletes a bundle that does not exist', ['delete: an unknown bundle is refused with a code'], (good) => ({
    deleteBundle: (request, context) => onStatus(404, good.deleteBundle(request, context), () => undefined),
  })),
  broken('does not say that a bundle is unknown', ['deploy: an unknown bundle is refused with a code'], (good) => ({
    deploy: (request, context) => onStatus(404, good.deploy(request, context), rejected),
  })),
  broken(
    'does not say that a bundle to download is unknown',
    ['download: an unknown bundle is refused with a code'],
    (good) => ({
      download: (request, context) => onStatus(404, good.download(request, context), rejected),
    }),
  ),
  broken('does not say that a target is busy', ['deploy: a busy target is reported as such'], (good) => ({
    deploy: (request, context) => onStatus(409, good.deploy(request, context), rejected),
  })),
  broken('returns the reference of an older deployment', [ownReference], (good) => ({
    deploy: async (request, context) => {
      const result = await good.deploy(request, context);
      const {items} = await good.listDeployments({limit: 1000, offset: 0, ...request}, context);
      return {...result, deployment: items.at(-1)?.deployment ?? result.deployment};
    },
  })),
  broken('makes up its references, and reports each as finished', [ownReference, unknownDeployment], (good) => ({
    deploy: async (request, context) => {
      const result = await good.deploy(request, context);
      return {...result, deployment: {...result.deployment, deploymentId: `${Date.now()}-${Math.random()}`}};
    },
    getDeployment: (deployment, context) => findFinished(good, deployment, context),
  })),
  broken('reports a deployment that does not exist as finished', [unknownDeployment], (good) => ({
    getDeployment: (deployment, context) => findFinished(good, deployment, context),
  })),
  broken('always deploys to the same target', [ownHistory], (good) => ({
    deploy: (request, context) => good.deploy({...request, targetSlug: 'staging'}, context),
  })),
  broken('always lists the deployments of the same target', [ownHistory], (good) => ({
    listDeployments: (request, context) => good.listDeployments({...request, targetSlug: 'staging'}, context),
  })),
  broken('reports the length of the page as the total of the bundles', [bundleTotal], (good) => ({
    listBundles: async (range, context) => {
      const list = await good.listBundles(range, context);
      return {...list, total: list.items.length};
    },
  })),
  broken(
    'reports a total of the history that is one too high',
    ['history: the total is that of all pages'],
    (good) => ({
      listDeployments: async (request, context) => {
        const list = await good.listDeployments(request, context);
        return {...list, total: (list.total ?? 0) + 1};
      },
    }),
  ),
  broken(
    'reports the time of the list as that of the upload',
    [uploadTime, 'list: limit and offset select the page'],
    (good) => ({
      listBundles: (range, context) =>
        changeItems(good.listBundles(range, context), {createdAt: () => isoTime(Date.now())}),
    }),
  ),
  broken('mistakes seconds for milliseconds', [uploadTime], (good) => ({
    listBundles: (range, context) =>
      changeItems(good.listBundles(range, context), {createdAt: (time) => isoTime(Date.parse(time ?? '') / 1000)}),
  })),
  broken('reports a local time without its zone', [uploadTime], (good) => ({
    listBundles: (range, context) =>
      changeItems(good.listBundles(range, context), {createdAt: (time) => time?.replace('Z', '')}),
  })),
  broken(
    'reports the time of the history as that of the deployment',
    ['history: createdAt is when the bundle was deployed', 'history: limit and offset select the page'],
    (good) => ({
      listDeployments: (request, context) =>
        changeItems(good.listDeployments(request, context), {createdAt: () => isoTime(Date.now())}),
    }),
  ),
  broken('never says which targets run a bundle', [users], (good) => ({
    listBundles: (range, context) => changeItems(good.listBundles(range, context), {inUseBy: () => []}),
  })),
  broken('says that a target runs every bundle', [users], (good) => ({
    listBundles: (range, context) => changeItems(good.listBundles(range, context), {inUseBy: () => ['staging']}),
  })),
  broken('lists bundles that are never ready', [ready], (good) => ({
    listBundles: (range, context) =>
      changeItems(good.listBundles(range, context), {status: () => 'preparing' as const}),
  })),
  broken(
    'lists deployments that never finish',
    ['history: a deployment that is done is listed as finished'],
    (good) => ({
      listDeployments: (request, context) =>
        changeItems(good.listDeployments(request, context), {status: () => 'in_progress' as const}),
    }),
  ),
  broken('lists references that it cannot use', [usable], (good) => ({
    listDeployments: (request, context) =>
      changeItems(good.listDeployments(request, context), {deployment: ({deploymentId}) => ({deploymentId})}),
  })),
  broken('deploys each bundle only once', ['history: an earlier bundle can be deployed again'], (good) => ({
    deploy: async (request, context) => {
      const {items} = await good.listDeployments({limit: 1000, offset: 0, ...request}, context);
      if (items.some(({bundleId}) => bundleId === request.bundleId)) return rejected();
      return good.deploy(request, context);
    },
  })),
  broken('says that it resumes a download, but starts over', [resumed], (good) => ({
    download: ({resume, onStart, ...request}, context) => {
      const startWith = ({validator, ...start}: DownloadStart) =>
        onStart?.({...start, validator, offset: resume?.validator === validator ? (resume?.offset ?? 0) : 0});
      return good.download({...request, onStart: startWith}, context);
    },
  })),
  broken('does not say that it resumes a download', [resumed], (good) => ({
    download: ({onStart, ...request}, context) =>
      good.download({...request, onStart: (start) => onStart?.({...start, offset: 0})}, context),
  })),
  broken('reports the rest of a download as its total', [resumed], (good) => ({
    download: ({onStart, ...request}, context) => {
      const startWith = ({offset, total = 0, ...start}: DownloadStart) =>
        onStart?.({...start, offset, total: total - offset});
      return good.download({...request, onStart: startWith}, context);
    },
  })),
  broken('resumes a download with a different archive', [otherArchive], (good) => ({
    download: (request, context) => {
      const resume = request.resume && {...request.resume, validator: `"${String(request.bundleId)}"`};
      return good.download({...request, resume}, context);
    },
  })),
  broken('reports the same validator for every archive', [otherArchive], (good) => ({
    download: ({onStart, ...request}, context) =>
      good.download({...request, onStart: (start) => onStart?.({...start, validator: '"1"'})}, context),
  })),
  broken('lists targets by their title', [listedTargets], (good) => ({
    listTargets: (range, context) =>
      changeItems(good.listTargets(range, context), {
        targetSlug: (slug) => `${slug[0]?.toUpperCase()}${slug.slice(1)}`,
      }),
  })),
  broken('lists a target that it cannot deploy to', [targetHistory], (good) => ({
    listTargets: async (range, context) => {
      const {items} = await good.listTargets({limit: 1000, offset: 0}, context);
      return pageOf([...items, {targetSlug: 'staging-2'}], range);
    },
  })),
  broken('lists all targets but one', [listedTargets, targetPages], (good) => ({
    listTargets: ({limit, offset}, context) => good.listTargets({limit, offset: offset + 1}, context),
  })),
  broken('lists only the target of the request', [listedTargets, targetPages], (good) => ({
    listTargets: async (range, context) => {
      const {items} = await good.listTargets({limit: 1000, offset: 0}, context);
      return pageOf(
        items.filter(({targetSlug}) => targetSlug === 'staging'),
        range,
      );
    },
  })),
  broken('lists a target for each of its deployments', [listedTargets], (good) => ({
    listTargets: async (range, context) => {
      const {items} = await good.listTargets({limit: 1000, offset: 0}, context);
      return pageOf([...items, ...items], range);
    },
  })),
  broken('ignores the offset of a list of targets', [targetPages], (good) => ({
    listTargets: ({limit}, context) => good.listTargets({limit, offset: 0}, context),
  })),
  broken('reports the hosts of targets as their URLs', [listedTargets], (good) => ({
    listTargets: (range, context) =>
      changeItems(good.listTargets(range, context), {url: (url) => url?.replace('https://', '')}),
  })),
  broken('ignores that a list of targets is aborted', ['targets: an abort ends it within a second'], (good) => ({
    listTargets: (range, context) => deaf(context, good.listTargets(range, context)),
  })),
  broken(
    'treats a list of targets that fails as empty',
    ['targets: a failure of the service is reported as such'],
    (good) => ({
      listTargets: (range, context) => onFailure(good.listTargets(range, context), () => pageOf([], range)),
    }),
  ),
  broken('never ends a log', [logRead], (good) => ({
    readLogs: async (request, context) => ({...(await good.readLogs(request, context)), done: false}),
  })),
  broken('ignores the cursor of a log', [logRead], (good) => ({
    readLogs: ({deployment}, context) => good.readLogs({deployment}, context),
  })),
  broken('reads the whole log each time', [logRead], (good) => ({
    readLogs: async ({deployment}, context) => {
      const start = await good.readLogs({deployment}, context);
      const {lines, ...end} = await good.readLogs({deployment, cursor: start.cursor}, context);
      return {...end, lines: [...start.lines, ...lines]};
    },
  })),
  broken('returns the lines of a log with their line breaks', [logRead], (good) => ({
    readLogs: async (request, context) => {
      const {lines, ...part} = await good.readLogs(request, context);
      return {...part, lines: lines.map((line) => `${line}\n`)};
    },
  })),
  broken('reads the log of the newest deployment', [ownLog], (good) => ({
    readLogs: async ({deployment, cursor}, context) => {
      const of = {limit: 1, offset: 0, targetSlug: String(deployment['targetSlug'])};
      const [newest] = (await good.listDeployments(of, context)).items;
      return good.readLogs({deployment: newest?.deployment ?? deployment, cursor}, context);
    },
  })),
  broken('reads the log of the oldest deployment', [ownLog], (good) => ({
    readLogs: async ({deployment, cursor}, context) => {
      const of = {limit: 1000, offset: 0, targetSlug: String(deployment['targetSlug'])};
      const {items} = await good.listDeployments(of, context);
      return good.readLogs({deployment: items.at(-1)?.deployment ?? deployment, cursor}, context);
    },
  })),
  broken('ignores that the reading of a log is aborted', ['logs: an abort ends it within a second'], (good) => ({
    readLogs: (request, context) => deaf(context, good.readLogs(request, context)),
  })),
  broken('treats a log that fails as empty', ['logs: a failure of the service is reported as such'], (good) => ({
    readLogs: (request, context) => onFailure(good.readLogs(request, context), () => ({lines: [], done: true})),
  })),
  broken('does not retry the reading of a log', ['logs: a lost answer is requested again'], (good) => ({
    readLogs: (request, context) => good.readLogs(request, repeating(context, false)),
  })),
  broken('promotes the newest bundle', [promoted, replaced, unknownPromoted], (good) => ({
    promote: async ({from, to}, context) => {
      const {items} = await good.listBundles({limit: 1, offset: 0}, context);
      const [{bundleId} = {bundleId: from}] = items;
      return good.deploy({bundleId, targetSlug: to}, context);
    },
  })),
  broken('promotes to the target that the bundle runs on', [promoted], (good) => ({
    promote: ({bundleId, from}, context) => good.promote({bundleId, from, to: from}, context),
  })),
  broken('promotes without a look at the target that the bundle is to run on', [replaced], (good) => ({
    promote: ({bundleId, to}, context) => good.deploy({bundleId, targetSlug: to}, context),
  })),
  broken('makes up the reference of a promotion', [promoted], (good) => ({
    promote: async (request, context) => {
      const result = await good.promote(request, context);
      return {...result, deployment: {...result.deployment, deploymentId: `${Date.now()}-${Math.random()}`}};
    },
  })),
  broken(
    'makes up the reference of a promotion, and reports each as finished',
    [promoted, unknownDeployment],
    (good) => ({
      promote: async (request, context) => {
        const result = await good.promote(request, context);
        return {...result, deployment: {...result.deployment, deploymentId: `${Date.now()}-${Math.random()}`}};
      },
      getDeployment: (deployment, context) => findFinished(good, deployment, context),
    }),
  ),
  broken('deploys to both targets when it promotes', [promoted], (good) => ({
    promote: async (request, context) => {
      const result = await good.promote(request, context);
      await good.deploy({bundleId: request.bundleId, targetSlug: request.from}, context);
      return result;
    },
  })),
  broken('ignores that a promotion is aborted', ['promote: an abort ends it within a second'], (good) => ({
    promote: (request, context) => deaf(context, good.promote(request, context)),
  })),
  broken('has no limit to its archives, as a number', ['has the shape of a backend'], () => ({
    limits: {maxBundleBytes: Number.NaN},
  })),
  broken('has a limit of no files', ['has the shape of a backend'], () => ({limits: {maxFiles: 0}})),
  broken(
    'has a limit of bytes that is larger than that of its service',
    ['limits: a bundle with the maxBundleBytes of the backend is accepted'],
    (good) => ({
      limits: {maxBundleBytes: 1024 * 1024},
      upload: (bundle, context) => (bundle.size > 1_000_000 ? rejected() : good.upload(bundle, context)),
    }),
  ),
  broken(
    'has a limit of files that is larger than that of its service',
    ['limits: a bundle with the maxFiles of the backend is accepted'],
    (good) => ({
      limits: {maxFiles: 12},
      upload: (bundle, context) => (bundle.files.length >= 12 ? rejected() : good.upload(bundle, context)),
    }),
  ),
  broken('deploys each upload', [uploadDeploys], (good) => ({
    upload: async (bundle, context) => {
      const result = await good.upload(bundle, context);
      await good.deploy({bundleId: result.bundleId, targetSlug: 'production'}, context);
      return result;
    },
  })),
  broken('deploys an upload to the target, and does not say so', [uploadDeploys], (good) => ({
    upload: async (bundle, context) => {
      const result = await good.upload(bundle, context);
      if (context.targetSlug === undefined) return result;
      const {targetSlug} = context;
      return {...result, ...(await good.deploy({bundleId: result.bundleId, targetSlug}, context))};
    },
  })),
  broken('puts all projects in one', ['list: each project has its own'], (good) => ({
    upload: (bundle, context) => good.upload(bundle, {...context, projectSlug: 'all'}),
    listBundles: (range, context) => good.listBundles(range, {...context, projectSlug: 'all'}),
  })),
  broken('lists file names instead of messages', ['list: the message is that of the bundle'], (good) => ({
    listBundles: (range, context) => changeItems(good.listBundles(range, context), {message: () => 'bundle.tar.gz'}),
  })),
  broken(
    'reports a deployment as finished when it is accepted',
    ['deploy: a deployment that is reported as finished is finished'],
    (good) => ({
      deploy: async (request, context) => ({...(await good.deploy(request, context)), status: 'finished' as const}),
    }),
  ),
  broken(
    'reports a promotion as finished when it is accepted',
    ['promote: a promotion that is reported as finished is finished'],
    (good) => ({
      promote: async (request, context) => ({...(await good.promote(request, context)), status: 'finished' as const}),
    }),
  ),
  broken('reports a failed deployment as finished', [failedDeployment], (good) => ({
    getDeployment: async (deployment, context) => {
      const state = await good.getDeployment(deployment, context);
      return {...state, status: state.status === 'in_progress' ? state.status : ('finished' as const)};
    },
  })),
  broken('reports a status that it does not know as in progress', [failedDeployment], (good) => ({
    getDeployment: async (deployment, context) => {
      const state = await good.getDeployment(deployment, context);
      return {...state, status: state.status === 'finished' ? state.status : ('in_progress' as const)};
    },
  })),
  broken(
    'lists failed deployments as finished',
    ['history: a deployment that failed is not listed as finished'],
    (good) => ({
      listDeployments: (request, context) =>
        changeItems(good.listDeployments(request, context), {status: () => 'finished' as const}),
    }),
  ),
  broken('keeps one history for all projects', ['history: each project has its own'], (good) => ({
    upload: (bundle, context) => good.upload(bundle, {...context, projectSlug: 'all'}),
    deploy: (request, context) => good.deploy(request, {...context, projectSlug: 'all'}),
    getDeployment: (ref, context) => good.getDeployment(ref, {...context, projectSlug: 'all'}),
    listDeployments: (request, context) => good.listDeployments(request, {...context, projectSlug: 'all'}),
  })),
  broken('checks the newest deployment', ['wait: each deployment has its own status'], (good) => ({
    getDeployment: async (deployment, context) => {
      const of = {limit: 1, offset: 0, targetSlug: String(deployment['targetSlug'])};
      const [newest] = (await good.listDeployments(of, context)).items;
      return good.getDeployment(newest?.deployment ?? deployment, context);
    },
  })),
  broken('deletes every bundle with the same message', ['delete: a bundle with the same content stays'], (good) => ({
    deleteBundle: async ({bundleId}, context) => {
      const {items} = await good.listBundles({limit: 100, offset: 0}, context);
      const {message} = items.find((item) => item.bundleId === bundleId) ?? {};
      const same = items.filter((item) => item.message === message).map((item) => item.bundleId);
      for (const id of message === undefined ? [bundleId] : same) await good.deleteBundle({bundleId: id}, context);
    },
  })),
  broken('keeps only the ASCII of a message', ['list: the message is that of the bundle'], (good) => ({
    upload: (bundle, context) =>
      good.upload({...bundle, message: bundle.message.replaceAll(/\P{ASCII}/gu, '?')}, context),
  })),
  broken('returns IDs as numbers, and only takes numbers', [downloaded], (good) => {
    const ids: BundleId[] = [];
    return {
      upload: async (bundle, context) => {
        const {bundleId, raw} = await good.upload(bundle, context);
        return {bundleId: ids.push(bundleId), raw};
      },
      download: ({bundleId, ...request}, context) =>
        good.download(
          {...request, bundleId: typeof bundleId === 'number' ? (ids[bundleId - 1] ?? '') : 'none'},
          context,
        ),
    };
  }),
  broken('prints to the console', ['nothing is printed'], (good) => ({
    listBundles: async (range, context) => {
      const list = await good.listBundles(range, context);
      console.log('bundles:', list.items.length);
      return list;
    },
  })),
  broken('keeps the key in the reference of a deployment', [secrets], (good) => ({
    deploy: async (request, context) => {
      const result = await good.deploy(request, context);
      return {...result, deployment: {...result.deployment, ...authorized(context)}};
    },
  })),
  broken('does not wait for a download', [downloaded], (good) => ({
    download: async (request, context) => {
      void good.download(request, context).catch(() => undefined);
      return Promise.resolve();
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

/** Bytes of a part. Smaller bundles are sent in one. */
const partBytes = 5 * 1024 * 1024;

/** The archive in parts of which each has the first byte of the next one, too. */
function inParts(bundle: Bundle): Bundle {
  const starts = Array.from({length: Math.ceil(bundle.size / partBytes)}, (_, index) => index * partBytes);
  const read = async function* () {
    for (const start of starts) yield* bundle.createReadStream({start, end: start + partBytes});
  };
  const size = bundle.size + starts.length - 1;
  return {...bundle, size, createReadStream: () => Readable.from(read(), {objectMode: false})};
}

function repeating(context: Context, repeatable: boolean): Context {
  return {...context, http: context.http.extend({repeatable})};
}

/** Never ends once it is aborted. */
async function deaf<Result>({signal}: Context, work: Promise<Result>): Promise<Result> {
  return work.catch(async (error: unknown) => {
    if (signal.aborted) await new Promise(() => undefined);
    throw error;
  });
}

async function onFailure<Result, Other>(work: Promise<Result>, then: () => Other): Promise<Result | Other> {
  return onStatus(500, work, then);
}

/** What `then` returns if the service answers with this status. */
async function onStatus<Result, Other>(
  status: number,
  work: Promise<Result>,
  then: () => Other,
): Promise<Result | Other> {
  return work.catch((error: unknown) => {
    if (Object(error).status === status) return then();
    throw error;
  });
}

/** A page of a list that was read whole. */
function pageOf<Item>(items: readonly Item[], {limit, offset}: ListRange): ListResult<Item> {
  return {items: items.slice(offset, offset + limit), total: items.length, raw: {}};
}

function unreachable(): never {
  throw backendError('ERR_NETWORK', 'the service cannot be reached');
}

function rejected(): never {
  throw backendError('ERR_REJECTED', 'the service refused it');
}

/** Asks the service, but does not look at its answer. */
async function findFinished(good: Shelf, {targetSlug}: DeploymentRef, context: Context): Promise<DeploymentState> {
  await good.listDeployments({limit: 1, offset: 0, targetSlug: String(targetSlug)}, context);
  return {status: 'finished', raw: {}};
}

/** Every bundle. @throws when this one is not among them. */
async function listWith(good: Shelf, bundleId: BundleId, context: Context): Promise<readonly BundleItem[]> {
  const {items} = await good.listBundles({limit: 1000, offset: 0}, context);
  if (items.some((item) => item.bundleId === bundleId)) return items;
  throw backendError('ERR_BUNDLE_UNKNOWN', 'no such bundle');
}

function isoTime(time: number): string {
  return new Date(time).toISOString();
}

/** Changes members of each item of a list. */
async function changeItems<Item>(
  list: Promise<ListResult<Item>>,
  changes: {readonly [Name in keyof Item]?: (value: Item[Name]) => Item[Name]},
): Promise<ListResult<Item>> {
  const {items, ...rest} = await list;
  const changed = items.map((item) => {
    const copy = {...item};
    for (const name of Object.keys(changes) as (keyof Item)[]) {
      const change = changes[name];
      if (change) copy[name] = change(copy[name]);
    }
    return copy;
  });
  return {...rest, items: changed};
}

/** Uploads with a client of its own, which retries as `waitToRetry` says. */
async function sendWhole(bundle: Bundle, context: Context, waitToRetry: Context['waitToRetry']): Promise<UploadResult> {
  const result = await sendUntilTaken({...context, waitToRetry}, [await archiveOf(bundle, context)]);
  context.onProgress({transferred: bundle.size, total: bundle.size});
  return result;
}

/** Uploads without a retry. */
async function sendOnce(bundle: Bundle, context: Context): Promise<UploadResult> {
  return sendWhole(bundle, context, async () => Promise.resolve(false));
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
    const code = status === 401 ? 'ERR_UNAUTHORIZED' : status === 429 ? 'ERR_RATE_LIMITED' : 'ERR_SERVER';
    throw backendError(code, `the answer was ${String(status)}`, {status});
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
  try {
    return await good.upload(bundle, context);
  } finally {
    if (!context.signal.aborted) await context.http.delete(reservation, {headers});
  }
}
