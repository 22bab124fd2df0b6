// What npm runs in a clone after `npm ci` and `npm install`: builds, so that bin/run.js works. npm runs it too where this
// folder is linked into another project, such as those in examples; what is built there already stays.
import {existsSync} from 'node:fs';
import {dirname, join} from 'node:path';

const [, manager] = /^(pnpm|yarn|bun)\//.exec(process.env.npm_config_user_agent ?? '') ?? [];
if (manager !== undefined) throw new Error(`The lockfile of this clone is npm's: run npm ci, not ${manager} install.`);

/** The package that npm was called in, perhaps from a folder of it. */
let called = process.env.INIT_CWD;
while (!existsSync(join(called, 'package.json')) && dirname(called) !== called) called = dirname(called);

if (called === process.cwd() || !existsSync('dist')) await import('./build.js');
else if (existsSync('src')) {
  const {stateOfDist} = await import('./state-of-dist.js');
  const problem = stateOfDist('.');
  if (problem !== undefined) console.warn(`${problem}. Run npm run build in ${process.cwd()}.`);
}
