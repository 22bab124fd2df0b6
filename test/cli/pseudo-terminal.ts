import {spawn, spawnSync, type ChildProcess} from 'node:child_process';
import {once} from 'node:events';
import {stripVTControlCharacters} from 'node:util';
import {onTestFinished} from 'vitest';

/** Whether script(1) of util-linux is there, which gives a command a pseudo-terminal. */
export const hasScript = spawnSync('script', ['--version'], {encoding: 'utf8'}).stdout.includes('util-linux');

/** What a terminal was sent, and what is typed there. */
export interface Terminal {
  readonly child: ChildProcess;
  /** Everything sent so far, with the escapes. */
  sent(): string;
  /** What was sent since it was typed last, without escapes. */
  shown(): string;
  /** Waits until this is shown since it was typed last. */
  shows(text: RegExp | string): Promise<void>;
  type(keys: string): void;
  readonly ended: Promise<number | null>;
}

/** Runs a command of the shell in a terminal of 200 columns. */
export function openTerminal(
  command: string,
  {cwd, env}: {readonly cwd: string; readonly env: Readonly<Record<string, string>>},
): Terminal {
  const child = spawn('script', ['-qefc', `stty cols 200 rows 24; ${command}`, '/dev/null'], {cwd, env});
  onTestFinished(() => void child.kill('SIGKILL'));
  let [sent, from] = ['', 0];
  child.stdout.on('data', (chunk: Buffer) => (sent += chunk.toString()));
  child.stdin.on('error', () => undefined);
  const ended = once(child, 'close').then(([code]) => code as number | null);
  const shown = () => stripVTControlCharacters(sent.slice(from));
  return {
    child,
    ended,
    sent: () => sent,
    shown,
    async shows(text) {
      const isShown = () => (typeof text === 'string' ? shown().includes(text) : text.test(shown()));
      while (!isShown()) await once(child.stdout, 'data');
    },
    type(keys) {
      from = sent.length;
      child.stdin.write(keys);
    },
  };
}
