import {createHash} from 'node:crypto';
import {mkdirSync, readdirSync, writeFileSync} from 'node:fs';
import {readdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {createError, isRuntimeCliError} from '../../../src/errors/index.js';
import {ApiKeyStrategy} from '../../../src/http/index.js';
import type {OperationProgress} from '../../../src/operations/options.js';
import {startRecordingServer} from '../../recording-server.js';
import {writeTree} from '../../folder.js';
import {startService} from '../pushed-bundles.js';
import {createProject, smallBuild, type TestProject} from '../test-host.js';
import {buildBundle} from '../../../src/pipelines/build.js';
import {pushBundleV2} from '../../../src/pipelines/push.js';
import {hearing, pushRuntimeBundle} from '../calls.js';

const fast = {rateLimit: {maxRetries: 3, baseDelayMs: 10, maxDelayMs: 50}, pollInterval: 0.05};
const staging = {targetSlug: 'staging', pollInterval: 0.05} as const;

const variants = [
  {name: 'legacy v1', preference: 'legacy', v2: false, format: 'v1'},
  {name: 'legacy v2', preference: 'legacy', v2: true, format: 'v2'},
  {name: 'api', preference: 'api', v2: false, format: 'v2'},
] as const;

test('a prebuilt archive that serves files with secrets is refused before anything is sent, unless that is allowed', async () => {
  const {runtime, project, connection} = await startService();
  await writeTree(project.directory, {'build/static/.env': '', 'build/static/site.pem': ''});
  const {bundle} = await buildBundle({allowSensitiveFiles: true, output: 'site', format: 'v2'}, project.host);
  const how = {...connection, preference: 'legacy', v2: true, archive: bundle.path} as const;
  await expect(pushRuntimeBundle(how, project.host)).rejects.toMatchObject({
    code: 'ERR_SENSITIVE_FILES',
    details: {files: ['static/.env']},
  });
  expect(runtime.requests).toEqual([]);
  expect(await pushRuntimeBundle({...how, allowSensitiveFiles: true}, project.host)).toMatchObject({
    warnings: [expect.stringContaining('static/.env, static/site.pem') as string],
  });
});

describe.each(variants)('a push to $name', ({preference, v2, format}) => {
  test('of a static site serves every file of it, and its archive can be pushed again', async () => {
    const {runtime, project, connection} = await startService();
    const files = {'dist/index.html': '<h1>home</h1>', 'dist/.well-known/security.txt': 'contact'};
    await writeTree(project.directory, files);
    const common = {...connection, ...staging, preference, v2, wait: true};
    const site = {buildDirectory: 'dist', static: true};
    await pushRuntimeBundle({...common, ...site}, project.host);
    for (const [path, content] of Object.entries(files)) {
      const page = await fetch(`${runtime.appsOrigin}/shop/staging/${path.replace('dist/', '')}`);
      expect([page.status, await page.text()]).toEqual([200, content]);
    }
    const {bundle} = await buildBundle({...site, output: 'site', format, projectSlug: 'shop'}, project.host);
    const archive = {...common, archive: bundle.path};
    expect(await pushRuntimeBundle(archive, project.host)).toMatchObject({warnings: []});
    await expect(pushRuntimeBundle({...archive, static: true}, project.host)).rejects.toThrow('static');
  });

  test('uploads, deploys and waits; the result tells it all', async () => {
    const {runtime, project, connection} = await startService({deploymentSeconds: 0.1});
    const progress: Parameters<Parameters<typeof hearing>[0]>[0][] = [];
    const onEvent = hearing((event) => progress.push(event));
    const push = {...connection, ...staging, preference, v2, message: 'first', wait: true, onEvent};
    const result = await pushRuntimeBundle(push, project.host);
    expect(result).toMatchObject({
      ...{backend: preference, projectSlug: 'shop', targetSlug: 'staging', message: 'first'},
      ...{deployed: true, status: 'finished', archive: {format, files: 3}},
      bundleId: expect.any(Number) as number,
      raw: {bundle: expect.any(Object) as object},
    });
    const page = await fetch(`${runtime.appsOrigin}/shop/staging/static/index.html`);
    expect(await page.text()).toBe(smallBuild['build/static/index.html']);
    expect(progress.map(({phase}) => phase)).toEqual(
      expect.arrayContaining([...(v2 || preference === 'api' ? ['build'] : []), 'upload', 'wait']),
    );
    const uploaded = progress.filter(({phase}) => phase === 'upload').at(-1);
    expect(uploaded?.transferred).toBe(uploaded?.total);
    expect(await readdir(project.temporary)).toEqual([]);
  });

  test('tells a callback its progress, whose errors are ignored', async () => {
    const {project, connection} = await startService();
    const told: OperationProgress[] = [];
    const onProgress = (progress: OperationProgress) => {
      told.push(progress);
      if (progress.phase === 'upload') throw new Error('no');
    };
    await pushRuntimeBundle({...connection, preference, v2, onProgress}, project.host);
    const last = told.findLast(({phase}) => phase === 'upload');
    expect(last?.transferred).toBe(last?.total);
  });

  test('tells once of files that appear while it packs', async () => {
    const {project, connection} = await startService();
    await writeTree(project.directory, {'.bundleignore': '*.map'});
    const onEvent = hearing(() => {
      mkdirSync(join(project.directory, 'build/static/new'), {recursive: true});
      for (const name of ['late.js', 'late.map', 'static/new/a.js'])
        writeFileSync(join(project.directory, 'build', name), '');
    });
    const {warnings} = await pushRuntimeBundle({...connection, preference, v2, onEvent}, project.host);
    expect(warnings).toEqual([
      'Files appeared in the build folder while it was packed, and are not in the bundle: late.js, static/new/a.js. ' +
        'Run the command again once the build has finished.',
    ]);
  });

  test.skipIf(format === 'v1').each([
    ['504x1', 10],
    ['500x1', 7],
  ])('a deployment that is answered with %s says how to look', async (fault, exitCode) => {
    const message = /^Bundle 1 was uploaded, and its deployment to staging may have started: /;
    const {project, connection} = await startService({faults: [`${fault}:route=deploy`]});
    const push = pushRuntimeBundle({...connection, ...staging, preference, v2}, project.host);
    const error: unknown = await push.catch((reason: unknown) => reason);
    if (!isRuntimeCliError(error)) throw new Error('not refused', {cause: error});
    expect(error).toMatchObject({exitCode, message: expect.stringMatching(message) as string});
    const suggested = error.suggestions.join('\n');
    expect(suggested).toContain('Check before you deploy it again:\nmycli bundle:history --project shop');
    expect(suggested.match(/bundle:history/g)).toHaveLength(1);
    expect(suggested).toContain('mycli bundle:deploy 1');
  });

  test('a deployment that does not end in time is exit code 9', async () => {
    const {project, connection} = await startService({deploymentSeconds: 600});
    const push = {...connection, ...staging, preference, v2, wait: true, timeout: 0.2};
    await expect(pushRuntimeBundle(push, project.host)).rejects.toMatchObject({
      ...{code: 'ERR_WAIT_TIMEOUT', exitCode: 9, details: {bundleId: 1}},
      message: expect.stringMatching(
        /^Bundle 1 was uploaded\. (?:The d|D)eployment.* did not finish within 0\.2 s/,
      ) as string,
      suggestions: [
        expect.stringContaining('The deployment continues') as string,
        'To check on it, run:',
        expect.stringMatching(/^mycli bundle:history /) as string,
      ],
    });
  });
});

test.each([
  ['incomplete', false, 'Stopped. No bundle was created.', []],
  [
    'complete but without an answer',
    true,
    'Stopped. The bundle may have been uploaded.',
    [
      'Check before you try again:',
      expect.stringMatching(/^mycli bundle:list --project shop --runtime-backend legacy --origin http:\S+$/) as string,
    ],
  ],
] as const)(
  'an interruption of an upload that is %s says what became of it',
  async (_, isWhole, message, suggestions) => {
    const {project, connection} = await startService({faults: ['hangx1:route=upload']});
    const controller = new AbortController();
    const onEvent = hearing(({phase, transferred, total}) => {
      if (phase === 'upload' && (transferred === total) === isWhole)
        controller.abort(createError('ERR_INTERRUPTED', 'Stopped.', {exitCode: 130}));
    });
    const push = {...connection, preference: 'legacy', v2: true, signal: controller.signal, onEvent};
    await expect(pushRuntimeBundle(push, project.host)).rejects.toMatchObject({
      ...{code: 'ERR_INTERRUPTED', exitCode: 130, message, suggestions},
    });
  },
);

test('a push that its caller aborts after the upload tells the bundle, and the reason', async () => {
  const {project, connection} = await startService({deploymentSeconds: 60});
  const controller = new AbortController();
  const reason = new Error('the caller has enough');
  const onEvent = hearing(({phase}) => {
    if (phase === 'wait') controller.abort(reason);
  });
  const aborting = {signal: controller.signal, onEvent, pollInterval: 0.01};
  const push = {...connection, preference: 'legacy', targetSlug: 'staging', wait: true, ...aborting} as const;
  await expect(pushRuntimeBundle(push, project.host)).rejects.toMatchObject({
    code: 'ERR_INTERRUPTED',
    message: 'The call was aborted. Bundle 1 was uploaded. The deployment continues.',
    cause: reason,
    details: {bundleId: 1, targetSlug: 'staging', deployment: expect.anything() as unknown},
  });
});

test('a push reports all wrong options at once', async () => {
  await using project = await createProject();
  const push = pushRuntimeBundle(
    {
      ...{preference: 'legacy', projectSlug: '../etc', targetSlug: 'a/b', rootDir: '/abs', ssrOnly: [], v2: true},
      ifChanged: true,
    },
    project.host,
  );
  await expect(push).rejects.toSatisfy((error: {code: string; details: {problems: {option: string}[]}}) => {
    expect(error.code).toBe('ERR_OPTION_INVALID');
    const options = error.details.problems.map(({option}) => option);
    expect(options).toEqual(expect.arrayContaining(['projectSlug', 'targetSlug', 'rootDir', 'ssrOnly', 'ifChanged']));
    return true;
  });
});

describe('a v1 push to legacy packs while it sends', () => {
  const push = (origin: string, {host}: TestProject, listen: () => void = () => undefined) => {
    const legacyAuth = new ApiKeyStrategy({apiKey: 'key'});
    return pushRuntimeBundle(
      {preference: 'legacy', projectSlug: 'shop', origin, legacyAuth, ...fast, onEvent: hearing(listen)},
      host,
    );
  };

  test('no archive is written, also when it has to be sent twice; the digest is that of what arrived', async () => {
    const replies = [429, 200];
    await using server = await startRecordingServer(() => ({status: replies.shift() ?? 500, body: {bundle_id: 7}}));
    await using project = await createProject({...smallBuild, 'build/static/large.bin': 'large'.repeat(500_000)});
    const written = new Set<string>();
    const {archive} = await push(server.origin, project, () => {
      for (const name of readdirSync(project.temporary, {recursive: true})) written.add(String(name));
    });
    expect([...written].filter((name) => name.includes('bundle'))).toEqual([]);
    const bodies = server.requests.map(({body}) => JSON.parse(body.toString()) as {data: string});
    expect(bodies).toHaveLength(2);
    for (const {data} of bodies) {
      const tar = Buffer.from(data, 'base64');
      expect(archive).toMatchObject({size: tar.length, sha256: createHash('sha256').update(tar).digest('hex')});
    }
  });

  test('a file that changes between two attempts is an error that names it, and nothing more is sent', async () => {
    await using project = await createProject();
    await using server = await startRecordingServer(async () => {
      await writeFile(join(project.directory, 'build/ssr.js'), 'export default () => "HELLO";\n');
      return {status: 429};
    });
    await expect(push(server.origin, project)).rejects.toMatchObject({
      code: 'ERR_FILE_CHANGED',
      exitCode: 3,
      message: expect.stringContaining('build/ssr.js') as string,
    });
    expect(server.requests).toHaveLength(1);
    expect(await readdir(project.temporary)).toEqual([]);
  });
});

test('pushBundleV2 uploads a v2 bundle to the legacy origin of the environment', async () => {
  const {runtime, project} = await startService();
  const host = {...project.host, env: {MYCLI_RUNTIME_ORIGIN: runtime.origin}};
  const auth = new ApiKeyStrategy({apiKey: runtime.credentials.apiKey});
  const result = await pushBundleV2({projectSlug: 'shop', rootDir: 'app', configPath: 'cfg.json'}, auth, host);
  const members = ['archive', 'bundleId', 'matches', 'message', 'projectSlug', 'raw', 'warnings'];
  expect(Object.keys(result).sort()).toEqual(members);
  expect(result.archive.format).toBe('v2');
});
