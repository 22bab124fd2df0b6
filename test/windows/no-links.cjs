// A preload that imitates Windows without the right to make symbolic links.
const {promises} = require('node:fs');
const {syncBuiltinESMExports} = require('node:module');

promises.symlink = () =>
  Promise.reject(
    Object.assign(new Error('EPERM: operation not permitted, symlink'), {code: 'EPERM', syscall: 'symlink'}),
  );
syncBuiltinESMExports();
