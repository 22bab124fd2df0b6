import {PassThrough} from 'node:stream';
import {stripVTControlCharacters} from 'node:util';
import {afterEach, beforeEach, expect, test, vi} from 'vitest';
import {wrapSentence} from '../../src/cli/output/terminal.js';
import {runPipeline} from '../../src/pipelines/run.js';
import type {Outlet} from '../../src/operations/host.js';
import {step, stepHost} from './step-host.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const total = 100_000_000;

/** A terminal, and each text that is written to it. */
function terminal({columns = 100, rows = 24} = {}) {
  const stream = Object.assign(new PassThrough({encoding: 'utf8'}), {columns, rows});
  const frames: string[] = [];
  stream.on('data', (text: string) => void frames.push(text));
  const wrap = (line: string, indent: string) => wrapSentence(line, stream.columns, indent);
  const {host} = stepHost({redraws: true, stream, wrap});
  /** The lines of the last list that was drawn whole. */
  const lines = () =>
    stripVTControlCharacters(frames.join('').slice(frames.join('').lastIndexOf('\u001B[J')))
      .split('\n')
      .filter((line) => line !== '');
  return {stream, frames, lines, host};
}

/** Uploads in chunks, one a millisecond. */
async function uploadChunks(outlet: Outlet, milliseconds: number): Promise<void> {
  for (let chunk = 1; chunk <= milliseconds; chunk += 1) {
    outlet.progress({phase: 'upload', transferred: (total / milliseconds) * chunk, total, attempt: 1});
    await vi.advanceTimersByTimeAsync(1);
  }
}

test('a list is drawn ten times a second, however much progress there is, and its last state always', async () => {
  const {frames, lines, host} = terminal();
  await runPipeline(
    [
      step('resolve', 'Prepare', async ({outlet}) => outlet.title('Backend: legacy')),
      step('upload', 'Upload the bundle', async ({outlet}) => {
        await uploadChunks(outlet, 30_000);
        outlet.title('Uploaded bundle 1');
      }),
    ],
    {},
    host,
  );
  const drawn = frames.filter((text) => text.includes('Upload'));
  expect(drawn.length).toBeGreaterThan(250);
  // The last one is that of the end.
  expect(drawn.length).toBeLessThanOrEqual(302);
  expect(Buffer.byteLength(frames.join(''))).toBeLessThan(60_000);
  expect(lines()).toEqual(['✔ Backend: legacy [0 ms]', '✔ Uploaded bundle 1 [30 s]']);
});

test('a drawing writes only the lines that have changed', async () => {
  const {frames, host} = terminal();
  await runPipeline(
    [
      step('resolve', 'Prepare', async ({outlet}) => outlet.note('project  shop')),
      step('upload', 'Upload the bundle', ({outlet}) => uploadChunks(outlet, 1000)),
      step('deploy', 'Deploy to staging', () => Promise.resolve()),
    ],
    {},
    host,
  );
  expect(frames.filter((text) => text.includes('project  shop'))).toHaveLength(2);
  expect(frames.filter((text) => text.includes('Upload the bundle')).length).toBeGreaterThan(5);
  expect(frames.filter((text) => text.includes('Deploy to staging')).length).toBeLessThanOrEqual(3);
});

test('a list that is longer than the terminal shows its last lines, and all of them when it ends', async () => {
  const {frames, lines, host} = terminal({rows: 8});
  await runPipeline(
    [
      step('resolve', 'Prepare', async ({outlet}) => {
        for (let index = 0; index < 20; index += 1) outlet.note(`line ${String(index)}`);
        await vi.advanceTimersByTimeAsync(200);
      }),
    ],
    {},
    host,
  );
  const [first = ''] = frames.filter((text) => text.includes('line'));
  expect(stripVTControlCharacters(first).match(/line \d+/g)).toEqual(
    [15, 16, 17, 18, 19].map((n) => `line ${String(n)}`),
  );
  expect(lines()).toHaveLength(21);
});

test('a terminal that becomes narrower gets the list anew, and its lines keep their indentation', async () => {
  const {stream, frames, lines, host} = terminal({columns: 60});
  await runPipeline(
    [
      step('upload', 'Upload the bundle', async ({outlet}) => {
        outlet.note('one two three four five six seven eight nine');
        await vi.advanceTimersByTimeAsync(200);
        stream.columns = 30;
        frames.length = 0;
        await vi.advanceTimersByTimeAsync(200);
        // From below the two lines, of which the terminal has broken one.
        expect(frames[0]).toContain('\u001B[3A');
      }),
    ],
    {},
    host,
  );
  expect(lines()).toEqual(['✔ Upload the bundle [400 ms]', '  › one two three four five', '    six seven eight nine']);
});
