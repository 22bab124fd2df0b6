import {describe, expect, test} from 'vitest';
import {
  ApiKeyStrategy,
  deployBundle,
  listBundles,
  pushRuntimeBundle,
  waitForDeployment,
  type PushRuntimeBundleBackendOptions,
  type RuntimeEvent,
} from '../../src/index.js';
import type {LocalRuntimeOptions} from '../../src/testing.js';
import {checkedEvents} from '../event-schemas.js';
import {startRecordingServer} from '../recording-server.js';
import {startService} from './pushed-bundles.js';

/** A service, and the options of a push to it, whose events are kept. */
async function createBench(options: LocalRuntimeOptions = {}) {
  const {project, connection} = await startService(options);
  const events: RuntimeEvent[] = [];
  const push: PushRuntimeBundleBackendOptions = {
    ...{...connection, preference: 'legacy', targetSlug: 'staging', buildDirectory: 'build', message: 'one'},
    ...{cwd: project.directory, pollInterval: 0.01, onEvent: (event) => events.push(event)},
  };
  return {events, options: push};
}

const stepsOf = (events: readonly RuntimeEvent[]) =>
  events.flatMap((event) => (event.type === 'step' ? [`${event.step} ${event.status}`] : []));

describe('onEvent', () => {
  test.each<[string, Partial<PushRuntimeBundleBackendOptions>, readonly string[]]>([
    ['invalid options before any step', {static: true, ssrOnly: ['ssr.js']}, []],
    ['a missing build in the step that verifies', {buildDirectory: 'missing'}, ['resolve done', 'verify failed']],
  ])('reports %s', async (_, options, ended) => {
    const bench = await createBench();
    await expect(pushRuntimeBundle({...bench.options, ...options})).rejects.toThrow();
    expect(stepsOf(bench.events).filter((step) => /done|failed/.test(step))).toEqual(ended);
  });

  test('tells every step of a push, its waits for rate limits, its progress and its result', async () => {
    const bench = await createBench({faults: ['429x2:route=upload,retry-after=0']});
    const result = await pushRuntimeBundle({...bench.options, wait: true});
    const events = checkedEvents(bench.events);
    const steps = ['resolve', 'verify', 'build', 'upload', 'deploy', 'wait'];
    expect(stepsOf(events)).toEqual(steps.flatMap((step) => [`${step} started`, `${step} done`]));
    expect(events.filter(({type}) => type === 'wait')).toMatchObject([
      {step: 'upload', reason: 'rate-limit', attempt: 1, maxRetries: 3, httpStatus: 429},
      {step: 'upload', reason: 'rate-limit', attempt: 2, maxRetries: 3, httpStatus: 429},
      {step: 'wait', reason: 'deployment', status: 'finished', until: expect.any(String) as string},
    ]);
    const uploads = events.filter((event) => event.type === 'progress' && event.phase === 'upload');
    expect(uploads.at(-1)).toMatchObject({unit: 'bytes', attempt: 3});
    expect(events).toContainEqual(expect.objectContaining({type: 'progress', phase: 'wait', unit: 'percent'}));
    expect(events.at(-1)).toMatchObject({type: 'outcome', status: 'success', result: {bundleId: result.bundleId}});
  });

  test('tells a failed connection from a rate limit', async () => {
    const bench = await createBench({faults: ['502x1:route=list']});
    await listBundles(bench.options);
    expect(bench.events).toContainEqual(
      expect.objectContaining({type: 'wait', step: 'list', reason: 'retry', httpStatus: 502}),
    );
  });

  test('tells warnings, and what waits without other steps', async () => {
    await using server = await startRecordingServer(({method}) =>
      method === 'POST' ? {status: 201, body: {warnings: ['careful']}} : {status: 200, body: {count: 0, results: []}},
    );
    const events: RuntimeEvent[] = [];
    const connection = {
      origin: server.origin,
      legacyAuth: new ApiKeyStrategy({apiKey: 'key'}),
      onEvent: (event: RuntimeEvent) => events.push(event),
    };
    const place = {projectSlug: 'shop', targetSlug: 'staging'};
    const {deployment} = await deployBundle({...connection, ...place, preference: 'legacy', bundleId: 5});
    expect(checkedEvents(events)).toContainEqual(expect.objectContaining({type: 'warning', message: 'careful'}));
    events.length = 0;
    const call = {...connection, ...place, backend: 'legacy', deployment, pollInterval: 0.01};
    await expect(waitForDeployment(call)).rejects.toThrow();
    expect(stepsOf(checkedEvents(events))).toEqual(['wait started', 'wait failed']);
  });

  test.each([
    ['a push', (options: PushRuntimeBundleBackendOptions) => pushRuntimeBundle({...options, preference: 'auto'})],
    [
      'a deployment',
      (options: PushRuntimeBundleBackendOptions) =>
        deployBundle({...options, preference: 'auto', targetSlug: 'Staging', bundleId: 'latest'}),
    ],
  ])('tells the warning of a fallback of %s once, and the result has it', async (_, call) => {
    const bench = await createBench();
    // Api takes no such slugs.
    const options = {...bench.options, projectSlug: 'My_Shop', targetSlug: 'Staging'};
    await pushRuntimeBundle({...options, onEvent: undefined});
    const {warnings} = await call(options);
    const told = bench.events.flatMap((event) => (event.type === 'warning' ? [event.message] : []));
    expect(told.filter((message) => message.startsWith('Fell back'))).toHaveLength(1);
    expect(warnings).toEqual(told);
  });

  test('may throw without any effect', async () => {
    const bench = await createBench();
    const calls: string[] = [];
    const onEvent = ({type}: RuntimeEvent) => {
      calls.push(type);
      throw new Error('a bug');
    };
    await expect(pushRuntimeBundle({...bench.options, onEvent})).resolves.toMatchObject({deployed: true});
    expect(calls.at(-1)).toBe('outcome');
  });
});
