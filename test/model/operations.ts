import {
  ApiKeyStrategy,
  BearerTokenStrategy,
  deleteBundles,
  deployBundle,
  diffBundles,
  downloadBundle,
  getProjectStatus,
  listBundles,
  OAuthClientCredentialsStrategy,
  promoteBundle,
  pruneBundles,
  pushBundleV2,
  pushRuntimeBundle,
  rollbackBundle,
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
  readonly kind: 'push' | 'deploy' | 'delete' | 'read';
  /** The target that it deploys to. */
  readonly target?: string;
  readonly waits?: boolean;
  readonly world?: World;
  /** Exit code when nothing goes wrong. @default 0 */
  readonly ends?: number;
  /** The files that it leaves when it succeeds. */
  readonly output?: readonly string[];
  run(call: Call): Promise<unknown>;
}

const project = {projectSlug: 'shop', message: 'one'} as const;
const staging = {targetSlug: 'staging'} as const;
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
    ...{
      tokenUrl: `${call.origin}/token`,
      clientId: 'client',
      clientSecret: 'canary-client-secret',
      scopes: ['bundles'],
    },
  });
  const apiConnection = {origin: call.origin, organizationId: 'org', auth};
  return {...legacy(call), preference: 'auto', apiConnection} as const;
}

const archive = {archive: 'v2.tar.gz'};
const archiveV1 = {archive: 'v1.tar.gz'};
const build = {buildDirectory: 'build', ssrOnly: ['ssr.js'], ssrShared: ['static/**/*']};
const deploys = {...staging, wait: true};
const push = {kind: 'push', ...{target: 'staging', waits: true}} as const;
const deploy = {kind: 'deploy', ...{target: 'staging', waits: true}} as const;
const check = {url: '/', retries: 1, interval: 0.001, timeout: 1};
const site = ({origin}: Call) => ({check: {...check, url: `${origin}/site/staging`}});

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

/** Library calls, which together make every request of both backends. */
export const operations: readonly Operation[] = [
  {name: 'push to Api', kind: 'push', run: (call) => pushRuntimeBundle({...api(call), ...build})},
  {
    name: 'push to Api and deploy',
    kind: 'push',
    target: 'staging',
    run: (call) => pushRuntimeBundle({...api(call), ...archive, ...staging}),
  },
  {name: 'push to Api and wait', ...push, run: (call) => pushRuntimeBundle({...api(call), ...archive, ...deploys})},
  {name: 'push to Api or legacy', kind: 'push', run: (call) => pushRuntimeBundle({...auto(call), ...build})},
  {
    name: 'push to Api or legacy v2, and wait',
    ...push,
    run: (call) => pushRuntimeBundle({...auto(call), ...archive, ...deploys, v2: true}),
  },
  {name: 'push v1', kind: 'push', run: (call) => pushRuntimeBundle({...legacy(call), ...archiveV1})},
  {name: 'push v1 and wait', ...push, run: (call) => pushRuntimeBundle({...legacy(call), ...archiveV1, ...deploys})},
  {
    name: 'push v2',
    kind: 'push',
    run: ({options, origin, ...call}) =>
      pushBundleV2({...options, ...project, ...build, origin, cwd: call.folder}, legacyAuth),
  },
  {name: 'push v2 and wait', ...push, run: (call) => pushRuntimeBundle({...legacy(call), ...archive, ...deploys})},
  {name: 'push twice, if changed', kind: 'push', run: pushTwice},
  {
    ...{name: 'push to Api, fail, roll back', ...push, world: {failing: true}, ends: 12},
    run: (call) => pushRuntimeBundle({...api(call), ...archive, ...deploys, rollbackOnFailure: true}),
  },
  {
    ...{name: 'push v2, be unhealthy, roll back', ...push, world: {unhealthy: true}, ends: 12},
    run: (call) => pushRuntimeBundle({...legacy(call), ...archive, ...deploys, ...site(call), rollbackOnFailure: true}),
  },
  {
    name: 'deploy to a busy target',
    ...deploy,
    world: {busy: true},
    run: (call) => deployBundle({...api(call), ...deploys, bundleId: 702, waitForSlot: true}),
  },
  {
    name: 'deploy the latest, and check',
    ...deploy,
    run: (call) => deployBundle({...auto(call), ...deploys, ...site(call), bundleId: 'latest'}),
  },
  {name: 'deploy with legacy', ...deploy, run: (call) => deployBundle({...legacy(call), ...deploys, bundleId: 42})},
  {name: 'roll back', ...deploy, run: (call) => rollbackBundle({...legacy(call), ...deploys})},
  {name: 'promote', ...deploy, run: (call) => promoteBundle({...api(call), ...deploys, from: 'production'})},
  {name: 'delete two', kind: 'delete', run: (call) => deleteBundles({...legacy(call), bundleIds: [41, 42]})},
  {name: 'prune', kind: 'delete', run: (call) => pruneBundles({...legacy(call), keep: 1})},
  {
    ...({name: 'download', kind: 'read', output: ['bundle-45.tar.gz']} as const),
    run: (call) => downloadBundle({...legacy(call), bundleId: 45}),
  },
  {name: 'look at everything', kind: 'read', run: look},
];

async function look(call: Call): Promise<unknown> {
  const bundles = [await listBundles({...api(call), limit: 3}), await listBundles({...legacy(call), limit: Infinity})];
  const status = await getProjectStatus(legacy(call));
  const diff = await diffBundles({
    ...legacy(call),
    from: {kind: 'archive', path: 'v2.tar.gz'},
    to: {kind: 'running', targetSlug: 'staging'},
  });
  return {bundles, status, diff};
}

/** Finds an operation by its name. */
export function operationNamed(name: string): Operation {
  const found = operations.find((operation) => operation.name === name);
  if (found === undefined) throw new Error(`no operation is called "${name}"`);
  return found;
}
