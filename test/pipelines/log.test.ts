import {describe, expect, test} from 'vitest';
import {createError} from '../../src/errors/index.js';
import type {RunHost} from '../../src/operations/host.js';
import type {Ledger} from '../../src/pipelines/ledger.js';
import {runPipeline, type Rows, type Step} from '../../src/pipelines/run.js';
import {step, stepHost} from './step-host.js';

/** Runs rows whose steps are lines of a log. */
function logged(settings: readonly string[] = []) {
  const lines: string[] = [];
  const info = (line: string) => void lines.push(line.replace(/\[\d+ ms\]/, '[0 ms]'));
  const {events, host} = stepHost({unicode: false, info});
  const steps = () => events.flatMap((event) => (event.type === 'step' ? [`${event.step} ${event.status}`] : []));
  return {lines, events, steps, start: (...rows: Rows<unknown>) => runPipeline(rows, {}, {...host, settings})};
}

const nothing = () => Promise.resolve();
const failing = () => Promise.reject(new Error('no'));

describe('a log', () => {
  test('a log has each step once, and the sources of settings below the backend', async () => {
    const {lines, start, events} = logged(['project  shop  (--project)']);
    await start(
      step('resolve', 'Prepare', async ({outlet}) => outlet.title('Backend: legacy')),
      step('upload', 'Upload the bundle', async ({outlet}) => outlet.note('Falling back')),
    );
    expect(lines).toEqual([
      'Backend: legacy [0 ms]',
      '  project  shop  (--project)',
      '  Falling back',
      'Upload the bundle [0 ms]',
    ]);
    expect(events[1]).toMatchObject({status: 'done', title: 'Prepare', summary: 'Backend: legacy'});
  });

  test('a log says which step has failed and which never ran', async () => {
    const {lines, start, steps} = logged();
    const running = start(
      step('resolve', 'Prepare', nothing),
      step('upload', 'Upload the bundle', failing),
      step('deploy', 'Deploy to staging', nothing),
      {...step('wait', 'Wait for the deployment', nothing), due: () => false},
      step('check', 'Check', nothing),
    );
    await expect(running).rejects.toThrow('no');
    expect(lines).toEqual(['Prepare [0 ms]', 'Upload the bundle: failed [0 ms]', 'Not run: Deploy to staging, Check']);
    expect(steps().slice(-3)).toEqual(['upload failed', 'deploy skipped', 'check skipped']);
  });

  test.each([
    ['ERR_VETOED', {vetoes: [{plugin: 'a'}, {plugin: 'b'}]}, 'vetoed by a, b'],
    ['ERR_HOOK_FAILED', {plugin: 'a'}, 'not allowed, because a failed'],
  ] as const)('a log says which plugins have not allowed a step (%s)', async (code, details, said) => {
    const {lines, start} = logged();
    const refused = createError(code, 'No.', {details});
    const running = start(step('upload', 'Upload the bundle', () => Promise.reject(refused)));
    await expect(running).rejects.toBe(refused);
    expect(lines).toEqual([`Upload the bundle: ${said} [0 ms]`]);
  });
});

test('a step knows what the step before it has made known, and a warning that is given twice is told once', async () => {
  const {start, events} = logged();
  const one: Step = {
    name: 'one',
    title: 'One',
    async run(_, {outlet}) {
      for (const message of ['careful', 'careful']) outlet.warn(message);
      return {bundleId: 1};
    },
  };
  const two: Step = {
    name: 'two',
    title: 'Two',
    run: ({bundleId}) => Promise.resolve({result: `bundle ${String(bundleId)}`}),
  };
  expect(await start(one, two)).toMatchObject({bundleId: 1, result: 'bundle 1', warnings: ['careful']});
  expect(events.filter(({type}) => type === 'warning')).toEqual([{type: 'warning', message: 'careful'}]);
});

test('a question is asked between two lists, and what is due after it is known by then', async () => {
  const {start, steps} = logged();
  const question = (asked: readonly string[], due = true) => ({
    due: () => due,
    async ask() {
      expect(steps()).toEqual(asked);
    },
  });
  await start(
    step('find', 'Find', nothing),
    question([], false),
    step('guard', 'Check', nothing),
    question(['find started', 'find done', 'guard started', 'guard done']),
    step('delete', 'Delete', nothing),
  );
  expect(steps().at(-1)).toBe('delete done');
});

const failure = createError('ERR_UNHEALTHY', 'It is broken.');

test.each([
  ['runs after a failure that it handles', true, 'It is broken. The target', ['rollback started', 'rollback done']],
  ['does not run after another failure', false, 'It is broken.', ['rollback skipped']],
])('a step that recovers %s', async (_, handles, message, ended) => {
  const {start, steps} = logged();
  const running = start(
    step('check', 'Check', () => Promise.reject(failure)),
    step('wait', 'Wait', nothing),
    {
      ...{name: 'rollback', title: 'Roll back if this fails', recovers: true},
      due: (ledger: Ledger) => ledger.failure === undefined || handles,
      run: () => Promise.resolve({rollback: {rolledBack: true, bundleId: 1}}),
    },
  );
  await expect(running).rejects.toThrow(message);
  expect(steps().filter((name) => name.startsWith('rollback'))).toEqual(ended);
});

test('a step that recovers is no event when nothing failed', async () => {
  const {start, steps} = logged();
  await start(step('deploy', 'Deploy', nothing), {...step('rollback', 'Roll back', failing), recovers: true});
  expect(steps().filter((name) => name.startsWith('rollback') && name !== 'rollback skipped')).toEqual([]);
});

test('a run ends with whatever a step rejects with', async () => {
  const {start, lines} = logged();
  const task = () => {
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors
    return Promise.reject(undefined);
  };
  const ended = start(step('read', 'Read', task)).then(
    () => 'resolved',
    (reason: unknown) => reason,
  );
  expect(await ended).toBeUndefined();
  expect(lines).toEqual(['Read: failed [0 ms]']);
});

test('a run that continues another shows what a backend reports that was opened in its hidden step', async () => {
  const {host, events} = stepHost({});
  let opened: RunHost['outlet'] | undefined;
  const rows = [
    step('resolve', 'Prepare', async ({outlet}) => (opened = outlet)),
    step('upload', 'Upload', async () => opened?.progress({phase: 'upload', transferred: 1, total: 2})),
  ];
  await runPipeline(rows, {}, {...host, continues: true});
  expect(events).toContainEqual(expect.objectContaining({type: 'progress', step: 'upload', transferred: 1}));
});
