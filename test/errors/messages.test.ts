import {EventEmitter} from 'node:events';
import {mkdir, symlink, writeFile, rm} from 'node:fs/promises';
import {join} from 'node:path';
import {Writable} from 'node:stream';
import type {Command} from '@oclif/core';
import {expect, onTestFinished, test} from 'vitest';
import {callBackend} from '../../src/backends/call.js';
import {createBackendRegistry} from '../../src/backends/registry.js';
import {packBundle} from '../../src/bundle/archive/write-bundle.js';
import {planBundle} from '../../src/bundle/plan.js';
import {readWorkTree} from '../../src/bundle/provenance/git.js';
import {refuseOtherProject} from '../../src/cli/settings/config-file.js';
import {foreignFile} from '../../src/files/ownership.js';
import {assertTrustedOrigin} from '../../src/cli/settings/connection-options.js';
import {askBeforeWrite} from '../../src/cli/settings/write-hooks.js';
import {missingBuild, requireTogether} from '../../src/cli/command/operation-options.js';
import {asOwnError, endedEarly, unexpectedError} from '../../src/cli/command/error-report.js';
import {unknownCommand} from '../../src/cli/command/unknown-command.js';
import {reportChecks} from '../../src/cli/setup/doctor.js';
import {requireNpm} from '../../src/cli/command/plugins.js';
import {ownSignals} from '../../src/cli/command/signals.js';
import {chooseColumns} from '../../src/cli/output/table.js';
import {loadConfigFile} from '../../src/cli/settings/config-file.js';
import {missingSetting} from '../../src/cli/settings/settings.js';
import {catalogue, isRuntimeCliError, type ErrorCode} from '../../src/errors/index.js';
import {authorize, normalizeOrigin, OAuthClientCredentialsStrategy} from '../../src/http/index.js';
import {
  ApiKeyStrategy,
  buildBundle,
  deleteBundles,
  deployBundle,
  downloadBundle,
  inspectArchive,
  listBundles,
  pushRuntimeBundle,
  waitForDeployment,
} from '../../src/index.js';
import {deploymentFailed} from '../../src/operations/deploy/wait-for-deployment.js';
import {refuseUnsafe} from '../../src/operations/guard/safety.js';
import {verifyLimits} from '../../src/operations/push/limits.js';
import {parseFault} from '../../src/local-runtime/faults.js';
import {configOf} from '../cli/settings/hooked-plugins.js';
import {createProject, smallBuild} from '../operations/test-host.js';
import {testClient} from '../http/test-client.js';
import {startServer} from '../http/with-server.js';
import {realpathSync} from 'node:fs';
import {tmpdir} from 'node:os';

const once = {rateLimit: {maxRetries: 0}};

/** A request to a server that answers with a status. */
async function answered(status: number, body = '', headers = {}, path = '/api/projects/shop/bundles/') {
  const {origin} = await startServer((request, response) => {
    request.resume();
    response.writeHead(status, headers).end(body);
  });
  const {http} = await testClient({...once});
  await http.post(`${origin}${path}`, {json: {}});
}

async function project(files: Readonly<Record<string, string>> = smallBuild) {
  const made = await createProject(files);
  onTestFinished(() => made[Symbol.asyncDispose]());
  return {cwd: made.directory, buildDirectory: 'build', output: 'bundle.tar.gz'};
}

const legacy = {preference: 'legacy', projectSlug: 'shop'} as const;
const service = {
  origin: 'https://runtime.example',
  legacyAuth: {getAuthorizationHeader: async () => 'Bearer x'},
} as const;

const large = [
  {path: 'static/video.mp4', size: 1_400_000},
  {path: 'static/app.js', size: 90_000},
  {path: 'ssr.js', size: 10_000},
];

/** Asks a plugin about a push; `answer` is what its hook returns. */
async function askPlugin(answer: unknown): Promise<void> {
  const config = configOf('mycli:before-write', {'mycli-plugin-freeze': () => answer});
  const planned = {
    operation: 'push',
    backend: 'api',
    projectSlug: 'shop',
    targetSlug: 'production',
    bundleIds: [],
  } as const;
  const output = {warn: () => undefined, debug: () => undefined, clean: String};
  await askBeforeWrite(planned, {dryRun: false, isFirst: true}, {config, output, signal: new AbortController().signal});
}

/** Deploys to a target that has run `earlier`. The first deployment ends as `first`; another one is fine. */
async function deployAfter(earlier: readonly object[], first: 'finished' | 'failed', options: object): Promise<void> {
  const started: object[] = [];
  const backend = {
    apiVersion: 1,
    ...{name: 'acme', summary: 'Acme', formats: ['v2']},
    ...{check: () => ({configured: true}), upload: () => undefined},
    deploy: async ({bundleId}: {readonly bundleId: number}) => {
      const deployment = {deploymentId: `d-${String(7 + started.length)}`};
      started.unshift({deployment, bundleId, status: 'finished'});
      return {deployment, status: 'queued', raw: {}};
    },
    getDeployment: async ({deploymentId}: {readonly deploymentId: string}) =>
      deploymentId === 'd-7'
        ? {status: first, description: 'The disk is full.', raw: {}}
        : {status: 'finished', raw: {}},
    listDeployments: async () => ({items: [...started, ...earlier], raw: {}}),
  };
  const backends = createBackendRegistry([{plugin: 'mycli-plugin-acme', backend}]);
  const where = {backends, preference: 'acme', projectSlug: 'shop', targetSlug: 'live'};
  await deployBundle({...where, bundleId: 42, pollInterval: 0.01, ...options});
}

const bundle41 = {deployment: {deploymentId: 'd-6'}, bundleId: 41, status: 'finished'};

type Maker = () => unknown;

/** Causes each error the way a user would, in this process. */
const makers: Readonly<Record<ErrorCode, Maker>> = {
  ERR_USAGE: () => chooseColumns([{name: 'id', value: () => ''}], 'ids'),
  ERR_COMMAND_NOT_FOUND: () => {
    throw unknownCommand(['bundle:psh'], {commands: [{id: 'bundle:push'} as Command.Loadable], topics: []});
  },
  ERR_OPTION_INVALID: async () => buildBundle({...(await project()), rootDir: '../up'}),
  ERR_CONFIG_INVALID: async () =>
    buildBundle(await project({...smallBuild, 'build/.runtime/config.json': '{"ssrOnly": "ssr.js"}'})),
  ERR_GIT: async () => {
    const {cwd} = await project({'.git/HEAD': 'ref: refs/heads/main', ...smallBuild});
    await readWorkTree(cwd, {PATH: cwd});
  },
  ERR_CONFIG_FOREIGN: () => {
    throw foreignFile('/app/mycli.config.ts', 1001, ['If you trust it, pass --config /app/mycli.config.ts.']);
  },
  ERR_ORIGIN_MISSING: () => listBundles({...legacy, legacyAuth: {getAuthorizationHeader: async () => 'Bearer x'}}),
  ERR_ORIGIN_UNTRUSTED: () => {
    assertTrustedOrigin('https://other.example', 'MYCLI_RUNTIME_ORIGIN', {
      MYCLI_TRUSTED_ORIGINS: 'https://runtime.example',
    });
  },
  ERR_CREDENTIALS_MISSING: () => listBundles({...legacy, origin: 'https://runtime.example'}),
  ERR_SETUP_INCOMPLETE: async () => {
    const {cwd} = await project({});
    requireTogether([
      {what: 'project', error: missingSetting('projectSlug')},
      ...(await missingBuild(join(cwd, 'build'), {cwd, project: cwd})),
    ]);
  },
  ERR_CHECK_FAILED: () => {
    reportChecks(
      [
        {name: 'node', status: 'ok', message: 'Node.js 22.12.0.', suggestions: []},
        {name: 'credentials', status: 'failed', message: 'A push from here has no credentials.', suggestions: []},
      ],
      {json: false, unicode: true, outcome: () => undefined},
    );
  },
  ERR_BACKEND_UNKNOWN: () => createBackendRegistry().get('legcy'),
  ERR_BACKEND_FAILED: () =>
    callBackend({name: 'acme'}, 'uploading the bundle', new AbortController().signal, () =>
      Promise.reject(new Error('no bucket is set')),
    ),
  ERR_CAPABILITY_UNSUPPORTED: async () =>
    downloadBundle({
      ...legacy,
      preference: 'api',
      bundleId: 42,
      apiConnection: {
        origin: 'https://api.example',
        organizationId: 'o_1',
        auth: {getAuthorizationHeader: async () => 'Bearer x'},
      },
    }),
  ERR_BUILD_DIRECTORY: async () => buildBundle(await project({'package.json': '{}'})),
  ERR_FILE_UNSUPPORTED: async () => {
    const options = await project();
    await symlink('/etc/hosts', join(options.cwd, 'build/hosts'));
    await buildBundle(options);
  },
  ERR_FILE_CHANGED: async () => {
    const {cwd, buildDirectory} = await project();
    const plan = await planBundle({format: 'v2', cwd, buildDirectory, env: {}, now: () => new Date(0)});
    await rm(join(cwd, 'build/static/app.css'));
    await packBundle(plan, new Writable({write: (_chunk, _encoding, done) => done()}), {});
  },
  ERR_PATTERN_INVALID: async () => buildBundle({...(await project()), ssrOnly: ['']}),
  ERR_SSR_ENTRY_MISSING: async () => buildBundle(await project({'build/main.css': ''})),
  ERR_SSR_ENTRY_PUBLIC: async () =>
    buildBundle({...(await project()), format: 'v1', projectSlug: 'shop', ssrOnly: ['static/*.html']}),
  ERR_SENSITIVE_FILES: async () => buildBundle(await project({...smallBuild, 'build/static/.env': 'KEY=1'})),
  ERR_BUNDLE_TOO_LARGE: () => verifyLimits({name: 'acme', limits: {maxFiles: 2}}, {files: large}),
  ERR_ARCHIVE_INVALID: async () => {
    const {cwd} = await project();
    await writeFile(join(cwd, 'bundle.tar.gz'), '<!doctype html>');
    await inspectArchive(join(cwd, 'bundle.tar.gz'));
  },
  ERR_OUTPUT: async () => {
    const options = await project();
    await mkdir(join(options.cwd, 'bundle.tar.gz'));
    await buildBundle(options);
  },
  ERR_TOO_MANY_FILES: () => {
    const failed = Object.assign(new Error('EMFILE: too many open files'), {code: 'EMFILE', syscall: 'scandir'});
    throw asOwnError(failed);
  },
  ERR_PROGRAM_MISSING: () => requireNpm({PATH: '/nowhere'}),
  ERR_ENDED_EARLY: () => {
    throw endedEarly();
  },
  ERR_VETOED: () => askPlugin({veto: 'production is frozen until 2027-01-02T06:00:00Z'}),
  ERR_GUARD_REFUSED: () => pushRuntimeBundle({...legacy, ...service, targetSlug: 'production', guard: {confirm: true}}),
  ERR_SAFETY: () => {
    const host = {env: {MYCLI_SAFETY: 'no-production'}};
    refuseUnsafe({operation: 'deploy', targetSlug: 'production'}, host);
  },
  ERR_HOOK_FAILED: () =>
    // As with `this.error()`.
    askPlugin(Promise.reject(Object.assign(new Error('the calendar is unreachable'), {oclif: {exit: 1}}))),
  ERR_UNAUTHORIZED: () => answered(401, '{"detail": "The API key is wrong."}'),
  ERR_FORBIDDEN: () => answered(403),
  ERR_OAUTH: async () => {
    const {origin} = await startServer((request, response) => {
      request.resume();
      response.writeHead(401, {'content-type': 'application/json'}).end('{"error": "invalid_client"}');
    });
    const auth = new OAuthClientCredentialsStrategy({tokenUrl: `${origin}/token`, clientId: 'ci', clientSecret: 'shh'});
    const {http} = await testClient(once);
    await authorize(http, auth, origin).get(`${origin}/x`);
  },
  ERR_RATE_LIMITED: () => answered(429),
  ERR_NETWORK: async () => {
    const {http} = await testClient(once);
    await http.get('http://127.0.0.1:1/api/projects/shop/bundles/');
  },
  ERR_TLS: async () => {
    const {port} = await startServer((_request, response) => void response.end());
    const {http} = await testClient(once);
    await http.get(`https://127.0.0.1:${String(port)}/`);
  },
  ERR_TIMEOUT: async () => {
    const {origin} = await startServer(() => undefined);
    const {http} = await testClient({...once, timeouts: {requestMs: 50}});
    await http.get(`${origin}/api/projects/shop/bundles/`, {retry: {limit: 0}});
  },
  ERR_REJECTED: () => answered(404),
  ERR_TARGET_BUSY: async () => {
    const row = {bundle: {id: 3, message: 'main: 1a2b3c'}, status: 'In Progress', created_at: '2026-01-01T00:00:00Z'};
    const {origin} = await startServer((request, response) => {
      request.resume();
      response.writeHead(request.method === 'GET' ? 200 : 409).end(JSON.stringify({count: 1, results: [row]}));
    });
    await deployBundle({...legacy, ...service, origin, targetSlug: 'staging', bundleId: 5});
  },
  ERR_BUNDLE_UNKNOWN: async () => {
    const {origin} = await startServer((request, response) => {
      response.writeHead(request.url?.includes('/download') ? 404 : 200).end('{"count": 0, "results": []}');
    });
    await downloadBundle({...legacy, ...service, origin, bundleId: 99});
  },
  ERR_SERVER: () => answered(500),
  ERR_MAINTENANCE: () => answered(503, '', {'x-mrt-read-only': 'true'}),
  ERR_RESPONSE_INVALID: () => answered(302),
  ERR_DEPLOYMENT_FAILED: () => {
    const state = {status: 'failed', description: 'The health check failed.'} as const;
    return Promise.reject(deploymentFailed({deploymentId: 'd-7'}, state));
  },
  ERR_WAIT_TIMEOUT: async () => {
    const {origin} = await startServer((_request, response) => {
      response.writeHead(200, {'content-type': 'application/json'});
      response.end('{"deploymentId": "d-7", "status": "in_progress"}');
    });
    await waitForDeployment({
      backend: 'api',
      projectSlug: 'shop',
      deployment: {deploymentId: 'd-7', targetSlug: 'staging'},
      apiConnection: {origin, organizationId: 'o_1', auth: {getAuthorizationHeader: async () => 'Bearer x'}},
      timeout: 1,
    });
  },
  ERR_CHECK_REFUSED: async () => {
    const {origin} = await startServer((_, response) =>
      response.writeHead(401, {'www-authenticate': 'Basic realm="site"'}).end(),
    );
    await deployAfter([bundle41], 'finished', {check: {url: `${origin}/health`, retries: 0}, rollbackOnFailure: true});
  },
  ERR_UNHEALTHY: async () => {
    const {origin} = await startServer((_request, response) => response.writeHead(503).end('The database is down.'));
    await deployAfter([bundle41], 'finished', {check: {url: `${origin}/health`, retries: 2, interval: 0}});
  },
  ERR_ROLLED_BACK: () => deployAfter([bundle41], 'failed', {rollbackOnFailure: true}),
  ERR_NOT_ROLLED_BACK: () => deployAfter([], 'failed', {rollbackOnFailure: true}),
  ERR_INTERRUPTED: () => {
    const host = new EventEmitter();
    const {signal, overdue} = ownSignals(host, () => undefined);
    overdue.catch(() => undefined);
    host.emit('SIGINT');
    signal.throwIfAborted();
  },
  ERR_UNEXPECTED: () => {
    throw unexpectedError(new TypeError('x is not a function'));
  },
  ERR_OUTCOME_UNKNOWN: async () => {
    const {origin} = await startServer((request) => {
      request.on('end', () => request.socket.destroy()).resume();
    });
    const {http} = await testClient(once);
    await http.post(`${origin}/api/projects/shop/bundles/`, {json: {}});
  },
};

/** Causes the other common messages of a code. */
const variants: Partial<Readonly<Record<ErrorCode, readonly Maker[]>>> = {
  ERR_OPTION_INVALID: [
    () => listBundles({...legacy, projectSlug: 'my/shop'}),
    () => listBundles({...legacy, ...service, limit: 0}),
    () => listBundles({...legacy, ...service, connectTimeout: 0}),
    () => waitForDeployment({...legacy, ...service, backend: 'legacy', deployment: {}, pollInterval: 0}),
    () => deployBundle({...legacy, ...service, targetSlug: 'staging', bundleId: 'v1.2'}),
    () => new ApiKeyStrategy({apiKey: 'two words'}),
    () => deleteBundles({...legacy, ...service, bundleIds: []}),
    async () => buildBundle({...(await project()), message: 'x'.repeat(2049)}),
    async () => buildBundle({...(await project()), format: 'v1'}),
    async () => buildBundle({...(await project()), static: true, ssrOnly: ['ssr.js']}),
    () => parseFault('429x1:route=uplod'),
    () => normalizeOrigin('origin', 'ftp://runtime.example'),
    () => normalizeOrigin('origin', 'https://user:shh@runtime.example'),
    () => normalizeOrigin('origin', 'https://runtime.example/?key=1'),
    () => normalizeOrigin('origin', 'https://'),
    () => assertTrustedOrigin('https://runtime.example', 'origin', {MYCLI_TRUSTED_ORIGINS: 'https://'}),
  ],
  ERR_CONFIG_INVALID: [
    async () => buildBundle(await project({...smallBuild, 'build/.runtime/config.json': '{"ssrOnly": '})),
    async () => buildBundle(await project({...smallBuild, 'config.server.mjs': 'export const ssrOnly = [];'})),
    async () => {
      const {cwd} = await project({'mycli.config.json': '{"target": "staging"}'});
      await loadConfigFile({cwd, warn: () => undefined}, 'mycli.config.json');
    },
    async () => {
      const {cwd} = await project({'mycli.config.json': '{"wait": "yes"}'});
      await loadConfigFile({cwd, warn: () => undefined}, 'mycli.config.json');
    },
    () => {
      refuseOtherProject({
        ...{path: '/app/mycli.config.json', directory: '/app', otherProject: '/app/packages/b'},
        ...{settings: {}, targets: new Map()},
      });
    },
    async () => {
      const {cwd} = await project({...smallBuild, 'mycli.config.json': '{"apiKey": "shh"}'});
      await loadConfigFile({cwd, warn: () => undefined}, 'mycli.config.json');
    },
  ],
  ERR_CREDENTIALS_MISSING: [
    () => listBundles({...legacy, preference: 'api'}),
    () => listBundles({...legacy, preference: 'auto'}),
  ],
  ERR_BACKEND_UNKNOWN: [
    () => {
      const backend = {
        apiVersion: 1,
        ...{name: 'acme', summary: 'Acme', formats: ['v2']},
        ...{check: () => undefined, upload: () => undefined},
      };
      return createBackendRegistry([
        {plugin: 'mycli-plugin-acme', backend},
        {plugin: '@acme/mycli-plugin-acme', backend},
      ]).get('acme');
    },
  ],
  ERR_BUILD_DIRECTORY: [
    async () => buildBundle(await project({'build/.git/HEAD': ''})),
    async () => buildBundle(await project({build: ''})),
  ],
  ERR_SSR_ENTRY_MISSING: [
    async () => buildBundle({...(await project()), format: 'v1', projectSlug: 'shop', ssrOnly: ['Server/**']}),
    async () => buildBundle({...(await project()), ignore: ['ssr.js']}),
  ],
  ERR_PATTERN_INVALID: [
    async () => buildBundle({...(await project()), ssrOnly: []}),
    async () => buildBundle({...(await project()), ssrShared: ['x'.repeat(1025)]}),
  ],
  ERR_BUNDLE_TOO_LARGE: [
    () => verifyLimits({name: 'acme', limits: {maxBundleBytes: 1_500_000}}, {files: large, size: 1_500_001}),
  ],
  ERR_ARCHIVE_INVALID: [() => inspectArchive('/no/such/bundle.tar.gz')],
  ERR_OUTPUT: [
    async () => buildBundle({...(await project()), output: 'build/bundle.tar.gz'}),
    async () => buildBundle(await project({...smallBuild, 'bundle.tar.gz': 'my notes'})),
  ],
  ERR_ENDED_EARLY: [
    () => {
      throw endedEarly();
    },
  ],
  ERR_NETWORK: [() => answered(403, '', {server: 'AkamaiGHost'})],
  ERR_REJECTED: [() => answered(413), () => answered(409, '{"detail": "The name is taken."}')],
  ERR_RESPONSE_INVALID: [
    async () => {
      const {origin} = await startServer((request, response) => void response.end('<!doctype html>'));
      await listBundles({...legacy, ...service, origin});
    },
  ],
};

interface Example {
  readonly message: string;
  readonly suggestions: readonly string[];
}
const examples = new Map<string, Example[]>();

const all = Object.entries(makers).flatMap(([code, maker]) =>
  [maker, ...((variants as Readonly<Record<string, readonly Maker[]>>)[code] ?? [])].map((make, index) => ({
    code,
    number: index + 1,
    make,
  })),
);

const temporary = realpathSync(tmpdir());

test.each(all)('$code ($number) says what happened in a sentence, and what to do', async ({code, make}) => {
  const error: unknown = await Promise.resolve()
    .then(make)
    .then(
      () => undefined,
      (reason: unknown) => reason,
    );
  if (!isRuntimeCliError(error)) throw error;
  expect(error.code).toBe(code);
  const plain = (text: string) =>
    text
      .replaceAll(temporary, '/tmp')
      .replaceAll(/\/tmp\/mycli-test-\w+\/project/g, '/app')
      // The name of the temporary folder may have to be quoted.
      .replaceAll(/'(\/app[\w./-]*)'/g, '$1')
      .replaceAll(/127\.0\.0\.1:\d+/g, 'runtime.example');
  const example = {message: plain(error.message), suggestions: error.suggestions.map(plain)};
  expect(example.message).toMatch(/^(?:[A-Z/"]|[\w.-]+ ).*(?:[^.]\.|: [^ ]+)$/s);
  examples.set(code, [...(examples.get(code) ?? []), example]);
});

test('the words of each are those of the reference', async () => {
  const inOrder = Object.keys(catalogue).flatMap((code) => (examples.has(code) ? [[code, examples.get(code)]] : []));
  await expect(`${JSON.stringify(Object.fromEntries(inOrder), undefined, 2)}\n`).toMatchFileSnapshot('messages.json');
});
