import {expect, test, afterEach, beforeEach, describe, vi} from 'vitest';
import {describeRetry} from '../../src/http/rate-limit/policy.js';
import {
  describeDuration,
  createPlainView,
  createRedrawnView,
  showIn,
  type RedrawnTask,
} from '../../src/progress/views.js';

test.each([
  [0, '0 ms'],
  [84.6, '85 ms'],
  [1000, '1 s'],
  [2345, '2.3 s'],
  [59_949, '59.9 s'],
  [59_960, '1 min 0 s'],
  [119_700, '2 min 0 s'],
  [245_000, '4 min 5 s'],
])('%d ms are %s', (ms, text) => {
  expect(describeDuration(ms)).toBe(text);
});

test('a retry shows its reason, the remaining time, and the maximum number of retries', () => {
  const event = {attempt: 2, maxRetries: 3, delayMs: 12_000, status: 429, reason: '429 Too Many Requests'};
  expect(describeRetry(event, '12 s')).toBe('429 Too Many Requests: retry 2 of 3 in 12 s');
  expect(describeRetry({...event, requestedMs: 60_000}, '12000 ms')).toBe(
    '429 Too Many Requests: retry 2 of 3 in 12000 ms; the server asked for 60000 ms',
  );
});

const silent = {warn: () => undefined};

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a plain log', () => {
  function plain() {
    const lines: string[] = [];
    return {lines, view: createPlainView('Upload', {info: (line) => void lines.push(line)})};
  }

  test('has progress every tenth of the way, at most once a second', () => {
    const {lines, view} = plain();
    for (let part = 1; part <= 16; part += 1) {
      vi.advanceTimersByTime(600);
      view.progress(`${String(part)} of 16`, part / 16);
    }
    expect(lines).toEqual([2, 4, 6, 8, 10, 12, 14, 16].map((part) => `Upload: ${String(part)} of 16`));
  });

  test('has progress that hardly moves every five seconds', () => {
    const {lines, view} = plain();
    for (let second = 1; second <= 12; second += 1) {
      vi.advanceTimersByTime(1000);
      view.progress(`after ${String(second)} s`);
    }
    expect(lines).toEqual(['Upload: after 5 s', 'Upload: after 10 s']);
  });

  test('says what came of the step and how long it took, in one line', () => {
    for (const [how, line] of [
      ['done', 'Built [2.3 s]'],
      ['failed', 'Upload: failed [2.3 s]'],
    ] as const) {
      const {lines, view} = plain();
      vi.advanceTimersByTime(2300);
      view.done('Built');
      view.end(how);
      expect(lines).toEqual([line]);
    }
  });

  test('says that a step is running that says nothing for long', () => {
    const {lines, view} = plain();
    vi.advanceTimersByTime(5000);
    expect(lines).toEqual(['Upload: running']);
    vi.advanceTimersByTime(60_000);
    view.end('done');
    expect(lines).toEqual(['Upload: running', 'Upload [1 min 5 s]']);
  });

  test('says how long it has waited', () => {
    const {lines, view} = plain();
    vi.advanceTimersByTime(65_000);
    view.waiting('queued');
    expect(lines.at(-1)).toBe('Upload: queued (1 min 5 s)');
  });
});

describe('a list that is redrawn', () => {
  function redrawn() {
    const task: RedrawnTask = {title: 'Upload', output: undefined};
    return {task, view: createRedrawnView(task, {color: false, clean: (text) => text})};
  }

  test('counts a wait down until there is progress', () => {
    const {task, view} = redrawn();
    const event = {attempt: 1, maxRetries: 3, delayMs: 3000, status: 429, reason: '429'};
    showIn(view, silent).retry(event);
    expect(task.output).toContain('retry 1 of 3 in 3 s');
    vi.advanceTimersByTime(1000);
    expect(task.output).toContain('retry 1 of 3 in 2 s');
    view.progress('5 MB', 0.5);
    vi.advanceTimersByTime(5000);
    expect(task.output).toBe('[##########..........] 5 MB');
  });

  test('counts the time of a wait up until something else is to be shown', () => {
    const {task, view} = redrawn();
    view.waiting('in progress', 0.5);
    expect(task.output).toBe('[##########..........] in progress (0 ms)');
    vi.advanceTimersByTime(12_000);
    expect(task.output).toBe('[##########..........] in progress (12 s)');
    view.done('Deployed');
    vi.advanceTimersByTime(5000);
    expect(task.output).toBe('');
  });

  test('keeps details above the progress, and only them when the step ends', () => {
    const {task, view} = redrawn();
    view.detail('Latest bundle: 3');
    view.countdown((leftMs) => String(leftMs), 60_000);
    expect(task.output).toBe('Latest bundle: 3\n60000');
    view.end();
    vi.advanceTimersByTime(5000);
    expect(task.output).toBe('Latest bundle: 3');
  });

  test('says how long the step took, done or failed', () => {
    const {task, view} = redrawn();
    vi.advanceTimersByTime(61_000);
    view.end();
    expect(task.title).toBe('Upload [1\u00A0min\u00A01\u00A0s]');
  });
});

describe('progress in words', () => {
  function shown() {
    const lines: [string, number | undefined][] = [];
    const ignore = () => undefined;
    const progress = (text: string, fraction?: number) => void lines.push([text, fraction]);
    const view = {done: ignore, detail: ignore, countdown: ignore, progress, waiting: progress};
    return {lines, onProgress: showIn(view, silent).progress};
  }

  test('of a deployment is its state, the percentage and the words of the server, in one line, until it has ended', () => {
    const {lines, onProgress} = shown();
    const description = 'copying\nfiles';
    onProgress({phase: 'wait', transferred: 40, total: 100, status: 'in_progress', description});
    onProgress({phase: 'wait', transferred: 0, status: 'queued'});
    onProgress({phase: 'wait', transferred: 100, total: 100, status: 'finished'});
    expect(lines).toEqual([
      ['in progress, 40 %: copying files', 0.4],
      ['queued', undefined],
    ]);
  });

  test('of an upload shows the rate of this attempt, regardless of earlier waits', () => {
    const {lines, onProgress} = shown();
    onProgress({phase: 'upload', transferred: 0, total: 10_000_000, attempt: 1});
    vi.advanceTimersByTime(60_000);
    onProgress({phase: 'upload', transferred: 0, total: 10_000_000, attempt: 2});
    expect(lines.at(-1)).toEqual(['0 B of 10 MB', 0]);
    vi.advanceTimersByTime(2000);
    onProgress({phase: 'upload', transferred: 4_000_000, total: 10_000_000, attempt: 2});
    expect(lines.at(-1)).toEqual(['4 MB of 10 MB (2 MB/s, 3 s left)', 0.4]);
    onProgress({phase: 'upload', transferred: 10_000_000, total: 10_000_000, attempt: 2});
    expect(lines.at(-1)).toEqual(['10 MB of 10 MB, waiting for the server', 1]);
  });

  test('of a resumed download shows the rate of what arrives, not of what was there', () => {
    const {lines, onProgress} = shown();
    const total = 500_000_000;
    onProgress({phase: 'download', transferred: 400_000_000, total});
    expect(lines.at(-1)).toEqual(['400 MB of 500 MB', 0.8]);
    vi.advanceTimersByTime(2000);
    onProgress({phase: 'download', transferred: 420_000_000, total});
    expect(lines.at(-1)).toEqual(['420 MB of 500 MB (10 MB/s, 8 s left)', 0.84]);
    // The whole archive once more.
    vi.advanceTimersByTime(60_000);
    onProgress({phase: 'download', transferred: 1_000_000, total});
    vi.advanceTimersByTime(1000);
    onProgress({phase: 'download', transferred: 50_000_000, total});
    expect(lines.at(-1)).toEqual(['50 MB of 500 MB (49 MB/s, 10 s left)', 0.1]);
  });

  test('of a transfer has no rate that counts the wait for a retry', () => {
    const progress = vi.fn();
    const ignore = () => undefined;
    const view = showIn({done: ignore, detail: ignore, countdown: ignore, progress, waiting: ignore}, silent);
    view.progress({phase: 'download', transferred: 10_000_000});
    view.retry({attempt: 1, maxRetries: 3, delayMs: 60_000, reason: 'the connection ended'});
    vi.advanceTimersByTime(60_000);
    view.progress({phase: 'download', transferred: 10_000_000});
    vi.advanceTimersByTime(1000);
    view.progress({phase: 'download', transferred: 15_000_000});
    expect(progress).toHaveBeenLastCalledWith('15 MB (5 MB/s)', 0);
  });

  test('of waiting for the target is who has it', () => {
    const {lines, onProgress} = shown();
    onProgress({phase: 'slot', transferred: 0, description: 'bundle 3 is being deployed to staging'});
    expect(lines).toEqual([['waiting: bundle 3 is being deployed to staging', undefined]]);
  });
});
