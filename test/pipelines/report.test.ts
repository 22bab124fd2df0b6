import {afterEach, beforeEach, describe, expect, test, vi} from 'vitest';
import type {OperationProgress} from '../../src/operations/options.js';
import {describeDuration, ProgressText, RunOutlet} from '../../src/pipelines/report.js';
import {stepHost} from './step-host.js';

test.each([
  [0, '0 ms'],
  [84.6, '85 ms'],
  [2345, '2.3 s'],
  [59_949, '59.9 s'],
  [59_960, '1 min 0 s'],
  [245_000, '4 min 5 s'],
])('%d ms are %s', (ms, text) => {
  expect(describeDuration(ms)).toBe(text);
});

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A step that uploads, and what it has shown. */
function createStep({redraws}: {readonly redraws: boolean}) {
  const outputs: string[] = [];
  const task = {
    title: '',
    set output(text: string) {
      outputs.push(text);
    },
    get output() {
      return outputs.at(-1) ?? '';
    },
  };
  const {events, host} = stepHost({redraws});
  const outlet = new RunOutlet(host, {warnings: []});
  outlet.begin(task, {name: 'upload', title: 'Upload'}, host);
  const upload = (transferred: number) =>
    outlet.progress({phase: 'upload', transferred, total: 16, attempt: 1, idleMs: 60_000});
  return {outputs, events, outlet, upload};
}

describe('a step in a log', () => {
  test('a log has progress every five seconds', () => {
    const {outputs, outlet} = createStep({redraws: false});
    for (let second = 1; second <= 12; second += 1) {
      vi.advanceTimersByTime(1000);
      outlet.progress({phase: 'slot', transferred: 0, description: `after ${String(second)} s`});
    }
    expect(outputs).toEqual(['Upload: waiting: after 5 s (5 s)', 'Upload: waiting: after 10 s (10 s)']);
  });

  test('a log says of a step that says nothing for long that it is running', () => {
    const {outputs, outlet} = createStep({redraws: false});
    vi.advanceTimersByTime(5000);
    expect(outputs).toEqual(['Upload: running']);
    vi.advanceTimersByTime(60_000);
    outlet.end();
    expect(outputs).toEqual(['Upload: running']);
  });

  test('a log has a line every five seconds while no bytes move, and while the server is waited for', () => {
    const {outputs, upload} = createStep({redraws: false});
    upload(8);
    vi.advanceTimersByTime(15_000);
    expect(outputs).toEqual([
      'Upload: 8 B of 16 B',
      'Upload: 8 B of 16 B, no bytes for 10 s, gives up after 60 s',
      'Upload: 8 B of 16 B, no bytes for 15 s, gives up after 60 s',
    ]);
    upload(16);
    vi.advanceTimersByTime(10_000);
    expect(outputs.slice(-2)).toEqual([
      'Upload: 16 B of 16 B, waiting for the server, 5 s',
      'Upload: 16 B of 16 B, waiting for the server, 10 s',
    ]);
  });
});

describe('a step on a terminal', () => {
  test('a wait for a retry counts down', () => {
    const {outputs, outlet} = createStep({redraws: true});
    const reason = 'The download broke off after 9961472 bytes.';
    outlet.retry({attempt: 3, maxRetries: 3, delayMs: 4000, reason});
    expect(outputs.at(-1)).toBe('The download broke off after 9961472 bytes: retry 3 of 3 in 4 s');
    vi.advanceTimersByTime(2500);
    expect(outputs.at(-1)).toBe('The download broke off after 9961472 bytes: retry 3 of 3 in 2 s');
    // What goes on then says so itself.
    vi.advanceTimersByTime(1600);
    expect(outputs.at(-1)).toBe('');
  });

  test('a stall is shown as it goes on, without a further byte', () => {
    const {outputs, upload} = createStep({redraws: true});
    upload(8);
    vi.advanceTimersByTime(9000);
    expect(outputs.at(-1)).toBe('[##########..........] 8 B of 16 B');
    vi.advanceTimersByTime(14_000);
    expect(outputs.at(-1)).toBe('[##########..........] 8 B of 16 B, no bytes for 23 s, gives up after 60 s');
    upload(16);
    vi.advanceTimersByTime(92_000);
    expect(outputs.at(-1)).toBe('[####################] 16 B of 16 B, waiting for the server, 1 min 32 s');
  });

  test('a wait for a retry is one event with one text, until there is progress', () => {
    const {outputs, events, outlet, upload} = createStep({redraws: true});
    outlet.retry({attempt: 1, maxRetries: 3, delayMs: 3000, status: 429, reason: '429', rateLimited: true});
    expect(outputs).toEqual(['429: retry 1 of 3 in 3 s']);
    expect(events).toEqual([
      {
        ...{type: 'wait', step: 'upload', reason: 'rate-limit', until: '1970-01-01T00:00:03.000Z'},
        ...{attempt: 1, maxRetries: 3, httpStatus: 429, description: '429'},
      },
    ]);
    upload(8);
    expect(outputs.at(-1)).toBe('[##########..........] 8 B of 16 B');
  });

  test('notes are kept above the progress, and only they when the step ends', () => {
    const {outputs, outlet, upload} = createStep({redraws: true});
    outlet.note('Latest bundle: 3');
    upload(4);
    expect(outputs.at(-1)).toBe('Latest bundle: 3\n[#####...............] 4 B of 16 B');
    outlet.end();
    expect(outputs.at(-1)).toBe('Latest bundle: 3');
  });
});

describe('progress in words', () => {
  function shown(text: ProgressText, progress: OperationProgress): string | undefined {
    text.measure(progress);
    return text.describe(progress)?.text;
  }

  test('progress of a deployment is its state, the percentage and the words of the server, until it has ended', () => {
    const text = new ProgressText();
    const description = 'copying\nfiles';
    const progress = {phase: 'wait', transferred: 40, total: 100, status: 'in_progress', description} as const;
    expect(text.describe(progress)).toEqual({text: 'in progress, 40 %: copying files', fraction: 0.4, isWait: true});
    expect(text.describe({phase: 'wait', transferred: 0, status: 'queued'})).toMatchObject({text: 'queued'});
    expect(text.describe({phase: 'wait', transferred: 100, total: 100, status: 'finished'})).toBeUndefined();
  });

  test('progress of an upload shows the rate of this attempt, regardless of earlier waits', () => {
    const text = new ProgressText();
    const upload = (transferred: number, attempt: number) =>
      shown(text, {phase: 'upload', transferred, total: 10_000_000, attempt});
    upload(0, 1);
    vi.advanceTimersByTime(60_000);
    expect(upload(0, 2)).toBe('0 B of 10 MB');
    vi.advanceTimersByTime(2000);
    expect(upload(4_000_000, 2)).toBe('4 MB of 10 MB (2 MB/s, 3 s left)');
    expect(upload(10_000_000, 2)).toBe('10 MB of 10 MB, waiting for the server');
  });

  test('progress of a resumed download shows the rate of what arrives, not of what was there or waited for', () => {
    const text = new ProgressText();
    const download = (transferred: number) => shown(text, {phase: 'download', transferred, total: 500_000_000});
    expect(download(400_000_000)).toBe('400 MB of 500 MB');
    vi.advanceTimersByTime(2000);
    expect(download(420_000_000)).toBe('420 MB of 500 MB (10 MB/s, 8 s left)');
    text.pause();
    vi.advanceTimersByTime(60_000);
    expect(download(420_000_000)).toBe('420 MB of 500 MB');
    vi.advanceTimersByTime(1000);
    expect(download(430_000_000)).toBe('430 MB of 500 MB (10 MB/s, 7 s left)');
  });

  test('the rate is that of the last ten seconds, and time left is in minutes from one on', () => {
    const text = new ProgressText();
    const upload = (transferred: number) => shown(text, {phase: 'upload', transferred, total: 1e9, attempt: 1});
    upload(0);
    // Ten times as fast at first: what is between here and the server takes some bytes at once.
    for (let second = 1; second <= 10; second += 1) {
      vi.advanceTimersByTime(1000);
      upload(second * 1e7);
    }
    expect(upload(1e8)).toBe('100 MB of 1 GB (10 MB/s, 2 min left)');
    for (let second = 1; second <= 10; second += 1) {
      vi.advanceTimersByTime(1000);
      upload(1e8 + second * 1e6);
    }
    expect(upload(1.1e8)).toBe('110 MB of 1 GB (1 MB/s, 15 min left)');
    // Nothing for a while: slower and slower, until it is a stall.
    vi.advanceTimersByTime(5000);
    expect(upload(1.1e8)).toBe('110 MB of 1 GB (600 kB/s, 25 min left)');
    vi.advanceTimersByTime(4000);
    expect(upload(1.1e8)).toBe('110 MB of 1 GB (200 kB/s, 1 h 15 min left)');
    vi.advanceTimersByTime(1000);
    expect(upload(1.1e8)).toBe('110 MB of 1 GB, no bytes for 10 s');
    vi.advanceTimersByTime(1000);
    expect(upload(1.2e8)).toBe('120 MB of 1 GB');
    vi.advanceTimersByTime(2000);
    expect(upload(1.22e8)).toBe('122 MB of 1 GB (1 MB/s, 15 min left)');
  });

  test('the rate is neither that of the buffers on the way nor up and down where bytes come in lumps', () => {
    const text = new ProgressText();
    const upload = (transferred: number) => shown(text, {phase: 'upload', transferred, total: 2e8, attempt: 1});
    upload(0);
    vi.advanceTimersByTime(20);
    expect(upload(4e6)).toBe('4 MB of 200 MB');
    const rates = new Set<string | undefined>();
    for (let lump = 1; lump <= 20; lump += 1) {
      for (let quarter = 1; quarter < 4; quarter += 1) {
        vi.advanceTimersByTime(600);
        rates.add(/[\d.]+ .B\/s/.exec(upload(4e6 + (lump - 1) * 1.5e6) ?? '')?.[0]);
      }
      vi.advanceTimersByTime(600);
      rates.add(/[\d.]+ .B\/s/.exec(upload(4e6 + lump * 1.5e6) ?? '')?.[0]);
    }
    expect(rates).toEqual(new Set([undefined, '625 kB/s']));
  });
});
