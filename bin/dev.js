#!/usr/bin/env node
// mycli from its sources: bundles them, which takes less than a second, and runs what came of it. Types are not
// checked.
import {execFileSync} from 'node:child_process';
import {fileURLToPath} from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
execFileSync(process.execPath, ['scripts/bundle.js'], {cwd: root, stdio: ['ignore', 'inherit', 'inherit']});
await import('./run.js');
