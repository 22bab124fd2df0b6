import {once} from 'node:events';
import {readFile} from 'node:fs/promises';
import {addAbortSignal, PassThrough, Readable} from 'node:stream';
import {buffer} from 'node:stream/consumers';
import {pipeline} from 'node:stream/promises';
import {backendError, createBackendContext} from '../../src/backends/context.js';
import type {
  Backend,
  Bundle,
  BundleId,
  DeploymentRef,
  DeployResult,
  DownloadStart,
  ListResult,
} from '../../src/backends/contract.js';
import type {BackendErrorCode} from '../../src/backends/exchange.js';
import {authorized, createShelfBackend, goodSteps, type Context, type Steps} from './shelf-backend.js';

type Shelf = ReturnType<typeof createShelfBackend>;
type Change = (good: Shelf) => {readonly [Name in keyof Shelf]?: Shelf[Name] | undefined};

/** A backend that breaks the contract in one way. */
export interface BrokenBackend {
  readonly fault: string;
  create(): Backend;
  /** Names of the cases that tell. */
  readonly caughtBy: readonly string[];
}

function broken(fault: string, caughtBy: readonly string[], change: Change, steps?: Partial<Steps>): BrokenBackend {
  const create = () => {
    const good = createShelfBackend(steps);
    return {...good, ...change(good)} as Backend;
  };
  return {fault, caughtBy, create};
}

const none: Change = () => ({});

/** What the host asks for, by the name that cases have for it. */
const members = {
  'upload (v2)': 'upload',
  verify: 'verify',
  deploy: 'deploy',
  promote: 'promote',
  wait: 'getDeployment',
  list: 'listBundles',
  history: 'listDeployments',
  targets: 'listTargets',
  logs: 'readLogs',
  download: 'download',
  delete: 'deleteBundle',
} as const;
const writing: ReadonlySet<string> = new Set(['upload (v2)', 'deploy', 'promote', 'delete']);

type Call = (context: Context) => Promise<unknown>;

type Around = (call: Call, context: Context) => Promise<unknown>;

/** Does something else around each call of a member, whose context is its last argument. */
function brokenCall(fault: string, caughtBy: readonly string[], member: keyof Shelf, around: Around): BrokenBackend {
  return broken(fault, caughtBy, (good) => {
    const own = Reflect.get(good, member) as (...all: readonly unknown[]) => Promise<unknown>;
    const changed = (...given: readonly unknown[]) => {
      return around((context) => own(...given.slice(0, -1), context), given.at(-1) as Context);
    };
    return {[member]: changed};
  });
}

/** Reports a failure with this status or code as another one. */
function mistaking(met: number | string, code: BackendErrorCode) {
  return (call: Call, context: Context) =>
    call(context).catch((error: unknown) => {
      const {status, code: own} = Object(error) as {readonly status?: number; readonly code?: string};
      throw status === met || own === met ? backendError(code, 'mistaken') : error;
    });
}

const abortedUpload = 'upload (v2): an abort in the middle ends it and leaves nothing behind';
const abortedDownload = 'download: an abort in the middle ends it within a second';
const bytes = 'upload (v2): every byte arrives';
const again = 'upload (v2): a rate limit is waited for';
const progress = 'upload (v2): progress rises to 100 %';
const unheld = 'upload (v2): the bundle is not held in memory';
const failed = 'upload (v2): what fails leaves nothing behind';
const silent = 'upload (v2): deploys nothing unless it says so';
const secrets = 'no error, log or result contains a secret';
const apart = 'two services do not interfere';
const leftAlone = 'options, bundles and requests are left as they are';
const loggedIn = 'login: the service accepts what it returns';
const verified = 'verify: accepts valid credentials and changes nothing';
const finished = 'wait (v2): a push to a target finishes';
const ownStatus = 'wait: each deployment has its own status';
const unknownDeployment = 'wait: an unknown deployment is refused with a code';
const ownReference = 'deploy: returns the reference of the new deployment';
const promoted = 'promote: the bundle of one target runs on the other';
const replaced = 'promote: a bundle that the target does not run is refused';
const listed = 'list: a bundle is listed as it was uploaded';
const listPages = 'list: its pages are the bundles, newest first';
const ownList = 'list: each project has its own';
const users = 'list: inUseBy names the targets that run the bundle';
const historyPages = 'history: its pages are the deployments, newest first';
const undone = 'history: a deployment that failed is not listed as finished';
const ownHistory = 'history: each project and each target has its own';
const usable = 'history: its references can be checked';
const targets = 'targets: each target that was deployed to is listed once';
const wholeLog = 'logs: a log ends when it is complete';
const ownLog = 'logs: each deployment has its own';
const downloaded = 'download: returns the uploaded bytes';
const resumed = 'download: it resumes where it stopped, or starts over';
const gone = 'delete: removes the bundle and no other';
const rest = 'resume: only what is missing is sent again';
const over = 'resume: an upload that the service does not know starts over';
const shape = 'has the shape of a backend';

/** What can go wrong in every operation, and the case that tells. */
const anywhere: readonly (readonly [fault: string, toldBy: string, around: Around])[] = [
  ['ignores that it is aborted', 'an abort ends it within a second', ignoringAborts],
  [
    'reports a failure of the service as one of the network',
    'a failure of the service is reported as such',
    mistaking(500, 'ERR_NETWORK'),
  ],
  [
    'reports refused credentials as an unknown bundle',
    'refused credentials are reported as such',
    mistaking(401, 'ERR_BUNDLE_UNKNOWN'),
  ],
  ['reports a rate limit as a failure', 'a persistent rate limit is reported as such', mistaking(429, 'ERR_SERVER')],
  ['gives up at the first rate limit', 'a rate limit is waited for', givingUpAtLimits],
];
const whenReading = [
  'does not ask again when an answer is lost',
  'a lost answer is requested again',
  givingUpWithoutAnswer,
] as const;
const whenWriting = [
  'reports a lost answer as a refusal',
  'a lost answer leaves the outcome open, and nothing is done twice',
  mistaking('ERR_OUTCOME_UNKNOWN', 'ERR_REJECTED'),
] as const;

const everywhere = Object.entries(members).flatMap(([name, member]) =>
  [...anywhere, writing.has(name) ? whenWriting : whenReading].map(([fault, toldBy, around]) => {
    const others = around === ignoringAborts ? [abortedUpload, abortedDownload] : [];
    const also = others.filter((one) => one.startsWith(`${name}:`));
    return brokenCall(`${fault}: ${name}`, [`${name}: ${toldBy}`, ...also], member, around);
  }),
);

export const brokenBackends: readonly BrokenBackend[] = [
  broken(
    'has a member that is not a function',
    [shape],
    () => ({deleteBundle: 'delete' as unknown as Shelf['upload']}) as object,
  ),
  broken('has a limit of no files', [shape], () => ({limits: {maxFiles: 0}})),
  broken('keeps the first options and project that it is given', [apart], (good) => {
    let kept: Pick<Context, 'options' | 'projectSlug'> | undefined;
    return {
      upload: (bundle, {options, projectSlug, ...context}) => {
        kept ??= {options, projectSlug};
        return good.upload(bundle, {...context, ...kept});
      },
    };
  }),
  brokenCall('changes its options', [leftAlone], 'upload', (call, context) =>
    call(Object.assign(context, {options: Object.assign(context.options, {used: true})})),
  ),
  broken('changes the bundle', [leftAlone], (good) => ({
    upload: (bundle, context) =>
      good.upload(Object.assign(bundle, {config: {...bundle.config, uploaded: true}}), context),
  })),
  broken('changes a request', [leftAlone], (good) => ({
    deploy: (request, context) => good.deploy(Object.assign(request, {requestedAt: 1}), context),
  })),
  brokenCall('prints to the console', ['nothing is printed'], 'listBundles', async (call, context) => {
    console.log('listing');
    return call(context);
  }),
  brokenCall('logs the key, in base64', [secrets], 'listBundles', (call, context) => {
    context.logger.debug(`Authorization: Basic ${btoa(`user:${String(context.options.key)}`)}`);
    return call(context);
  }),
  broken('keeps the key in the reference of a deployment', [secrets], (good) => ({
    deploy: async (request, context) => {
      const {deployment, ...result} = await good.deploy(request, context);
      return {...result, deployment: {...deployment, ...authorized(context)}};
    },
  })),
  brokenCall('reveals the key in the cause of an error', [secrets], 'deploy', (call, context) =>
    call(context).catch((error: unknown) => {
      if (Object(error).status !== 404) throw error;
      const cause = new Error(`request with ${JSON.stringify(authorized(context))} failed`);
      throw Object.assign(backendError('ERR_BUNDLE_UNKNOWN', 'refused'), {cause});
    }),
  ),
  broken('does not declare its secret option', [secrets, loggedIn], () => ({secrets: []})),
  broken('does not declare its secret variable', [secrets], () => ({secretEnv: []})),
  brokenCall('does not mask what it learns', [secrets], 'upload', (call, context) =>
    call({...context, maskSecret: () => undefined}),
  ),
  broken('asks the service in check()', ['check: recognizes valid settings without the network'], (good) => ({
    check: async ({options}) => {
      if (options.origin !== undefined) await fetch(options.origin);
      return {configured: true, summary: good.summary};
    },
  })),
  broken('says that it is configured without options', ['check: lists what is missing'], () => ({required: []})),
  broken('logs in with a secret that the service does not accept', [loggedIn], () => ({
    login: async ({prompt}) => {
      await prompt({message: 'Password', secret: true});
      return {secrets: {key: 'no-such-key'}};
    },
  })),
  brokenCall(
    'does not end a login that is aborted',
    ['login: an abort ends it within a second'],
    'login',
    ignoringAborts,
  ),
  brokenCall('logs the secret of a login', [loggedIn], 'login', async (call, context) => {
    const result = await call(context);
    context.logger.debug(`logged in: ${JSON.stringify(result)}`);
    return result;
  }),
  brokenCall('does not mask what it learns in a login', [loggedIn], 'login', (call, context) =>
    call({...context, maskSecret: () => undefined}),
  ),
  brokenCall('uploads something in verify()', [verified], 'verify', async (call, context) => {
    const headers = {...authorized(context), 'x-message': 'probe'};
    await context.http.post(`${String(context.options.origin)}/probe/uploads`, {headers});
    return call(context);
  }),

  broken('changes a byte of the tenth part', [bytes], (good) => ({
    upload: (bundle, context) => good.upload(changed(bundle, 1_400_000), context),
  })),
  broken('changes a byte of the first part', [apart, bytes, again, downloaded, gone], (good) => ({
    upload: (bundle, context) => good.upload(changed(bundle, 1000), context),
  })),
  broken('reads a byte too many of each part', [bytes, again, rest, over], none, {
    range: (bundle, start) => ({start, end: goodSteps.range(bundle, start).end + 1}),
  }),
  broken('reports progress that runs backwards', [progress], (good) => ({
    upload: async (bundle, context) => {
      const result = await good.upload(bundle, context);
      for (const transferred of [bundle.size - 1, bundle.size]) context.onProgress({transferred, total: bundle.size});
      return result;
    },
  })),
  broken('reports no progress', [progress], (good) => ({
    upload: async (bundle, context) => {
      const {bodies} = context;
      const file: typeof bodies.file = (source, range) => {
        const {headers, context: body} = bodies.file(source, range);
        return {headers, context: {...body, onProgress: undefined}};
      };
      const result = await good.upload(bundle, {...context, bodies: {...bodies, file}});
      context.onProgress({transferred: 1, total: bundle.size});
      return result;
    },
  })),
  broken('reads a small bundle to its end, aborted or not', [abortedUpload], (good) => ({
    upload: async (bundle, context) =>
      good.upload(bundle.size > 1e6 ? bundle : withBytes(bundle, await buffer(bundle.createReadStream())), context),
  })),
  brokenCall(
    'leaves behind what an abort interrupts',
    [abortedUpload, 'upload (v2): an abort ends it within a second'],
    'upload',
    (call, context) => call({...context, onAbort: () => undefined}),
  ),
  broken('ignores an abort before it has sent anything', ['upload (v2): an abort ends it within a second'], (good) => ({
    upload: (bundle, context) => {
      let hasSent = false;
      const own = {...context, onProgress: () => void (hasSent = true)};
      return good.upload(bundle, own).catch((error: unknown) => (hasSent ? rejected() : unlessAborted(error, context)));
    },
  })),
  broken('ignores an abort before its download begins', ['download: an abort ends it within a second'], (good) => ({
    download: (request, context) => {
      let hasBegun = false;
      const onStart = () => void (hasBegun = true);
      return good.download({...request, onStart}, context).catch((error: unknown) => {
        if (hasBegun) throw error;
        return unlessAborted(error, context);
      });
    },
  })),
  broken('reads the archive from the disk before it sends any of it', [unheld], (good) => ({
    upload: async (bundle, context) => good.upload(withBytes(bundle, await readFile(bundle.path)), context),
  })),
  broken('reads the whole bundle before it sends any of it', [unheld], (good) => ({
    upload: async (bundle, context) =>
      good.upload(withBytes(bundle, await buffer(addAbortSignal(context.signal, bundle.createReadStream()))), context),
  })),
  brokenCall('leaves the parts of an upload that fails', [failed], 'upload', (call, context) => {
    const http: Context['http'] = Object.assign(context.http.extend({}), {delete: async () => Promise.resolve()});
    return call({...context, http});
  }),
  broken(
    'leaves the parts of every upload',
    [failed, abortedUpload, 'upload (v2): an abort ends it within a second'],
    none,
    {
      isKept: () => true,
    },
  ),
  broken('says that it has deployed an upload without a target', [silent], (good) => ({
    upload: async (bundle, context) => {
      const result = await good.upload(bundle, context);
      return {...result, ...(context.targetSlug === undefined && {deployment: {deploymentId: 'x'}})};
    },
  })),
  broken('deploys each upload', [silent, users, promoted, ownHistory], (good) => ({
    upload: async (bundle, context) => {
      const result = await good.upload(bundle, context);
      await good.deploy({bundleId: result.bundleId, targetSlug: 'production'}, context);
      return result;
    },
  })),
  broken(
    'takes less than its limit of bytes',
    ['limits: a bundle with the maxBundleBytes of the backend is accepted'],
    (good) => ({
      limits: {maxBundleBytes: 1024 * 1024},
      upload: (bundle, context) => (bundle.size > 1_000_000 ? rejected() : good.upload(bundle, context)),
    }),
  ),
  broken(
    'takes less than its limit of files',
    ['limits: a bundle with the maxFiles of the backend is accepted'],
    (good) => ({
      limits: {maxFiles: 12},
      upload: (bundle, context) => (bundle.files.length >= 12 ? rejected() : good.upload(bundle, context)),
    }),
  ),
  broken('saves nothing to resume an upload with', [rest, over], none, {save: () => Promise.resolve()}),
  broken('saves its key in the state of an upload', [rest, over], none, {
    save: async (id, {state, options}) => state?.write([id, options.key]),
  }),
  broken('never reads the state of an upload', [rest], none, {resumed: () => Promise.resolve(undefined)}),
  broken('sends every part of a resumed upload again', [rest], none, {
    sent: async (id, context) => (await goodSteps.sent(id, context))?.slice(0, 0),
  }),
  broken('resumes an upload that the service does not know', [over], none, {
    sent: async (id, context) => (await goodSteps.sent(id, context)) ?? [],
  }),

  broken('returns a deployment reference with a Date in it', [ownReference], (good) => ({
    deploy: async (request, context) => {
      const {deployment, ...result} = await good.deploy(request, context);
      return {...result, deployment: {...deployment, startedAt: new Date()}};
    },
  })),
  broken('returns the reference of an older deployment', [ownReference, ownStatus, ownLog], (good) => ({
    deploy: async (request, context) => {
      const result = await good.deploy(request, context);
      const {items} = await good.listDeployments({limit: 5, ...request}, context);
      return {...result, deployment: items.at(-1)?.deployment ?? result.deployment};
    },
  })),
  brokenCall(
    'does not say that a target is busy',
    ['deploy: a busy target is reported as such'],
    'deploy',
    mistaking(409, 'ERR_REJECTED'),
  ),
  brokenCall('reports a deployment that is accepted as finished', [ownReference], 'deploy', asFinished),
  brokenCall('reports a promotion that is accepted as finished', [promoted], 'promote', asFinished),
  broken('promotes to the target that the bundle runs on', [promoted], (good) => ({
    promote: ({bundleId, from}, context) => good.promote({bundleId, from, to: from}, context),
  })),
  broken('promotes without a look at the target that the bundle is to run on', [replaced], (good) => ({
    promote: ({bundleId, to}, context) => good.deploy({bundleId, targetSlug: to}, context),
  })),
  broken('makes up the reference of a promotion', [promoted], (good) => ({
    promote: async (request, context) => {
      const result = await good.promote(request, context);
      return {...result, deployment: {...result.deployment, deploymentId: String(Math.random())}};
    },
    getDeployment: async (deployment, context) =>
      String(deployment.deploymentId).startsWith('0.') ? {status: 'finished'} : good.getDeployment(deployment, context),
  })),
  broken('deploys to both targets when it promotes', [promoted], (good) => ({
    promote: async (request, context) => {
      const result = await good.promote(request, context);
      await good.deploy({bundleId: request.bundleId, targetSlug: request.from}, context);
      return result;
    },
  })),
  broken('only knows deployments of its own process', [finished], (good) => {
    const known = new Set<unknown>();
    const knowing = async (work: Promise<DeployResult>) => {
      const result = await work;
      known.add(result.deployment.deploymentId);
      return result;
    };
    return {
      deploy: (request, context) => knowing(good.deploy(request, context)),
      promote: (request, context) => knowing(good.promote(request, context)),
      listDeployments: changeItems(good.listDeployments, {
        deployment: (deployment: DeploymentRef) => ({...deployment, listed: true}),
      }),
      getDeployment: async (deployment, context) => {
        const isKnown = known.has(deployment.deploymentId) || deployment['listed'] === true;
        return isKnown ? good.getDeployment(deployment, context) : rejected();
      },
    };
  }),
  brokenCall('reports a failed deployment as finished', [ownStatus], 'getDeployment', async (call, context) => {
    const state = Object(await call(context)) as {readonly status: string};
    return {...state, status: state.status === 'failed' ? 'finished' : state.status};
  }),
  broken('checks the newest deployment', [ownStatus, unknownDeployment], (good) => ({
    getDeployment: async (deployment, context) => good.getDeployment(await newest(good, deployment, context), context),
  })),
  brokenCall(
    'reports a deployment that does not exist as finished',
    [unknownDeployment],
    'getDeployment',
    (call, context) =>
      call(context).catch((error: unknown) => {
        if (Object(error).status !== 404) throw error;
        return {status: 'finished'};
      }),
  ),

  brokenItems('lists a digest that is not that of the archive', [listed], 'listBundles', {
    sha256: () => '0'.repeat(64),
  }),
  brokenItems('lists file names instead of messages', [listed], 'listBundles', {message: () => 'bundle.tar.gz'}),
  broken('keeps only the ASCII of a message', [listed], (good) => ({
    upload: (bundle, context) =>
      good.upload({...bundle, message: bundle.message.replaceAll(/\P{ASCII}/gu, '?')}, context),
  })),
  brokenItems('reports a local time without its zone', [listed], 'listBundles', {
    createdAt: (time: string) => time.replace('Z', ''),
  }),
  brokenItems('reports a local time as that of UTC', [listed], 'listBundles', {
    createdAt: (time: string) => isoTime(Date.parse(time) - 4 * 3_600_000),
  }),
  brokenItems('mistakes seconds for milliseconds', [historyPages], 'listDeployments', {
    createdAt: (time: string) => isoTime(Date.parse(time) / 1000),
  }),
  brokenItems('reports the time of the list as that of the upload', [listed, listPages], 'listBundles', {
    createdAt: () => isoTime(Date.now()),
  }),
  brokenItems('lists bundles that are never ready', [listed], 'listBundles', {status: () => 'preparing'}),
  brokenCall('stops where the service ends a page', [listPages], 'listBundles', async (call, context) => ({
    ...Object(await call(context)),
    cursor: undefined,
  })),
  broken('goes on at its own limit, not where the service ends a page', [listPages], (good) => ({
    listBundles: async (range, context) => {
      const page = await good.listBundles(range, context);
      return {...page, cursor: page.cursor && String(Number(range.cursor ?? 0) + range.limit)};
    },
  })),
  broken('ignores the cursor of a history', [historyPages], (good) => ({
    listDeployments: ({limit, targetSlug}, context) => good.listDeployments({limit, targetSlug}, context),
  })),
  brokenCall('reports the length of the page as the total', [listPages], 'listBundles', async (call, context) => {
    const page = Object(await call(context)) as ListResult<unknown>;
    return {...page, total: page.items.length};
  }),
  brokenCall(
    'lists the oldest deployment of a page first',
    [historyPages],
    'listDeployments',
    async (call, context) => {
      const page = Object(await call(context)) as ListResult<unknown>;
      return {...page, items: page.items.toReversed()};
    },
  ),
  broken('lists the bundles of all projects', [ownList], (good) => ({
    listBundles: async (range, context) => {
      const page = await good.listBundles(range, context);
      const {items} = await good.listBundles(
        {limit: 5},
        {...context, projectSlug: context.projectSlug.replace(/-2$/, '')},
      );
      return context.projectSlug.endsWith('-2') ? {...page, items: [...page.items, ...items]} : page;
    },
  })),
  brokenItems('says that a target runs every bundle', [users], 'listBundles', {inUseBy: () => ['staging']}),
  brokenItems('lists deployments that never finish', [historyPages], 'listDeployments', {status: () => 'in_progress'}),
  brokenItems('lists failed deployments as finished', [undone], 'listDeployments', {status: () => 'finished'}),
  broken('always lists the deployments of the same target', [ownHistory, promoted], (good) => ({
    listDeployments: (request, context) => good.listDeployments({...request, targetSlug: 'staging'}, context),
  })),
  broken('keeps one history for all projects', [ownHistory], (good) => ({
    listDeployments: (request, context) =>
      good.listDeployments(request, {...context, projectSlug: context.projectSlug.replace(/-2$/, '')}),
  })),
  brokenItems('lists references that it cannot use', [usable], 'listDeployments', {
    deployment: ({deploymentId}: DeploymentRef) => ({deploymentId}),
  }),
  broken('deploys each bundle only once', ['history: an earlier bundle can be deployed again'], (good) => ({
    deploy: async (request, context) => {
      const {items} = await good.listDeployments({limit: 5, ...request}, context);
      return items.some(({bundleId}) => bundleId === request.bundleId) ? rejected() : good.deploy(request, context);
    },
  })),
  brokenCall('lists only the target of the last deployment', [targets], 'listTargets', async (call, context) => {
    const page = Object(await call(context)) as ListResult<unknown>;
    return {items: page.items.slice(-1)};
  }),
  brokenCall('lists a target for each of its deployments', [targets], 'listTargets', async (call, context) => {
    const page = Object(await call(context)) as ListResult<unknown>;
    return {items: [...page.items, ...page.items]};
  }),
  brokenItems('reports the hosts of targets as their URLs', [targets], 'listTargets', {
    url: (url: string) => url.replace('https://', ''),
  }),
  brokenCall('lists a target that it cannot deploy to', [targets], 'listTargets', async (call, context) => {
    const page = Object(await call(context)) as ListResult<unknown>;
    return page.cursor === undefined
      ? {items: [...page.items, {targetSlug: 'staging-2'}]}
      : {...page, total: undefined};
  }),
  brokenCall('ends the log of a deployment that is running', [wholeLog], 'readLogs', async (call, context) => {
    const part = Object(await call(context)) as {readonly lines: readonly string[]};
    return part.lines.length === 0 ? {lines: []} : part;
  }),
  brokenCall('returns the lines of a log with their line breaks', [wholeLog], 'readLogs', async (call, context) => {
    const {lines, ...part} = Object(await call(context)) as {readonly lines: readonly string[]};
    return {...part, lines: lines.map((line) => `${line}\n`)};
  }),
  broken('ignores the cursor of a log', [wholeLog, ownLog], (good) => ({
    readLogs: ({deployment}, context) => good.readLogs({deployment}, context),
  })),
  broken('reads the log of the newest deployment', [ownLog], (good) => ({
    readLogs: async ({deployment, ...request}, context) =>
      good.readLogs({...request, deployment: await newest(good, deployment, context)}, context),
  })),

  broken('returns IDs as numbers, and only takes numbers', [downloaded, abortedDownload, resumed], (good) => {
    const ids: BundleId[] = [];
    return {
      upload: async (bundle, context) => ({bundleId: ids.push((await good.upload(bundle, context)).bundleId)}),
      download: ({bundleId, ...request}, context) =>
        good.download(
          {...request, bundleId: typeof bundleId === 'number' ? (ids[bundleId - 1] ?? '') : 'none'},
          context,
        ),
    };
  }),
  broken(
    'reports a digest that is not that of the downloaded bytes',
    [downloaded],
    starting((start) => ({...start, sha256: '0'.repeat(64)})),
  ),
  broken('downloads only the first half', [downloaded, resumed], (good) => ({
    download: async ({writeTo, ...request}, context) => {
      const passing = new PassThrough();
      const [content] = await Promise.all([buffer(passing), good.download({...request, writeTo: passing}, context)]);
      await pipeline(Readable.from([content.subarray(0, content.length / 2)]), writeTo, {signal: context.signal});
    },
  })),
  broken('ignores that a download is aborted while it writes', [abortedDownload], (good) => ({
    download: async ({writeTo, ...request}, context) => {
      const passing = new PassThrough();
      const [content] = await Promise.all([buffer(passing), good.download({...request, writeTo: passing}, context)]);
      if (!writeTo.write(content)) await once(writeTo, 'drain');
    },
  })),
  broken('says that it resumes a download, but starts over', [resumed], (good) => ({
    download: ({resume, onStart, ...request}, context) =>
      good.download(
        {
          ...request,
          onStart: (start) =>
            onStart?.({...start, offset: resume?.validator === start.validator ? (resume?.offset ?? 0) : 0}),
        },
        context,
      ),
  })),
  broken(
    'reports the rest of a download as its total',
    [resumed],
    starting(({offset, total = 0, ...start}) => ({...start, offset, total: total - offset})),
  ),
  broken(
    'reports the same validator for every archive',
    [resumed],
    starting((start) => ({...start, validator: '"1"'})),
  ),
  broken('resumes a download with a different archive', [resumed], (good) => ({
    download: ({resume, ...request}, context) => {
      const validator = `"${encodeURIComponent(request.bundleId)}"`;
      return good.download({...request, resume: resume && {...resume, validator}}, context);
    },
  })),
  broken('deletes nothing', [gone], (good) => ({
    deleteBundle: async ({bundleId}, context) => {
      const {items} = await good.listBundles({limit: 5}, context);
      if (!items.some((item) => item.bundleId === bundleId)) await good.deleteBundle({bundleId}, context);
    },
  })),
  broken('deletes every bundle with the same message', [gone], (good) => ({
    deleteBundle: async ({bundleId}, context) => {
      const {items} = await good.listBundles({limit: 5}, context);
      const {message} = items.find((item) => item.bundleId === bundleId) ?? {};
      const same = items.filter((item) => item.message === message).map((item) => item.bundleId);
      for (const id of message === undefined ? [bundleId] : same) await good.deleteBundle({bundleId: id}, context);
    },
  })),
  ...(['deploy', 'download', 'delete'] as const).flatMap((name) => [
    brokenCall(
      `does not say that a bundle is unknown: ${name}`,
      [`${name}: an unknown bundle is refused with a code`],
      members[name],
      mistaking(404, 'ERR_REJECTED'),
    ),
    broken(
      `puts IDs into URLs as they are: ${name}`,
      [`${name}: what only looks like the ID of a bundle is refused`],
      (good) => ({
        [members[name]]: ({bundleId, ...request}: {readonly bundleId: string}, context: Context) =>
          (Reflect.get(good, members[name]) as (request: object, context: Context) => Promise<unknown>)(
            {...request, bundleId: bundleId.replace(/\?$/, '')},
            context,
          ),
      }),
    ),
    brokenCall(
      `finds the bundles of other projects: ${name}`,
      [`${name}: a bundle of another project is refused`],
      members[name],
      (call, context) =>
        call(context).catch((error: unknown) => {
          if (Object(error).status !== 404) throw error;
          return call({...context, projectSlug: context.projectSlug.replace(/-2$/, '')});
        }),
    ),
  ]),
  ...everywhere,
];

function withBytes(bundle: Bundle, content: Buffer): Bundle {
  const createReadStream: Bundle['createReadStream'] = ({start = 0, end = content.length - 1} = {}) =>
    Readable.from([content.subarray(start, end + 1)]);
  return {...bundle, createReadStream};
}

/** A bundle with another byte at a place, if it is that large. */
function changed(bundle: Bundle, place: number): Bundle {
  const createReadStream: Bundle['createReadStream'] = (range = {}) => {
    const read = async function* () {
      let position = range.start ?? 0;
      for await (const chunk of bundle.createReadStream(range) as AsyncIterable<Buffer>) {
        const copy = Buffer.from(chunk);
        const index = place - position;
        if (index >= 0 && index < copy.length) copy.writeUInt8(copy.readUInt8(index) ^ 1, index);
        position += chunk.length;
        yield copy;
      }
    };
    return Readable.from(read(), {objectMode: false});
  };
  return {...bundle, createReadStream};
}

type Lister = 'listBundles' | 'listDeployments' | 'listTargets';
type Changes = Readonly<Record<string, (value: never) => unknown>>;

/** The same list, with changes to members of each item. */
function changeItems<List extends Shelf[Lister]>(list: List, changes: Changes): List {
  const changed = async (range: never, context: Context) => {
    const {items, ...page} = (await list(range, context)) as unknown as ListResult<Readonly<Record<string, unknown>>>;
    const change = (item: Readonly<Record<string, unknown>>) => {
      const values = Object.entries(changes).map(([name, of]) => [name, of(item[name] as never)] as const);
      return {...item, ...Object.fromEntries(values)};
    };
    return {...page, items: items.map(change)};
  };
  return changed as unknown as List;
}

/** Changes members of each item of a list. */
function brokenItems(fault: string, caughtBy: readonly string[], member: Lister, changes: Changes): BrokenBackend {
  return broken(fault, caughtBy, (good) => ({[member]: changeItems(good[member], changes)}));
}

/** Says something else when a download starts. */
function starting(change: (start: DownloadStart) => DownloadStart): Change {
  return (good) => ({
    download: ({onStart, ...request}, context) =>
      good.download({...request, onStart: (start) => onStart?.(change(start))}, context),
  });
}

/** Does not send a request again when its answer is lost. */
function givingUpWithoutAnswer(call: Call, context: Context) {
  const http = context.http.extend({repeatable: false});
  const openStream: Context['openStream'] = (url, options) => context.openStream(url, {...options, http});
  return call({...context, http, openStream});
}

/** Does not send a request again after a 429, as an SDK with a client of its own. */
async function givingUpAtLimits(call: Call, context: Context) {
  const {http, openStream} = await createBackendContext({...context, rateLimit: {statusCodes: []}, userAgent: 'sdk'});
  return call({...context, http, openStream});
}

async function asFinished(call: Call, context: Context) {
  return {...Object(await call(context)), status: 'finished'};
}

function ignoringAborts(call: Call, context: Context) {
  return call(context).catch((error: unknown) => unlessAborted(error, context));
}

/** Never ends once it is aborted. */
async function unlessAborted(error: unknown, {signal}: Context): Promise<never> {
  if (signal.aborted) await new Promise(() => undefined);
  throw error;
}

function rejected(): never {
  throw backendError('ERR_REJECTED', 'the service refused it');
}

function isoTime(time: number): string {
  return new Date(time).toISOString();
}

async function newest(good: Shelf, deployment: DeploymentRef, context: Context): Promise<DeploymentRef> {
  const {targetSlug} = deployment as {readonly targetSlug: string};
  const {items} = await good.listDeployments({limit: 1, targetSlug}, context);
  return items[0]?.deployment ?? deployment;
}
