import {describe, expect, test} from 'vitest';
import {createStepRunner} from '../../src/progress/run-steps.js';

const steps = [
  {name: 'resolve', title: 'Resolve the backend'},
  {name: 'upload', title: 'Upload the bundle'},
  {name: 'deploy', title: 'Deploy to staging'},
  {name: 'wait', title: 'Wait for the deployment'},
] as const;

function log() {
  const lines: string[] = [];
  const terminal = {
    interactive: false,
    color: false,
    unicode: false,
    stream: process.stderr,
    info: (line: string) => void lines.push(line.replace(/\[\d+ ms\]/, '[0 ms]')),
    warn: () => undefined,
    clean: (text: string) => text,
    wrap: (text: string) => [text],
  };
  return {lines, terminal};
}

describe('a log', () => {
  test('has each step once, and the sources of settings below the backend', async () => {
    const {lines, terminal} = log();
    await createStepRunner(terminal, ['project  shop  (--project)'])(steps, async (step) => {
      await step('resolve', (view) => {
        view.done('Backend: legacy');
        return Promise.resolve();
      });
      await step('upload', () => Promise.resolve());
    });
    expect(lines).toEqual(['Backend: legacy [0 ms]', '  project  shop  (--project)', 'Upload the bundle [0 ms]']);
  });

  test('says which step has failed and which never ran', async () => {
    const {lines, terminal} = log();
    const run = createStepRunner(terminal)(steps, async (step) => {
      await step('resolve', () => Promise.resolve());
      await step('upload', () => Promise.reject(new Error('no')));
    });
    await expect(run).rejects.toThrow('no');
    expect(lines).toEqual(['Resolve the backend [0 ms]', 'Upload the bundle: failed [0 ms]', 'Not run: deploy, wait']);
  });
});
