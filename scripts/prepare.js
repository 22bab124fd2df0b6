// What npm runs in a clone after `npm ci` and `npm install`: builds, so that bin/run.js works. npm runs it too where this
// folder is linked into another project; what is built there already stays.
import {existsSync} from 'node:fs';

if (process.env.INIT_CWD === process.cwd() || !existsSync('dist')) await import('./build.js');
