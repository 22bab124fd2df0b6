#!/usr/bin/env node
// Every Node since 10 can read this, and it loads nothing before the version is known. It is CommonJS, as package.json
// beside it says: an ES module takes a tenth longer to start, and the files of dist that it loads are CommonJS anyway.
var version = process.versions.node.split('.').map(Number);
if (version[0] < 20 || (version[0] === 20 && version[1] < 19)) {
  process.stderr.write('mycli needs Node.js 20.19 or newer; this is ' + process.versions.node + '.\n');
  process.exit(3);
}
require('../dist/cli/process/start.cjs').start(process);
