import {existsSync} from 'node:fs';
import nodeModule from 'node:module';
import {homedir} from 'node:os';
import {dirname, join} from 'node:path';
import {isTrusted} from '../../files/ownership.js';

type NewerModule = typeof nodeModule & {enableCompileCache?: (folder: string) => unknown};

/** Turns on Node's compile cache (22 and newer), in the user's own folder: others can write to the one in TMPDIR. */
export function keepCompiledCode(): void {
  try {
    const {enableCompileCache}: NewerModule = nodeModule;
    const folder = join(homedir(), '.cache', 'mycli', 'compiled');
    let existing = folder;
    while (!existsSync(existing)) existing = dirname(existing);
    if (isTrusted(existing)) enableCompileCache?.(folder);
  } catch {
    // A user without a home.
  }
}
