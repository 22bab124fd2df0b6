#!/usr/bin/env node
// Every Node since 10 can read this, and it loads nothing before the version is known.
var path = require('node:path');
var version = process.versions.node.split('.').map(Number);
if (version[0] < 20 || (version[0] === 20 && version[1] < 19)) {
  process.stderr.write('mycli needs Node.js 20.19 or newer; this is ' + process.versions.node + '.\n');
  process.exit(3);
}
import('../dist/cli/command/run.js').then(function (cli) {
  return cli.run(process, path.dirname(__dirname));
});
