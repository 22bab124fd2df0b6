#!/usr/bin/env node
// Every Node since 10 can read this, and it loads nothing before the version is known.
var version = process.versions.node.split('.').map(Number);
if (version[0] < 20 || (version[0] === 20 && version[1] < 19)) {
  process.stderr.write('mycli needs Node.js 20.19 or newer; this is ' + process.versions.node + '.\n');
  process.exit(3);
}

var fs = require('node:fs');
var os = require('node:os');
var path = require('node:path');
var root = path.dirname(__dirname);
if (!fs.existsSync(path.join(root, 'dist'))) {
  process.stderr.write('mycli is not built. Run npm run build in ' + root + '.\n');
  process.exit(3);
}
// Only in a clone, where nothing is built after an update if npm runs no scripts.
if (process.stderr.isTTY && fs.existsSync(path.join(root, 'scripts/state-of-dist.js'))) {
  void import('../scripts/state-of-dist.js').then(function (state) {
    var problem = state.stateOfDist(root);
    if (problem !== undefined) process.stderr.write(problem + '. Run npm run build in ' + root + '.\n');
  });
}
completeEnvironment(process.env);
void import('../dist/cli/command/compile-cache.js')
  .then(function (cache) {
    cache.keepCompiledCode();
    return import('../dist/cli/command/run.js');
  })
  .then(function (cli) {
    return cli.run(process, root);
  });

// oclif asks for the user's home and shell while it loads, but a container's user may have neither. It would also take
// an empty HOME for the folder of temporary files, where everyone can write, and find relative folders in a checkout.
function completeEnvironment(env) {
  var folders = ['HOME'];
  ['CONFIG', 'DATA', 'CACHE'].forEach(function (kind) {
    folders.push('XDG_' + kind + '_HOME', 'MYCLI_' + kind + '_DIR');
  });
  folders.forEach(function (name) {
    if (env[name] !== undefined && !path.isAbsolute(env[name])) delete env[name];
  });
  // What Docker sets for a user without an entry in /etc/passwd.
  if (!path.isAbsolute(ask(os.homedir))) env.HOME = '/';
  if (env.SHELL === undefined && ask(os.userInfo) === '') env.SHELL = '/bin/sh';
}

function ask(question) {
  try {
    return question();
  } catch (error) {
    return '';
  }
}
