import {
  ApiKeyStrategy,
  applyTarget,
  BearerTokenStrategy,
  createTarget,
  deleteBundles,
  deleteTarget,
  deployBundle,
  diffBundles,
  downloadBundle,
  getProjectStatus,
  invalidate,
  listBundles,
  OAuthClientCredentialsStrategy,
  promoteBundle,
  pruneBundles,
  pushBundleV2,
  pushRuntimeBundle,
  rollbackBundle,
  setVariables,
  type CommonOptions,
  type PushRecord,
} from '../../src/index.js';
import type {World} from './store.js';

/** What an operation is called with. */
export interface Call {
  readonly origin: string;
  /** A folder with the build and with prebuilt archives; what is left in it is seen. */
  readonly folder: string;
  readonly options: CommonOptions;
}

/** A library call, and what it may do to the services. */
export interface Operation {
  readonly name: string;
  readonly kind: 'push' | 'deploy' | 'delete' | 'target' | 'read';
  /** The target that it deploys to. */
  readonly target?: string;
  readonly waits?: boolean;
  readonly world?: World;
  /** Exit code when nothing goes wrong. @default 0 */
  readonly ends?: number;
  /** Which of the first bundles a target runs that it deploys: counted from 1. */
  readonly bundle?: number;
  /** The files that it leaves when it succeeds. */
  readonly output?: readonly string[];
  run(call: Call): Promise<unknown>;
}

const project = {projectSlug: 'shop', message: 'one'} as const;
const legacyAuth = new ApiKeyStrategy({apiKey: 'canary-api-key'});

function legacy({origin, options}: Call) {
  return {...options, ...project, preference: 'legacy', origin, legacyAuth} as const;
}

function api({origin, options}: Call) {
  const auth = new BearerTokenStrategy('canary-access-token');
  return {...options, ...project, preference: 'api', apiConnection: {origin, organizationId: 'org', auth}} as const;
}

function auto(call: Call) {
  const auth = new OAuthClientCredentialsStrategy({
    tokenUrl: `${call.origin}/token`,
    clientId: 'client',
    clientSecret: 'canary-client-secret',
    scopes: ['bundles'],
  });
  const apiConnection = {origin: call.origin, organizationId: 'org', auth};
  return {...legacy(call), preference: 'auto', apiConnection} as const;
}

const build = {buildDirectory: 'build', ssrOnly: ['ssr.js'], ssrShared: ['static/**/*']};
const archive = {archive: 'v2.tar.gz'};
const archiveV1 = {archive: 'v1.tar.gz'};
const large = {archive: 'large-v2.tar.gz'};
const largeV1 = {archive: 'large-v1.tar.gz'};
const staging = {targetSlug: 'staging'} as const;
const preview = {targetSlug: 'preview', pollInterval: 0.001} as const;
const live = {...staging, wait: true} as const;
const rollback = {rollbackOnFailure: true} as const;

const wanted = {settings: {sourceMaps: true}, redirects: [{from: '/old', to: '/new'}], access: true} as const;

/** What becomes of a target that is waited for. */
const waits = {target: 'staging', waits: true} as const;

function check({origin}: Call) {
  return {check: {url: `${origin}/site/staging`, retries: 1, interval: 0.001, timeout: 1}};
}

type Run = Operation['run'];
type Rest = Omit<Operation, 'name' | 'kind' | 'run'>;
const push = (name: string, run: Run, rest: Rest = {}): Operation => ({name, kind: 'push', run, ...rest});
const deploy = (name: string, run: Run, rest: Rest = {}): Operation => ({name, kind: 'deploy', run, ...waits, ...rest});

/** Library calls, which together make every request of both backends. */
export const operations: readonly Operation[] = [
  push('push to Api', (call) => pushRuntimeBundle({...api(call), ...build})),
  push('push to Api and deploy', (call) => pushRuntimeBundle({...api(call), ...archive, ...staging}), {
    target: 'staging',
  }),
  push('push to Api and wait', (call) => pushRuntimeBundle({...api(call), ...archive, ...live}), waits),
  push('push to Api or legacy', (call) => pushRuntimeBundle({...auto(call), ...build})),
  push(
    'push to Api or legacy v2, and wait',
    (call) => pushRuntimeBundle({...auto(call), ...archive, ...live, v2: true}),
    waits,
  ),
  push('push v1', (call) => pushRuntimeBundle({...legacy(call), ...archiveV1})),
  push('push v1 and wait', (call) => pushRuntimeBundle({...legacy(call), ...archiveV1, ...live}), waits),
  push('push v2', ({options, origin}) => pushBundleV2({...options, ...project, ...build, origin}, legacyAuth)),
  push('push v2 and wait', (call) => pushRuntimeBundle({...legacy(call), ...archive, ...live}), waits),
  push('push twice, if changed', pushTwice),
  push('push to Api, fail, roll back', (call) => pushRuntimeBundle({...api(call), ...archive, ...live, ...rollback}), {
    ...waits,
    world: {failing: true},
    ends: 12,
  }),
  push(
    'push v2, be unhealthy, roll back',
    (call) => pushRuntimeBundle({...legacy(call), ...archive, ...live, ...check(call), ...rollback}),
    {...waits, world: {unhealthy: true}, ends: 12},
  ),
  deploy('deploy to a busy target', (call) => deployBundle({...api(call), ...live, bundleId: 702, waitForSlot: true}), {
    world: {busy: true},
  }),
  deploy('deploy the latest, and check', (call) =>
    deployBundle({...auto(call), ...live, ...check(call), bundleId: 'latest'}),
  ),
  deploy('deploy with legacy', (call) => deployBundle({...legacy(call), ...live, bundleId: 42})),
  deploy('roll back', (call) => rollbackBundle({...legacy(call), ...live}), {bundle: 3}),
  deploy('promote', (call) => promoteBundle({...api(call), ...live, from: 'production'}), {bundle: 3}),
  deploy(
    'promote with legacy',
    (call) => promoteBundle({...legacy(call), ...live, from: 'staging', targetSlug: 'production'}),
    {
      bundle: 4,
      target: 'production',
    },
  ),
  {name: 'delete two', kind: 'delete', run: (call) => deleteBundles({...legacy(call), bundleIds: [41, 42]})},
  {name: 'prune', kind: 'delete', run: (call) => pruneBundles({...legacy(call), keep: 1})},
  {name: 'create a target', kind: 'target', run: (call) => createTarget({...legacy(call), ...preview})},
  {name: 'create an environment', kind: 'target', run: (call) => createTarget({...api(call), ...preview})},
  {name: 'delete a target', kind: 'target', run: (call) => deleteTarget({...legacy(call), ...staging})},
  {
    name: 'change variables',
    kind: 'target',
    run: (call) => setVariables({...api(call), ...staging, set: {NAME: 'canary-variable'}, unset: ['OTHER']}),
  },
  {
    name: 'apply to a target',
    kind: 'target',
    run: (call) => applyTarget({...legacy(call), ...staging, configuration: wanted}),
  },
  {
    name: 'apply to an environment',
    kind: 'target',
    run: (call) => applyTarget({...api(call), ...staging, configuration: {...wanted, primary: true}}),
  },
  {name: 'invalidate', kind: 'target', run: (call) => invalidate({...legacy(call), ...staging})},
  {
    name: 'download',
    kind: 'read',
    output: ['bundle-45.tar.gz'],
    run: (call) => downloadBundle({...legacy(call), bundleId: 45}),
  },
  {name: 'look at everything', kind: 'read', run: look},
];

/** Pushes to both backends, in all formats, whose archives are larger than what a connection takes that nobody reads. */
export const largePushes: readonly Operation[] = [
  push('push much to Api', (call) => pushRuntimeBundle({...api(call), ...large})),
  push(
    'push much to Api or legacy, and wait',
    (call) => pushRuntimeBundle({...auto(call), ...large, ...live, v2: true}),
    waits,
  ),
  push('push much as v1, and wait', (call) => pushRuntimeBundle({...legacy(call), ...largeV1, ...live}), waits),
  push('push much as v2, and wait', (call) => pushRuntimeBundle({...legacy(call), ...large, ...live}), waits),
];

/** The second push finds nothing that has changed. */
async function pushTwice(call: Call): Promise<unknown> {
  let record: PushRecord | undefined;
  const pushRecords = {
    read: () => Promise.resolve(record),
    write: (_: unknown, written: PushRecord) => Promise.resolve(void (record = written)),
  };
  const options = {...legacy(call), ...archive, ifChanged: true, pushRecords};
  await pushRuntimeBundle(options);
  return pushRuntimeBundle(options);
}

async function look(call: Call): Promise<unknown> {
  const bundles = [await listBundles({...api(call), limit: 3}), await listBundles({...legacy(call), limit: Infinity})];
  const status = await getProjectStatus(legacy(call));
  const diff = await diffBundles({
    ...legacy(call),
    from: {kind: 'archive', path: 'v2.tar.gz'},
    to: {kind: 'running', ...staging},
  });
  return {bundles, status, diff};
}

/** Finds an operation by its name. */
export function operationNamed(name: string): Operation {
  const found = [...operations, ...largePushes].find((operation) => operation.name === name);
  if (found === undefined) throw new Error(`no operation is called "${name}"`);
  return found;
}
