#!/usr/bin/env node
// Syntax that an old Node can read, and nothing imported before its version is known.
var version = process.versions.node.split('.').map(Number);
if (version[0] < 20 || (version[0] === 20 && version[1] < 19)) {
  process.stderr.write('mycli needs Node.js 20.19 or newer; this is ' + process.versions.node + '.\n');
  process.exit(1);
}
import('../dist/cli/run.js').then(function (cli) {
  return cli.run(process, import.meta.url);
});
