// A preload for Linux that imitates what Windows refuses and Wine does not: a handle that was opened for appending may not
// be truncated, and one for reading may not be synchronized.
const fs = require('node:fs');
const {syncBuiltinESMExports} = require('node:module');

function flagsOf(descriptor) {
  return parseInt(/flags:\s+(\d+)/.exec(fs.readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))[1], 8);
}

function refusing(name, isRefused) {
  const original = fs[name];
  fs[name] = (descriptor, ...rest) => {
    if (!isRefused(flagsOf(descriptor))) return original(descriptor, ...rest);
    const syscall = name.replace('Sync', '');
    throw Object.assign(new Error(`EPERM: operation not permitted, ${syscall}`), {
      code: 'EPERM',
      errno: -4048,
      syscall,
    });
  };
}

refusing('ftruncateSync', (flags) => (flags & fs.constants.O_APPEND) !== 0);
refusing('fsyncSync', (flags) => (flags & (fs.constants.O_WRONLY | fs.constants.O_RDWR)) === 0);
syncBuiltinESMExports();
