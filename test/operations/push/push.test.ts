import {createHash} from 'node:crypto';
import {once} from 'node:events';
import {readdirSync, utimesSync} from 'node:fs';
import {readdir, writeFile} from 'node:fs/promises';
import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {createError, isRuntimeCliError} from '../../../src/errors/index.js';
import {ApiKeyStrategy, OAuthClientCredentialsStrategy} from '../../../src/http/index.js';
import type {ConnectionOptions, OperationProgress} from '../../../src/operations/options.js';
import {startLocalRuntime, type LocalRuntime} from '../../../src/testing.js';
import {startRecordingServer} from '../../recording-server.js';
import {createProject, smallBuild} from '../test-host.js';
import {buildBundle} from '../../../src/pipelines/build.js';
import {pushBundleV2, pushRuntimeBundle} from '../../../src/pipelines/push.js';

const fast = {rateLimit: {maxRetries: 3, baseDelayMs: 10, maxDelayMs: 50}, pollInterval: 0.05};

function connect({origin, credentials}: LocalRuntime): ConnectionOptions {
  const {organizationId, clientId, clientSecret, tokenUrl, apiKey} = credentials;
  const auth = new OAuthClientCredentialsStrategy({tokenUrl, clientId, clientSecret, scopes: []});
  return {
    origin,
    legacyAuth: new ApiKeyStrategy({apiKey}),
    apiConnection: {origin, organizationId, auth},
  };
}

const variants = [
  {name: 'legacy v1', preference: 'legacy', v2: false, format: 'v1'},
  {name: 'legacy v2', preference: 'legacy', v2: true, format: 'v2'},
  {name: 'api', preference: 'api', v2: false, format: 'v2'},
] as const;

test('a prebuilt archive that serves files with secrets is refused before anything is sent, unless that is allowed', async () => {
  await using project = await createProject({...smallBuild, 'build/static/.env': '', 'build/static/site.pem': ''});
  const runtime = await startLocalRuntime({deploymentSeconds: 0});
  onTestFinished(() => runtime.close());
  const {bundle} = await buildBundle({allowSensitiveFiles: true, output: 'site', format: 'v2'}, project.host);
  const push = (allowSensitiveFiles: boolean) => {
    const how = {...connect(runtime), ...fast, preference: 'legacy', v2: true, projectSlug: 'shop'} as const;
    return pushRuntimeBundle({...how, archive: bundle.path, allowSensitiveFiles}, project.host);
  };
  await expect(push(false)).rejects.toMatchObject({
    code: 'ERR_SENSITIVE_FILES',
    details: {files: ['static/.env']},
  });
  expect(runtime.requests).toEqual([]);
  expect(await push(true)).toMatchObject({
    warnings: [expect.stringContaining('static/.env, static/site.pem') as string],
  });
});

describe.each(variants)('a push to $name', ({preference, v2, format}) => {
  test('of a static site serves every file of it, and its archive can be pushed again', async () => {
    const runtime = await startLocalRuntime({deploymentSeconds: 0});
    const files = {'dist/index.html': '<h1>home</h1>', 'dist/.well-known/security.txt': 'contact'};
    await using project = await createProject(files);
    const common = {
      ...connect(runtime),
      ...fast,
      preference,
      v2,
      projectSlug: 'shop',
      targetSlug: 'staging',
      wait: true,
    };
    const site = {buildDirectory: 'dist', static: true};
    await pushRuntimeBundle({...common, ...site}, project.host);
    for (const [path, content] of Object.entries(files)) {
      const page = await fetch(`${runtime.appsOrigin}/shop/staging/${path.replace('dist/', '')}`);
      expect([page.status, await page.text()]).toEqual([200, content]);
    }
    const {bundle} = await buildBundle({...site, output: 'site', format, projectSlug: 'shop'}, project.host);
    expect(await pushRuntimeBundle({...common, archive: bundle.path}, project.host)).toMatchObject({warnings: []});
    await expect(
      pushRuntimeBundle({...common, archive: bundle.path, static: true}, project.host),
    ).rejects.toMatchObject({
      message: expect.stringContaining('static'),
    });
    await runtime.close();
  });

  test('uploads, deploys and waits; the result tells it all', async () => {
    const runtime = await startLocalRuntime({deploymentSeconds: 0.1});
    await using project = await createProject();
    const progress: OperationProgress[] = [];
    const result = await pushRuntimeBundle(
      {
        ...connect(runtime),
        ...fast,
        preference,
        v2,
        projectSlug: 'shop',
        targetSlug: 'staging',
        message: 'first',
        wait: true,
        onProgress: (event) => progress.push(event),
      },
      project.host,
    );
    expect(result).toMatchObject({
      backend: preference,
      projectSlug: 'shop',
      targetSlug: 'staging',
      message: 'first',
      deployed: true,
      status: 'finished',
      archive: {format, files: 3},
    });
    expect(typeof result.bundleId).toBe('number');
    expect(result.raw.bundle).toBeTypeOf('object');
    const page = await fetch(`${runtime.appsOrigin}/shop/staging/static/index.html`);
    expect(await page.text()).toBe(smallBuild['build/static/index.html']);
    expect(progress.map(({phase}) => phase)).toEqual(
      expect.arrayContaining([...(v2 || preference === 'api' ? ['build'] : []), 'upload', 'wait']),
    );
    const uploaded = progress.filter(({phase}) => phase === 'upload').at(-1);
    expect(uploaded?.transferred).toBe(uploaded?.total);
    expect(await readdir(project.temporary)).toEqual([]);
    await runtime.close();
  });

  test.each([
    ['504x1', 10, /^Bundle 1 was uploaded, and its deployment to staging may have started: /, false],
    ['500x1', 7, /^Bundle 1 was uploaded, but deploying it to staging failed: /, true],
  ])('a deployment that is answered with %s says how to look', async (fault, exitCode, message, repeats) => {
    if (format === 'v1') return;
    const runtime = await startLocalRuntime({faults: [`${fault}:route=deploy`], deploymentSeconds: 0});
    await using project = await createProject();
    const target = {projectSlug: 'shop', targetSlug: 'staging'};
    const push = pushRuntimeBundle({...connect(runtime), ...fast, ...target, preference, v2}, project.host);
    const error: unknown = await push.catch((reason: unknown) => reason);
    if (!isRuntimeCliError(error)) throw new Error('not refused', {cause: error});
    expect(error).toMatchObject({exitCode, message: expect.stringMatching(message) as string});
    const suggested = error.suggestions.join('\n');
    expect(suggested).toContain('Check before you deploy it again:\nmycli bundle:history --project shop');
    expect(suggested.includes('mycli bundle:deploy 1')).toBe(repeats);
    await runtime.close();
  });

  test('a deployment that does not end in time is exit code 9', async () => {
    const runtime = await startLocalRuntime({deploymentSeconds: 600});
    await using project = await createProject();
    const push = pushRuntimeBundle(
      {
        ...connect(runtime),
        ...fast,
        preference,
        v2,
        projectSlug: 'shop',
        targetSlug: 'staging',
        wait: true,
        timeout: 0.2,
      },
      project.host,
    );
    await expect(push).rejects.toMatchObject({
      code: 'ERR_WAIT_TIMEOUT',
      exitCode: 9,
      message: expect.stringMatching(
        /^Bundle \d+ was uploaded\. (?:The d|D)eployment.* did not finish within 0\.2 s/,
      ) as string,
      suggestions: [
        expect.stringContaining('The deployment continues') as string,
        expect.stringMatching(/^mycli bundle:history /) as string,
      ],
      details: {bundleId: expect.any(Number) as number},
    });
    await runtime.close();
  });
});

test.each([
  ['incomplete', false, 'Stopped. The upload was incomplete, so it created no bundle.', []],
  [
    'complete but without an answer',
    true,
    'Stopped. The bundle may have been uploaded.',
    ['Check before you push again:', 'mycli bundle:list --project shop --runtime-backend legacy'],
  ],
] as const)(
  'an interruption of an upload that is %s says what became of it',
  async (_, isWhole, message, suggestions) => {
    const runtime = await startLocalRuntime({faults: ['hangx1:route=upload']});
    await using project = await createProject();
    const controller = new AbortController();
    const push = pushRuntimeBundle(
      {
        ...connect(runtime),
        preference: 'legacy',
        v2: true,
        projectSlug: 'shop',
        signal: controller.signal,
        onProgress: ({phase, transferred, total}) => {
          if (phase === 'upload' && (transferred === total) === isWhole)
            controller.abort(createError('ERR_INTERRUPTED', 'Stopped.', {exitCode: 130}));
        },
      },
      project.host,
    );
    await expect(push).rejects.toMatchObject({code: 'ERR_INTERRUPTED', exitCode: 130, message, suggestions});
    await runtime.close();
  },
);

test('every wrong option of a push is reported at once', async () => {
  await using project = await createProject();
  const push = pushRuntimeBundle(
    {preference: 'legacy', projectSlug: '../etc', targetSlug: 'a/b', rootDir: '/abs', ssrOnly: [], v2: true},
    project.host,
  );
  await expect(push).rejects.toSatisfy((error: {code: string; details: {problems: {option: string}[]}}) => {
    expect(error.code).toBe('ERR_OPTION_INVALID');
    const options = error.details.problems.map(({option}) => option);
    expect(options).toEqual(expect.arrayContaining(['projectSlug', 'targetSlug', 'rootDir', 'ssrOnly']));
    return true;
  });
});

describe('a v1 push to legacy packs while it sends', () => {
  test('no archive is written, also when it has to be sent twice; the digest is that of what arrived', async () => {
    const replies = [429, 200];
    await using server = await startRecordingServer(() => ({status: replies.shift() ?? 500, body: {bundle_id: 7}}));
    await using project = await createProject({...smallBuild, 'build/static/large.bin': 'large'.repeat(500_000)});
    const written = new Set<string>();
    const {archive} = await pushRuntimeBundle(
      {
        ...{preference: 'legacy', projectSlug: 'shop', origin: server.origin, ...fast},
        legacyAuth: new ApiKeyStrategy({apiKey: 'key'}),
        onProgress: () => {
          for (const name of readdirSync(project.temporary, {recursive: true})) written.add(String(name));
        },
      },
      project.host,
    );
    expect([...written].filter((name) => name.includes('bundle'))).toEqual([]);
    const bodies = server.requests.map(({body}) => JSON.parse(body.toString()) as {data: string});
    expect(bodies).toHaveLength(2);
    for (const {data} of bodies) {
      const tar = Buffer.from(data, 'base64');
      expect(archive).toMatchObject({size: tar.length, sha256: createHash('sha256').update(tar).digest('hex')});
    }
  });

  test.each([
    ['has its digest all the same', false],
    ['says which bundle it is when the digest cannot be told', true],
  ])('a server that answers before it has read all: the push %s', async (_what, changes) => {
    await using project = await createProject({...smallBuild, 'build/static/large.bin': 'x'.repeat(60_000_000)});
    const large = join(project.directory, 'build/static/large.bin');
    const server = createServer((request, response) => {
      // The large file is being sent, and what fits into the sockets' buffers is less than all of it.
      let received = 0;
      request.on('data', ({length}: Buffer) => {
        received += length;
        if (received < 2_000_000 || response.headersSent) return;
        request.pause();
        if (changes) utimesSync(large, 1, 1);
        response.writeHead(200, {'content-type': 'application/json', connection: 'close'}).end('{"bundle_id": 7}');
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const push = pushRuntimeBundle(
      {
        ...{preference: 'legacy', projectSlug: 'shop', ...fast},
        origin: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
        legacyAuth: new ApiKeyStrategy({apiKey: 'key'}),
      },
      project.host,
    );
    if (changes) {
      await expect(push).rejects.toMatchObject({
        code: 'ERR_FILE_CHANGED',
        message: expect.stringContaining('Bundle 7 was uploaded') as string,
        details: {bundleId: 7},
      });
    } else
      expect(await push).toMatchObject({bundleId: 7, archive: {sha256: expect.stringMatching(/^\w{64}$/) as string}});
  });

  test('a file that changes between two attempts is an error that names it, and nothing more is sent', async () => {
    await using project = await createProject();
    await using server = await startRecordingServer(async () => {
      await writeFile(join(project.directory, 'build/ssr.js'), 'export default () => "HELLO";\n');
      return {status: 429};
    });
    const push = pushRuntimeBundle(
      {
        ...{preference: 'legacy', projectSlug: 'shop', origin: server.origin, ...fast},
        legacyAuth: new ApiKeyStrategy({apiKey: 'key'}),
      },
      project.host,
    );
    await expect(push).rejects.toMatchObject({
      code: 'ERR_FILE_CHANGED',
      exitCode: 3,
      message: expect.stringContaining('build/ssr.js') as string,
    });
    expect(server.requests).toHaveLength(1);
    expect(await readdir(project.temporary)).toEqual([]);
  });
});

test('pushBundleV2 uploads a v2 bundle to the legacy origin of the environment', async () => {
  const runtime = await startLocalRuntime();
  await using project = await createProject(smallBuild, {MYCLI_RUNTIME_ORIGIN: runtime.origin});
  const auth = new ApiKeyStrategy({apiKey: runtime.credentials.apiKey});
  const result = await pushBundleV2({projectSlug: 'shop', rootDir: 'app', configPath: 'cfg.json'}, auth, project.host);
  expect(Object.keys(result).sort()).toEqual([
    'archive',
    'bundleId',
    'matches',
    'message',
    'projectSlug',
    'raw',
    'warnings',
  ]);
  expect(result.archive.format).toBe('v2');
  await runtime.close();
});
