import {describe, expect, test} from 'vitest';
import {runPipeline, type PipelineRun} from '../../src/pipelines/run.js';
import {stepHost} from './step-host.js';

/** A host whose steps are lines of a log. */
function logged(settings: readonly string[] = []) {
  const lines: string[] = [];
  const info = (line: string) => void lines.push(line.replace(/\[\d+ ms\]/, '[0 ms]'));
  const {events, host} = stepHost({unicode: false, info});
  const steps = () => events.flatMap((event) => (event.type === 'step' ? [`${event.step} ${event.status}`] : []));
  return {lines, events, steps, run: {host: {...host, settings}} as PipelineRun};
}

const nothing = () => Promise.resolve();
const failing = () => Promise.reject(new Error('no'));

describe('a log', () => {
  test('a log has each step once, and the sources of settings below the backend', async () => {
    const {lines, run, events} = logged(['project  shop  (--project)']);
    await runPipeline(run, [
      {
        name: 'resolve',
        title: 'Prepare',
        task: (_, report) => {
          report.title = 'Backend: legacy';
          return nothing();
        },
      },
      {
        name: 'upload',
        title: 'Upload the bundle',
        task: (_, report) => {
          report.note('Falling back');
          return nothing();
        },
      },
    ]);
    expect(lines).toEqual([
      'Backend: legacy [0 ms]',
      '  project  shop  (--project)',
      '  Falling back',
      'Upload the bundle [0 ms]',
    ]);
    expect(events[1]).toMatchObject({status: 'done', title: 'Prepare', summary: 'Backend: legacy'});
  });

  test('a log says which step has failed and which never ran', async () => {
    const {lines, run, steps} = logged();
    const running = runPipeline(run, [
      {name: 'resolve', title: 'Prepare', task: nothing},
      {name: 'guard', title: 'Check the guards', enabled: false, task: failing},
      {name: 'upload', title: 'Upload the bundle', task: failing},
      {name: 'deploy', title: 'Deploy to staging', task: nothing},
      {name: 'wait', title: 'Wait for the deployment', task: nothing},
    ]);
    await expect(running).rejects.toThrow('no');
    expect(lines).toEqual(['Prepare [0 ms]', 'Upload the bundle: failed [0 ms]', 'Not run: deploy, wait']);
    expect(steps().slice(-3)).toEqual(['upload failed', 'deploy skipped', 'wait skipped']);
  });
});

test('a step that says so runs after a failure, and can replace it', async () => {
  const {run, steps} = logged();
  const running = runPipeline(run, [
    {name: 'check', title: 'Check', task: failing},
    {name: 'wait', title: 'Wait', task: nothing},
    {
      name: 'rollback',
      title: 'Roll back if this fails',
      enabled: () => true,
      task: (current) => {
        current.failure = {error: new Error('rolled back')};
        return nothing();
      },
    },
  ]);
  await expect(running).rejects.toThrow('rolled back');
  expect(steps()).toEqual([...['check started', 'check failed', 'rollback started', 'rollback done'], 'wait skipped']);
});

test('a run ends with whatever a step rejects with', async () => {
  const {run, lines} = logged();
  const task = () => {
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
    return Promise.reject(undefined);
  };
  const ended = runPipeline(run, [{name: 'read', title: 'Read', task}]).then(
    () => 'resolved',
    (reason: unknown) => reason,
  );
  expect(await ended).toBeUndefined();
  expect(lines).toEqual(['Read: failed [0 ms]']);
});
