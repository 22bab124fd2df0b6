import {describe, expect, test} from 'vitest';
import {Pipeline} from '../../src/pipelines/run.js';
import {stepHost} from './step-host.js';

/** A pipeline whose steps are lines of a log. */
function logged(settings: readonly string[] = []) {
  const lines: string[] = [];
  const info = (line: string) => void lines.push(line.replace(/\[\d+ ms\]/, '[0 ms]'));
  const {events, host} = stepHost({unicode: false, info});
  const steps = () => events.flatMap((event) => (event.type === 'step' ? [`${event.step} ${event.status}`] : []));
  return {lines, events, steps, start: Pipeline.start({...host, settings})};
}

const nothing = () => Promise.resolve();
const failing = () => Promise.reject(new Error('no'));

describe('a log', () => {
  test('a log has each step once, and the sources of settings below the backend', async () => {
    const {lines, start, events} = logged(['project  shop  (--project)']);
    await start
      .step('resolve', 'Prepare', async (_, {outlet}) => outlet.title('Backend: legacy'))
      .step('upload', 'Upload the bundle', async (_, {outlet}) => outlet.note('Falling back'))
      .run();
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
    const running = start
      .step('resolve', 'Prepare', nothing)
      .step('upload', 'Upload the bundle', failing)
      .step('deploy', 'Deploy to staging', nothing)
      .step('wait', 'Wait for the deployment', nothing)
      .run();
    await expect(running).rejects.toThrow('no');
    expect(lines).toEqual(['Prepare [0 ms]', 'Upload the bundle: failed [0 ms]', 'Not run: deploy, wait']);
    expect(steps().slice(-3)).toEqual(['upload failed', 'deploy skipped', 'wait skipped']);
  });
});

test('a step gets what the step before it has made, and a warning that is given twice is told once', async () => {
  const {start, events} = logged();
  const pipeline = start
    .step('one', 'One', async () => 1)
    .step('two', 'Two', async (one, {outlet}) => {
      for (const message of ['careful', 'careful']) outlet.warn(message);
      return one + 1;
    });
  expect(await pipeline.run()).toBe(2);
  expect(pipeline.warnings).toEqual(['careful']);
  expect(events.filter(({type}) => type === 'warning')).toEqual([{type: 'warning', message: 'careful'}]);
});

test.each([
  ['runs after a failure that it handles, and replaces it', true, 'rolled back', ['rollback started', 'rollback done']],
  ['does not run after another failure', false, 'no', ['rollback skipped']],
])('a step that recovers %s', async (_, handles, message, ended) => {
  const {start, steps} = logged();
  const running = start
    .step('check', 'Check', failing)
    .step('wait', 'Wait', nothing)
    .recover({
      name: 'rollback',
      title: 'Roll back if this fails',
      recovery: () => (handles ? async () => new Error('rolled back') : undefined),
    })
    .run();
  await expect(running).rejects.toThrow(message);
  expect(steps().filter((step) => step.startsWith('rollback'))).toEqual(ended);
});

test('a step that recovers is no event when nothing failed', async () => {
  const {start, steps} = logged();
  const recovery = {name: 'rollback', title: 'Roll back', recovery: () => failing};
  await start.step('deploy', 'Deploy', nothing).recover(recovery).run();
  expect(steps().filter((step) => step.startsWith('rollback') && step !== 'rollback skipped')).toEqual([]);
});

test('a run ends with whatever a step rejects with', async () => {
  const {start, lines} = logged();
  const task = () => {
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors
    return Promise.reject(undefined);
  };
  const ended = start
    .step('read', 'Read', task)
    .run()
    .then(
      () => 'resolved',
      (reason: unknown) => reason,
    );
  expect(await ended).toBeUndefined();
  expect(lines).toEqual(['Read: failed [0 ms]']);
});
