import {mkdirSync, mkdtempSync, realpathSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

interface Surroundings {
  /** Gone when the process ends. */
  readonly root: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

let made: Surroundings | undefined;

/**
 * Where the binary runs unless a test says otherwise: in an empty folder, for a user who keeps nothing. What stands
 * around the clone, and what the tester keeps, must not reach it.
 */
export function surroundings(): Surroundings {
  if (made !== undefined) return made;
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'mycli-user-')));
  const [cwd, home] = [join(root, 'empty'), join(root, 'home')];
  for (const folder of [cwd, home]) mkdirSync(folder);
  process.on('exit', () => rmSync(root, {recursive: true, force: true}));
  return (made = {root, cwd, env: {PATH: process.env['PATH'] ?? '', HOME: home, TMPDIR: tmpdir()}});
}
