// A preload that imitates Windows, where no file is replaced while another program has it open: as if a virus scanner
// looked at each file for a moment, the first three attempts to move it are refused, each with another code.
// With HELD_FOREVER, nothing is ever let go of.
const {promises} = require('node:fs');
const {syncBuiltinESMExports} = require('node:module');

const codes = ['EPERM', 'EACCES', 'EBUSY'];
const attempts = new Map();
const rename = promises.rename;
promises.rename = async (from, to) => {
  const attempt = attempts.get(from) ?? 0;
  attempts.set(from, attempt + 1);
  const code = process.env.HELD_FOREVER ? 'EBUSY' : codes[attempt];
  if (code === undefined) return rename(from, to);
  throw Object.assign(new Error(`${code}: rename`), {code, syscall: 'rename'});
};
syncBuiltinESMExports();
