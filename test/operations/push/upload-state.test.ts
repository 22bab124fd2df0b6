import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import type {Backend, UploadState} from '../../../src/backends/contract.js';
import {createBackendRegistry} from '../../../src/backends/registry.js';
import type {PushRuntimeBundleBackendOptions} from '../../../src/operations/push/options.js';
import type {UploadPlace, UploadStates} from '../../../src/backends/upload-state.js';
import {createProject} from '../test-host.js';
import {pushRuntimeBundle} from '../calls.js';
import type {EventBody} from '../../../src/pipelines/host.js';

type Options = Partial<PushRuntimeBundleBackendOptions>;

/** States in memory, by place. */
function statesInMemory() {
  const kept = new Map<string, unknown>();
  const places: UploadPlace[] = [];
  const states: UploadStates = {
    read(place) {
      places.push(place);
      return Promise.resolve(kept.get(JSON.stringify(place)));
    },
    write: (place, state) => Promise.resolve(void kept.set(JSON.stringify(place), state)),
    remove: (place) => Promise.resolve(void kept.delete(JSON.stringify(place))),
  };
  return {kept, places, states};
}

/** A project whose pushes to the backend `acme` do what a test says. */
async function createPusher(uploadStates: UploadStates) {
  const project = await createProject();
  onTestFinished(() => project[Symbol.asyncDispose]());
  const target: {
    use: (state: UploadState | undefined, maskSecret: (secret: string) => void) => Promise<void>;
    resumedBytes?: number;
    sentBytes?: number;
  } = {
    use: () => Promise.resolve(),
  };
  const seen: unknown[] = [];
  const acme: Backend = {
    ...{apiVersion: 1, name: 'acme', summary: 'Acme', formats: ['v2'], secrets: ['token']},
    check: () => Promise.resolve({configured: true}),
    async upload(_bundle, {state, maskSecret, onProgress}) {
      seen.push(await state?.read());
      if (target.sentBytes !== undefined) onProgress({transferred: target.sentBytes, total: 100});
      await target.use(state, maskSecret);
      return {bundleId: 1, resumedBytes: target.resumedBytes, raw: undefined};
    },
    deploy: (_request, {state}) => {
      expect(state).toBeUndefined();
      return Promise.resolve({deployment: {}, status: 'finished', raw: undefined});
    },
  };
  const backends = createBackendRegistry(
    [acme, {...acme, name: 'other'}].map((backend) => ({plugin: 'mycli-plugin-acme', backend})),
  );
  return {
    ...{project, seen, target},
    push: (options: Options = {}) =>
      pushRuntimeBundle({preference: 'acme', projectSlug: 'shop', backends, uploadStates, ...options}, project.host),
  };
}

const cut = (saved: unknown) => async (state: UploadState | undefined) => {
  await state?.write(saved);
  throw new Error('the connection broke off');
};

test('a failed upload: what it has saved is there for the next push of the same bundle, until one succeeds', async () => {
  const {kept, states, places} = statesInMemory();
  const {push, seen, target} = await createPusher(states);
  target.use = cut({uploadId: 7});
  target.sentBytes = 50;
  await expect(push({message: 'first'})).rejects.toMatchObject({
    message: expect.stringContaining('the connection broke off') as string,
    suggestions: ['The next push of the same build resumes the upload.'],
  });
  expect(places).toEqual([
    {
      ...{backend: 'acme', projectSlug: 'shop'},
      optionsSha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    },
  ]);
  target.use = () => Promise.resolve();
  target.resumedBytes = 12_000_000;
  const summaries: unknown[] = [];
  const onEvent = (event: EventBody) => {
    if ('summary' in event) summaries.push(event.summary);
  };
  await push({message: 'second', targetSlug: 'staging', onEvent});
  expect(summaries).toContainEqual(expect.stringMatching(/^Uploaded bundle 1 to .*, of which 12 MB earlier$/));
  await push();
  expect(seen).toEqual([undefined, {uploadId: 7}, undefined]);
  expect(kept.size).toBe(0);
});

test('a failed upload of which nothing was sent resumes nothing, although its backend has saved a state', async () => {
  const {push, target} = await createPusher(statesInMemory().states);
  target.use = cut('an ID');
  await expect(push()).rejects.toMatchObject({suggestions: []});
});

test('pushes of one bundle at a time: one has the state, the other none; what it leaves is for the next', async () => {
  const {kept, states} = statesInMemory();
  const {push, seen, target} = await createPusher(states);
  target.use = cut('first');
  await expect(push()).rejects.toThrow();
  const has: boolean[] = [];
  let release: () => void = () => undefined;
  const bothBegan = new Promise<void>((resolve) => (release = resolve));
  target.use = async (state) => {
    if (has.push(state !== undefined) === 2) release();
    await bothBegan;
    await cut('second')(state);
  };
  await Promise.allSettled([push(), push()]);
  expect(has.toSorted()).toEqual([false, true]);
  target.use = () => Promise.resolve();
  await push();
  expect([seen[0], seen.slice(1, 3).toSorted(), seen[3]]).toEqual([undefined, ['first', undefined], 'second']);
  expect(kept.size).toBe(0);
});

test('a state never reaches another bundle, project, backend or location; secrets make no other location', async () => {
  const {states, kept} = statesInMemory();
  const {push, seen, target, project} = await createPusher(states);
  target.use = cut('mine');
  const backendOptions = {bucket: 'a', token: 'canary-1'};
  await expect(push({backendOptions})).rejects.toThrow();
  target.use = () => Promise.resolve();
  await push({backendOptions, projectSlug: 'other'});
  await push({backendOptions, preference: 'other'});
  await push({backendOptions: {...backendOptions, bucket: 'b'}});
  await writeFile(join(project.directory, 'build/static/app.css'), 'h1 { color: red; }\n');
  await push({backendOptions});
  expect(seen).toEqual([undefined, undefined, undefined, undefined, undefined]);
  await writeFile(join(project.directory, 'build/static/app.css'), 'h1 { color: teal; }\n');
  await push({backendOptions: {...backendOptions, token: 'canary-2'}});
  expect(seen.at(-1)).toBe('mine');
  expect(kept.size).toBe(0);
});

test.each([
  ['is larger than 64 KiB', () => 'x'.repeat(65_535), 'has 65537 bytes, more than 65536'],
  ['is not JSON', () => 1n, 'is not plain JSON'],
  ['is undefined', () => undefined, 'is not plain JSON'],
  ['contains a secret option', () => ['canary-token'], 'contains a secret'],
  ['contains one in base64', () => ({auth: Buffer.from('user:canary-token').toString('base64')}), 'contains a secret'],
  ['contains what the backend masks', () => 'https://acme.example/?key=canary-learned', 'contains a secret'],
])('a state is refused that %s, and the error names the backend', async (_what, state, problem) => {
  const {states, kept} = statesInMemory();
  const {push, target} = await createPusher(states);
  target.use = async (own, maskSecret) => {
    maskSecret('canary-learned');
    await own?.write(state());
  };
  const error: unknown = await push({backendOptions: {token: 'canary-token'}}).catch((reason: unknown) => reason);
  expect(error).toMatchObject({
    code: 'ERR_BACKEND_FAILED',
    message: `The acme backend failed: the state of its upload ${problem}.`,
    suggestions: ['This is a bug in its plugin. Report it to its authors.'],
  });
  expect(JSON.stringify(error)).not.toContain('canary');
  expect(kept.size).toBe(0);
});

test('a push to a place that another process has keeps no state; one that cannot lock is not warned of that', async () => {
  const {states, kept} = statesInMemory();
  const taken = await createPusher({...states, lock: () => Promise.resolve(undefined)});
  taken.target.use = cut('mine');
  await expect(taken.push()).rejects.toMatchObject({suggestions: []});
  expect([taken.seen, kept.size]).toEqual([[undefined], 0]);

  const {push, project} = await createPusher({...states, lock: () => Promise.reject(new Error('the disk is full'))});
  await push();
  expect(project.log.filter((line) => line.includes('full'))).toEqual([]);
});

test('a state that is locked is released when its upload has ended', async () => {
  const calls: string[] = [];
  const release = async () => void calls.push('release');
  const lock = async () => (calls.push('lock'), release);
  const {push, target} = await createPusher({...statesInMemory().states, lock});
  target.use = async () => void calls.push('upload');
  await push();
  target.use = cut('mine');
  await expect(push()).rejects.toThrow();
  expect(calls).toEqual(['lock', 'upload', 'release', 'lock', 'release']);
});

test('a state that cannot be kept is a warning for each use, and the push goes on', async () => {
  const fails = () => Promise.reject(new Error('the disk is full'));
  const {push, target, project} = await createPusher({read: fails, write: fails, remove: fails});
  target.use = async (state) => state?.write('saved');
  expect(await push()).toMatchObject({bundleId: 1});
  expect(project.log.filter((line) => line.includes('upload'))).toEqual([
    'The state of an earlier upload cannot be read, so the upload starts over: the disk is full.',
    'If this upload is interrupted, it cannot be resumed: the disk is full.',
    'The state of the upload cannot be removed: the disk is full.',
  ]);
});
