// Loaded with --import into a process that is to die by SIGKILL at a call of a function of node:fs/promises that
// changes something. DIE_AT is "FUNCTION WHICH before|during|after". WHICH is a number, counted from the start of the
// process, or a part of the path; the function `*` is any of them.
import fs from 'node:fs/promises';
import {syncBuiltinESMExports} from 'node:module';

const [wanted = '', which = '', moment = ''] = (process.env.DIE_AT ?? '').split(' ');
const die = () => process.kill(process.pid, 'SIGKILL');
let calls = 0;

function isMeant(args) {
  if (!/^\d+$/.test(which)) return args.some((arg) => typeof arg === 'string' && arg.includes(which));
  calls += 1;
  return calls === Number(which);
}

for (const name of ['link', 'mkdir', 'rename', 'rm', 'symlink', 'writeFile']) {
  if (wanted !== name && wanted !== '*') continue;
  const original = fs[name];
  fs[name] = (...args) => {
    if (!isMeant(args)) return original(...args);
    if (moment === 'before') die();
    const call = original(...args);
    if (moment === 'during') die();
    return call.finally(die);
  };
}
syncBuiltinESMExports();
