#!/usr/bin/env node
// mycli from its sources: bundles them, which takes less than a second, and runs what came of it. Types are not
// checked.
const {execFileSync} = require('node:child_process');
const {dirname} = require('node:path');

execFileSync(process.execPath, ['scripts/bundle.js'], {
  cwd: dirname(__dirname),
  stdio: ['ignore', 'inherit', 'inherit'],
});
require('./run.js');
